/* draft_change.c: apply command-line options to a Draft: length, dtypes, name, other files. */
#include "front.h"

#include "reserved_names.h"
#include "weights.h"

/* Remark that the context is shorter than the trained length. */
static void note_shortened(Arena *a, Diag *d, const Draft *draft, const char *path)
{
    const long long trained = draft->trained, bound = draft->bound;
    const long long most = draft_choice(draft, SIDE_BOTH, FIELD_ID_max_len)->values[0].integer;
    const char *said = arena_format(a, "%s was trained with a context of %lld tokens; the context here is %lld",
                                    path, trained, most);
    if (!bound) diag_remark(d, (Loc){ 0 }, "%s; raise it with --max-len", said);
    else if (most < bound)
        diag_remark(d, (Loc){ 0 }, "%s; --max-len can raise it to %lld", said, bound);
    else
        diag_remark(d, (Loc){ 0 }, "%s, the maximum supported: beyond it, the rotary frequencies "
                    "depend on the length of the whole sequence", said);
}

/* False after an error: the spec cannot take a tokenizer. */
static bool take_tokenizer(Arena *a, Diag *d, Draft *draft, const char *path)
{
    const Choice *how = draft_choice(draft, SIDE_BOTH, FIELD_ID_tokenizer);
    const int errors = diag_errors(d);
    if (draft->graph)
        diag_error(d, EXIT_USAGE, (Loc){ 0 }, "--tokenizer %s: an xf.graph takes no text", path);
    else if (how && how->values[0].integer == TOKENIZERS_CHARACTERS)
        diag_error(d, EXIT_USAGE, (Loc){ 0 }, "--tokenizer %s: the spec says tokenizer = \"characters\"", path);
    else draft_set_text(a, draft, FIELD_ID_tokenizer_file, (Loc){ 0 }, path);
    return diag_errors(d) == errors;
}

/* False after an error: the name is not allowed. */
static bool take_name(Arena *a, Diag *d, Draft *draft, const char *name)
{
    const char *fault = name_fault(a, name);
    if (fault) diag_error(d, EXIT_USAGE, (Loc){ 0 }, "--name %s", fault);
    else draft_set_text(a, draft, FIELD_ID_name, (Loc){ 0 }, name);
    return !fault;
}

bool draft_change(Arena *a, Diag *d, Draft *draft, DraftChanges c)
{
    draft->sizes_only = c.sizes_only && !c.from;
    draft->weights = c.from;
    if (c.tokenizer && !take_tokenizer(a, d, draft, c.tokenizer)) return false;
    if (c.name && !take_name(a, d, draft, c.name)) return false;
    if (c.max_len && !draft_set_length(a, d, draft, c.max_len)) return false;
    if (draft->shortened) note_shortened(a, d, draft, c.path);
    return true;
}

const Draft *draft_with_dtypes(Arena *a, const Draft *draft, const char *dtype, const char *kv_dtype)
{
    if (!dtype && !kv_dtype) return draft;
    Draft *own = arena_alloc(a, sizeof *own);
    *own = *draft;
    if (dtype) draft_set_word(a, own, FIELD_ID_dtype, (Loc){ 0 }, dtype);
    if (dtype) own->dtype_rule_count = 0;
    if (kv_dtype) draft_set_word(a, own, FIELD_ID_kv_dtype, (Loc){ 0 }, kv_dtype);
    return own;
}
