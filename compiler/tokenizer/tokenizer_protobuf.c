/* tokenizer_protobuf.c: SentencePiece's .model and .spm files, which are protobuf: pieces with scores and types, and the
 * settings of the model. */
#include <math.h>

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

/* The next field; false at the end, or at what is no protobuf. */
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
        else if (f.number == 3 && f.wire == 0) type = (int32_t)f.value;
    }
    p->bad = p->bad || m.bad || isnan(score);
    if (!tok_piece(b, b->size, text, true)) return;
    *TOK_NEW(b, &p->scores) = score;
    *TOK_NEW(b, &p->types) = type;
}

static void read_trainer(Proto *p, TokString bytes)
{
    Message m = message(bytes);
    for (Field f; take_field(&m, &f);) {
        if (f.wire) continue;
        if (f.number == 3) p->model_type = (int)f.value;
        else if (f.number == 24) p->suffix = f.value;
        else if (f.number == 35) p->s.byte_fallback = f.value;
        else if (f.number == 40) p->s.unk = (int)f.value;
        else if (f.number == 41) p->s.bos = (int)f.value;
        else if (f.number == 42) p->s.eos = (int)f.value;
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

static Proto read_proto(TokBuild *b, const char *data, size_t size)
{
    Proto p = { .s = { .prefix = true, .no_extra_spaces = true, .escape = true, .bos = 1, .eos = 2 }, .model_type = 1 };
    Message m = message((TokString){ data, size });
    for (Field f; !tok_failed(b) && take_field(&m, &f);) {
        if (f.wire != 2) continue;
        if (f.number == 1) read_piece(b, &p, f.bytes);
        else if (f.number == 2) read_trainer(&p, f.bytes);
        else if (f.number == 3) read_normaliser(&p, f.bytes);
    }
    p.bad = p.bad || m.bad;
    if (p.s.charsmap.s) p.s.charsmap.s = arena_copy(b->arena, p.s.charsmap.s, p.s.charsmap.n);
    p.s.score = p.scores.at;
    p.s.type = p.types.at;
    return p;
}

/* Pieces of bytes are there where the model says byte_fallback, and only there. */
static void check_bytes(TokBuild *b, const Proto *p)
{
    int first = 0;
    while (first < b->size && p->types.at[first] != TYPE_BYTE) first++;
    if (first < b->size && !p->s.byte_fallback)
        tok_refuse(b, "piece %d is of the type of bytes, but the model does not say byte_fallback", first);
    else if (first == b->size && p->s.byte_fallback)
        tok_refuse(b, "the model says byte_fallback, but has no pieces of bytes");
}

bool tok_import_sentencepiece(TokBuild *b, const char *data, size_t size, const TokConfig *config)
{
    Proto p = read_proto(b, data, size);
    if (tok_failed(b)) return false;
    if (p.bad) tok_refuse(b, "not a SentencePiece model: it ends in the middle, or holds what is no field");
    else if (!b->size) tok_refuse(b, "not a SentencePiece model: no pieces");
    else if (p.model_type != 1 && p.model_type != 2)
        tok_refuse(b, "a SentencePiece model of type %d is not supported; 1 (unigram) and 2 (BPE) are", p.model_type);
    else if (p.suffix) tok_refuse(b, "treat_whitespace_as_suffix is not supported");
    else check_bytes(b, &p);
    if (tok_failed(b)) return false;
    p.s.unigram = p.model_type == 1;
    if (p.s.bos >= b->size || p.s.bos < -1) p.s.bos = -1;
    if (p.s.eos >= b->size || p.s.eos < -1) p.s.eos = -1;
    p.s.add_bos = config && config->has_add_bos ? config->add_bos : !p.s.unigram;
    p.s.add_eos = config && config->has_add_eos ? config->add_eos : p.s.unigram;
    return config && config->folder.path ? tok_lay_pieces(b, &p.s, config) : tok_sentencepiece(b, &p.s);
}
