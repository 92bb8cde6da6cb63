/* rt_tokenizer_split.c: split a text into words. Each split passes its parts to the next split, and
 * the last passes them to the model, so no list of words is kept. Empty parts are left out. */
#include "rt_tokenizer_parts.h"

static void word(TokWork *w, const TokText *x, size_t begin, size_t end)
{
    switch ((RtTokModel)w->t->head[TOK_HEAD_MODEL]) {
    case TOK_BPE:       rt_tok_bpe(w, x, begin, end); break;
    case TOK_UNIGRAM:   rt_tok_unigram(w, x, begin, end); break;
    case TOK_WORDPIECE: rt_tok_wordpiece(w, x, begin, end); break;
    case TOK_WORDS:     rt_tok_words(w, x, begin, end); break;
    case TOK_MODELS:    break;
    }
}

/* ---- by a pattern ------------------------------------------------------------------------------------------ */

/* Joins matches and the text between them into parts. held: begin .. end is a part that may still
 * grow. */
typedef struct Parts {
    TokWork *w;
    const TokText *x;
    uint32_t step;
    RtTokBehaviour behaviour;
    size_t begin, end;
    bool held, matched;
} Parts;

static void release(Parts *p)
{
    if (p->held) rt_tok_split(p->w, p->x, p->begin, p->end, p->step + 1);
    p->held = false;
}

static void hold(Parts *p, size_t begin, size_t end, bool matched)
{
    p->begin = begin;
    p->end = end;
    p->matched = matched;
    p->held = true;
}

static void part(Parts *p, size_t begin, size_t end, bool matched)
{
    bool join = false;
    if (begin == end) return;
    switch (p->behaviour) {
    case TOK_REMOVED:
    case TOK_ISOLATED:        break;
    case TOK_CONTIGUOUS:      join = p->held && p->matched == matched; break;
    case TOK_MERGED_PREVIOUS: join = p->held && matched && !p->matched; break;
    case TOK_MERGED_NEXT:     join = p->held && !matched && p->matched; break;
    case TOK_BEHAVIOURS:      break;
    }
    if (join) {
        p->end = end;
        p->matched = matched || p->behaviour == TOK_MERGED_PREVIOUS;
        return;
    }
    release(p);
    if (!matched || p->behaviour != TOK_REMOVED) hold(p, begin, end, matched);
}

static void split_by_pattern(TokWork *w, const RtTokOp *op, const TokText *x, size_t begin, size_t end, uint32_t step)
{
    Parts p = { .w = w, .x = x, .step = step, .behaviour = (RtTokBehaviour)op->b };
    const unsigned char *s = x->s + begin;
    const size_t n = end - begin;
    const bool matched = !op->c;
    const size_t used = w->used;
    size_t from = 0, at = 0;
    TokMatcher matcher;
    if (!rt_tok_matcher(w, &matcher, op->a, s, n)) return;
    while (at < n && w->status == RT_OK) {
        const size_t to = rt_tok_match(&matcher, at);
        if (to == SIZE_MAX || to == at) {
            int32_t c;
            at += (size_t)rt_tok_character(s + at, n - at, &c);
            continue;
        }
        part(&p, begin + from, begin + at, !matched);
        part(&p, begin + at, begin + to, matched);
        from = at = to;
    }
    part(&p, begin + from, end, !matched);
    release(&p);
    w->used = used;
}

/* ---- by copies that differ --------------------------------------------------------------------------------- */

static void copy_from(TokWork *w, TokText *to, const TokText *x, size_t i, size_t n)
{
    if (n > to->cap - to->n) {
        w->status = RT_NO_ROOM;
        return;
    }
    if (!n) return;
    memcpy(to->s + to->n, x->s + i, n);
    for (size_t k = 0; to->begin && k < n; k++) {
        to->begin[to->n + k] = rt_tok_begin(x, i + k);
        to->end[to->n + k] = rt_tok_end(x, i + k);
    }
    to->n += n;
}

/* Put s[n] before a text; s gets the origin of the text's first character. */
static void add_before(TokWork *w, TokText *to, const unsigned char *s, size_t n, const TokText *x, size_t begin, size_t end)
{
    int32_t c;
    const size_t length = (size_t)rt_tok_character(x->s + begin, end - begin, &c);
    rt_tok_add(w, to, s, n, rt_tok_begin(x, begin), rt_tok_end(x, begin + length - 1));
}

static void prefix_space(TokWork *w, const TokText *x, size_t begin, size_t end, uint32_t step)
{
    const size_t used = w->used;
    TokText copy;
    if (x->s[begin] == ' ') {
        rt_tok_split(w, x, begin, end, step + 1);
        return;
    }
    if (!rt_tok_new(w, &copy, end - begin + 1)) return;
    add_before(w, &copy, (const unsigned char *)" ", 1, x, begin, end);
    copy_from(w, &copy, x, begin, end - begin);
    rt_tok_split(w, &copy, 0, copy.n, step + 1);
    w->used = used;
}

static size_t spaces_in(const unsigned char *s, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += s[i] == ' ';
    return count;
}

static void metaspace(TokWork *w, const RtTokOp *op, const TokText *x, size_t begin, size_t end, uint32_t step)
{
    const unsigned char *mark = rt_tok_text(w->t, op->text), *s = x->s + begin;
    const size_t used = w->used, n = end - begin, m = op->text_bytes;
    const bool marked = s[0] == ' ' || (n >= m && memcmp(s, mark, m) == 0);
    const bool first = op->a == TOK_PREPEND_ALWAYS || (op->a == TOK_PREPEND_FIRST && rt_tok_begin(x, begin) == 0);
    TokText copy;
    if (!rt_tok_new(w, &copy, n + (spaces_in(s, n) + 1) * m)) return;
    if (!marked && first) add_before(w, &copy, mark, m, x, begin, end);
    for (size_t i = begin, from = begin; i <= end; i++) {
        if (i < end && x->s[i] != ' ') continue;
        copy_from(w, &copy, x, from, i - from);
        if (i < end) rt_tok_add(w, &copy, mark, m, rt_tok_begin(x, i), rt_tok_end(x, i));
        from = i + 1;
    }
    rt_tok_split(w, &copy, 0, copy.n, step + 1);
    w->used = used;
}

void rt_tok_split(TokWork *w, const TokText *x, size_t begin, size_t end, uint32_t step)
{
    if (begin == end || w->status != RT_OK) return;
    if (step == w->t->head[TOK_HEAD_SPLITS]) {
        word(w, x, begin, end);
        return;
    }
    const RtTokOp op = rt_tok_op(w->t, w->t->head[TOK_HEAD_NORMALISERS] + step);
    if (op.kind == TOK_SPLIT) split_by_pattern(w, &op, x, begin, end, step);
    else if (op.kind == TOK_PREFIX_SPACE) prefix_space(w, x, begin, end, step);
    else if (op.kind == TOK_METASPACE) metaspace(w, &op, x, begin, end, step);
}
