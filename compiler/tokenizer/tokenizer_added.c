/* tokenizer_added.c: add the tokens that a folder's files define besides the vocabulary of the
 * model, for all importers of folders. Ids that a file gives are kept, even with gaps; tokens that
 * are neither pieces nor added yet get new ids in the order in which transformers adds them. For a
 * tokenizer.json, tokenizer_json.c adds the tokens to which a file gives an id. */
#include "file.h"
#include "tokenizer_build.h"

#include <stdlib.h>

/* The id that transformers gives to a new token: the number of tokens, or the next free id. */
uint32_t tok_next_id(const TokBuild *b)
{
    uint32_t count = 0;
    for (int i = 0; i < b->size; i++) count += !(b->pieces.at[i].kind & TOK_ABSENT);
    while (count < (uint32_t)b->size && !(b->pieces.at[count].kind & TOK_ABSENT)) count++;
    return count;
}

static uint32_t id_for(TokBuild *b, const TokAdded *x)
{
    if (x->id != RT_TOK_NONE) return x->id;
    const uint32_t added = tok_added_of_text(b, x->text);
    if (added != RT_TOK_NONE) return b->added.at[added].id;
    const uint32_t piece = tok_piece_of_text(b, x->text);
    return piece != RT_TOK_NONE ? piece : tok_next_id(b);
}

/* True if the id is new and the model has no embedding row for it: the token is left out. The first
 * such token that is not a default of the class is reported. */
static bool is_beyond(TokBuild *b, const TokAdded *x, uint32_t id, bool preset)
{
    if (!b->rows || id < b->rows || id < (uint32_t)b->size) return false;
    if (!b->told_rows && !preset)
        diag_remark(b->diag, (Loc){ b->file, 0, 0 },
                    "the added token \"%.60s\" has the id %u, but the model has only %lld embedding rows; the token is treated as text",
                    x->text.s, id, (long long)b->rows);
    b->told_rows = b->told_rows || !preset;
    return true;
}

/* preset: a default of the class, not a token of a file. */
static uint32_t add(TokBuild *b, TokAdded x, bool preset)
{
    if (!x.text.n) return RT_TOK_NONE;
    x.id = id_for(b, &x);
    if (is_beyond(b, &x, x.id, preset)) return RT_TOK_NONE;
    const bool there = x.id < (uint32_t)b->size && !(b->pieces.at[x.id].kind & TOK_ABSENT);
    if ((!there || !tok_same(b->pieces.at[x.id].text, x.text)) && !tok_piece(b, x.id, x.text, false)) return RT_TOK_NONE;
    if (x.special) b->pieces.at[x.id].kind |= TOK_SPECIAL;
    const uint32_t known = tok_added_of_text(b, x.text);
    *(known != RT_TOK_NONE ? &b->added.at[known] : TOK_NEW(b, &b->added)) = x;
    return x.id;
}

uint32_t tok_add(TokBuild *b, TokAdded x) { return add(b, x, false); }

static int by_id(const void *x, const void *y)
{
    const TokAdded *a = x, *b = y;
    return a->id < b->id ? -1 : a->id > b->id;
}

bool tok_is_listed(const TokAdded *list, int count, TokString text)
{
    for (int i = 0; i < count; i++)
        if (tok_same(list[i].text, text)) return true;
    return false;
}

const TokAdded *tok_added_beside(TokBuild *b, const TokConfig *c, int *count)
{
    const bool given = c->added.count > 0;
    const TokAdded *list = given ? c->added.at : c->folder.added.at;
    *count = given ? c->added.count : c->folder.added.count;
    TokAdded *sorted = arena_array(b->arena, (size_t)*count + 1, sizeof *sorted);
    for (int i = 0; i < *count; i++) sorted[i] = list[i];
    qsort(sorted, (size_t)*count, sizeof *sorted, by_id);
    b->file = file_join(b->arena, file_folder(b->arena, b->file), given ? "tokenizer_config.json" : "added_tokens.json");
    return sorted;
}

bool tok_is_taken(const TokBuild *b, uint32_t id, TokString text)
{
    return id < (uint32_t)b->size && !(b->pieces.at[id].kind & TOK_ABSENT) &&
           !tok_same(b->pieces.at[id].text, text);
}

void tok_refuse_taken(TokBuild *b, const TokConfig *c)
{
    int count;
    const char *file = b->file;
    const TokAdded *list = tok_added_beside(b, c, &count);
    for (int i = 0; i < count && !tok_failed(b); i++) {
        const uint32_t id = list[i].id;
        if (!tok_is_taken(b, id, list[i].text)) continue;
        tok_refuse(b, "the added token \"%.60s\" has the id %u, which the piece \"%.60s\" already has", list[i].text.s, id, b->pieces.at[id].text.s);
    }
    b->file = file;
}

void tok_add_folder(TokBuild *b, const TokConfig *c, const char *const preset[TOK_MARKS], uint32_t mask_flags)
{
    const TokFolder *f = &c->folder;
    const char *file = b->file;
    int count;
    const TokAdded *list = tok_added_beside(b, c, &count);
    for (int i = 0; i < count; i++) tok_add(b, list[i]);
    b->file = file;
    for (int i = 0; i < TOK_MARKS; i++) {
        TokAdded x = f->mark[i];
        if (!x.text.s) x = (TokAdded){ tok_string(preset[i]), RT_TOK_NONE, i == TOK_MASK ? mask_flags : 0, false, true, false, false };
        if (x.text.n && !tok_is_listed(list, count, x.text)) add(b, x, !f->mark[i].text.s);
    }
    for (int i = 0; i < f->extra.count; i++)
        if (!tok_is_listed(list, count, f->extra.at[i].text)) tok_add(b, f->extra.at[i]);
    for (int i = 0; i < f->listed.count; i++)
        if (!tok_is_listed(list, count, f->listed.at[i].text)) tok_add(b, f->listed.at[i]);
}

/* Add a token that tokenizer.json lacks. A token that it has already becomes special if the folder
 * names it, instead of only listing it. */
static void add_new(TokBuild *b, TokAdded x)
{
    const uint32_t added = x.text.n ? tok_added_of_text(b, x.text) : RT_TOK_NONE;
    if (added == RT_TOK_NONE) tok_add(b, x);
    else if (x.special && !x.listed) {
        b->added.at[added].special = true;
        b->pieces.at[b->added.at[added].id].kind |= TOK_SPECIAL;
    }
}

void tok_add_named(TokBuild *b, const TokConfig *c)
{
    const TokFolder *f = &c->folder;
    for (int i = 0; i < TOK_MARKS; i++) add_new(b, f->mark[i]);
    for (int i = 0; i < f->extra.count; i++) add_new(b, f->extra.at[i]);
    for (int i = 0; i < f->listed.count; i++) add_new(b, f->listed.at[i]);
}
