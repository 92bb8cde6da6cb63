/* draft.c: set and look up the choices of a Draft, and set its length. */
#include "fields.h"
#include "integer.h"

#include <inttypes.h>
#include <string.h>

/* ---- choices -------------------------------------------------------------------------------------------- */

void draft_set(Arena *a, Draft *d, Side side, FieldId id, Loc at, const FieldValue *values, int count)
{
    FieldValue *kept = arena_array(a, (size_t)count, sizeof *kept);
    memcpy(kept, values, (size_t)count * sizeof *kept);
    d->choices[side][id] = (Choice){ at, count, kept };
}

void draft_set_number(Arena *a, Draft *d, Side side, FieldId id, Loc at, double number)
{
    const FieldValue v = { .integer = integer_of(number), .real = number };
    draft_set(a, d, side, id, at, &v, 1);
}

void draft_set_numbers(Arena *a, Draft *d, Side side, FieldId id, Loc at, const double *numbers, int count)
{
    Numbers *list = arena_alloc(a, sizeof *list);
    *list = (Numbers){ count, numbers };
    const FieldValue v = { .list = list };
    draft_set(a, d, side, id, at, &v, 1);
}

void draft_set_text(Arena *a, Draft *d, FieldId id, Loc at, const char *text)
{
    const FieldValue v = { .text = arena_text(a, text) };
    draft_set(a, d, SIDE_BOTH, id, at, &v, 1);
}

void draft_set_word(Arena *a, Draft *d, FieldId id, Loc at, const char *word)
{
    draft_set_number(a, d, SIDE_BOTH, id, at, field_word(&fields[id], word));
}

const Choice *draft_choice(const Draft *d, Side side, FieldId id)
{
    if (d->choices[side][id].count) return &d->choices[side][id];
    return d->choices[SIDE_BOTH][id].count ? &d->choices[SIDE_BOTH][id] : NULL;
}

Loc draft_place(const Draft *d, Side side, FieldId id)
{
    const Choice *c = draft_choice(d, side, id);
    return c ? c->at : d->at;
}

/* ---- length --------------------------------------------------------------------------------------------- */

/* The current length of a side, in tokens: its own field, else max_len. */
static int64_t length_of(const Draft *d, FieldId id)
{
    const Choice *own = draft_choice(d, SIDE_BOTH, id), *both = draft_choice(d, SIDE_BOTH, FIELD_ID_max_len);
    return own ? own->values[0].integer : both ? both->values[0].integer : (int64_t)fields[FIELD_ID_max_len].preset;
}

static int position_of(const Draft *d, Side side)
{
    const Choice *c = draft_choice(d, side, FIELD_ID_position);
    return c ? (int)c->values[0].integer : (int)fields[FIELD_ID_position].preset;
}

void draft_set_trained(Arena *a, Draft *d, Loc at, int64_t length)
{
    enum { USUAL_LENGTH = 4096 };
    const Choice *kind = draft_choice(d, SIDE_BOTH, FIELD_ID_kind);
    d->trained = length;
    d->shortened = kind && kind->values[0].integer == KIND_DECODER && length > USUAL_LENGTH;
    draft_set_number(a, d, SIDE_BOTH, FIELD_ID_max_len, at, d->shortened ? USUAL_LENGTH : (double)length);
}

static bool lengthen(Arena *a, Diag *diag, Draft *d, Side side, FieldId id, int64_t length)
{
    const int64_t trained = d->trained ? d->trained : length_of(d, id);
    if (length > trained && position_is_learned(position_of(d, side))) {
        diag_error(diag, EXIT_USAGE, (Loc){ 0 }, "--max-len %" PRId64 ": the model has only %" PRId64
                   " learned position%s", length, trained, trained == 1 ? "" : "s");
        return false;
    }
    if (length > trained)
        diag_remark(diag, (Loc){ 0 }, "--max-len %" PRId64 " exceeds the %s length of %" PRId64 " token%s", length,
                    d->trained ? "training" : "spec's", trained, trained == 1 ? "" : "s");
    draft_set_number(a, d, SIDE_BOTH, id, (Loc){ 0 }, (double)length);
    return true;
}

bool draft_set_length(Arena *a, Diag *diag, Draft *d, int64_t length)
{
    const Choice *kind = draft_choice(d, SIDE_BOTH, FIELD_ID_kind);
    const ModelKind k = kind ? (ModelKind)kind->values[0].integer : KIND_ENCODER_DECODER;
    if (d->graph) {
        diag_error(diag, EXIT_USAGE, (Loc){ 0 }, "--max-len does not apply to an xf.graph, which sets its own sizes");
        return false;
    }
    d->longest = length;
    d->shortened = false;
    return (k == KIND_DECODER || lengthen(a, diag, d, SIDE_ENCODER, FIELD_ID_max_source, length))
        && (k == KIND_ENCODER || lengthen(a, diag, d, SIDE_DECODER, FIELD_ID_max_target, length));
}
