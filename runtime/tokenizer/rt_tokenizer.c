/* rt_tokenizer.c: text to ids. Invalid UTF-8 is replaced; added tokens are found before the
 * normalisers run, and after them; the text between is split into words, which the model turns into
 * ids. The template adds what surrounds a text. */
#include "rt_tokenizer_parts.h"

/* ---- UTF-8 -------------------------------------------------------------------------------------------------- */

static size_t valid_bytes(const unsigned char *s, size_t n)
{
    size_t at = 0;
    for (int32_t c; at < n && !rt_tok_broken(s + at, n - at);) at += (size_t)rt_tok_character(s + at, n - at, &c);
    return at;
}

/* Set x to the text itself or, if that has invalid UTF-8, to a copy with U+FFFD (three bytes) for
 * each invalid sequence. */
static bool mend(TokWork *w, TokText *x, const char *text, size_t n)
{
    unsigned char *s = (unsigned char *)(uintptr_t)text;        /* never written to */
    const bool origin = w->origin;
    *x = (TokText){ .s = s, .n = n, .cap = n };
    if (valid_bytes(s, n) == n) return true;
    /* The offsets in the copy are not those in the text. */
    w->origin = true;
    if (rt_tok_new(w, x, 3 * n))
        for (size_t at = 0, length; at < n; at += length) {
            int32_t c;
            const int broken = rt_tok_broken(s + at, n - at);
            length = broken ? (size_t)broken : (size_t)rt_tok_character(s + at, n - at, &c);
            rt_tok_add_character(w, x, broken ? 0xFFFD : (rt_tok_character(s + at, n - at, &c), c), (uint32_t)at, (uint32_t)(at + length));
        }
    w->origin = origin;
    if (!origin) x->begin = x->end = NULL;
    return w->status == RT_OK;
}

/* True if texts must carry their origin. */
static bool carries_origin(const RtTokenizer *t, bool spans) { return spans || t->literal_count > 0 || rt_tok_flag(t, TOK_KEEP_ORIGIN); }

/* ---- added tokens ------------------------------------------------------------------------------------------- */

/* An added token. begin, end: with the white space that it takes; from, to: without. */
typedef struct Found { size_t begin, end; uint32_t id; size_t from, to; uint32_t flags; } Found;

static bool is_word(const RtTokenizer *t, int32_t c)
{
    return t->head[TOK_HEAD_WORD_CLASS] != RT_TOK_NONE && rt_tok_in_class(t, t->head[TOK_HEAD_WORD_CLASS], c);
}

static bool stands_alone(const RtTokenizer *t, const TokText *x, size_t begin, size_t end)
{
    int32_t c;
    const size_t before = begin ? rt_tok_back(x->s, begin) : 0;
    if (begin && rt_tok_character(x->s + before, begin - before, &c) && is_word(t, c)) return false;
    return end >= x->n || (rt_tok_character(x->s + end, x->n - end, &c) && !is_word(t, c));
}

/* Extend a token over the white space before and after it, if its flags ask for that, but not
 * before `least`. If it is inside white space that the previous token has taken, it may become
 * empty. */
static void swallow(const TokText *x, uint32_t flags, size_t least, Found *f)
{
    int32_t c;
    for (size_t at; flags & TOK_ADDED_LSTRIP && f->begin > least; f->begin = at) {
        at = rt_tok_back(x->s, f->begin);
        if (rt_tok_character(x->s + at, f->begin - at, &c), !rt_tok_space(c)) break;
    }
    /* The previous token has taken only white space between the end of this one and `least`. */
    if (flags & TOK_ADDED_RSTRIP && f->end < least) f->end = least;
    for (int n; flags & TOK_ADDED_RSTRIP && f->end < x->n; f->end += (size_t)n) {
        n = rt_tok_character(x->s + f->end, x->n - f->end, &c);
        if (!rt_tok_space(c)) break;
    }
    if (flags & TOK_ADDED_LSTRIP && f->begin < least) f->begin = least;
    if (f->end < f->begin) f->end = f->begin;
}

/* Find the longest entry at `at`. Returns its end, or 0 if there is none; *entry receives its
 * number. */
static size_t longest_at(const RtTokenizer *t, RtTokSection trie, const TokText *x, size_t at, uint32_t *entry)
{
    size_t end = 0;
    uint32_t state = 0;
    for (size_t i = at; i < x->n; i++) {
        if ((state = rt_tok_step(t, trie, state, x->s[i])) == RT_TOK_NONE) break;
        const uint32_t value = rt_tok_value(t, trie, state);
        if (value == RT_TOK_NONE) continue;
        *entry = value;
        end = i + 1;
    }
    return end;
}

/* True if a special token that was found in x is to be plain text (rt_tokenizer_literal). */
static bool is_literal(const RtTokenizer *t, const TokText *x, size_t begin, size_t end, uint32_t id)
{
    if (!t->literal_count || !rt_tokenizer_special(t, (int)id)) return false;
    const uint32_t from = rt_tok_begin(x, begin), to = rt_tok_end(x, end - 1);
    bool inside = t->literal_count < 0;
    for (int i = 0; i < t->literal_count && !inside; i++) inside = from < t->literal[2 * i + 1] && to > t->literal[2 * i];
    return inside;
}

/* Find the next added token from *from on, and set *from to where to search next. Text before
 * `least` is used up. */
static bool find_added(const RtTokenizer *t, RtTokSection trie, const TokText *x, size_t least, size_t *from, Found *f)
{
    if (!t->bytes[trie]) return false;
    for (size_t at = *from; at < x->n; at++) {
        uint32_t entry = 0;
        const size_t end = longest_at(t, trie, x, at, &entry);
        if (!end) continue;
        const uint32_t flags = rt_tok_at(t, TOK_ADDED, 2 * (size_t)entry + 1);
        if (flags & TOK_ADDED_PIECE) continue;
        *from = end;
        const bool again = f->flags & TOK_ADDED_FIRST;
        if (flags & TOK_ADDED_FIRST && (at != least || again)) continue;
        *f = (Found){ at, end, rt_tok_at(t, TOK_ADDED, 2 * (size_t)entry), at, end, flags };
        if ((flags & TOK_ADDED_SINGLE_WORD && !stands_alone(t, x, at, end)) || is_literal(t, x, at, end, f->id)) {
            at = end - 1;
            continue;
        }
        swallow(x, flags, least, f);
        return true;
    }
    return false;
}

static void push_added(TokWork *w, const Found *f, const TokText *x)
{
    const bool trims = rt_tok_flag(w->t, TOK_TRIM_SPANS);
    const bool keeps = !trims || (rt_tok_flag(w->t, TOK_TRIM_KEEPS_FIRST) && rt_tok_begin(x, f->begin) == 0);
    rt_tok_push(w, f->id, x, keeps ? f->begin : f->from, trims ? f->to : f->end);
}

typedef void Between(TokWork *w, const TokText *x, size_t begin, size_t end);

/* Push the added tokens of x, and pass the text between them to `between`. As in Hugging Face, a
 * token is also found in white space that the previous one has taken. */
static void around_added(TokWork *w, RtTokSection trie, const TokText *x, Between *between)
{
    size_t done = 0, from = 0;
    for (Found f = { 0 }; w->status == RT_OK && find_added(w->t, trie, x, done, &from, &f);) {
        if (done < f.begin) between(w, x, done, f.begin);
        if (f.begin < f.end) push_added(w, &f, x);
        done = f.end;
    }
    if (done < x->n && w->status == RT_OK) between(w, x, done, x->n);
}

static TokText part_of(const TokText *x, size_t begin, size_t end)
{
    TokText part = { .s = x->s + begin, .offset = x->offset + (uint32_t)begin, .n = end - begin, .cap = end - begin };
    if (x->begin) {
        part.begin = x->begin + begin;
        part.end = x->end + begin;
    }
    return part;
}

static void into_words(TokWork *w, const TokText *x, size_t begin, size_t end) { rt_tok_split(w, x, begin, end, 0); }

static void normalise_part(TokWork *w, const TokText *x, size_t begin, size_t end)
{
    const size_t used = w->used;
    TokText part = part_of(x, begin, end);
    rt_tok_normalise(w, &part);
    if (w->status == RT_OK) around_added(w, TOK_ADDED_NORMAL, &part, into_words);
    w->used = used;
}

static void encode_text(TokWork *w, const char *text, size_t bytes)
{
    const size_t used = w->used;
    TokText x;
    if (bytes && mend(w, &x, text, bytes)) around_added(w, TOK_ADDED_RAW, &x, normalise_part);
    w->used = used;
}

/* ---- the template ------------------------------------------------------------------------------------------- */

/* How many ids of texts fit next to a target language and the special tokens of `count` template
 * items from `first` on, which are left out with `plain`; INT32_MAX if texts are not cut. */
static int most_ids(const RtTokenizer *t, uint32_t first, uint32_t count, bool plain)
{
    int specials = t->target != RT_TOK_NONE;
    for (uint32_t i = first; !plain && i < first + count; i++) specials += rt_tok_at(t, TOK_TEMPLATE, 3 * (size_t)i) == TOK_ITEM_SPECIAL;
    if (!t->head[TOK_HEAD_MOST_IDS]) return INT32_MAX;
    const int most = (int)t->head[TOK_HEAD_MOST_IDS] - specials;
    return most > 0 ? most : 0;
}

/* Count the ids of a text, without writing them. */
static int count_ids(TokWork *w, const char *text, size_t bytes)
{
    const RtTokens none = { NULL, NULL, NULL, 0, NULL }, *const out = w->out;
    const int before = w->n;
    w->out = &none;
    w->n = 0;
    encode_text(w, text, bytes);
    const int count = w->n;
    w->out = out;
    w->n = before;
    return count;
}

/* Encode a text, cut to its first `most` ids or, with TOK_CUT_LEFT, to its last. */
static void encode_cut(TokWork *w, const char *text, size_t bytes, int most)
{
    const int first = w->n, n = most < INT32_MAX && rt_tok_flag(w->t, TOK_CUT_LEFT) ? count_ids(w, text, bytes) : 0;
    w->skip = n > most ? n - most : 0;
    encode_text(w, text, bytes);
    if (w->n - first > most) w->n = first + most;
    if (w->out->spans && w->status == RT_OK) rt_tok_settle_spans(w, text, bytes, first);
}

/* The first text, after the prompt if there is one; NULL if the scratch is too small. */
static const char *prompted(TokWork *w, const RtTokenText *text, size_t *bytes)
{
    const size_t prompt = w->t->prompt_bytes;
    *bytes = prompt + text->bytes;
    if (!prompt) return text->text;
    char *joined = rt_tok_take(w, *bytes);
    if (!joined) return NULL;
    memcpy(joined, w->t->prompt, prompt);
    if (text->bytes) memcpy(joined + prompt, text->text, text->bytes);
    return joined;
}

static RtTokenSpan moved(RtTokenSpan x, uint32_t back)
{
    return (RtTokenSpan){ x.begin > back ? x.begin - back : 0, x.end > back ? x.end - back : 0 };
}

/* Convert spans in the joined text to spans in the text itself; those in the prompt become 0, 0. */
static void leave_prompt_out(TokWork *w, const char *joined, int first)
{
    const RtTokens *out = w->out;
    const uint32_t prompt = w->t->prompt_bytes;
    uint32_t characters = 0;
    for (uint32_t i = 0; i < prompt; i++) characters += ((unsigned char)joined[i] & 0xC0) != 0x80;
    for (int i = first; i < w->n && i < out->room; i++) {
        out->spans[i] = moved(out->spans[i], prompt);
        if (out->characters) out->characters[i] = moved(out->characters[i], characters);
    }
}

/* Encode the text, or the first of a pair. */
static void encode_first(TokWork *w, const RtTokenText *text, int most)
{
    const size_t used = w->used;
    const int first = w->n;
    size_t bytes;
    const char *joined = prompted(w, text, &bytes);
    if (!joined && bytes) return;
    if (w->t->target != RT_TOK_NONE) rt_tok_push(w, w->t->target, NULL, 0, 0);
    encode_cut(w, joined, bytes, most);
    if (w->out->spans && w->t->prompt_bytes) leave_prompt_out(w, joined, first);
    w->used = used;
}

typedef struct Lengths { int text, other; } Lengths;

/* How many ids of each text of a pair to keep, if together they may have `most`: the longer is cut
 * first. */
static Lengths cut_pair(Lengths n, int most)
{
    const bool swap = n.text > n.other;
    /* text: the shorter one. */
    Lengths kept = { swap ? n.other : n.text, swap ? n.text : n.other };
    if ((int64_t)n.text + n.other <= most) return n;
    if (kept.text > most) kept.other = kept.text;
    else kept.other = kept.text > most - kept.text ? kept.text : most - kept.text;
    if ((int64_t)kept.text + kept.other > most) kept = (Lengths){ most / 2, most / 2 + most % 2 };
    return swap ? (Lengths){ kept.other, kept.text } : kept;
}

static Lengths lengths_kept(TokWork *w, const RtTokenText *text, int most)
{
    if (!text->other || most == INT32_MAX) return (Lengths){ most, most };
    const size_t used = w->used;
    size_t bytes;
    const char *joined = prompted(w, text, &bytes);
    const int n = joined ? count_ids(w, joined, bytes) : 0;
    w->used = used;
    return cut_pair((Lengths){ n, count_ids(w, text->other, text->other_bytes) }, most);
}

/* The token of a template's item; instead of a language token, the source language, if set. */
static uint32_t special_of(const RtTokenizer *t, uint32_t item)
{
    const uint32_t id = rt_tok_at(t, TOK_TEMPLATE, 3 * (size_t)item + 1);
    return t->source != RT_TOK_NONE && rt_tokenizer_is_language(t, (int)id) ? t->source : id;
}

static void encode_template(TokWork *w, const RtTokenText *text)
{
    const uint32_t *h = w->t->head;
    const uint32_t first = text->other ? h[TOK_HEAD_SINGLE] : 0, count = text->other ? h[TOK_HEAD_PAIR] : h[TOK_HEAD_SINGLE];
    const Lengths most = lengths_kept(w, text, most_ids(w->t, first, count, false));
    for (uint32_t i = first; i < first + count && w->status == RT_OK; i++) {
        const uint32_t kind = rt_tok_at(w->t, TOK_TEMPLATE, 3 * (size_t)i);
        w->type = rt_tok_at(w->t, TOK_TEMPLATE, 3 * (size_t)i + 2);
        if (kind == TOK_ITEM_SPECIAL) rt_tok_push(w, special_of(w->t, i), NULL, 0, 0);
        else if (kind == TOK_ITEM_A) encode_first(w, text, most.text);
        else encode_cut(w, text->other, text->other_bytes, most.other);
    }
}

rt_status rt_tokenizer_encode(const RtTokenizer *t, const RtTokenText *text, const RtTokens *out, int *n, void *scratch, size_t scratch_bytes)
{
    TokWork w = { .t = t, .out = out, .status = RT_OK, .scratch = scratch, .cap = scratch_bytes };
    w.origin = carries_origin(t, out->spans != NULL);
    if (!text->plain) encode_template(&w, text);
    else {
        encode_first(&w, text, text->other ? INT32_MAX : most_ids(t, 0, t->head[TOK_HEAD_SINGLE], true));
        w.type = 1;
        if (text->other) encode_cut(&w, text->other, text->other_bytes, INT32_MAX);
    }
    *n = w.n;
    return w.status == RT_OK && w.n > out->room ? RT_TOO_LONG : w.status;
}

int rt_tokenizer_begins_twice(const RtTokenizer *t, const int *ids, int n)
{
    if (n < 2 || ids[0] != ids[1] || t->head[TOK_HEAD_SINGLE] < 2) return 0;
    return rt_tok_at(t, TOK_TEMPLATE, 0) == TOK_ITEM_SPECIAL && rt_tok_at(t, TOK_TEMPLATE, 1) == (uint32_t)ids[0] &&
           rt_tok_at(t, TOK_TEMPLATE, 3) == TOK_ITEM_A;
}

rt_status rt_tokenizer_normalise(const RtTokenizer *t, const char *text, size_t bytes, char *out, size_t cap, size_t *used,
                                 void *scratch, size_t scratch_bytes)
{
    TokWork w = { .t = t, .status = RT_OK, .scratch = scratch, .cap = scratch_bytes };
    TokText x;
    *used = 0;
    if (!bytes || !mend(&w, &x, text, bytes)) return w.status;
    rt_tok_normalise(&w, &x);
    if (w.status != RT_OK) return w.status;
    if (x.n > cap) return RT_NO_ROOM;
    memcpy(out, x.s, x.n);
    *used = x.n;
    return RT_OK;
}

/* ---- scratch ------------------------------------------------------------------------------------------------ */

/* Bytes that the memos of patterns take for each byte of text. The blob may still be
 * unchecked. */
static double memo_bytes(const RtTokenizer *t)
{
    const uint32_t ops = t->bytes[TOK_OPS] / sizeof(RtTokOp), nodes = t->bytes[TOK_NODES] / (4 * TOK_NODE_WORDS);
    double bits = 0;
    for (uint32_t i = 0; i < ops; i++) {
        const RtTokOp op = rt_tok_op(t, i);
        if ((op.kind == TOK_SPLIT || op.kind == TOK_REPLACE) && op.a < nodes) bits += rt_tok_at(t, TOK_NODES, (size_t)op.a * TOK_NODE_WORDS + 7);
    }
    return bits / 8;
}

size_t rt_tokenizer_scratch_bytes(const RtTokenizer *t, size_t text_bytes, int spans)
{
    const uint32_t *h = t->head;
    const size_t prompt = text_bytes <= UINT32_MAX ? t->prompt_bytes : 0;
    const size_t joined = prompt ? text_bytes + prompt : 0;
    if (joined) text_bytes = joined;
    const bool origin = carries_origin(t, spans);
    const double each = origin ? 9 : 1, mended = 3.0 * (double)text_bytes;
    const double normal = mended * h[TOK_HEAD_NORMAL_GROWTH] + h[TOK_HEAD_NORMAL_EXTRA];
    const double split = normal * h[TOK_HEAD_SPLIT_GROWTH] + h[TOK_HEAD_SPLIT_EXTRA];
    const double form = h[TOK_HEAD_FORM_GROWTH] ? mended * h[TOK_HEAD_FORM_GROWTH] + h[TOK_HEAD_NORMAL_EXTRA] + TOK_RUN_EXTRA : 0;
    const double model = h[TOK_HEAD_MODEL] == TOK_BPE ? 44 : h[TOK_HEAD_MODEL] == TOK_UNIGRAM ? 16 : 0;
    const double word = h[TOK_HEAD_SPLITS] ? split : normal;
    const double memos = memo_bytes(t) * ((split > normal ? split : normal) + 1);
    const double bytes = memos + 9 * mended + 2 * each * normal + each * split * h[TOK_HEAD_SPLITS] +
                         2 * TOK_MARK_BYTES * form + model * (word + 1) + (double)joined + 1024;
    return text_bytes > UINT32_MAX / 16 || bytes > (double)(SIZE_MAX / 4) ? SIZE_MAX : (size_t)bytes;
}
