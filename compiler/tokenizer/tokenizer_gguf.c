/* tokenizer_gguf.c: import the tokenizer of a GGUF file, from the keys tokenizer.ggml.* and
 * tokenizer.chat_template of its header. */
#include <string.h>

#include "gguf.h"
#include "tokenizer_build.h"
#include "tokenizer_gguf_words.h"

enum { NORMAL = 1, USER = 4, UNUSED = 5 };      /* tokenizer.ggml.token_type */

/* An id is -1 if its key is absent. */
typedef struct Keys {
    GgufText model, pre, chat;
    TokString charsmap;
    GgufValue tokens, scores, types, merges;
    int64_t bos, eos, unk;
    bool add_bos, has_add_bos, add_eos, has_add_eos, prefix, has_prefix, no_extra_spaces;
} Keys;

/* ---- keys -------------------------------------------------------------------------------------------------------------- */

/* The value of a key: no text and no items if it is absent. */
static GgufValue value_of(const Gguf *g, GgufKeyId key)
{
    const GgufValue *v = gguf_find(g, key);
    return v ? *v : (GgufValue){ .text = { "", 0 } };
}

static int64_t id_in(const Gguf *g, GgufKeyId key)
{
    const GgufValue *v = gguf_find(g, key);
    return v ? (int64_t)v->bits : -1;
}

static bool truth_of(const Gguf *g, GgufKeyId key, bool *given)
{
    *given = gguf_find(g, key) != NULL;
    return value_of(g, key).bits;
}

static void take_keys(const Gguf *g, Keys *k)
{
    const GgufValue map = value_of(g, GGUF_KEY_CHARSMAP);
    *k = (Keys){
        .model = value_of(g, GGUF_KEY_TOKENIZER).text, .pre = value_of(g, GGUF_KEY_PRE).text,
        .chat = value_of(g, GGUF_KEY_CHAT_TEMPLATE).text,
        .charsmap = { (const char *)map.items.s, (size_t)map.count },
        .tokens = value_of(g, GGUF_KEY_TOKENS), .scores = value_of(g, GGUF_KEY_SCORES),
        .types = value_of(g, GGUF_KEY_TOKEN_TYPE), .merges = value_of(g, GGUF_KEY_MERGES),
        .bos = id_in(g, GGUF_KEY_BOS), .eos = id_in(g, GGUF_KEY_EOS),
        .unk = id_in(g, GGUF_KEY_UNK),
        .no_extra_spaces = value_of(g, GGUF_KEY_REMOVE_SPACES).bits,
    };
    k->add_bos = truth_of(g, GGUF_KEY_ADD_BOS, &k->has_add_bos);
    k->add_eos = truth_of(g, GGUF_KEY_ADD_EOS, &k->has_add_eos);
    k->prefix = truth_of(g, GGUF_KEY_ADD_PREFIX, &k->has_prefix);
}

static bool read_keys(TokBuild *b, const char *data, size_t size, Keys *k)
{
    Gguf g;
    const char *fault = gguf_read(b->arena, (const unsigned char *)data, size, &g);
    if (fault) tok_refuse(b, "the file %s", fault);
    else if (gguf_split(&g).part > 1)
        tok_refuse(b, "this is part %lld of a split GGUF file; the tokenizer is in the first part", (long long)gguf_split(&g).part);
    else if (!value_of(&g, GGUF_KEY_TOKENS).count) tok_refuse(b, "the GGUF file has no tokenizer");
    else take_keys(&g, k);
    return !tok_failed(b);
}

/* ---- models ---------------------------------------------------------------------------------------------------------------- */

static int32_t *read_types(TokBuild *b, const Keys *k)
{
    int32_t *type = arena_array(b->arena, (size_t)k->tokens.count, sizeof *type);
    GgufBytes items = k->types.items;
    for (uint64_t i = 0; i < k->tokens.count; i++)
        type[i] = k->types.count ? (int32_t)gguf_take_word(&items, 4) : NORMAL;
    return type;
}

static float *read_scores(TokBuild *b, const Keys *k)
{
    float *score = arena_array(b->arena, (size_t)k->tokens.count, sizeof *score);
    GgufBytes items = k->scores.items;
    if (!k->scores.count) tok_refuse(b, "the GGUF file has no tokenizer.ggml.scores");
    for (uint64_t i = 0; i < k->scores.count && i < k->tokens.count; i++) {
        const uint32_t bits = (uint32_t)gguf_take_word(&items, 4);
        if (k->scores.items_type == GGUF_I32) score[i] = (float)(int32_t)bits;
        else memcpy(&score[i], &bits, sizeof bits);
    }
    return score;
}

static bool piece_fits(TokBuild *b, uint64_t id, GgufText text)
{
    if (text.n <= TOK_PIECE_MOST) return true;
    tok_refuse(b, "piece %llu is %zu bytes long; at most %d are supported", (unsigned long long)id, text.n, TOK_PIECE_MOST);
    return false;
}

static void read_tokens(TokBuild *b, const Keys *k)
{
    GgufBytes items = k->tokens.items;
    for (uint64_t i = 0; i < k->tokens.count && !tok_failed(b); i++) {
        const GgufText text = gguf_take_text(&items);
        if (piece_fits(b, i, text)) tok_piece(b, (int64_t)i, (TokString){ arena_copy(b->arena, text.s, text.n), text.n }, true);
    }
}

/* The id, or `preset` if it is below 0; -1 if there is no such piece. */
static int id_of(const TokBuild *b, int64_t id, int preset)
{
    if (id < 0) id = preset;
    return id >= 0 && id < b->size ? (int)id : -1;
}

/* Add the tokens that are matched in texts before the model runs, as in llama.cpp: control tokens
 * (type 3) such as </s>, and, with `user`, user-defined tokens (type 4). */
static void add_specials(TokBuild *b, const int32_t *type, bool user)
{
    for (int i = 0; i < b->size; i++) {
        TokPiece *p = &b->pieces.at[i];
        if ((type[i] != 3 && (type[i] != 4 || !user)) || !p->text.n) continue;
        if (type[i] == 3) p->kind |= TOK_SPECIAL;
        *TOK_NEW(b, &b->added) = (TokAdded){ p->text, (uint32_t)i, 0, false, type[i] == 3, false, false };
    }
}

/* Defaults are llama.cpp's. As in llama.cpp, an unused piece of a BPE model, such as the padding of
 * a vocabulary, is an ordinary piece, and what follows a user-defined token is encoded like a new
 * text. */
static void read_pieces(TokBuild *b, const Keys *k, bool unigram)
{
    TokSentencePieces s = { .unigram = unigram, .byte_fallback = true, .prefix = k->has_prefix ? k->prefix : true, .escape = true,
                            .no_extra_spaces = unigram && k->no_extra_spaces,
                            .charsmap = k->charsmap };
    read_tokens(b, k);
    s.score = read_scores(b, k);
    int32_t *type = read_types(b, k);
    const int32_t *said = read_types(b, k);
    for (uint64_t i = 0; i < k->tokens.count; i++)
        if (type[i] == USER || (type[i] == UNUSED && !unigram)) type[i] = NORMAL;
    s.type = type;
    s.bos = id_of(b, k->bos, unigram ? -1 : 1);
    s.eos = id_of(b, k->eos, unigram ? 1 : 2);
    s.unk = id_of(b, k->unk, unigram ? 2 : 0);
    s.add_bos = k->has_add_bos ? k->add_bos : !unigram;
    s.add_eos = k->has_add_eos ? k->add_eos : unigram;
    if (!tok_failed(b)) tok_sentencepiece(b, &s);
    if (!tok_failed(b)) add_specials(b, said, true);
}

static void read_byte_level(TokBuild *b, const Keys *k)
{
    GgufBytes items = k->merges.items;
    const bool begins = tok_gguf_words(b, k->pre);
    read_tokens(b, k);
    if (tok_failed(b)) return;
    tok_index(b);
    if (k->merges.type != GGUF_ARRAY) tok_refuse(b, "the GGUF file has no tokenizer.ggml.merges");
    for (uint64_t i = 0; i < k->merges.count && !tok_failed(b); i++) {
        const GgufText line = gguf_take_text(&items);
        if (line.n > TOK_PIECE_MOST + 1) {          /* two parts of one piece, and a space */
            tok_refuse(b, "merge %llu is %zu bytes long; at most %d are supported", (unsigned long long)i, line.n, TOK_PIECE_MOST + 1);
            return;
        }
        const char *space = line.n > 1 ? memchr(line.s + 1, ' ', line.n - 1) : NULL;
        TokString left = { line.s, space ? (size_t)(space - line.s) : 0 }, right = { space ? space + 1 : "", space ? line.n - left.n - 1 : 0 };
        TokString both = tok_string(arena_format(b->arena, "%.*s%.*s", (int)left.n, left.s, (int)right.n, right.s));
        const bool bytes = tok_bytes(b->arena, left, &left) && tok_bytes(b->arena, right, &right) && tok_bytes(b->arena, both, &both);
        const uint32_t l = bytes ? tok_id(b, left) : RT_TOK_NONE, r = bytes ? tok_id(b, right) : RT_TOK_NONE;
        const uint32_t m = bytes ? tok_id(b, both) : RT_TOK_NONE;
        if (l == RT_TOK_NONE || r == RT_TOK_NONE || m == RT_TOK_NONE)
            tok_refuse(b, "merge %llu is not a pair of pieces in the vocabulary that merge into a third", (unsigned long long)i);
        else tok_merge(b, l, r, (uint32_t)i, m);
    }
    b->head[TOK_HEAD_MODEL] = TOK_BPE;
    tok_decoder(b, (RtTokOp){ .kind = TOK_TO_BYTES });
    add_specials(b, read_types(b, k), true);
    const bool bos = k->has_add_bos ? k->add_bos : begins;
    if (bos && id_of(b, k->bos, -1) < 0)
        diag_remark(b->diag, (Loc){ b->file, 0, 0 }, "texts should begin with the "
                    "token of tokenizer.ggml.bos_token_id, but this id is missing or invalid; the token is left out");
    tok_template_ends(b, bos ? id_of(b, k->bos, -1) : -1, k->add_eos ? id_of(b, k->eos, -1) : -1);
}

/* The pieces that begin a word have a mark, and those that continue it have no "##": the reverse of
 * vocab.txt. User-defined tokens become added tokens. */
static void read_bert(TokBuild *b, const Keys *k)
{
    static const char mark[] = "\xE2\x96\x81";
    const int32_t *type = read_types(b, k);
    Text words = text_new(b->arena);
    GgufBytes items = k->tokens.items;
    TokConfig config = { 0 };
    for (uint64_t i = 0; i < k->tokens.count; i++) {
        const GgufText text = gguf_take_text(&items);
        const bool begins = text.n >= 3 && memcmp(text.s, mark, 3) == 0;
        if (!piece_fits(b, i, text)) return;
        if (memchr(text.s, '\n', text.n)) tok_refuse(b, "a token with a line break is not supported");
        if (!begins && type[i] == 1) text_add(&words, "##");
        text_add_bytes(&words, begins ? text.s + 3 : text.s, begins ? text.n - 3 : text.n);
        text_add(&words, "\n");
    }
    if (tok_failed(b) || !tok_import_words(b, words.data, words.size, &config)) return;
    for (int i = 0; i < b->size; i++)
        if (type[i] == USER) tok_add(b, (TokAdded){ .text = b->pieces.at[i].text, .id = (uint32_t)i });
}

/* The text of a special token; "" if there is none. */
static const char *mark_text(TokBuild *b, const Keys *k, int64_t id)
{
    GgufBytes items = k->tokens.items;
    GgufText text = { "", 0 };
    if (id < 0 || (uint64_t)id >= k->tokens.count) return "";
    for (int64_t i = 0; i <= id; i++) text = gguf_take_text(&items);
    return piece_fits(b, (uint64_t)id, text) ? arena_copy(b->arena, text.s, text.n) : "";
}

static void read_chat(TokBuild *b, const Keys *k)
{
    enum { MOST_BYTES = 4 << 20 };
    const bool long_text = k->chat.n > MOST_BYTES;
    if (!k->chat.n) return;
    if (long_text || memchr(k->chat.s, '\0', k->chat.n)) {
        diag_remark(b->diag, (Loc){ b->file, 0, 0 }, "tokenizer.chat_template is not used: it %s",
                    long_text ? "is longer than 4 MB" : "contains a zero byte");
        return;
    }
    b->chat.text = arena_copy(b->arena, k->chat.s, k->chat.n);
    b->chat.begin = mark_text(b, k, k->bos);
    b->chat.end = mark_text(b, k, k->eos);
}

bool tok_import_gguf(TokBuild *b, const char *data, size_t size)
{
    Keys k;
    if (!read_keys(b, data, size, &k)) return false;
    read_chat(b, &k);
    b->origin.rules = arena_format(b->arena, "tokenizer.ggml.model %s%s%s", gguf_shown(b->arena, k.model), k.pre.n ? ", pre " : "",
                                   k.pre.n ? gguf_shown(b->arena, k.pre) : "");
    if (gguf_is(k.model, "llama")) read_pieces(b, &k, false);
    else if (gguf_is(k.model, "t5")) read_pieces(b, &k, true);
    else if (gguf_is(k.model, "gpt2")) read_byte_level(b, &k);
    else if (gguf_is(k.model, "bert")) read_bert(b, &k);
    else
        tok_refuse(b, "tokenizer.ggml.model '%s' is not supported; llama, gpt2, bert and t5 are",
                   gguf_shown(b->arena, k.model));
    return !tok_failed(b);
}
