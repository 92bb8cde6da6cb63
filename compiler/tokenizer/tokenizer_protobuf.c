/* tokenizer_protobuf.c: import SentencePiece's .model and .spm files, which are protobuf: pieces
 * with scores and types, and the settings of the model. */
#include <math.h>
#include <string.h>

#include "tokenizer_build.h"

typedef struct Field { uint32_t number; int wire; uint64_t value; TokString bytes; } Field;
typedef struct Message { const unsigned char *s; size_t n; bool bad; } Message;

static uint64_t take_varint(Message *m)
{
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (!m->n) break;
        const unsigned char byte = *m->s++;
        m->n--;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80)) return value;
    }
    m->bad = true;
    return 0;
}

/* Read the next field; false at the end, or if the data is not protobuf (m->bad). */
static bool take_field(Message *m, Field *f)
{
    if (!m->n || m->bad) return false;
    const uint64_t tag = take_varint(m);
    *f = (Field){ .number = (uint32_t)(tag >> 3), .wire = (int)(tag & 7) };
    size_t bytes = 0;
    switch (f->wire) {
    case 0: f->value = take_varint(m); break;
    case 1: bytes = 8; break;
    case 5: bytes = 4; break;
    case 2: {
        const uint64_t n = take_varint(m);
        bytes = n > m->n ? m->n + 1 : (size_t)n;
        break;
    }
    default: m->bad = true;
    }
    if (bytes > m->n || !f->number) m->bad = true;
    if (m->bad) return false;
    f->bytes = (TokString){ (const char *)m->s, bytes };
    for (size_t i = 0; f->wire != 2 && i < bytes; i++) f->value |= (uint64_t)m->s[i] << 8 * i;
    m->s += bytes;
    m->n -= bytes;
    return true;
}

static Message message(TokString s) { return (Message){ (const unsigned char *)s.s, s.n, false }; }

typedef struct Proto {
    TokSentencePieces s;
    int model_type;
    bool suffix, bad;
    TokString bos, eos;             /* texts of their pieces; n 0: not given */
    TokString denormaliser;         /* its charsmap */
    TOK_LIST(float) scores;
    TOK_LIST(int32_t) types;
} Proto;

static void read_piece(TokBuild *b, Proto *p, TokString bytes)
{
    Message m = message(bytes);
    TokString text = { "", 0 };
    float score = 0;
    int32_t type = TYPE_NORMAL;
    for (Field f; take_field(&m, &f);) {
        if (f.number == 1 && f.wire == 2) text = (TokString){ arena_copy(b->arena, f.bytes.s, f.bytes.n), f.bytes.n };
        else if (f.number == 2 && f.wire == 5) score = tok_float((uint32_t)f.value);
        else if (f.number == 3 && f.wire == 0 && f.value >= TYPE_NORMAL && f.value <= TYPE_BYTE)
            /* protobuf ignores other values */
            type = (int32_t)f.value;
    }
    p->bad = p->bad || m.bad;
    if (!tok_piece(b, b->size, text, true)) return;
    *TOK_NEW(b, &p->scores) = score;
    *TOK_NEW(b, &p->types) = type;
}

static void read_trainer(Proto *p, TokString bytes)
{
    Message m = message(bytes);
    for (Field f; take_field(&m, &f);) {
        if (f.number == 46 && f.wire == 2) p->bos = f.bytes;
        else if (f.number == 47 && f.wire == 2) p->eos = f.bytes;
        if (f.wire) continue;
        if (f.number == 3 && f.value >= 1 && f.value <= 4) p->model_type = (int)f.value;
        else if (f.number == 24) p->suffix = f.value;
        else if (f.number == 35) p->s.byte_fallback = f.value;
    }
    p->bad = p->bad || m.bad;
}

static void read_normaliser(Proto *p, TokString bytes)
{
    Message m = message(bytes);
    for (Field f; take_field(&m, &f);) {
        if (f.number == 2 && f.wire == 2) p->s.charsmap = f.bytes;
        else if (f.number == 3 && f.wire == 0) p->s.prefix = f.value;
        else if (f.number == 4 && f.wire == 0) p->s.no_extra_spaces = f.value;
        else if (f.number == 5 && f.wire == 0) p->s.escape = f.value;
    }
    p->bad = p->bad || m.bad;
}

/* The denormalizer changes decoded texts. Without a charsmap, the library ignores its other
 * settings. */
static void read_denormaliser(Proto *p, TokString bytes)
{
    Message m = message(bytes);
    for (Field f; take_field(&m, &f);)
        if (f.number == 2 && f.wire == 2) p->denormaliser = f.bytes;
    p->bad = p->bad || m.bad;
}

static Proto read_proto(TokBuild *b, const char *data, size_t size)
{
    Proto p = { .s = { .prefix = true, .no_extra_spaces = true, .escape = true,
                      .bos = -1, .eos = -1, .unk = -1 }, .model_type = 1 };
    Message m = message((TokString){ data, size });
    for (Field f; !tok_failed(b) && take_field(&m, &f);) {
        if (f.wire != 2) continue;
        if (f.number == 1) read_piece(b, &p, f.bytes);
        else if (f.number == 2) read_trainer(&p, f.bytes);
        else if (f.number == 3) read_normaliser(&p, f.bytes);
        else if (f.number == 5) read_denormaliser(&p, f.bytes);
    }
    p.bad = p.bad || m.bad;
    if (p.s.charsmap.s) p.s.charsmap.s = arena_copy(b->arena, p.s.charsmap.s, p.s.charsmap.n);
    p.s.score = p.scores.at;
    p.s.type = p.types.at;
    return p;
}

/* ---- what the library refuses -------------------------------------------------------------------- */

static bool is_known(int32_t type)
{
    return type == TYPE_NORMAL || type == TYPE_USER || type == TYPE_UNUSED;
}

/* Report the first piece that is empty, has a zero byte or has the text of an earlier piece in its
 * table. The library keeps the pieces of a unigram in two tables, by type, and those of a BPE in
 * one. */
static void check_texts(TokBuild *b, const Proto *p)
{
    TokTexts seen[2] = { 0 };
    for (int i = 0; i < b->size && !tok_failed(b); i++) {
        const TokString text = b->pieces.at[i].text;
        TokTexts *list = &seen[p->s.unigram && is_known(p->types.at[i])];
        const uint32_t first = tok_texts_find(list, text);
        if (!text.n) tok_refuse(b, "piece %d is empty", i);
        else if (memchr(text.s, '\0', text.n)) tok_refuse(b, "piece %d has a zero byte", i);
        else if (first != RT_TOK_NONE)
            tok_refuse(b, "the pieces %u and %d are both \"%.60s\"", first, i, text.s);
        tok_texts_put(b->arena, list, text, (uint32_t)i);
    }
}

/* A BPE only compares scores, so they may be infinite; a unigram adds them, so they may not. */
static void check_scores(TokBuild *b, const Proto *p)
{
    for (int i = 0; i < b->size && !tok_failed(b); i++) {
        const float score = p->scores.at[i];
        if (isnan(score)) tok_refuse(b, "the score of piece %d is NaN", i);
        else if (isinf(score) && p->s.unigram)
            tok_refuse(b, "the score of piece %d is infinite", i);
    }
}

/* The unknown piece is the one of that type, regardless of the trainer's unk_id. With byte_fallback
 * there may be none. */
static void find_unknown(TokBuild *b, Proto *p)
{
    for (int i = 0; i < b->size && !tok_failed(b); i++) {
        if (p->types.at[i] != TYPE_UNKNOWN) continue;
        if (p->s.unk >= 0)
            tok_refuse(b, "the pieces %d and %d are both of the type unknown", p->s.unk, i);
        p->s.unk = i;
    }
    if (!tok_failed(b) && p->s.unk < 0 && !p->s.byte_fallback)
        tok_refuse(b, "no piece is of the type unknown");
}

/* The last control piece with this text, or -1. */
static int find_control(const TokBuild *b, const Proto *p, TokString text)
{
    int i = b->size - 1;
    while (i >= 0 && (p->types.at[i] != TYPE_CONTROL || !tok_same(b->pieces.at[i].text, text))) i--;
    return i;
}

/* The model must have byte pieces if, and only if, it has byte_fallback. */
static void check_bytes(TokBuild *b, const Proto *p)
{
    int first = 0;
    while (first < b->size && p->types.at[first] != TYPE_BYTE) first++;
    if (first < b->size && !p->s.byte_fallback)
        tok_refuse(b, "piece %d is of the type byte, but the model does not set byte_fallback", first);
    else if (first == b->size && p->s.byte_fallback)
        tok_refuse(b, "the model sets byte_fallback, but has no byte pieces");
}

static void check(TokBuild *b, Proto *p)
{
    bool any = false, normal = false;
    for (int i = 0; i < b->size; i++) {
        any = any || is_known(p->types.at[i]);
        normal = normal || p->types.at[i] == TYPE_NORMAL;
    }
    check_texts(b, p);
    check_scores(b, p);
    find_unknown(b, p);
    if (!tok_failed(b)) check_bytes(b, p);
    if (!tok_failed(b) && !any && p->s.unigram) tok_refuse(b, "the model has no text pieces");
    else if (!tok_failed(b) && !normal && p->s.unigram)
        tok_refuse(b, "a unigram model without normal pieces is not supported");
    if (!tok_failed(b) && p->s.charsmap.n && !tok_charsmap_is_whole(p->s.charsmap))
        tok_refuse(b, "precompiled_charsmap is damaged");
    if (!tok_failed(b) && p->denormaliser.n)
        tok_refuse(b, "a denormalizer_spec with a precompiled_charsmap is not supported");
}

bool tok_import_sentencepiece(TokBuild *b, const char *data, size_t size, const TokConfig *config)
{
    Proto p = read_proto(b, data, size);
    if (tok_failed(b)) return false;
    if (p.bad) tok_refuse(b, "not a SentencePiece model: truncated, or with an invalid field");
    else if (!b->size) tok_refuse(b, "not a SentencePiece model: no pieces");
    else if (p.model_type != 1 && p.model_type != 2)
        tok_refuse(b, "a SentencePiece model of type %d is not supported; 1 (unigram) and 2 (BPE) are", p.model_type);
    else if (p.suffix) tok_refuse(b, "treat_whitespace_as_suffix is not supported");
    p.s.unigram = p.model_type == 1;
    if (!tok_failed(b)) check(b, &p);
    if (tok_failed(b)) return false;
    p.s.bos = find_control(b, &p, p.bos.n ? p.bos : tok_string("<s>"));
    p.s.eos = find_control(b, &p, p.eos.n ? p.eos : tok_string("</s>"));
    p.s.add_bos = config && config->has_add_bos ? config->add_bos : !p.s.unigram;
    p.s.add_eos = config && config->has_add_eos ? config->add_eos : p.s.unigram;
    p.s.alone = !config || !config->folder.path;
    return p.s.alone ? tok_sentencepiece(b, &p.s) : tok_lay_pieces(b, &p.s, config);
}
