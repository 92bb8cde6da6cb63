/* inspect_text.c: ids as readable text: an answer, or the label of one token. */
#include "inspect.h"

#include <string.h>

#include "tokenizer.h"

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static const char *numbers_text(Arena *a, const int *ids, int n)
{
    Text t = text_new(a);
    for (int i = 0; i < n; i++) text_printf(&t, "%s%d", i ? " " : "", ids[i]);
    return t.data;
}

static const char *characters_text(Arena *a, const Vocabulary *v, const int *ids, int n)
{
    Text t = text_new(a);
    for (int i = 0; i < n; i++)
        if (ids[i] < v->size && v->code_point[ids[i]] >= 0) text_add(&t, v->text[ids[i]]);
    return t.data;
}

static const char *pieces_text(Arena *a, const Model *m, const int *ids, int n, bool plain)
{
    RtTokenizer t;
    if (rt_tokenizer_open(&t, m->tokenizer_data, m->tokenizer_size) != RT_OK) die("the model's tokenizer is damaged");
    for (size_t room = 64 + 16 * (size_t)n;; room *= 2) {
        size_t used = 0;
        char *out = arena_alloc(a, room);
        const rt_status status = rt_tokenizer_decode(&t, ids, n, plain, out, room, &used);
        if (status != RT_NO_ROOM) return status == RT_OK ? out : "";
    }
}

const char *look_ids_text(Arena *a, const Model *m, bool source, const int *ids, int n)
{
    const Vocabulary *v = source ? m->source : m->target;
    if (m->tokenizer_data) return pieces_text(a, m, ids, n, true);
    return v ? characters_text(a, v, ids, n) : numbers_text(a, ids, n);
}

/* ---- labels ------------------------------------------------------------------------------------------------------ */

/* The label of a character; invisible ones get a symbol. */
static const char *character_label(Arena *a, int32_t c, const char *text)
{
    if (c == ' ') return "␣";
    if (c == 0xa0) return "⍽";
    if (c < 0x20 || c == 0x7f) return look_plain(a, text);
    return picture_text_columns(text) ? text : arena_format(a, "◌%s", text);
}

/* The text of a piece, with symbols for spaces; a piece that is not text by itself is spelled as in
 * the vocabulary. */
static const char *piece_label(Arena *a, const Model *m, int id)
{
    static const char *const spaces[] = { "▁", "Ġ" };
    RtTokenizer t;
    size_t bytes = 0;
    if (rt_tokenizer_open(&t, m->tokenizer_data, m->tokenizer_size) != RT_OK) die("the model's tokenizer is damaged");
    const char *piece = rt_tokenizer_piece(&t, id, &bytes);
    if (!piece || !bytes) return arena_format(a, "%d", id);
    const char *spelt = look_plain(a, arena_copy(a, piece, bytes)), *said = pieces_text(a, m, &id, 1, false);
    if (strncmp(spelt, "##", 2) == 0 || strstr(said, "\xef\xbf\xbd")) return spelt;
    bool spaced = *said == ' ';
    for (int i = 0; i < 2; i++) spaced |= strncmp(spelt, spaces[i], strlen(spaces[i])) == 0;
    Text label = text_new(a);
    if (spaced) text_add(&label, "␣");
    for (const char *s = look_plain(a, said + (*said == ' ')); *s; s++) {
        if (*s == ' ') text_add(&label, "␣");
        else text_add_bytes(&label, s, 1);
    }
    return label.size && picture_text_columns(label.data) ? label.data : spelt;
}

const char *look_label(Arena *a, const Model *m, bool source, int id)
{
    const Vocabulary *v = source ? m->source : m->target;
    if (m->tokenizer_data) return piece_label(a, m, id);
    if (!v || id >= v->size) return arena_format(a, "%d", id);
    if (id == v->start) return "⊢";
    if (id == v->end) return "⊣";
    if (v->code_point[id] < 0) return v->text[id];
    return character_label(a, v->code_point[id], v->text[id]);
}

/* A text on one line: control characters become the symbols from U+2400 on. */
const char *look_plain(Arena *a, const char *text)
{
    Text t = text_new(a);
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c < 0x20) text_printf(&t, "\xe2\x90%c", 0x80 + c);
        else if (c == 0x7f) text_add(&t, "␡");
        else text_add_bytes(&t, text, 1);
    }
    return t.data;
}
