/* tokenizer_gguf_words.c: add the steps that split texts into words for the byte-level tokenizer of
 * a GGUF file, by the name in tokenizer.ggml.pre. Names and patterns are those of llama.cpp. */
#include "tokenizer_gguf_words.h"

/* Patterns, applied in order: `first`, GPT-2's own if `gpt2` is set, and those in `then`. */
typedef enum Words { WORDS_GPT2, WORDS_DIGITS, WORDS_LLAMA3, WORDS_QWEN2, WORDS_DEFAULT } Words;
static const struct { const char *first; bool gpt2; const char *then[3]; } words[] = {
    [WORDS_GPT2] = { NULL, true, { NULL } },
    [WORDS_DIGITS] = { "\\p{N}", true, { NULL } },
    [WORDS_LLAMA3] = { "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"
                       "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+", false, { NULL } },
    [WORDS_QWEN2] = { TOK_PATTERN_QWEN2, false, { NULL } },
    [WORDS_DEFAULT] = { "[\\p{P}$+<=>^~|]+", true, { "\\p{N}+", "[0-9][0-9][0-9]" } },
};

/* BEGINS: without add_bos_token, a text begins with the BOS token. ENTIRE: a word that is a piece
 * becomes that piece, regardless of merges. COMPOSED: the text is normalised to NFC. */
enum { BEGINS = 1, ENTIRE = 2, COMPOSED = 4 };
typedef struct Row { const char *pre; Words words; int flags; } Row;
static const Row rows[] = {
    { "gpt-2", WORDS_GPT2, 0 },           { "phi-2", WORDS_GPT2, 0 },           { "jina-es", WORDS_GPT2, 0 },
    { "jina-de", WORDS_GPT2, 0 },         { "jina-v2-es", WORDS_GPT2, 0 },      { "jina-v2-de", WORDS_GPT2, 0 },
    { "jina-v1-en", WORDS_GPT2, 0 },      { "jina-v2-code", WORDS_GPT2, 0 },    { "roberta-bpe", WORDS_GPT2, 0 },
    { "gigachat", WORDS_GPT2, 0 },        { "a.x-4.0", WORDS_GPT2, 0 },         { "mellum", WORDS_GPT2, 0 },
    { "modern-bert", WORDS_GPT2, 0 },     { "exaone4", WORDS_GPT2, 0 },         { "mpt", WORDS_GPT2, 0 },
    { "jais", WORDS_GPT2, 0 },            { "trillion", WORDS_GPT2, 0 },        { "granite-docling", WORDS_GPT2, 0 },
    { "olmo", WORDS_GPT2, COMPOSED },
    { "smollm", WORDS_DIGITS, 0 },        { "starcoder", WORDS_DIGITS, 0 },     { "refact", WORDS_DIGITS, 0 },
    { "command-r", WORDS_DIGITS, 0 },     { "codeshell", WORDS_DIGITS, 0 },     { "exaone", WORDS_DIGITS, 0 },
    { "minerva-7b", WORDS_DIGITS, 0 },    { "mellum2", WORDS_DIGITS, 0 },
    { "llama-bpe", WORDS_LLAMA3, BEGINS | ENTIRE }, { "llama3", WORDS_LLAMA3, BEGINS | ENTIRE },
    { "llama-v3", WORDS_LLAMA3, BEGINS | ENTIRE },  { "falcon3", WORDS_LLAMA3, BEGINS | ENTIRE },
    { "falcon-h1", WORDS_LLAMA3, BEGINS | ENTIRE }, { "pixtral", WORDS_LLAMA3, BEGINS | ENTIRE },
    { "midm-2.0", WORDS_LLAMA3, BEGINS | ENTIRE },  { "lfm2", WORDS_LLAMA3, BEGINS | ENTIRE },
    { "jina-v5-nano", WORDS_LLAMA3, BEGINS | ENTIRE },
    { "dbrx", WORDS_LLAMA3, 0 },          { "smaug-bpe", WORDS_LLAMA3, 0 },     { "glm4", WORDS_LLAMA3, 0 },
    { "chatglm-bpe", WORDS_LLAMA3, 0 },
    { "qwen2", WORDS_QWEN2, COMPOSED },   { "deepseek-r1-qwen", WORDS_QWEN2, COMPOSED },
    { "kormo", WORDS_QWEN2, COMPOSED },   { "f2llmv2", WORDS_QWEN2, COMPOSED }, { "megrez", WORDS_QWEN2, COMPOSED },
    { "stablelm2", WORDS_QWEN2, 0 },      { "hunyuan", WORDS_QWEN2, 0 },        { "solar-open", WORDS_QWEN2, 0 },
    { "grok-2", WORDS_QWEN2, 0 },
    { "default", WORDS_DEFAULT, 0 },
};

/* The row of a name; the last row if the name is empty; NULL if it is unknown. */
static const Row *find(GgufText pre)
{
    enum { ROWS = sizeof rows / sizeof *rows };
    if (!pre.n) return &rows[ROWS - 1];
    for (int i = 0; i < ROWS; i++)
        if (gguf_is(pre, rows[i].pre)) return &rows[i];
    return NULL;
}

static void split_by(TokBuild *b, const char *regex)
{
    uint32_t node;
    if (tok_regex(b, tok_string(regex), &node)) tok_split(b, (RtTokOp){ .kind = TOK_SPLIT, .a = node, .b = TOK_ISOLATED });
}

bool tok_gguf_words(TokBuild *b, GgufText pre)
{
    const Row *row = find(pre);
    if (!row) {
        tok_refuse(b, "tokenizer.ggml.pre '%s' is not supported", gguf_shown(b->arena, pre));
        return false;
    }
    if (row->words == WORDS_DEFAULT)
        diag_remark(b->diag, (Loc){ b->file, 0, 0 }, "tokenizer.ggml.pre %s: text is split into words by llama.cpp's default patterns, "
                    "which may not be those that the model was trained with", pre.n ? "is 'default'" : "is missing or empty");
    if (row->flags & COMPOSED) tok_form(b, true, false);
    if (words[row->words].first) split_by(b, words[row->words].first);
    tok_byte_level(b, false, words[row->words].gpt2);
    for (int i = 0; words[row->words].then[i]; i++) split_by(b, words[row->words].then[i]);
    if (row->flags & ENTIRE) b->head[TOK_HEAD_FLAGS] |= TOK_IGNORE_MERGES;
    return row->flags & BEGINS;
}
