/* inspect.c: ask a question, and keep its answer and trace. */
#include "inspect.h"

#include <stdlib.h>
#include <string.h>

#include "decode.h"

bool look_refuse(Session *s, Exit code, const char *what, const char *hint)
{
    diag_error(s->diag, code, (Loc){ 0 }, "%s", what);
    if (hint) diag_note(s->diag, (Loc){ 0 }, "%s", hint);
    return false;
}

/* ---- the question ------------------------------------------------------------------------------------------- */

int64_t look_most_ids(const Model *m) { return m->has_encoder ? m->max_source : m->max_target; }
static int64_t vocabulary_of(const Model *m) { return m->has_encoder ? m->source_vocab : m->target_vocab; }
bool look_has_texts(const Model *m) { return m->tokenizer_data || (m->has_encoder ? m->source : m->target); }

/* Read the ids of one word: numbers separated by blanks or commas. For a model that reads pairs,
 * the first tab separates the two parts. */
static bool add_ids(Look *l, const char *word, int *ids, int *n)
{
    static const char blanks[] = " ,\t\n";
    Session *s = l->session;
    const Model *m = s->model;
    for (const char *at = word; *at;) {
        const size_t between = strspn(at, blanks);
        char *end;
        if (m->pairs && !l->question.first && memchr(at, '\t', between)) l->question.first = *n;
        if (!*(at += between)) break;
        long id = strtol(at, &end, 10);
        if (end == at || (*end && !strchr(blanks, *end)))
            return look_refuse(s, EXIT_USAGE, arena_format(s->arena, "\"%s\": expected ids, since %s has no tokenizer", word, m->name), NULL);
        if (id < 0 || id >= vocabulary_of(m)) {
            const long long last = vocabulary_of(m) - 1;
            return look_refuse(s, EXIT_BAD_DATA, arena_format(s->arena, "id %.*s is not in the vocabulary of %s, 0 to %lld",
                                                              (int)(end - at), at, m->name, last), NULL);
        }
        if (*n == look_most_ids(m))
            return look_refuse(s, EXIT_BAD_DATA, arena_format(s->arena, "%s takes at most %lld id%s", m->name,
                                                              (long long)look_most_ids(m), look_most_ids(m) == 1 ? "" : "s"), NULL);
        ids[(*n)++] = (int)id;
        at = end;
    }
    return true;
}

static bool read_words(Look *l, int *ids, int *n)
{
    Session *s = l->session;
    Question *q = &l->question;
    if (look_has_texts(s->model)) {
        if (l->word_count > 1)
            return look_refuse(s, EXIT_USAGE,
                               arena_format(l->arena, "unexpected argument '%s'", l->words[1]),
                               "quote a TEXT of several words");
        q->input = arena_format(l->arena, "“%s”", look_plain(l->arena, l->words[0]));
        rt_cli_source text = { .ids = ids, .room = (int)look_most_ids(s->model) };
        const Plan *p = l->engine ? l->engine->plan : session_plan(s, TARGET_PANELS, false);
        const bool good = text_ids(s, p, l->words[0], &l->text, &text, &l->begin);
        *n = text.n;
        q->first = text.first;
        return good;
    }
    l->begin = (CliBegin){ (int)s->model->start_id, -1 };
    for (int i = 0; i < l->word_count; i++)
        if (!add_ids(l, l->words[i], ids, n)) return false;
    q->input = look_ids_text(l->arena, s->model, s->model->has_encoder, ids, *n);
    return *n > 0 || look_refuse(s, EXIT_BAD_DATA, "no ids were given", NULL);
}

bool look_read(Look *l, int *ids, int *n)
{
    const Model *m = l->session->model;
    if (!read_words(l, ids, n)) return false;
    for (int i = 0; m->has_encoder && i < *n; i++)
        if (ids[i] == m->pad_id)
            return look_refuse(l->session, EXIT_BAD_DATA,
                               arena_format(l->arena, "token %d is the padding id, %d, which this model cannot read", i + 1, ids[i]), NULL);
    return true;
}

static int *copied(Arena *a, const int *first, int n, const int *rest, int m)
{
    int *all = arena_array(a, (size_t)(n + m) + 1, sizeof *all);
    memcpy(all, first, (size_t)n * sizeof *all);
    if (m) memcpy(all + n, rest, (size_t)m * sizeof *all);
    return all;
}

/* The answer of a decoder-only model without its prompt. */
static const char *behind(Arena *a, const Model *m, const char *whole, const int *prompt, int n)
{
    const char *before = look_ids_text(a, m, false, prompt, n);
    const size_t bytes = strlen(before);
    return m->tokenizer_data && strncmp(whole, before, bytes) == 0 ? whole + bytes : whole;
}

static void keep_words(Look *l, const int *prompt, int n)
{
    Arena *a = l->arena;
    const Model *m = l->session->model;
    Question *q = &l->question;
    /* A piece may depend on the previous one. */
    const bool prompted = !m->has_encoder && m->tokenizer_data;
    const int *said = prompted ? copied(a, prompt, n, q->ids, q->count) : q->ids;
    q->text = look_ids_text(a, m, false, said, q->count + (prompted ? n : 0));
    const char *words = prompted ? behind(a, m, q->text, prompt, n) : q->text;
    q->answer = look_has_texts(m) ? arena_format(a, "“%s”", look_plain(a, words)) : words;
}

/* Generate as `run` does, up to the end id, the longest target or the limit of the settings. An
 * encoder-decoder is not fed the last id. */
static rt_status write_answer(Look *l, int *ids, int n)
{
    const Model *m = l->session->model;
    Arena *a = l->arena;
    Engine *e = l->engine;
    Question *q = &l->question;
    RtGeneration settings = l->settings ? *l->settings : generation_of(m);
    if (l->most) settings.max_new = l->most;
    if (l->begin.first >= 0) settings.processors.force_first = 1, settings.processors.first = l->begin.first;
    Decoder *d = decoder_new(a, e, &settings);
    d->cli.start = l->begin.start;
    const rt_status status = decoder_answer(d, ids, n);
    if (status != RT_OK) return status;
    const RtBeamResult *r = d->cli.results;
    q->count = r->length - decoder_ended(d, r);
    q->ids = copied(a, r->ids, q->count, NULL, 0);
    if (m->has_encoder) {
        const int start = l->begin.start;
        q->m = r->length;
        q->written = copied(a, r->ids, r->length, NULL, 0);
        q->fed = copied(a, &start, 1, q->written, r->length ? r->length - 1 : 0);
    } else {
        q->fed = q->written = copied(a, ids, n, q->ids, q->count);
        q->m = n + q->count < m->max_target ? n + q->count : (int)m->max_target;
    }
    keep_words(l, ids, n);
    if (engine_saturated(e)) diag_remark(l->session->diag, (Loc){ 0 }, "%s: " RT_SATURATED, m->name);
    engine_reset(e);
    return status;
}

static bool ran(Look *l, rt_status status)
{
    Session *s = l->session;
    if (status == RT_NOT_FINITE || status == RT_NO_TOKEN) return look_refuse(s, EXIT_BAD_DATA, rt_status_text(status), NULL);
    return status == RT_OK || look_refuse(s, EXIT_OUR_BUG, arena_format(l->arena, "the model did not run: %s", rt_status_text(status)), NULL);
}

bool look_answer(Look *l, int *ids, int n)
{
    Session *s = l->session;
    const Model *m = s->model;
    Question *q = &l->question;
    rt_status status = RT_OK;
    if (m->has_encoder) {
        q->source = ids;
        q->n = n;
        if (m->has_decoder) status = write_answer(l, ids, n);
    } else if (l->answers) status = write_answer(l, ids, n);
    else {
        q->fed = q->written = ids;
        q->m = n;
    }
    return ran(l, status);
}

bool look_trace(Look *l)
{
    const Question *q = &l->question;
    engine_pair(l->engine, q->first, q->n);
    l->trace = trace_run(l->arena, l->engine, q->source, q->n, q->fed, q->m);
    engine_pair(l->engine, 0, q->n);
    return ran(l, l->trace->status);
}

bool look_engine(Look *l, EngineKind kind)
{
    l->engine = session_engine_for(l->session, kind, l->question.n, l->question.m);
    return l->engine != NULL;
}

bool look_ask(Look *l, int *ids, int n) { return look_answer(l, ids, n) && look_trace(l); }

static bool refuse_full(Session *s)
{
    return look_refuse(s, EXIT_BAD_DATA, arena_format(s->arena, "the caches of %s have no room for another run: %lld row%s", s->model->name,
                                                      (long long)s->graph->capacity, s->graph->capacity == 1 ? " fits" : "s fit"), NULL);
}

bool look_has_room(Session *s, const Engine *e) { return !s->graph->step_rows || engine_has_room(e) || refuse_full(s); }

bool look_graph(Look *l)
{
    Session *s = l->session;
    l->trace = trace_graph(l->arena, l->engine);
    if (l->trace->status == RT_TOO_LONG) return refuse_full(s);
    if (l->trace->status == RT_BAD_VALUE)
        return look_refuse(s, EXIT_BAD_DATA, engine_fault(l->arena, l->engine), NULL);
    return l->trace->status == RT_OK ||
           look_refuse(s, EXIT_OUR_BUG, arena_format(l->arena, "the graph did not run: %s", rt_status_text(l->trace->status)), NULL);
}
