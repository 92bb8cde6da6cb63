/* fields_unread.c: find the fields of a spec that have no effect on its model, by the needs in
 * their rows of fields.def. */
#include "fields.h"

#include <string.h>

/* True if a need holds. s: NULL for a field of the whole model, whose need does not use it. */
static bool holds(Need need, const Model *m, const Stack *s)
{
    switch (need) {
#define NEED(name, holds, why) case NEED_##name: return holds;
#include "fields.def"
    }
    return true;
}

static const char *const reasons[] = {
#define NEED(name, holds, why) why,
#include "fields.def"
};

static const Stack *stack_of(const Model *m, Side side)
{
    if (side == SIDE_ENCODER) return m->has_encoder ? &m->encoder : NULL;
    return m->has_decoder ? &m->decoder : NULL;
}

/* Why a choice has no effect on the stack of `side`; NULL if it has one, if there is no such stack,
 * or if another choice applies to it. */
static const char *why_not(const Draft *draft, const Model *m, Side side, FieldId id, const Choice *choice)
{
    const Stack *s = stack_of(m, side);
    if (!s || draft_choice(draft, side, id) != choice || holds(fields[id].needs, m, s)) return NULL;
    return reasons[fields[id].needs];
}

/* True if some stack reads this choice of a stack's field. */
static bool is_read(const Draft *draft, const Model *m, FieldId id, const Choice *choice)
{
    for (Side side = SIDE_ENCODER; side < SIDES; side++) {
        const Stack *s = stack_of(m, side);
        if (s && draft_choice(draft, side, id) == choice && holds(fields[id].needs, m, s)) return true;
    }
    return false;
}

/* field_unread for a stack's field: only the choice made for `side` itself. */
static const char *unread_of_stacks(const Draft *draft, const Model *m, Side side, FieldId id)
{
    static const char *const missing[] = { [SIDE_ENCODER] = "the model has no encoder", [SIDE_DECODER] = "the model has no decoder" };
    const Choice *choice = &draft->choices[side][id];
    if (is_read(draft, m, id, choice)) return NULL;
    if (side != SIDE_BOTH && !stack_of(m, side)) return missing[side];
    const char *why = why_not(draft, m, SIDE_ENCODER, id, choice);
    return why ? why : why_not(draft, m, SIDE_DECODER, id, choice);
}

const char *field_unread(const Draft *draft, const Model *m, Side side, FieldId id)
{
    const Field *f = &fields[id];
    if (f->scope == SCOPE_STACK || f->scope == SCOPE_LAYER) return unread_of_stacks(draft, m, side, id);
    return holds(f->needs, m, NULL) ? NULL : reasons[f->needs];
}

/* True if the choice was written for xformc: the keys of a folder are for other programs, too. */
static bool is_ours(const Draft *draft, Loc at)
{
    return at.line && !(draft->folder && at.file && !strncmp(at.file, draft->folder, strlen(draft->folder)));
}

void model_note_unread(Diag *d, const Draft *draft, const Model *m)
{
    for (int i = 0; i < FIELD_COUNT; i++)
        for (Side side = SIDE_BOTH; side < SIDES; side++) {
            const Choice *choice = &draft->choices[side][i];
            const char *why = choice->count && is_ours(draft, choice->at) ? field_unread(draft, m, side, (FieldId)i) : NULL;
            if (why) diag_remark(d, choice->at, "%s has no effect: %s", fields[i].name, why);
        }
}
