/* gguf_ends.c: the ids that end generation for a GGUF file: those of the file's keys, and every
 * token, of any type, whose text is a known end marker. Markers and exceptions are those of
 * llama.cpp. */
#include "hf.h"

#include <string.h>

static const char *const ends[] = {
    "<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<|flush|>", "<|calls|>", "<end_of_turn>",
    "<|endoftext|>", "</s>", "<|eom_id|>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]", "<|end_of_text|>", "<end_of_utterance>",
    "<eos>", "<turn|>", "<|tool_response>", "<｜end▁of▁sentence｜>", "[e~[",
};

/* Markers that do not end generation if the vocabulary has both texts of `beside`. */
static const struct { const char *text, *beside[2]; } exceptions[] = {
    { "<|end|>", { "<|return|>", "<|call|>" } },
    { "<|end|>", { "<|return|>", "<|calls|>" } },
    { "<|end|>", { "<|flush|>", "<|call|>" } },
    { "<|end|>", { "<|flush|>", "<|calls|>" } },
    { "</s>", { "<|tool_response>", "<|tool_response>" } },
};

/* The ids of these keys end generation. Without a valid key, the first token with one of the texts
 * does; without eos_token_id, id 2 of a SentencePiece vocabulary does. The fim_ keys are for
 * fill-in-the-middle: padding, repository name, file separator. */
static const struct { GgufKeyId key; const char *text[6]; } keyed[] = {
    { GGUF_KEY_EOS, { NULL } },
    { GGUF_KEY_EOT, { NULL } },
    { GGUF_KEY_EOM, { NULL } },
    { GGUF_KEY_FIM_PAD, { "<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]" } },
    { GGUF_KEY_FIM_REP, { "<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>" } },
    { GGUF_KEY_FIM_SEP, { "<|file_sep|>" } },
};
enum { ENDS = sizeof ends / sizeof *ends, EXCEPTIONS = sizeof exceptions / sizeof *exceptions, KEYED = sizeof keyed / sizeof *keyed };

/* keyed: the id of each row, or -1. ends: [tokens]; true if the token's text is one of `ends`. has:
 * true if any token has that text. tokens: 0 if the file has no vocabulary; then only keys
 * count. */
typedef struct Found { int64_t keyed[KEYED], tokens; bool *ends, has[ENDS]; } Found;

/* The index of a marker; ENDS if the text is not one. */
static int end_of(GgufText text)
{
    int i = 0;
    while (i < ENDS && !gguf_is(text, ends[i])) i++;
    return i;
}

static bool is_keyed(GgufText text, int row)
{
    for (int i = 0; keyed[row].text[i]; i++)
        if (gguf_is(text, keyed[row].text[i])) return true;
    return false;
}

static void read_keys(Arena *a, Diag *d, Loc at, const Gguf *g, Found *f)
{
    const int64_t most = f->tokens ? f->tokens : GGUF_ITEMS_MOST;
    for (int row = 0; row < KEYED; row++) {
        const GgufValue *v = gguf_find(g, keyed[row].key);
        f->keyed[row] = -1;
        if (!v) continue;
        const int64_t id = (int64_t)v->bits;
        if (id < most) f->keyed[row] = id;
        else
            diag_remark(d, at, f->tokens ? "%s (%lld) is not used: there are only %lld tokens"
                                         : "%s (%lld) is not used: ids must be below %lld",
                        gguf_key_name(a, g, keyed[row].key), (long long)id, (long long)most);
    }
}

/* A cheap filter: all known texts have 4 to 31 bytes and start with <, [ or _. */
static bool may_be_known(GgufText text) { return text.n > 3 && text.n < 32 && strchr("<[_", text.s[0]) && text.s[0]; }

static void find_texts(const GgufValue *tokens, Found *f)
{
    GgufBytes items = tokens->items;
    for (int64_t id = 0; id < f->tokens; id++) {
        const GgufText text = gguf_take_text(&items);
        if (!may_be_known(text)) continue;
        const int end = end_of(text);
        if (end < ENDS) f->has[end] = f->ends[id] = true;
        for (int row = 0; row < KEYED; row++)
            if (f->keyed[row] < 0 && is_keyed(text, row)) f->keyed[row] = id;
    }
}

static bool has(const Found *f, const char *text)
{
    const int end = end_of((GgufText){ text, strlen(text) });
    return end < ENDS && f->has[end];
}

static void drop_text(const GgufValue *tokens, const char *end, Found *f)
{
    GgufBytes items = tokens->items;
    for (int64_t id = 0; id < f->tokens; id++) {
        if (!gguf_is(gguf_take_text(&items), end)) continue;
        f->ends[id] = false;
        for (int row = 0; row < KEYED; row++)
            if (f->keyed[row] == id) f->keyed[row] = -1;
    }
}

static bool is_among(const int64_t *ids, int n, int64_t id)
{
    int i = 0;
    while (i < n && ids[i] != id) i++;
    return i < n;
}

/* All end ids, those of keys first, without duplicates. */
static Numbers list_of(Arena *a, const Found *f)
{
    double *ids = arena_array(a, (size_t)f->tokens + KEYED, sizeof *ids);
    int n = 0;
    for (int row = 0; row < KEYED; row++)
        if (f->keyed[row] >= 0 && !is_among(f->keyed, row, f->keyed[row])) ids[n++] = (double)f->keyed[row];
    for (int64_t id = 0; id < f->tokens; id++)
        if (f->ends[id] && !is_among(f->keyed, KEYED, id)) ids[n++] = (double)id;
    return (Numbers){ n, ids };
}

Numbers gguf_ends(Arena *a, Diag *d, Loc at, const Gguf *g)
{
    enum { USUAL_OF_SENTENCEPIECE = 2 };
    const GgufValue *tokens = gguf_find(g, GGUF_KEY_TOKENS);
    const GgufValue *kind = gguf_find(g, GGUF_KEY_TOKENIZER);
    Found f = { .tokens = tokens ? (int64_t)tokens->count : 0 };
    f.ends = arena_array(a, (size_t)f.tokens, sizeof *f.ends);
    read_keys(a, d, at, g, &f);
    if (f.keyed[0] < 0 && kind && gguf_is(kind->text, "llama") && f.tokens > USUAL_OF_SENTENCEPIECE) f.keyed[0] = USUAL_OF_SENTENCEPIECE;
    if (tokens) find_texts(tokens, &f);
    for (int i = 0; i < EXCEPTIONS; i++)
        if (has(&f, exceptions[i].beside[0]) && has(&f, exceptions[i].beside[1])) drop_text(tokens, exceptions[i].text, &f);
    return list_of(a, &f);
}
