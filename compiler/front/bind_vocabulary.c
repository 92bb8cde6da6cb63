/* bind_vocabulary.c: read the vocabularies or the tokenizer of a model; set the sizes of its
 * vocabularies, and start and end ids from a vocabulary. */
#include "fields.h"
#include "front.h"

#include <inttypes.h>
#include <string.h>

#include "tokenizer.h"

/* The file `name` in the folder of the spec's weights file, even with --from. If the spec's weights
 * are random, the folder is that of the weights file that they replace, or that of the spec if
 * there is none. */
static const char *default_path(Arena *a, const Draft *draft, const Model *m, const char *name)
{
    const bool file = m->weights && strcmp(m->weights, "random");
    return file_join(a, file_folder(a, file ? m->weights : draft->changed_from ? draft->changed_from : draft->path), name);
}

static Vocabulary *read_one(Arena *a, Diag *d, const Draft *draft, const Model *m, FieldId path_id, const char *path, FieldId size_id, int64_t *size)
{
    const Choice *own = draft_choice(draft, SIDE_BOTH, size_id), *given = own ? own : draft_choice(draft, SIDE_BOTH, FIELD_ID_vocab);
    Loc at = draft_place(draft, SIDE_BOTH, draft_choice(draft, SIDE_BOTH, path_id) ? path_id : FIELD_ID_tokenizer);
    Vocabulary *v = vocabulary_read(a, d, at, path);
    bool random = m->weights && !strcmp(m->weights, "random");
    if (!v && random && !draft->changed_from && !draft_choice(draft, SIDE_BOTH, path_id))
        diag_note(d, at, "the spec says weights = \"random\", so the file is expected next to it; set %s = \"…\" to use a "
                  "different path", fields[path_id].name);
    if (!v) return NULL;
    if (given && *size < v->size)
        diag_error(d, EXIT_BAD_DATA, given->at, "%s (%" PRId64 ") is less than the number of symbols in %s (%d)",
                   fields[own ? size_id : FIELD_ID_vocab].name, *size, path, v->size);
    if (!given) *size = v->size;    /* a model may have more ids than its file has symbols */
    return v;
}

/* One tokenizer serves input and output. */
void model_read_tokenizer(Arena *a, Diag *d, const Draft *draft, Model *m)
{
    const Loc at = draft_place(draft, SIDE_BOTH, FIELD_ID_tokenizer_file);
    TokenizerBlob blob;
    RtTokenizer t;
    if (!tokenizer_import(a, d, at, m->tokenizer_file, &blob)) return;
    if (rt_tokenizer_open(&t, blob.data, blob.size) != RT_OK) die("the runtime rejects the tokenizer");
    m->tokenizer_data = blob.data;
    m->tokenizer_size = blob.size;
    m->tokenizer_ids = rt_tokenizer_size(&t);
    m->tokenizer_origin = blob.origin;
    m->tokenizer_chat = blob.chat;
    int64_t *const sizes[] = { &m->source_vocab, &m->target_vocab };
    const bool there[] = { m->has_encoder, m->has_decoder };
    for (int i = 0; i < 2; i++) {
        const FieldId id = i ? FIELD_ID_target_vocab : FIELD_ID_source_vocab;
        if (!*sizes[i]) *sizes[i] = m->tokenizer_ids;
        else if (there[i] && *sizes[i] < m->tokenizer_ids)
            diag_error(d, EXIT_BAD_DATA, at,
                       "the model's vocabulary size, %s (%" PRId64 "), is less than the number of ids in %s (%d)",
                       fields[id].name, *sizes[i], m->tokenizer_file, m->tokenizer_ids);
    }
}

static void require_mark(Diag *d, const char *path, int id, const char *mark)
{
    if (id < 0) diag_error(d, EXIT_BAD_DATA, (Loc){ path, 0, 0 }, "a target vocabulary needs the special token %s", mark);
}

void model_read_vocabularies(Arena *a, Diag *d, const Draft *draft, Model *m)
{
    if (!m->has_encoder) m->source_vocabulary = NULL;
    else if (!m->source_vocabulary) m->source_vocabulary = default_path(a, draft, m, "source_vocabulary.txt");
    if (m->has_decoder && !m->target_vocabulary) m->target_vocabulary = default_path(a, draft, m, "target_vocabulary.txt");
    if (m->has_encoder)
        m->source = read_one(a, d, draft, m, FIELD_ID_source_vocabulary, m->source_vocabulary, FIELD_ID_source_vocab, &m->source_vocab);
    const bool faulty = m->has_encoder && m->has_decoder && !m->source && strcmp(m->source_vocabulary, m->target_vocabulary) == 0;
    if (m->has_decoder && !faulty)      /* the error of the shared file was reported */
        m->target = read_one(a, d, draft, m, FIELD_ID_target_vocabulary, m->target_vocabulary, FIELD_ID_target_vocab, &m->target_vocab);
    if (!m->target) return;
    require_mark(d, m->target_vocabulary, m->target->start, "<s>");
    require_mark(d, m->target_vocabulary, m->target->end, "</s>");
    if (!draft_choice(draft, SIDE_BOTH, FIELD_ID_start_id)) m->start_id = m->target->start;
    if (!draft_choice(draft, SIDE_BOTH, FIELD_ID_end_id)) m->end_id = m->target->end;
}
