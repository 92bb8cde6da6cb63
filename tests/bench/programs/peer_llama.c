/* peer_llama.c: llama.cpp as a worker, through its C API, in a loop as tight as ours. Built with
 * the headers and libraries of the Python package llama-cpp-python.
 *
 *   model=FILE.gguf threads=N work=decode|prefill|batch n=N batch=B flash=0|1 kv=f16|f32
 *   ubatch=N load=mmap|read repack=0|1
 *   decode: n ids, one at a time, from an empty sequence; prefill: n ids at once; batch: n greedy
 *   steps of `batch` sequences. Logits are computed for the last row, or for each row of a batch,
 *   as in llama-bench. */
#include "peer_worker.h"

#include "llama.h"

enum { MOST_SEQUENCES = 64 };

static struct llama_model *model;
static struct llama_context *context;
static struct llama_batch batch;
static int vocab, length, sequences;
static int *greedy;                     /* [sequences][length], of the last batch run */

static void quiet(enum ggml_log_level level, const char *text, void *data)
{
    (void)data;
    if (level == GGML_LOG_LEVEL_ERROR) fputs(text, stderr);
}

static void clear(void)
{
    llama_memory_clear(llama_get_memory(context), false);
    batch.n_tokens = 0;
}

static void add(int id, int position, int sequence, int wanted)
{
    const int i = batch.n_tokens++;
    batch.token[i] = id;
    batch.pos[i] = position;
    batch.n_seq_id[i] = 1;
    batch.seq_id[i][0] = sequence;
    batch.logits[i] = (int8_t)wanted;
}

static int compute(void)
{
    const int status = llama_decode(context, batch);
    llama_synchronize(context);
    return status == 0;
}

static int decode(void)
{
    int good = 1;
    clear();
    for (int i = 0; i < length && good; i++) {
        batch.n_tokens = 0;
        add(an_id(i, vocab), i, 0, 1);
        good = compute() && llama_get_logits_ith(context, -1);
    }
    return good;
}

static int prefill(void)
{
    clear();
    for (int i = 0; i < length; i++) add(an_id(i, vocab), i, 0, i == length - 1);
    return compute() && llama_get_logits_ith(context, -1);
}

static int decode_batch(void)
{
    int ids[MOST_SEQUENCES], good = 1;
    for (int k = 0; k < sequences; k++) ids[k] = an_id(k + 1, vocab);
    clear();
    for (int i = 0; i < length && good; i++) {
        batch.n_tokens = 0;
        for (int k = 0; k < sequences; k++) add(ids[k], i, k, 1);
        good = compute();
        for (int k = 0; k < sequences && good; k++) greedy[k * length + i] = ids[k] = argmax(llama_get_logits_ith(context, k), vocab);
    }
    return good;
}

/* Write the logits of the first ids, fed one at a time or all at once. */
static int check_logits(FILE *to, int at_once)
{
    const int rows = at_once ? CHECKED_IDS : 1;
    int good = 1;
    clear();
    for (int i = 0; i < CHECKED_IDS && good; i += rows) {
        batch.n_tokens = 0;
        for (int k = 0; k < rows; k++) add(an_id(i + k, vocab), i + k, 0, 1);
        good = compute();
        for (int k = 0; k < rows && good; k++)
            good = fwrite(llama_get_logits_ith(context, k), sizeof(float), (size_t)vocab, to) == (size_t)vocab;
    }
    return good;
}

static int check_steps(FILE *to) { return check_logits(to, 0); }
static int check_rows(FILE *to) { return check_logits(to, 1); }

/* Write the logits of the first ids, then the greedy ids as 32-bit integers. */
static int check_batch(FILE *to)
{
    const size_t n = (size_t)sequences * (size_t)length;
    return check_logits(to, 1) && decode_batch() && fwrite(greedy, sizeof *greedy, n, to) == n;
}

static void open_model(void)
{
    struct llama_model_params m = llama_model_default_params();
    struct llama_context_params c = llama_context_default_params();
    const int f32 = strcmp(argument("kv", "f16"), "f32") == 0;
    m.n_gpu_layers = 0;
    m.load_mode = strcmp(argument("load", "mmap"), "read") == 0 ? LLAMA_LOAD_MODE_NONE : LLAMA_LOAD_MODE_MMAP;
    m.use_extra_bufts = number("repack", 1) != 0;
    c.n_ctx = (uint32_t)((length > CHECKED_IDS ? length : CHECKED_IDS) * sequences);
    c.n_batch = c.n_ctx;
    c.n_ubatch = (uint32_t)number("ubatch", 512);
    c.n_seq_max = (uint32_t)sequences;
    c.n_threads = c.n_threads_batch = number("threads", 1);
    c.flash_attn_type = number("flash", 1) ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
    c.type_k = c.type_v = f32 ? GGML_TYPE_F32 : GGML_TYPE_F16;
    c.no_perf = true;
    llama_log_set(quiet, NULL);
    llama_backend_init();
    model = llama_model_load_from_file(argument("model", ""), m);
    if (!model) give_up("llama.cpp cannot load the model");
    context = llama_init_from_model(model, c);
    if (!context) give_up("llama.cpp cannot create a context");
    vocab = llama_vocab_n_tokens(llama_model_get_vocab(model));
    batch = llama_batch_init((int)c.n_batch, 0, 1);
    greedy = calloc((size_t)sequences * (size_t)length, sizeof *greedy);
}

int main(int argc, char **argv)
{
    (void)argc;
    peer_arguments = argv + 1;
    length = number("n", 128);
    sequences = number("batch", 1);
    if (sequences > MOST_SEQUENCES) give_up("too many sequences");
    open_model();
    const char *work = argument("work", "decode");
    if (strcmp(work, "decode") == 0) return serve(&(PeerWork){ decode, check_steps });
    if (strcmp(work, "prefill") == 0) return serve(&(PeerWork){ prefill, check_rows });
    if (strcmp(work, "batch") == 0) return serve(&(PeerWork){ decode_batch, check_batch });
    give_up("work: expected decode, prefill or batch");
}
