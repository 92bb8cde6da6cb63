/* rt_tokenizer_decode.c: ids to text, one token at a time. A token's text goes through the decoders
 * one by one; after the last, invalid UTF-8 becomes U+FFFD, and incomplete characters are held
 * back. */
#include "rt_tokenizer_parts.h"

enum { MOST = 8192 };               /* bytes of one token between decoders */

typedef struct Token { size_t n; unsigned char s[MOST]; } Token;

/* The output, and the state between tokens. */
typedef struct Decode {
    const RtTokenizer *t;
    RtTokenStream *k;
    char *out;
    size_t cap, *used;
    rt_status status;
} Decode;

const char *rt_tokenizer_piece(const RtTokenizer *t, int id, size_t *bytes)
{
    *bytes = 0;
    if (id < 0 || (uint32_t)id >= t->head[TOK_HEAD_PIECES] || t->section[TOK_KINDS][id] & TOK_ABSENT) return NULL;
    const uint32_t from = rt_tok_at(t, TOK_PIECES, (size_t)id), to = rt_tok_at(t, TOK_PIECES, (size_t)id + 1);
    *bytes = to - from;
    return (const char *)rt_tok_text(t, from);
}

int rt_tokenizer_special(const RtTokenizer *t, int id)
{
    return id >= 0 && (uint32_t)id < t->head[TOK_HEAD_PIECES] && t->section[TOK_KINDS][id] & TOK_SPECIAL;
}

/* ---- the end of the chain ------------------------------------------------------------------------------------- */

static void put(Decode *d, const unsigned char *s, size_t n)
{
    if (d->status != RT_OK || *d->used >= d->cap || n > d->cap - *d->used - 1) {
        d->status = RT_NO_ROOM;
        return;
    }
    memcpy(d->out + *d->used, s, n);
    *d->used += n;
    d->out[*d->used] = '\0';
}

/* Write text without blanks at its ends: blanks wait for another character, and are dropped if they
 * come before the first. */
static void put_inner(Decode *d, const unsigned char *s, size_t n)
{
    RtTokenStream *k = d->k;
    for (size_t i = 0; i < n && d->status == RT_OK; i++) {
        if (s[i] == ' ') {
            k->outer += k->said;
            continue;
        }
        for (; k->outer && d->status == RT_OK; k->outer--) put(d, (const unsigned char *)" ", 1);
        k->said = 1;
        put(d, s + i, 1);
    }
}

static void put_text(Decode *d, const unsigned char *s, size_t n)
{
    if (rt_tok_flag(d->t, TOK_NO_OUTER_SPACES)) put_inner(d, s, n);
    else put(d, s, n);
}

/* The replacements of clean_up_tokenization_spaces, in order: each sees what those before it have
 * written. */
static const struct { const char *from, *to; } cleanings[] = {
    { " .", "." }, { " ?", "?" }, { " !", "!" }, { " ,", "," }, { " ' ", "'" },
    { " n't", "n't" }, { " 'm", "'m" }, { " 's", "'s" }, { " 've", "'ve" }, { " 're", "'re" },
};
enum { CLEANINGS = sizeof cleanings / sizeof *cleanings };

static void clean_up(Decode *d, const unsigned char *s, size_t n, size_t first);

/* Pass a byte to replacement i. A match can begin only at a blank, and a partial match has a blank
 * only at its start, so on a mismatch all that is held is passed on. */
static void clean_byte(Decode *d, unsigned char c, size_t i)
{
    const char *from = cleanings[i].from, *to = cleanings[i].to;
    unsigned char *held = &d->k->cleaned[i];
    if (*held && c != (unsigned char)from[*held]) {
        const size_t n = *held;
        *held = 0;
        clean_up(d, (const unsigned char *)from, n, i + 1);
    }
    if (c != (unsigned char)from[*held]) clean_up(d, &c, 1, i + 1);
    else if (!from[++*held]) {
        *held = 0;
        clean_up(d, (const unsigned char *)to, strlen(to), i + 1);
    }
}

/* Pass text through the replacements from `first` on. */
static void clean_up(Decode *d, const unsigned char *s, size_t n, size_t first)
{
    if (first == CLEANINGS) put_text(d, s, n);
    else for (size_t i = 0; i < n; i++) clean_byte(d, s[i], first);
}

static void give(Decode *d, const unsigned char *s, size_t n)
{
    clean_up(d, s, n, rt_tok_flag(d->t, TOK_CLEAN_SPACES) ? 0 : CLEANINGS);
}

/* Pass on what the replacements have held back, beginning with the first. */
static void clean_rest(Decode *d)
{
    for (size_t i = 0; i < CLEANINGS; i++) {
        const size_t n = d->k->cleaned[i];
        d->k->cleaned[i] = 0;
        clean_up(d, (const unsigned char *)cleanings[i].from, n, i + 1);
    }
}

/* Write bytes as valid UTF-8; up to three that may begin a character wait in k->hold. */
static void put_bytes(Decode *d, const unsigned char *s, size_t n)
{
    static const unsigned char replacement[] = { 0xEF, 0xBF, 0xBD };
    RtTokenStream *k = d->k;
    for (size_t i = 0; i < n && d->status == RT_OK; i++) {
        k->hold[k->held++] = s[i];
        for (bool more = true; more && k->held;) {
            const int broken = rt_tok_broken(k->hold, k->held);
            int32_t c;
            uint32_t take;
            if (!broken) give(d, k->hold, take = (uint32_t)rt_tok_character(k->hold, k->held, &c));
            /* The rest of the character may follow. */
            else if ((uint32_t)broken == k->held && k->hold[0] >= 0xC2 && k->hold[0] < 0xF5) break;
            else give(d, replacement, (take = (uint32_t)broken, sizeof replacement));
            k->held -= take;
            memmove(k->hold, k->hold + take, k->held);
        }
    }
}

static void put_rest(Decode *d)
{
    static const unsigned char replacement[] = { 0xEF, 0xBF, 0xBD };
    if (d->k->held) give(d, replacement, sizeof replacement);
    d->k->held = 0;
    clean_rest(d);
}

/* ---- decoders --------------------------------------------------------------------------------------------------- */

/* Make room for `n` bytes at `at` of a token, where `m` bytes were. */
static bool resize(Decode *d, Token *x, size_t at, size_t m, size_t n)
{
    if (n > m && n - m > MOST - x->n) {
        d->status = RT_NO_ROOM;
        return false;
    }
    memmove(x->s + at + n, x->s + at + m, x->n - at - m);
    x->n = x->n - m + n;
    return true;
}

static bool begins(const unsigned char *s, size_t n, const unsigned char *with, size_t m) { return m && n >= m && memcmp(s, with, m) == 0; }

/* Replace every `from` in a token with `to`. If the token does not grow, each byte is moved only
 * once. */
static void replace(Decode *d, Token *x, const unsigned char *from, size_t m, const unsigned char *to, size_t n)
{
    size_t end = 0;
    if (n > m) {
        for (size_t i = 0; i < x->n;) {
            const bool found = begins(x->s + i, x->n - i, from, m);
            if (found && !resize(d, x, i, m, n)) return;
            if (found) memcpy(x->s + i, to, n);
            i += found ? n : 1;
        }
        return;
    }
    for (size_t i = 0; i < x->n;) {
        if (begins(x->s + i, x->n - i, from, m)) {
            memcpy(x->s + end, to, n);
            end += n;
            i += m;
        } else x->s[end++] = x->s[i++];
    }
    x->n = end;
}

/* Convert characters of the byte alphabet to bytes, in place, since each has at least one byte. A
 * token with any other character stays as it is. */
static void to_bytes(Token *x)
{
    int32_t c;
    size_t end = 0;
    for (size_t i = 0; i < x->n;) {
        i += (size_t)rt_tok_character(x->s + i, x->n - i, &c);
        if (rt_tok_byte(c) < 0) return;
    }
    for (size_t i = 0; i < x->n;) {
        i += (size_t)rt_tok_character(x->s + i, x->n - i, &c);
        x->s[end++] = (unsigned char)rt_tok_byte(c);
    }
    x->n = end;
}

/* Put a space before a token. */
static void put_space(Decode *d, Token *x)
{
    if (resize(d, x, 0, 0, 1)) x->s[0] = ' ';
}

static void to_words(Decode *d, const RtTokOp *op, Token *x)
{
    static const char *const tidy[][2] = { { " .", "." }, { " ?", "?" }, { " !", "!" }, { " ,", "," }, { " ' ", "'" }, { " n't", "n't" },
                                           { " 'm", "'m" }, { " do not", " don't" }, { " 's", "'s" }, { " 've", "'ve" }, { " 're", "'re" } };
    const unsigned char *prefix = rt_tok_text(d->t, op->text);
    if (d->k->pieces) {
        if (!op->text_bytes || begins(x->s, x->n, prefix, op->text_bytes)) resize(d, x, 0, op->text_bytes, 0);
        else put_space(d, x);
    }
    for (size_t i = 0; op->a && i < sizeof tidy / sizeof *tidy; i++)
        replace(d, x, (const unsigned char *)tidy[i][0], strlen(tidy[i][0]), (const unsigned char *)tidy[i][1], strlen(tidy[i][1]));
}

/* A suffix at the end of a piece becomes a space once another piece follows. */
static void to_suffix(Decode *d, const RtTokOp *op, Token *x)
{
    const unsigned char *suffix = rt_tok_text(d->t, op->text);
    const size_t m = op->text_bytes;
    const bool ended = m && x->n >= m && memcmp(x->s + x->n - m, suffix, m) == 0;
    if (ended) x->n -= m;
    replace(d, x, suffix, m, (const unsigned char *)" ", 1);
    if (d->k->spaces) put_space(d, x);
    d->k->spaces = ended;
}

/* Strip one text: up to op->a characters at its start and op->b at its end. fused: this and all
 * later tokens are one text, whose end is not known yet, so only its start is stripped. */
static void to_stripped(Decode *d, const RtTokOp *op, Token *x)
{
    const unsigned char *one = rt_tok_text(d->t, op->text);
    const size_t m = op->text_bytes;
    uint32_t stripped = d->k->fused ? d->k->stripped : 0;
    size_t begin = 0;
    while (stripped < op->a && begins(x->s + begin, x->n - begin, one, m)) {
        begin += m;
        stripped++;
        if (op->c) break;
    }
    if (begin < x->n) stripped = op->a;
    for (uint32_t i = 0; !d->k->fused && i < op->b && x->n - begin >= m && begins(x->s + x->n - m, m, one, m); i++) x->n -= m;
    memmove(x->s, x->s + begin, x->n - begin);
    x->n -= begin;
    d->k->stripped = stripped;
}

/* The byte of <0xNN>, or -1. */
static int fallback_byte(const unsigned char *s, size_t n)
{
    int value = 0;
    if (n != 6 || memcmp(s, "<0x", 3) != 0 || s[5] != '>') return -1;
    for (int i = 3; i < 5; i++) {
        const int digit = s[i] >= '0' && s[i] <= '9' ? s[i] - '0' : s[i] >= 'A' && s[i] <= 'F' ? s[i] - 'A' + 10
                        : s[i] >= 'a' && s[i] <= 'f' ? s[i] - 'a' + 10 : -1;
        if (digit < 0) return -1;
        value = 16 * value + digit;
    }
    return value;
}

static RtTokOp decoder(const RtTokenizer *t, uint32_t i) { return rt_tok_op(t, t->head[TOK_HEAD_NORMALISERS] + t->head[TOK_HEAD_SPLITS] + i); }

/* Pass a token through the decoders from `first` on, and write it. */
static void through(Decode *d, Token *x, uint32_t first)
{
    d->k->fused = 0;
    for (uint32_t i = 0; i < d->t->head[TOK_HEAD_DECODERS] && d->status == RT_OK; i++) {
        const RtTokOp op = decoder(d->t, i);
        const unsigned char *text = rt_tok_text(d->t, op.text);
        if (op.kind == TOK_TO_FUSED || op.kind == TOK_TO_BYTES) d->k->fused = 1;
        if (i < first) {
            /* The text has begun. */
            if (op.kind == TOK_TO_STRIPPED && x->n) d->k->stripped = op.a;
            continue;
        }
        switch ((RtTokOpKind)op.kind) {
        case TOK_TO_BYTES:    to_bytes(x); break;
        case TOK_TO_WORDS:    to_words(d, &op, x); break;
        case TOK_TO_SPACES:   replace(d, x, text, op.text_bytes, (const unsigned char *)" ", op.a && !d->k->pieces ? 0 : 1); break;
        case TOK_TO_SUFFIX:   to_suffix(d, &op, x); break;
        case TOK_TO_REPLACED: replace(d, x, text, op.text_bytes, rt_tok_text(d->t, op.other), op.other_bytes); break;
        case TOK_TO_STRIPPED: to_stripped(d, &op, x); break;
        case TOK_TO_JOINED:
            if (d->k->pieces) put_bytes(d, (const unsigned char *)" ", 1);
            break;
        default: break;
        }
    }
    if (d->k->apart && !(x->n && x->s[0] == ' ')) put_bytes(d, (const unsigned char *)" ", 1);
    d->k->apart = 0;
    put_bytes(d, x->s, x->n);
}

/* ---- byte pieces ------------------------------------------------------------------------------------------------ */

/* The decoder that turns <0xNN> into bytes, or RT_TOK_NONE. */
static uint32_t fallback_decoder(const RtTokenizer *t)
{
    for (uint32_t i = 0; i < t->head[TOK_HEAD_DECODERS]; i++)
        if (decoder(t, i).kind == TOK_TO_FALLBACK) return i;
    return RT_TOK_NONE;
}

static void one_text(Decode *d, const unsigned char *s, size_t n, uint32_t first)
{
    Token x;
    if (n > MOST) {
        d->status = RT_NO_ROOM;
        return;
    }
    x.n = n;
    memcpy(x.s, s, n);
    through(d, &x, first);
    d->k->pieces++;
}

/* Decode one token, with the blanks that its kind puts around it. */
static void one_token(Decode *d, int id)
{
    size_t n;
    const char *s = rt_tokenizer_piece(d->t, id, &n);
    const unsigned kinds = d->t->section[TOK_KINDS][id];
    if (kinds & TOK_APART && d->k->pieces) d->k->apart = 1;
    one_text(d, (const unsigned char *)s, n, 0);
    d->k->apart = (kinds & (TOK_APART | TOK_BLANK_BEHIND)) != 0;
    if (kinds & TOK_TRIM_BEHIND) d->k->stripped = 0;
}

/* True if a token is left out of the text. */
static bool left_out(const RtTokenizer *t, int id, int plain)
{
    size_t n;
    return !rt_tokenizer_piece(t, id, &n) || (plain && rt_tokenizer_special(t, id));
}

/* The byte of a byte piece, if there is a decoder for these; otherwise -1. */
static int byte_of(const RtTokenizer *t, uint32_t fallback, int id)
{
    size_t n;
    const char *s = rt_tokenizer_piece(t, id, &n);
    return fallback == RT_TOK_NONE || !s ? -1 : fallback_byte((const unsigned char *)s, n);
}

/* Take the bytes of a character from ids[*k..j), or one byte that begins none, and advance *k.
 * Returns their number; 0 at the end. */
static size_t take_character(const Decode *d, uint32_t fallback, const int *ids, int *k, int j,
                             unsigned char hold[4])
{
    size_t held = 0;
    for (int m = *k, behind = j; ; m++) {
        const int byte = m < j ? byte_of(d->t, fallback, ids[m]) : -1;
        if (byte >= 0) hold[held++] = (unsigned char)byte;
        if (byte >= 0 && held == 1) behind = m + 1;
        const bool whole = held && !rt_tok_broken(hold, held);
        if (!whole && m < j && held < 4) continue;
        *k = whole ? m + 1 : behind;
        return whole ? held : held > 0;
    }
}

/* Decode ids[i..j), which are byte pieces and ids that are left out. If a byte belongs to no
 * character, all bytes of the run become U+FFFD; if the decoder's `a` is set, only this byte
 * does. */
static void give_run(Decode *d, const int *ids, int i, int j, uint32_t fallback)
{
    unsigned char hold[4];
    const bool alone = fallback == RT_TOK_NONE || decoder(d->t, fallback).a;
    bool good = true;
    for (int k = i; !alone && k < j && good;) {
        const size_t n = take_character(d, fallback, ids, &k, j, hold);
        good = !n || !rt_tok_broken(hold, n);
    }
    for (int k = i; k < j && d->status == RT_OK;) {
        const size_t n = take_character(d, fallback, ids, &k, j, hold);
        const bool shown = good && n && !rt_tok_broken(hold, n);
        for (size_t b = 0; b < n && d->status == RT_OK; b++)
            one_text(d, shown ? hold + b : (const unsigned char *)"\xEF\xBF\xBD", shown ? 1 : 3, fallback + 1);
    }
}

static Decode begin(const RtTokenizer *t, RtTokenStream *k, char *out, size_t cap, size_t *used)
{
    Decode d = { t, k, out, cap, used, *used < cap ? RT_OK : RT_NO_ROOM };
    if (d.status == RT_OK) out[*used] = '\0';
    return d;
}

/* Decode ids[k->from..n): tokens one by one, a run of byte pieces at once. A run at the end waits
 * for more ids unless `last` is set. */
static rt_status say(Decode *d, const int *ids, int n, int plain, bool last)
{
    const uint32_t fallback = fallback_decoder(d->t);
    RtTokenStream *k = d->k;
    for (int i = (int)k->from, j; i < n && d->status == RT_OK; k->from = (uint32_t)(i = j)) {
        for (j = (int)k->seen > i ? (int)k->seen : i; j < n && (left_out(d->t, ids[j], plain) || byte_of(d->t, fallback, ids[j]) >= 0); j++) continue;
        k->seen = (uint32_t)j;
        if (j == n && !last) break;
        if (j > i) {
            give_run(d, ids, i, j, fallback);
            continue;
        }
        one_token(d, ids[j++]);
    }
    if (last) put_rest(d);
    return d->status;
}

rt_status rt_tokenizer_decode(const RtTokenizer *t, const int *ids, int n, int plain, char *out, size_t cap, size_t *used)
{
    RtTokenStream k = { 0 };
    return rt_tokenizer_stream_end(t, &k, ids, n, plain, out, cap, used);
}

rt_status rt_tokenizer_stream(const RtTokenizer *t, RtTokenStream *k, const int *ids, int n, int plain, char *out, size_t cap, size_t *used)
{
    Decode d = begin(t, k, out, cap, used);
    return say(&d, ids, n, plain, false);
}

rt_status rt_tokenizer_stream_end(const RtTokenizer *t, RtTokenStream *k, const int *ids, int n, int plain, char *out, size_t cap, size_t *used)
{
    Decode d = begin(t, k, out, cap, used);
    return say(&d, ids, n, plain, true);
}
