/* tokenizer_words.c: vocab.txt, the vocabulary of BERT's tokenizer: a piece a line, its number the id. The rest of the
 * pipeline is BERT's own, with the switches of tokenizer_config.json. */
#include <string.h>

#include "tokenizer_build.h"

static void add_special(TokBuild *b, const char *name, TokString given, uint32_t flags)
{
    const TokString text = given.s ? given : tok_string(name);
    const uint32_t id = tok_id(b, text);
    if (id == RT_TOK_NONE) return;
    b->pieces.at[id].kind |= TOK_SPECIAL;
    *TOK_NEW(b, &b->added) = (TokAdded){ text, id, flags, false, true, false };
}

/* Whether a piece that is no mark, [UNK] or the like, has a capital letter of ASCII. */
static bool has_capitals(const TokBuild *b)
{
    for (int i = 0; i < b->pieces.count; i++) {
        const TokString s = b->pieces.at[i].text;
        if (s.n && (s.s[0] == '[' || s.s[0] == '<')) continue;
        for (size_t k = 0; k < s.n; k++)
            if (s.s[k] >= 'A' && s.s[k] <= 'Z') return true;
    }
    return false;
}

/* As transformers does; but a vocabulary with capitals was made for texts that keep theirs. */
static void note_lowering(TokBuild *b)
{
    diag_remark(b->diag, (Loc){ b->file, 0, 0 },
                "it has words with capitals, but texts are lower-cased, as transformers does; "
                "\"do_lower_case\": false in a tokenizer_config.json beside it keeps capitals");
}

bool tok_import_words(TokBuild *b, const char *data, size_t size, const TokConfig *config)
{
    static const TokConfig none;
    const TokConfig *c = config ? config : &none;
    const bool lower = !c->has_do_lower_case || c->do_lower_case;
    const bool mpnet = c->class_name && strstr(c->class_name, "MPNet");          /* whose marks and template are RoBERTa's */
    for (size_t at = 0; at < size && !tok_failed(b);) {
        const char *end = memchr(data + at, '\n', size - at);
        size_t n = end ? (size_t)(end - (data + at)) : size - at;
        const size_t next = at + n + 1;
        if (n && data[at + n - 1] == '\r') n--;
        int32_t ch;
        for (size_t i = 0; i < n; i += (size_t)utf8_next(data + at + i, n - i, &ch))
            if (!utf8_next(data + at + i, n - i, &ch) || !ch) {
                diag_error(b->diag, EXIT_BAD_DATA, (Loc){ b->file, b->size + 1, (int)i + 1 }, ch ? "not UTF-8" : "a zero byte");
                return false;
            }
        tok_piece(b, b->size, (TokString){ arena_copy(b->arena, data + at, n), n }, true);
        at = next;
    }
    if (tok_failed(b)) return false;
    tok_index(b);
    const uint32_t unk = tok_id(b, c->unk.s ? c->unk : tok_string("[UNK]")), cls = tok_id(b, c->cls.s ? c->cls : tok_string("[CLS]")),
                   sep = tok_id(b, c->sep.s ? c->sep : tok_string("[SEP]"));
    if (unk == RT_TOK_NONE || cls == RT_TOK_NONE || sep == RT_TOK_NONE) {
        tok_refuse(b, "a vocabulary of BERT has [UNK], [CLS] and [SEP]; this has not");
        return false;
    }
    if (!c->has_do_lower_case && has_capitals(b)) note_lowering(b);
    b->head[TOK_HEAD_UNKNOWN] = unk;
    b->head[TOK_HEAD_MODEL] = TOK_WORDPIECE;
    b->head[TOK_HEAD_WORD_MOST] = 100;
    b->head[TOK_HEAD_PREFIX] = tok_pool(b, tok_string("##"));
    b->head[TOK_HEAD_PREFIX_BYTES] = 2;
    tok_bert_normaliser(b, true, !c->has_chinese || c->chinese, c->has_strip_accents ? c->strip_accents : lower, lower);
    tok_bert_split(b);
    RtTokOp words = tok_op(b, TOK_TO_WORDS, tok_string("##"));
    words.a = 1;
    tok_decoder(b, words);
    add_special(b, "[UNK]", c->unk, 0);
    add_special(b, "[CLS]", c->cls, 0);
    add_special(b, "[SEP]", c->sep, 0);
    add_special(b, "[PAD]", c->pad, 0);
    add_special(b, "[MASK]", c->mask, mpnet ? TOK_ADDED_LSTRIP : 0);
    if (mpnet) tok_template_roberta(b, cls, sep);
    else tok_template_bert(b, cls, sep);
    return !tok_failed(b);
}
