/* look.c: the question, its answer, its trace. */
#include "look.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"

bool look_refuse(Session *s, Exit code, const char *what, const char *hint)
{
    diag_error(s->diag, code, (Loc){ 0 }, "%s", what);
    if (hint) diag_note(s->diag, (Loc){ 0 }, "%s", hint);
    return false;
}

/* ---- the question ------------------------------------------------------------------------------------------- */

int64_t look_most_ids(const Model *m) { return m->has_encoder ? m->max_source : m->max_target; }
static int64_t vocabulary_of(const Model *m) { return m->has_encoder ? m->source_vocab : m->target_vocab; }
static const Vocabulary *symbols_of(const Model *m) { return m->has_encoder ? m->source : m->target; }

/* The ids in one word: numbers with spaces or commas between them. */
static bool add_ids(Session *s, const char *word, int *ids, int *n)
{
    const Model *m = s->model;
    for (const char *at = word; *(at += strspn(at, " ,\t\n"));) {
        char *end;
        long id = strtol(at, &end, 10);
        if (end == at || (*end && !strchr(" ,\t\n", *end)))
            return look_refuse(s, EXIT_USAGE, arena_format(s->arena, "\"%s\": expected ids, since %s has no tokenizer", word, m->name), NULL);
        if (id < 0 || id >= vocabulary_of(m)) {
            const long long last = vocabulary_of(m) - 1;
            return look_refuse(s, EXIT_BAD_DATA, arena_format(s->arena, "id %ld: %s knows ids from 0 to %lld", id, m->name, last), NULL);
        }
        if (*n == look_most_ids(m))
            return look_refuse(s, EXIT_BAD_DATA, arena_format(s->arena, "more than %lld ids", (long long)look_most_ids(m)), NULL);
        ids[(*n)++] = (int)id;
        at = end;
    }
    return true;
}

static const char *ids_text(Arena *a, const int *ids, int n)
{
    Text t = text_new(a);
    for (int i = 0; i < n; i++) text_printf(&t, "%s%d", i ? " " : "", ids[i]);
    return t.data;
}

/* A text that goes on one line: U+2400 and on stand for what would end it, or move about in a terminal. */
const char *look_plain(Arena *a, const char *text)
{
    Text t = text_new(a);
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c < 0x20) text_printf(&t, "\xe2\x90%c", 0x80 + c);
        else if (c == 0x7f) text_add(&t, "␡");
        else text_add_bytes(&t, text, 1);
    }
    return t.data;
}

bool look_read(Look *l, int *ids, int *n)
{
    Session *s = l->session;
    const Choices *c = s->choices;
    Question *q = &l->question;
    if (symbols_of(s->model) || s->model->tokenizer_data) {
        if (c->word_count > 1)
            return look_refuse(s, EXIT_USAGE, arena_format(s->arena, "'%s' is one word too many", c->words[1]), "quote a TEXT of several words");
        q->input = arena_format(s->arena, "“%s”", look_plain(s->arena, c->words[0]));
        return command_text_ids(s, l->engine->plan, c->words[0], ids, n);
    }
    for (int i = 0; i < c->word_count; i++)
        if (!add_ids(s, c->words[i], ids, n)) return false;
    q->input = ids_text(s->arena, ids, *n);
    return *n > 0 || look_refuse(s, EXIT_BAD_DATA, "there are no ids", NULL);
}

/* Greedy, to the end or the longest target, as `run` does. */
static rt_status write_answer(Look *l)
{
    const Model *m = l->session->model;
    Engine *e = l->engine;
    Question *q = &l->question;
    q->fed = arena_array(l->session->arena, (size_t)m->max_target, sizeof *q->fed);
    q->written = arena_array(l->session->arena, (size_t)m->max_target, sizeof *q->written);
    rt_status status = e->ops->encode(e, q->source, q->n);
    const int most = m->max_target > 2 ? (int)m->max_target - 1 : 1;         /* the last id is not fed */
    for (int id = (int)m->start_id; status == RT_OK && q->m < most;) {
        q->fed[q->m] = id;
        status = e->ops->next(e, id, &id);
        q->written[q->m++] = id;
        if (id == m->end_id) break;
    }
    engine_reset(e);
    return status;
}

const char *look_ids_text(Arena *a, const Vocabulary *v, const int *ids, int n)
{
    if (!v) return ids_text(a, ids, n);
    Text t = text_new(a);
    text_add(&t, "“");
    for (int i = 0; i < n; i++)
        if (ids[i] < v->size && v->code_point[ids[i]] >= 0) text_add(&t, look_plain(a, v->text[ids[i]]));
    text_add(&t, "”");
    return t.data;
}

static const char *answer_text(Arena *a, const Model *m, const Question *q)
{
    return look_ids_text(a, m->target, q->written, q->m && q->written[q->m - 1] == m->end_id ? q->m - 1 : q->m);
}

static bool ran(Look *l, rt_status status)
{
    Session *s = l->session;
    return status == RT_OK || look_refuse(s, EXIT_OUR_BUG, arena_format(s->arena, "the model did not run: %s", rt_status_text(status)), NULL);
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
        if (m->has_decoder) status = write_answer(l);
        if (m->has_decoder) q->answer = answer_text(s->arena, m, q);
    } else {
        q->fed = q->written = ids;
        q->m = n;
    }
    return ran(l, status);
}

bool look_trace(Look *l)
{
    const Question *q = &l->question;
    l->trace = trace_run(l->session->arena, l->engine, q->source, q->n, q->fed, q->m);
    return ran(l, l->trace->status);
}

bool look_ask(Look *l, int *ids, int n) { return look_answer(l, ids, n) && look_trace(l); }

bool look_graph(Look *l)
{
    Session *s = l->session;
    l->trace = trace_graph(s->arena, l->engine);
    if (l->trace->status == RT_TOO_LONG)
        return look_refuse(s, EXIT_BAD_DATA, arena_format(s->arena, "the caches of %s are full: %lld rows fit", s->model->name,
                                                          (long long)s->graph->capacity), NULL);
    return l->trace->status == RT_OK ||
           look_refuse(s, EXIT_OUR_BUG, arena_format(s->arena, "the graph did not run: %s", rt_status_text(l->trace->status)), NULL);
}
