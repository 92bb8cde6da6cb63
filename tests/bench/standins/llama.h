/* llama.h: the part of llama.cpp's header that programs/peer_llama.c uses, so that a test can
 * compile it without llama.cpp. Types and fields have llama.cpp's names; nothing is linked. */
#include <stdbool.h>
#include <stdint.h>

enum ggml_log_level { GGML_LOG_LEVEL_ERROR = 4 };
enum ggml_type { GGML_TYPE_F32 = 0, GGML_TYPE_F16 = 1 };
enum llama_load_mode { LLAMA_LOAD_MODE_NONE, LLAMA_LOAD_MODE_MMAP };
enum llama_flash_attn_type {
    LLAMA_FLASH_ATTN_TYPE_DISABLED = 0,
    LLAMA_FLASH_ATTN_TYPE_ENABLED = 1
};
typedef void (*ggml_log_callback)(enum ggml_log_level level, const char *text, void *user_data);
typedef int32_t llama_token, llama_pos, llama_seq_id;
typedef struct llama_memory_i *llama_memory_t;
struct llama_model;
struct llama_context;
struct llama_vocab;

struct llama_model_params {
    int32_t n_gpu_layers;
    enum llama_load_mode load_mode;
    bool use_extra_bufts;
};

struct llama_context_params {
    uint32_t n_ctx, n_batch, n_ubatch, n_seq_max;
    int32_t n_threads, n_threads_batch;
    enum llama_flash_attn_type flash_attn_type;
    enum ggml_type type_k, type_v;
    bool no_perf;
};

typedef struct llama_batch {
    int32_t n_tokens;
    llama_token *token;
    float *embd;
    llama_pos *pos;
    int32_t *n_seq_id;
    llama_seq_id **seq_id;
    int8_t *logits;
} llama_batch;

struct llama_model_params llama_model_default_params(void);
struct llama_context_params llama_context_default_params(void);
void llama_log_set(ggml_log_callback callback, void *user_data);
void llama_backend_init(void);
struct llama_model *llama_model_load_from_file(const char *path, struct llama_model_params params);
struct llama_context *llama_init_from_model(struct llama_model *, struct llama_context_params);
const struct llama_vocab *llama_model_get_vocab(const struct llama_model *);
int32_t llama_vocab_n_tokens(const struct llama_vocab *);
llama_batch llama_batch_init(int32_t n_tokens, int32_t embd, int32_t n_seq_max);
llama_memory_t llama_get_memory(const struct llama_context *);
void llama_memory_clear(llama_memory_t, bool data);
int32_t llama_decode(struct llama_context *, llama_batch);
void llama_synchronize(struct llama_context *);
float *llama_get_logits_ith(struct llama_context *, int32_t i);
