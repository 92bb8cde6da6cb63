/* bind_tied.c: matrices of a family's file that may be tied (embeddings and the output layer), and
 * tensors of the file that config.json or the spec leaves out.
 *
 * The rule for tied matrices is that of transformers 5: each uses its own tensor if the file has
 * it, else the shared one, else another's. tie_word_embeddings counts only if the file does not
 * decide. */
#include "bind_find.h"

#include <inttypes.h>
#include <string.h>

#include "dtypes.h"

static const char shared[] = "shared.table", source[] = "encoder.embed.table";
static const char target[] = "decoder.embed.table", logits[] = "output.weight";
static const char masked[] = "head.output.weight";
static const char *const tied[] = { source, target, logits, masked };
enum { TIED = sizeof tied / sizeof *tied };

/* Find a tensor by its canonical name, with the family's table; NULL if the file lacks it. */
static const TensorSource *of_family(Finder *f, const char *name)
{
    int64_t layer;
    const char *own = family_own_name(f->arena, f->family, name);
    const FamilyTensor *row = family_tensor(f->arena, f->family, own, &layer);
    if (!row) return NULL;
    return finder_spelling(f, family_spelling(f->arena, f->family, row->file, name, layer));
}

/* True if two tensors of the file hold the same bytes. */
static bool same_bytes(const TensorSource *a, const TensorSource *b)
{
    if (a == b) return true;
    if (a->dtype != b->dtype || !dtype_is_float(a->dtype) || a->group || tensor_elements(a) != tensor_elements(b)) return false;
    if (a->file == b->file && a->offset == b->offset) return true;
    const int64_t blocks = tensor_elements(a) / dtype_block(a->dtype);
    const size_t bytes = (size_t)blocks * dtype_bytes(a->dtype);
    return !memcmp(a->file->map.data + a->offset, b->file->map.data + b->offset, bytes);
}

/* With two vocabularies, the source has its own embedding, and shared.table is not used. */
static bool is_apart(const Finder *f, const char *name)
{
    const bool two = draft_choice(f->draft, SIDE_BOTH, FIELD_ID_target_vocab) != NULL;
    return two && (name == source || name == shared);
}

/* The entry of `tied` with that name; NULL if there is none, or if this model may not tie it. */
static const char *tied_name(const Finder *f, const char *name)
{
    const Model *m = f->model;
    const bool ties = m->has_decoder || m->head_tied || f->family->encoder_alone;
    for (int i = 0; i < TIED; i++)
        if (!strcmp(tied[i], name)) return ties ? tied[i] : NULL;
    return NULL;
}

/* Find another matrix of `tied` to use in place of `name`; NULL if there is none, if the candidates
 * differ from each other, or if the model has a decoder and neither it nor its family is tied. */
static const TensorSource *other(Finder *f, const char *name)
{
    const Model *m = f->model;
    const TensorSource *found = NULL;
    if (m->has_decoder && !m->tied && !f->family->tied) return NULL;
    for (int i = 0; i < TIED; i++) {
        const bool fits = tied[i] != name && !is_apart(f, tied[i]);
        const TensorSource *t = fits ? of_family(f, tied[i]) : NULL;
        if (t && found && !same_bytes(t, found)) return NULL;
        if (t) found = t;
    }
    return found;
}

const TensorSource *finder_tied(Finder *f, const char *name)
{
    const TensorSource *own = of_family(f, name);
    const char *of = tied_name(f, name);
    if (own || !of || is_apart(f, of)) return own;
    const TensorSource *common = is_apart(f, shared) ? NULL : of_family(f, shared);
    return common ? common : other(f, of);
}

static void settle_logits(Finder *f)
{
    Model *m = f->model;
    const TensorSource *own = of_family(f, logits), *embed = finder_tied(f, target);
    const TensorSource *head = own ? own : finder_tied(f, logits);
    const bool same = !embed || (head && same_bytes(head, embed));
    if (!own && head && !m->tied && f->family->tied)
        diag_remark(f->diag, f->at,
                    "%s = false, but %s has no output layer; using \"%s\" instead",
                    f->draft->folder ? "\"tie_word_embeddings\"" : "tied", m->weights_path, head->file_name);
    /* If the model is untied but there is no matrix for its output layer, the tensor is reported as
     * missing later. */
    if (own) m->tied = m->tied && embed && same;
    else m->tied = (m->tied || f->family->tied) && same;
}

void finder_settle_tying(Finder *f)
{
    Model *m = f->model;
    if (m->has_decoder) settle_logits(f);
    if (!m->head_tied) return;
    const TensorSource *own = of_family(f, masked), *embed = finder_tied(f, source);
    m->head_own = own && embed && !same_bytes(own, embed);
}

static void mark_copy(Finder *f, const char *name, const char *of)
{
    const TensorSource *first = f->model->weight_file->tensors, *t = of_family(f, name);
    const TensorSource *used = t ? of_family(f, of) : NULL;
    if (used && f->used[used - first] && same_bytes(t, used)) f->used[t - first] = true;
}

void finder_mark_copies(Finder *f)
{
    for (int i = 0; i < TIED; i++) {
        mark_copy(f, shared, tied[i]);
        mark_copy(f, tied[i], shared);
        for (int k = 0; k < TIED; k++) mark_copy(f, tied[i], tied[k]);
    }
    mark_copy(f, "head.copy.bias", "head.output.bias");
}

/* ---- what config.json leaves out ------------------------------------------------------------- */

/* Tensors that a model has only for some values of a key: the end of their names, in every layer or
 * once per stack. Only keys that the family reads are considered. */
static const struct { const char *key, *end; bool of_stack; } optional[] = {
    { "attention_bias", "self_attn.q.bias", false },
    { "attention_bias", "self_attn.k.bias", false },
    { "attention_bias", "self_attn.v.bias", false },
    { "attention_bias", "self_attn.out.bias", false },
    { "enable_bias", "self_attn.q.bias", false },
    { "enable_bias", "self_attn.k.bias", false },
    { "enable_bias", "self_attn.v.bias", false },
    { "enable_bias", "self_attn.out.bias", false },
    { "enable_bias", "ffn.up.bias", false },
    { "enable_bias", "ffn.down.bias", false },
    { "mlp_bias", "ffn.gate.bias", false },
    { "mlp_bias", "ffn.up.bias", false },
    { "mlp_bias", "ffn.down.bias", false },
    { "feed_forward_proj", "ffn.gate.weight", false },
    { "embedding_size", "embed.project.weight", true },
    { "word_embed_proj_dim", "embed.project.weight", true },
};
enum { OPTIONAL = sizeof optional / sizeof *optional, MOST_TOLD = 3 };

static bool reads_key(const Family *family, const char *key)
{
    const ConfigKey *row = family_key(family, key);
    return row && row->use != KEY_IGNORED && row->use != KEY_NOTED;
}

/* True if the file has that tensor and the model does not use it; `tell` reports it. */
static bool is_left_out(Finder *f, const char *name, const char *key, bool tell)
{
    const TensorSource *t = of_family(f, name);
    if (!t || f->used[t - f->model->weight_file->tensors]) return false;
    if (tell)
        diag_error(f->diag, EXIT_BAD_DATA, f->at,
                   "%s excludes the tensor \"%s\", but %s contains it",
                   f->draft->folder ? arena_format(f->arena, "the value or default of \"%s\"", key) : "the spec", t->file_name,
                   f->model->weights_path);
    return true;
}

static int refuse_in_stack(Finder *f, const char *stack, const Stack *s, int told)
{
    for (int k = 0; k < OPTIONAL; k++) {
        const char *key = optional[k].key, *end = optional[k].end;
        const int64_t n = !reads_key(f->family, key) ? 0 : optional[k].of_stack ? 1 : s->layers;
        for (int64_t i = 0; i < n; i++) {
            const char *name = arena_format(f->arena, "%s.%" PRId64 ".%s", stack, i, end);
            if (optional[k].of_stack) name = arena_format(f->arena, "%s.%s", stack, end);
            told += is_left_out(f, name, key, told < MOST_TOLD);
        }
    }
    return told;
}

void finder_refuse_left_out(Finder *f)
{
    const Model *m = f->model;
    int told = m->has_encoder ? refuse_in_stack(f, "encoder", &m->encoder, 0) : 0;
    if (m->has_decoder) told = refuse_in_stack(f, "decoder", &m->decoder, told);
    if (told > MOST_TOLD)
        diag_note(f->diag, (Loc){ 0 }, "and %d more such tensor%s", told - MOST_TOLD, told - MOST_TOLD == 1 ? "" : "s");
}
