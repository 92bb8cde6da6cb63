/* tokenizer_texts.c: hash tables that find pieces and added tokens by text. */
#include "tokenizer_build.h"

#include <string.h>

/* FNV-1a, 32 bits, with the high bits folded into the low ones. */
static uint32_t hash_text(TokString s)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < s.n; i++) h = (h ^ (unsigned char)s.s[i]) * 16777619u;
    return h ^ h >> 15;
}

/* The slot of a text, or the free slot where it belongs. */
static struct TokTextsSlot *slot_of(const TokTexts *t, TokString text)
{
    uint32_t i = hash_text(text) & (t->room - 1);
    while (t->slot[i].used && !tok_same(t->slot[i].text, text)) i = (i + 1) & (t->room - 1);
    return &t->slot[i];
}

uint32_t tok_texts_find(const TokTexts *t, TokString text)
{
    const struct TokTextsSlot *s = t->room ? slot_of(t, text) : NULL;
    return s && s->used ? s->value : RT_TOK_NONE;
}

static void widen(Arena *a, TokTexts *t)
{
    TokTexts wide = { .room = t->room ? 2 * t->room : 64, .count = t->count };
    wide.slot = arena_array(a, wide.room, sizeof *wide.slot);
    for (uint32_t i = 0; i < t->room; i++)
        if (t->slot[i].used) *slot_of(&wide, t->slot[i].text) = t->slot[i];
    *t = wide;
}

void tok_texts_put(Arena *a, TokTexts *t, TokString text, uint32_t value)
{
    if (2 * t->count >= t->room) widen(a, t);
    struct TokTextsSlot *s = slot_of(t, text);
    t->count += !s->used;
    *s = (struct TokTextsSlot){ text, value, true };
}

uint32_t tok_added_of_text(TokBuild *b, TokString text)
{
    for (; b->added_known < b->added.count; b->added_known++) {
        const TokString known = b->added.at[b->added_known].text;
        if (tok_texts_find(&b->added_texts, known) == RT_TOK_NONE)
            tok_texts_put(b->arena, &b->added_texts, known, (uint32_t)b->added_known);
    }
    return tok_texts_find(&b->added_texts, text);
}

/* If a piece has got another text, the table still lists the piece under the old text. If that text
 * is sought, which is rare, all pieces are searched. */
uint32_t tok_piece_of_text(TokBuild *b, TokString text)
{
    for (int i = 0; i < b->size && !b->pieces_known; i++)
        if (b->pieces.at[i].text.n) tok_texts_put(b->arena, &b->piece_texts, b->pieces.at[i].text, (uint32_t)i);
    b->pieces_known = true;
    const uint32_t id = tok_texts_find(&b->piece_texts, text);
    if (id == RT_TOK_NONE || tok_same(b->pieces.at[id].text, text)) return id;
    for (uint32_t i = (uint32_t)b->size; i > 0; i--)
        if (tok_same(b->pieces.at[i - 1].text, text)) return i - 1;
    return RT_TOK_NONE;
}
