/* model_generation.c: check the generation settings of a Draft, derive those that follow from
 * others, and convert lists of ids. */
#include "fields.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct Settings { Arena *arena; Diag *diag; const Draft *draft; Model *model; } Settings;

#define wrong(s, id, ...) diag_error((s)->diag, EXIT_BAD_DATA, draft_place((s)->draft, SIDE_BOTH, id), __VA_ARGS__)

static bool is_set(const Settings *s, FieldId id) { return draft_choice(s->draft, SIDE_BOTH, id) != NULL; }

static IdList ids_of(Arena *a, const Numbers *list)
{
    if (!list) return (IdList){ 0, NULL };
    int *ids = arena_array(a, (size_t)list->count, sizeof *ids);
    for (int i = 0; i < list->count; i++) ids[i] = (int)list->value[i];
    return (IdList){ list->count, ids };
}

/* end_id, then end_ids. */
static IdList own_ends(const Settings *s)
{
    const Model *m = s->model;
    const int more = m->end_ids ? m->end_ids->count : 0;
    int *ends = arena_array(s->arena, (size_t)more + 1, sizeof *ends);
    ends[0] = (int)m->end_id;
    for (int i = 0; i < more; i++) {
        const double id = m->end_ids->value[i];
        if (floor(id) < id) wrong(s, FIELD_ID_end_ids, "end_ids[%d] (%.9g) must be a whole number", i + 1, id);
        ends[i + 1] = (int)id;
    }
    return (IdList){ more + 1, ends };
}

/* generation_eos_token_id is end_id and end_ids in one list. If it is given, end_ids must not be,
 * and an explicit end_id must be its first id. */
static void fill_ends(const Settings *s)
{
    Model *m = s->model;
    IdList ends = ids_of(s->arena, m->generation_eos_token_id);
    if (ends.count && is_set(s, FIELD_ID_end_id) && ends.id[0] != (int)m->end_id)
        wrong(s, FIELD_ID_generation_eos_token_id, "generation_eos_token_id begins with %d, but end_id is %" PRId64, ends.id[0], m->end_id);
    else if (ends.count && m->end_ids)
        wrong(s, FIELD_ID_generation_eos_token_id, "give generation_eos_token_id or end_ids, not "
              "both");
    if (ends.count) m->end_id = ends.id[0];
    else ends = own_ends(s);
    m->ends = ends.id;
    m->end_count = ends.count;
}

static void check_forced(const Settings *s, FieldId id, int64_t forced)
{
    const Model *m = s->model;
    if (m->target_vocab && forced >= m->target_vocab)
        wrong(s, id, "%s (%" PRId64 ") is outside the target vocabulary of %" PRId64 " ids", fields[id].name, forced, m->target_vocab);
}

static bool is_end(const Model *m, int id)
{
    for (int i = 0; i < m->end_count; i++)
        if (m->ends[i] == id) return true;
    return false;
}

/* A sequence of a single end id is ignored, as in transformers. */
static void fill_bad_words(const Settings *s)
{
    const FieldId id = FIELD_ID_generation_bad_words_ids;
    Model *m = s->model;
    const IdList all = ids_of(s->arena, m->generation_bad_words_ids);
    int *kept = arena_array(s->arena, (size_t)all.count + 1, sizeof *kept), count = 0;
    for (int i = 0, n; i < all.count; i += n + 1) {
        n = all.id[i];
        for (int k = i + 1; k <= i + n; k++)
            if (m->has_decoder && m->target_vocab && all.id[k] >= m->target_vocab) {
                wrong(s, id, "bad_words_ids contains %d, which is outside the target vocabulary of %" PRId64 " ids",
                      all.id[k], m->target_vocab);
                return;
            }
        if (n == 1 && is_end(m, all.id[i + 1])) continue;
        memcpy(kept + count, all.id + i, ((size_t)n + 1) * sizeof *kept);
        count += n + 1;
    }
    m->bad_words = (IdList){ count, kept };
}

static void note_unread(const Settings *s)
{
    for (int i = FIELD_ID_generation_do_sample; i <= FIELD_ID_generation_eos_token_id; i++)
        if (is_set(s, (FieldId)i)) {
            diag_remark(s->diag, draft_place(s->draft, SIDE_BOTH, (FieldId)i), "%s has no effect: an encoder generates nothing", fields[i].name);
            return;
        }
}

/* Remark on stop strings of a model that only generates ids: they are searched for in text. */
static void check_stops(const Settings *s)
{
    const Model *m = s->model;
    const Loc at = draft_place(s->draft, SIDE_BOTH, FIELD_ID_generation_stop_strings);
    if (m->generation_stop_strings.count && !m->tokenizer_data && !(m->source && m->target))
        diag_remark(s->diag, at, "generation_stop_strings has no effect: answers are ids, not text");
}

/* Check that each row has two language codes and a prefix. */
static void check_translations(const Settings *s)
{
    const Model *m = s->model;
    if (m->translations.count && !(m->has_encoder && m->has_decoder))
        wrong(s, FIELD_ID_translations, "translations needs kind = \"encoder-decoder\"");
    for (int i = 0; i < m->translations.count; i++) {
        const char *row = m->translations.text[i];
        const size_t from = strcspn(row, " "), to = row[from] ? strcspn(row + from + 1, " ") : 0;
        if (from && to && row[from + 1 + to] && row[from + 2 + to]) continue;
        wrong(s, FIELD_ID_translations, "translations[%d]: expected two language codes and a prefix, "
              "such as \"en de translate English to German: \"", i + 1);
        return;
    }
}

void model_check_generation(Arena *a, Diag *d, const Draft *draft, Model *m)
{
    const Settings s = { a, d, draft, m };
    fill_ends(&s);
    fill_bad_words(&s);
    m->suppress = ids_of(a, m->generation_suppress_tokens);
    m->begin_suppress = ids_of(a, m->generation_begin_suppress_tokens);
    check_translations(&s);
    if (!is_set(&s, FIELD_ID_generation_do_sample)) m->generation_do_sample = is_set(&s, FIELD_ID_generation_temperature);
    if (!m->has_decoder) {
        note_unread(&s);
        return;
    }
    check_stops(&s);
    check_forced(&s, FIELD_ID_generation_forced_bos_token_id, m->generation_forced_bos_token_id);
    check_forced(&s, FIELD_ID_generation_forced_eos_token_id, m->generation_forced_eos_token_id);
    if (m->generation_num_beams > 1 && m->generation_do_sample && m->generation_temperature > 0)
        wrong(&s, FIELD_ID_generation_num_beams, "generation_num_beams (%" PRId64 ") cannot be "
              "combined with %s: a beam search does not sample", m->generation_num_beams,
              is_set(&s, FIELD_ID_generation_do_sample) ? "do_sample" : "temperature");
}
