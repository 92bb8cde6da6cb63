/* draft_llama2c.c: read the header of a llama2.c checkpoint as a Draft. */
#include "family.h"
#include "hf.h"

#include <inttypes.h>
#include <string.h>

#include "weights.h"

static void set(Arena *a, Draft *draft, FieldId id, double number) { draft_set_number(a, draft, SIDE_BOTH, id, draft->at, number); }

/* Set the sizes; false after errors: a size is out of range. */
static bool take_sizes(Arena *a, Diag *d, Draft *draft, const Checkpoint *c)
{
    const struct { FieldId id; int64_t n; } sizes[] = {
        { FIELD_ID_d_model, c->d }, { FIELD_ID_d_ff, c->hidden }, { FIELD_ID_layers, c->layers }, { FIELD_ID_heads, c->heads },
        { FIELD_ID_kv_heads, c->kv_heads }, { FIELD_ID_vocab, c->vocab }, { FIELD_ID_max_len, c->length }, { FIELD_ID_tied, c->tied },
    };
    bool good = true;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const Field *f = &fields[sizes[i].id];
        const FieldValue v = { .integer = sizes[i].n, .real = (double)sizes[i].n };
        good &= field_check(d, draft->at, f, f->name, arena_format(a, "%" PRId64, sizes[i].n), &v);
        draft_set(a, draft, SIDE_BOTH, sizes[i].id, draft->at, &v, 1);
    }
    return good;
}

Draft *draft_from_checkpoint(Arena *a, Diag *d, const char *path)
{
    enum { BEGIN = 1 };             /* BOS, which also ends generation */
    Draft *draft = arena_alloc(a, sizeof *draft);
    Checkpoint c;
    FileMap map;
    path = arena_text(a, path);
    draft->path = path;
    draft->at = (Loc){ path, 0, 0 };
    if (!file_map(d, (Loc){ 0 }, path, &map)) return NULL;
    const bool good = checkpoint_header(d, (Loc){ 0 }, path, map.data, map.size, &c);
    file_unmap(&map);
    if (!good || !take_sizes(a, d, draft, &c)) return NULL;
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    draft_set_text(a, draft, FIELD_ID_name, draft->at, model_name_of_file(a, base));
    draft_set_text(a, draft, FIELD_ID_weights, (Loc){ 0 }, path);
    family_apply(a, draft, field_word(&fields[FIELD_ID_names], "llama2.c"));
    set(a, draft, FIELD_ID_start_id, BEGIN);
    set(a, draft, FIELD_ID_end_id, BEGIN);
    draft_set_trained(a, draft, draft->at, c.length);
    return draft;
}
