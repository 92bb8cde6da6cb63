/* make_model.c: random models as large as those that people run: a Hugging Face folder with
 * shards of bf16, or f32 with the same values, or a GGUF file of Q4_0 matrices and f32 vectors. A
 * value depends only on the shape, the tensor's name, its place in the tensor, and on whether the
 * file is GGUF.
 * usage: make_model [--f32 | --gguf] SHAPE PATH [LAYERS]
 * LAYERS: how many layers to write, of each stack; default: all that the shape has */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SHARD = 2000 };          /* most MiB of tensors in a weights file */
enum { PIECE = 1 << 20 };       /* values generated at once */
enum { NAME = 128 };

typedef enum Kind { LLAMA, T5, ENCODER } Kind;

/* keys: the KV heads of a LLAMA, the head size of a T5. */
typedef struct Shape {
    const char *name;
    Kind kind;
    int d, layers, heads, keys, d_ff, vocab;
    double theta;
} Shape;

static const Shape shapes[] = {
    { "llama_8b", LLAMA, 4096, 32, 32, 8, 14336, 128256, 500000 },
    { "llama_1b", LLAMA, 2048, 22, 32, 4, 5632, 32000, 10000 },
    { "llama_100m", LLAMA, 768, 12, 12, 4, 2048, 32000, 10000 },
    { "t5_3b", T5, 1024, 24, 32, 128, 16384, 32128, 0 },
    { "encoder_500m", ENCODER, 1024, 24, 16, 0, 4096, 250002, 0 },
};

static void fail(const char *what)
{
    perror(what);
    exit(74);
}

static void *memory(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p) fail("make_model");
    return p;
}

static FILE *create(const char *path)
{
    FILE *f = fopen(path, "wb");
    if (!f) fail(path);
    return f;
}

static FILE *create_in(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return create(path);
}

static void put(FILE *f, const void *bytes, size_t n)
{
    if (fwrite(bytes, 1, n, f) != n) fail("make_model");
}

static void end(FILE *f)
{
    if (fclose(f) != 0) fail("make_model");
}

/* ---- tensors --------------------------------------------------------------------------------- */

/* columns 0: a vector. scale: the standard deviation; GAIN: values near 1. */
typedef struct Tensor { char name[NAME], gguf[NAME]; int64_t rows, columns; double scale; } Tensor;
typedef struct Tensors { Tensor *list; size_t count; } Tensors;

#define GAIN 0.0
#define BIAS 0.02

static int64_t numbers_of(const Tensor *t) { return t->rows * (t->columns ? t->columns : 1); }

/* Append a tensor; `name` and what follows give its name in folders, as for printf. The caller sets
 * the GGUF name, if there is one. */
static Tensor *add(Tensors *all, int64_t rows, int64_t columns, double scale, const char *name, ...)
{
    va_list arguments;
    all->list = realloc(all->list, (all->count + 1) * sizeof *all->list);
    if (!all->list) fail("make_model");
    Tensor *t = &all->list[all->count++];
    *t = (Tensor){ .rows = rows, .columns = columns, .scale = scale };
    va_start(arguments, name);
    vsnprintf(t->name, NAME, name, arguments);
    va_end(arguments);
    return t;
}

static double root(double x)                    /* 1 / sqrt(x), by Newton's method */
{
    double r = 1;
    for (int i = 0; i < 60; i++) r = 0.5 * (r + x / r);
    return 1 / r;
}

static void add_linear(Tensors *all, int64_t rows, int64_t columns, const char *prefix, int layer,
                       const char *name, const char *gguf)
{
    const double scale = root((double)columns);
    Tensor *t = add(all, rows, columns, scale, "%s%d.%s.weight", prefix, layer, name);
    if (gguf) snprintf(t->gguf, NAME, "blk.%d.%s.weight", layer, gguf);
}

static void add_gain(Tensors *all, int64_t n, int layer, const char *name, const char *gguf)
{
    Tensor *t = add(all, n, 0, GAIN, "model.layers.%d.%s.weight", layer, name);
    snprintf(t->gguf, NAME, "blk.%d.%s.weight", layer, gguf);
}

static void llama_tensors(Tensors *all, const Shape *s, int layers)
{
    static const char prefix[] = "model.layers.";
    const int64_t d = s->d, kv = d / s->heads * s->keys, d_ff = s->d_ff;
    strcpy(add(all, s->vocab, d, 1, "model.embed_tokens.weight")->gguf, "token_embd.weight");
    for (int n = 0; n < layers; n++) {
        add_gain(all, d, n, "input_layernorm", "attn_norm");
        add_linear(all, d, d, prefix, n, "self_attn.q_proj", "attn_q");
        add_linear(all, kv, d, prefix, n, "self_attn.k_proj", "attn_k");
        add_linear(all, kv, d, prefix, n, "self_attn.v_proj", "attn_v");
        add_linear(all, d, d, prefix, n, "self_attn.o_proj", "attn_output");
        add_gain(all, d, n, "post_attention_layernorm", "ffn_norm");
        add_linear(all, d_ff, d, prefix, n, "mlp.gate_proj", "ffn_gate");
        add_linear(all, d_ff, d, prefix, n, "mlp.up_proj", "ffn_up");
        add_linear(all, d, d_ff, prefix, n, "mlp.down_proj", "ffn_down");
    }
    strcpy(add(all, d, 0, GAIN, "model.norm.weight")->gguf, "output_norm.weight");
    strcpy(add(all, s->vocab, d, 3 * root((double)d), "lm_head.weight")->gguf, "output.weight");
}

static void t5_attention(Tensors *all, const Shape *s, const char *prefix, const char *name)
{
    const int64_t d = s->d, inner = (int64_t)s->heads * s->keys;
    add(all, d, 0, GAIN, "%slayer_norm.weight", prefix);
    add(all, inner, d, root((double)d * s->keys), "%s%s.q.weight", prefix, name);
    add(all, inner, d, root((double)d), "%s%s.k.weight", prefix, name);
    add(all, inner, d, root((double)d), "%s%s.v.weight", prefix, name);
    add(all, d, inner, root((double)inner), "%s%s.o.weight", prefix, name);
}

static void t5_tensors(Tensors *all, const Shape *s, int layers)
{
    static const char *const sides[] = { "encoder", "decoder" };
    add(all, s->vocab, s->d, 1, "shared.weight");
    for (int side = 0; side < 2; side++) {
        for (int n = 0; n < layers; n++) {
            char prefix[NAME];
            snprintf(prefix, sizeof prefix, "%s.block.%d.layer.0.", sides[side], n);
            t5_attention(all, s, prefix, "SelfAttention");
            strcat(prefix, "SelfAttention.relative_attention_bias.weight");
            if (n == 0) add(all, 32, s->heads, 0.3, "%s", prefix);
            snprintf(prefix, sizeof prefix, "%s.block.%d.layer.1.", sides[side], n);
            if (side) t5_attention(all, s, prefix, "EncDecAttention");
            snprintf(prefix, sizeof prefix, "%s.block.%d.layer.%d.", sides[side], n, side + 1);
            add(all, s->d, 0, GAIN, "%slayer_norm.weight", prefix);
            add(all, s->d_ff, s->d, root(s->d), "%sDenseReluDense.wi.weight", prefix);
            add(all, s->d, s->d_ff, root(s->d_ff), "%sDenseReluDense.wo.weight", prefix);
        }
        add(all, s->d, 0, GAIN, "%s.final_layer_norm.weight", sides[side]);
    }
}

static void encoder_linear(Tensors *all, int64_t rows, int64_t columns, int layer, const char *name)
{
    add_linear(all, rows, columns, "encoder.layer.", layer, name, NULL);
    add(all, rows, 0, BIAS, "encoder.layer.%d.%s.bias", layer, name);
}

static void encoder_norm(Tensors *all, const Shape *s, const char *name)
{
    add(all, s->d, 0, GAIN, "%s.weight", name);
    add(all, s->d, 0, BIAS, "%s.bias", name);
}

static void encoder_tensors(Tensors *all, const Shape *s, int layers)
{
    char name[NAME / 2];
    add(all, s->vocab, s->d, 0.5, "embeddings.word_embeddings.weight");
    add(all, 514, s->d, 0.1, "embeddings.position_embeddings.weight");
    add(all, 1, s->d, 0.1, "embeddings.token_type_embeddings.weight");
    encoder_norm(all, s, "embeddings.LayerNorm");
    for (int n = 0; n < layers; n++) {
        encoder_linear(all, s->d, s->d, n, "attention.self.query");
        encoder_linear(all, s->d, s->d, n, "attention.self.key");
        encoder_linear(all, s->d, s->d, n, "attention.self.value");
        encoder_linear(all, s->d, s->d, n, "attention.output.dense");
        encoder_linear(all, s->d_ff, s->d, n, "intermediate.dense");
        encoder_linear(all, s->d, s->d_ff, n, "output.dense");
        snprintf(name, sizeof name, "encoder.layer.%d.attention.output.LayerNorm", n);
        encoder_norm(all, s, name);
        snprintf(name, sizeof name, "encoder.layer.%d.output.LayerNorm", n);
        encoder_norm(all, s, name);
    }
}

static Tensors tensors_of(const Shape *s, int layers)
{
    Tensors all = { NULL, 0 };
    if (s->kind == LLAMA) llama_tensors(&all, s, layers);
    else if (s->kind == T5) t5_tensors(&all, s, layers);
    else encoder_tensors(&all, s, layers);
    return all;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static uint64_t seed_of(const Shape *s, const Tensor *t)            /* FNV-1a */
{
    uint64_t h = 0xCBF29CE484222325u;
    for (const char *c = s->name; *c; c++) h = (h ^ (unsigned char)*c) * 0x100000001B3u;
    for (const char *c = t->name; *c; c++) h = (h ^ (unsigned char)*c) * 0x100000001B3u;
    return h;
}

/* SplitMix64. */
static uint64_t bits_at(uint64_t seed, int64_t i)
{
    uint64_t x = seed + (uint64_t)(i + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

/* A value from x, a shifted and scaled sum of four random 16-bit numbers: roughly normal, with mean
 * 0 and variance 1. */
static float number_at(const Tensor *t, uint64_t seed, int64_t i)
{
    const uint64_t h = bits_at(seed, i);
    int sum = -131070;
    for (int k = 0; k < 4; k++) sum += (int)(h >> 16 * k & 0xFFFF);
    const float x = (float)sum / 37837.2f;
    return t->scale > 0 ? (float)t->scale * x : 1 + 0.1f * x;
}

static uint32_t bf16_at(const Tensor *t, uint64_t seed, int64_t i)
{
    const float x = number_at(t, seed, i);
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 16;
}

static void put_bf16(FILE *f, const Shape *s, const Tensor *t)
{
    uint16_t *piece = memory(PIECE * sizeof *piece);
    const uint64_t seed = seed_of(s, t);
    for (int64_t i = 0, n; (n = numbers_of(t) - i) > 0; i += n) {
        if (n > PIECE) n = PIECE;
        for (int64_t k = 0; k < n; k++) piece[k] = (uint16_t)bf16_at(t, seed, i + k);
        put(f, piece, (size_t)n * sizeof *piece);
    }
    free(piece);
}

static void put_f32(FILE *f, const Shape *s, const Tensor *t)
{
    uint32_t *piece = memory(PIECE * sizeof *piece);
    const uint64_t seed = seed_of(s, t);
    for (int64_t i = 0, n; (n = numbers_of(t) - i) > 0; i += n) {
        if (n > PIECE) n = PIECE;
        for (int64_t k = 0; k < n; k++) piece[k] = bf16_at(t, seed, i + k) << 16;
        put(f, piece, (size_t)n * sizeof *piece);
    }
    free(piece);
}

/* A block's scale as f16, whose exponent always fits. */
static uint16_t factor_at(const Tensor *t, uint64_t h)
{
    const float d = (0.5f + (float)(h & 0xFFFF) / 65536) * (float)(t->scale * 0.21567);
    uint32_t bits;
    memcpy(&bits, &d, sizeof bits);
    return (uint16_t)((h >> 48 & 0x8000) | ((bits >> 13) - (112 << 10)));
}

/* Blocks of 18 bytes for 32 values: a scale of either sign, and quants from -8 to 7, whose mean
 * square is 21.5. */
static void put_blocks(FILE *f, const Shape *s, const Tensor *t)
{
    enum { BLOCK = 18 };
    unsigned char *piece = memory(PIECE / 32 * BLOCK);
    const uint64_t seed = seed_of(s, t);
    for (int64_t i = 0, n; (n = numbers_of(t) / 32 - i) > 0; i += n) {
        if (n > PIECE / 32) n = PIECE / 32;
        for (int64_t k = 0; k < n; k++) {
            const int64_t at = 3 * (i + k);
            const uint16_t half = factor_at(t, bits_at(seed, at));
            const uint64_t places[] = { bits_at(seed, at + 1), bits_at(seed, at + 2) };
            memcpy(piece + BLOCK * k, &half, sizeof half);
            memcpy(piece + BLOCK * k + 2, places, sizeof places);
        }
        put(f, piece, (size_t)n * BLOCK);
    }
    free(piece);
}

/* ---- a folder -------------------------------------------------------------------------------- */

static void put_llama_config(FILE *f, const Shape *s, int layers)
{
    fputs("\"architectures\": [\"LlamaForCausalLM\"], \"model_type\": \"llama\",\n"
          "\"max_position_embeddings\": 8192, \"rms_norm_eps\": 1e-05, \"hidden_act\": \"silu\",\n"
          "\"tie_word_embeddings\": false, \"bos_token_id\": 1, \"eos_token_id\": 2,\n", f);
    fprintf(f, "\"hidden_size\": %d, \"num_hidden_layers\": %d,\n", s->d, layers);
    fprintf(f, "\"num_attention_heads\": %d, \"num_key_value_heads\": %d,\n", s->heads, s->keys);
    fprintf(f, "\"intermediate_size\": %d, \"vocab_size\": %d,\n", s->d_ff, s->vocab);
    fprintf(f, "\"rope_theta\": %.1f", s->theta);
}

static void put_t5_config(FILE *f, const Shape *s, int layers)
{
    fputs("\"architectures\": [\"T5ForConditionalGeneration\"], \"model_type\": \"t5\",\n"
          "\"relative_attention_num_buckets\": 32, \"relative_attention_max_distance\": 128,\n"
          "\"layer_norm_epsilon\": 1e-06, \"feed_forward_proj\": \"relu\",\n"
          "\"tie_word_embeddings\": true, \"n_positions\": 512,\n"
          "\"decoder_start_token_id\": 0, \"pad_token_id\": 0, \"eos_token_id\": 1,\n", f);
    fprintf(f, "\"num_layers\": %d, \"num_decoder_layers\": %d,\n", layers, layers);
    fprintf(f, "\"d_model\": %d, \"num_heads\": %d, \"d_kv\": %d,\n", s->d, s->heads, s->keys);
    fprintf(f, "\"d_ff\": %d, \"vocab_size\": %d", s->d_ff, s->vocab);
}

static void put_encoder_config(FILE *f, const Shape *s, int layers)
{
    fputs("\"architectures\": [\"XLMRobertaModel\"], \"model_type\": \"xlm-roberta\",\n"
          "\"type_vocab_size\": 1, \"max_position_embeddings\": 514, \"hidden_act\": \"gelu\",\n"
          "\"layer_norm_eps\": 1e-05, \"pad_token_id\": 1, \"bos_token_id\": 0,\n"
          "\"eos_token_id\": 2,\n", f);
    fprintf(f, "\"hidden_size\": %d, \"num_hidden_layers\": %d,\n", s->d, layers);
    fprintf(f, "\"num_attention_heads\": %d,\n", s->heads);
    fprintf(f, "\"intermediate_size\": %d, \"vocab_size\": %d", s->d_ff, s->vocab);
}

/* width: the bytes of a number, 2 for bf16 or 4 for f32. */
static void put_config(const char *folder, const Shape *s, int layers, int width)
{
    FILE *f = create_in(folder, "config.json");
    fputs("{", f);
    if (s->kind == LLAMA) put_llama_config(f, s, layers);
    else if (s->kind == T5) put_t5_config(f, s, layers);
    else put_encoder_config(f, s, layers);
    fprintf(f, ",\n\"torch_dtype\": \"%s\"}\n", width == 4 ? "float32" : "bfloat16");
    end(f);
}

/* Write a safetensors file of n tensors. */
static void put_shard(const char *folder, const char *name, const Shape *s, const Tensor *t,
                      size_t n, int width)
{
    FILE *f = create_in(folder, name);
    char *head = NULL;
    size_t length = 0;
    int64_t at = 0;
    FILE *text = open_memstream(&head, &length);
    if (!text) fail("make_model");
    fputs("{\"__metadata__\":{\"format\":\"pt\"}", text);
    for (size_t i = 0; i < n; i++) {
        const int64_t bytes = width * numbers_of(&t[i]);
        fprintf(text, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[%" PRId64, t[i].name,
                width == 4 ? "F32" : "BF16", t[i].rows);
        if (t[i].columns) fprintf(text, ",%" PRId64, t[i].columns);
        fprintf(text, "],\"data_offsets\":[%" PRId64 ",%" PRId64 "]}", at, at + bytes);
        at += bytes;
    }
    fputs("}", text);
    while (ftell(text) % 8) fputc(' ', text);
    end(text);
    const uint64_t size = length;
    put(f, &size, sizeof size);
    put(f, head, length);
    free(head);
    for (size_t i = 0; i < n; i++) (width == 4 ? put_f32 : put_bf16)(f, s, &t[i]);
    end(f);
}

/* The index of the next file's first tensor. */
static size_t end_of_shard(const Tensors *all, size_t i, int width)
{
    int64_t bytes = width * numbers_of(&all->list[i++]);
    while (i < all->count && (bytes += width * numbers_of(&all->list[i])) <= (int64_t)SHARD << 20)
        i++;
    return i;
}

static void put_folder(const char *folder, const Shape *s, int layers, int width)
{
    const Tensors all = tensors_of(s, layers);
    size_t shards = 0, number = 0;
    if (mkdir(folder, 0777) != 0) fail(folder);
    put_config(folder, s, layers, width);
    for (size_t i = 0; i < all.count; i = end_of_shard(&all, i, width)) shards++;
    FILE *index = shards > 1 ? create_in(folder, "model.safetensors.index.json") : NULL;
    if (index) fputs("{\"metadata\": {}, \"weight_map\": {\n", index);
    for (size_t i = 0, next; i < all.count; i = next) {
        char name[NAME] = "model.safetensors";
        next = end_of_shard(&all, i, width);
        number++;
        if (index) snprintf(name, sizeof name, "model-%05zu-of-%05zu.safetensors", number, shards);
        for (size_t k = i; index && k < next; k++)
            fprintf(index, "%s\"%s\": \"%s\"", k ? ",\n" : "", all.list[k].name, name);
        put_shard(folder, name, s, all.list + i, next - i, width);
    }
    if (index) {
        fputs("}}\n", index);
        end(index);
    }
    free(all.list);
}

/* ---- a GGUF file ----------------------------------------------------------------------------- */

static void put_u32(FILE *f, uint32_t x) { put(f, &x, sizeof x); }
static void put_u64(FILE *f, uint64_t x) { put(f, &x, sizeof x); }

static void put_text(FILE *f, const char *s)
{
    put_u64(f, strlen(s));
    put(f, s, strlen(s));
}

static void put_key_text(FILE *f, const char *name, const char *value)
{
    put_text(f, name);
    put_u32(f, 8);
    put_text(f, value);
}

static void put_key_u32(FILE *f, const char *name, int value)
{
    put_text(f, name);
    put_u32(f, 4);
    put_u32(f, (uint32_t)value);
}

static void put_key_f32(FILE *f, const char *name, double value)
{
    const float x = (float)value;
    put_text(f, name);
    put_u32(f, 6);
    put(f, &x, sizeof x);
}

static void put_padding(FILE *f)
{
    static const char zeros[32] = { 0 };
    put(f, zeros, (size_t)(-ftello(f) & 31));
}

static void put_gguf_keys(FILE *f, const Shape *s, int layers)
{
    put_key_text(f, "general.architecture", "llama");
    put_key_text(f, "general.name", s->name);
    put_key_text(f, "tokenizer.ggml.model", "none");
    put_key_u32(f, "general.file_type", 2);
    put_key_u32(f, "llama.context_length", 8192);
    put_key_u32(f, "llama.embedding_length", s->d);
    put_key_u32(f, "llama.block_count", layers);
    put_key_u32(f, "llama.feed_forward_length", s->d_ff);
    put_key_u32(f, "llama.attention.head_count", s->heads);
    put_key_u32(f, "llama.attention.head_count_kv", s->keys);
    put_key_f32(f, "llama.attention.layer_norm_rms_epsilon", 1e-5);
    put_key_u32(f, "llama.rope.dimension_count", s->d / s->heads);
    put_key_f32(f, "llama.rope.freq_base", s->theta);
    put_key_u32(f, "llama.vocab_size", s->vocab);
}

static void put_gguf(const char *path, const Shape *s, int layers)
{
    enum { VERSION = 3, KEYS = 14, F32 = 0, Q4_0 = 2 };
    const Tensors all = tensors_of(s, layers);
    FILE *f = create(path);
    uint64_t at = 0;
    put(f, "GGUF", 4);
    put_u32(f, VERSION);
    put_u64(f, all.count);
    put_u64(f, KEYS);
    put_gguf_keys(f, s, layers);
    for (size_t i = 0; i < all.count; i++) {
        const Tensor *t = &all.list[i];
        const uint64_t n = (uint64_t)numbers_of(t);
        put_text(f, t->gguf);
        put_u32(f, t->columns ? 2 : 1);
        if (t->columns) put_u64(f, (uint64_t)t->columns);
        put_u64(f, (uint64_t)t->rows);
        put_u32(f, t->columns ? Q4_0 : F32);
        put_u64(f, at);
        at += ((t->columns ? n / 32 * 18 : 4 * n) + 31) / 32 * 32;
    }
    for (size_t i = 0; i < all.count; i++) {
        put_padding(f);
        if (all.list[i].columns) put_blocks(f, s, &all.list[i]);
        else put_f32(f, s, &all.list[i]);
    }
    put_padding(f);
    end(f);
    free(all.list);
}

/* The shape of this name; NULL if there is none, or if `gguf` is set and its kind is not LLAMA. */
static const Shape *shape_of(const char *name, int gguf)
{
    const Shape *s = shapes, *const last = &shapes[sizeof shapes / sizeof *shapes - 1];
    while (strcmp(name, s->name) != 0 && s < last) s++;
    return strcmp(name, s->name) == 0 && (!gguf || s->kind == LLAMA) ? s : NULL;
}

int main(int argc, char **argv)
{
    const int gguf = argc > 1 && strcmp(argv[1], "--gguf") == 0;
    const int f32 = argc > 1 && strcmp(argv[1], "--f32") == 0, n = argc - 1 - (gguf || f32);
    char **words = argv + argc - n;
    const Shape *s = n == 2 || n == 3 ? shape_of(words[0], gguf) : NULL;
    const int layers = s && n == 3 ? atoi(words[2]) : s ? s->layers : 0;
    if (!s || layers < 1 || layers > s->layers) {
        fputs("usage: make_model [--f32 | --gguf] SHAPE PATH [LAYERS]\n"
              "SHAPE: llama_8b, llama_1b, llama_100m; for folders also t5_3b, encoder_500m\n",
              stderr);
        return 2;
    }
    if (gguf) put_gguf(words[1], s, layers);
    else put_folder(words[1], s, layers, f32 ? 4 : 2);
    return 0;
}
