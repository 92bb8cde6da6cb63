/* command_run_texts.c: texts into answers, as the generated program gives them: one line for each text, an empty one for
 * a text that is refused, its fault told at once on standard error. With --json an object that grows answer by answer. */
#include "command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json_text.h"

typedef struct Texts {
    Session *session;
    Engine *engine;
    RtCharacters source, target;
    int *ids;                       /* [max_source] */
    char *out;  size_t room;        /* the answer; 4 bytes for each character, and a NUL */
    int count;                      /* of the texts so far */
    Exit code;                      /* 65 after a refused text; 70, 74: nothing more is answered */
} Texts;

/* Where a text came from, for messages. */
typedef struct Origin { const char *kind; size_t number; } Origin;

/* ---- telling -------------------------------------------------------------------------------------------- */

static bool may_print(int32_t c)
{
    return c >= 0x20 && (c < 0x7F || c > 0x9F) && !(c >= 0x200B && c <= 0x200F) && !(c >= 0x2028 && c <= 0x202E) &&
           !(c >= 0x2060 && c <= 0x2069) && c != 0xFEFF;
}

/* The characters that begin in the first `bytes` bytes of valid UTF-8. */
static size_t characters_in(const char *s, size_t bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++) n += ((unsigned char)s[i] & 0xC0) != 0x80;
    return n;
}

static void tell_fault(const char *text, const RtTextFault *fault)
{
    int32_t c = 0;
    int bytes = utf8_next(text + fault->at, strlen(text + fault->at), &c);
    if (fault->code_point < 0) fprintf(stderr, "not valid UTF-8 at byte %zu\n", fault->at + 1);
    else {
        if (may_print(c)) fprintf(stderr, "'%.*s' (U+%04X)", bytes, text + fault->at, (unsigned)c);
        else fprintf(stderr, "U+%04X", (unsigned)c);
        fprintf(stderr, " at character %zu is not in the vocabulary\n", characters_in(text, fault->at) + 1);
    }
}

static void begin_message(const Texts *t, Origin at) { fprintf(stderr, "%s: %s %zu: ", t->session->model->name, at.kind, at.number); }

/* ---- one text ------------------------------------------------------------------------------------------- */

/* The ids of a text; false after telling why it is refused. */
static bool read_text(Texts *t, const char *text, size_t bytes, Origin at, int *n)
{
    const size_t length = strlen(text);
    const int most = (int)t->session->model->max_source;
    RtTextFault fault = { 0, -1 };
    rt_status status = RT_OK;
    if (length == bytes && bytes) status = rt_characters_encode(&t->source, text, t->ids, most, n, &fault);
    if (length == bytes && bytes && status == RT_OK) return true;
    begin_message(t, at);
    if (length < bytes) fprintf(stderr, "a NUL at byte %zu\n", length + 1);
    else if (!bytes) fprintf(stderr, "empty; 1 to %d characters fit\n", most);
    else if (status == RT_TOO_LONG) fprintf(stderr, "%d characters, but at most %d fit\n", *n, most);
    else tell_fault(text, &fault);
    t->code = EXIT_BAD_DATA;
    return false;
}

static int likeliest(const float *logits, int n)
{
    int best = 0;
    for (int i = 1; i < n; i++)
        if (logits[i] > logits[best]) best = i;
    return best;
}

/* Greedy: the answer to t->ids in t->out, and the sum of the log-probabilities of its ids. */
static rt_status decode(Texts *t, int n, double *sum)
{
    const Model *m = t->session->model;
    const EngineOps *ops = t->engine->ops;
    size_t used = 0;
    int id = (int)m->start_id;
    rt_status status = ops->encode(t->engine, t->ids, n);
    for (int i = 1; i < m->max_target && status == RT_OK; i++) {
        if ((status = ops->step(t->engine, id)) != RT_OK) break;
        const float *logits = ops->logits(t->engine);
        id = likeliest(logits, (int)m->target_vocab);
        *sum += (double)logits[id];
        if (id == m->end_id) break;
        status = rt_characters_decode(&t->target, id, t->out, t->room, &used);
    }
    return status;
}

/* False after telling; the answer is then empty. */
static bool answer(Texts *t, const char *text, size_t bytes, Origin at)
{
    int n = 0;
    double sum = 0;
    t->out[0] = '\0';
    if (!read_text(t, text, bytes, at, &n)) return false;
    rt_status status = decode(t, n, &sum);
    if (status == RT_OK) {
        if (t->session->choices->verbose && t->session->model->log_softmax)
            fprintf(stderr, "%s: sum of log-probabilities %.4f\n", t->out, sum);
        return true;
    }
    begin_message(t, at);
    fprintf(stderr, "%s\n", rt_status_text(status));
    t->out[0] = '\0';
    t->code = EXIT_OUR_BUG;
    return false;
}

/* ---- all texts ------------------------------------------------------------------------------------------ */

static void put(Texts *t, const char *s, size_t n)
{
    if (t->code == EXIT_IO || (fwrite(s, 1, n, stdout) == n && fflush(stdout) == 0)) return;
    fprintf(stderr, "%s: cannot write to standard output: %s\n", t->session->model->name, strerror(errno));
    t->code = EXIT_IO;
}

static void put_json(Texts *t, const char *text, size_t bytes, bool answered)
{
    Arena *a = arena_new();
    Text json = text_new(a);
    text_add(&json, t->count ? ",\n {\"text\":" : "\n {\"text\":");
    json_add_bytes(&json, text, bytes);
    text_add(&json, ",\"answer\":");
    if (answered) json_add_string(&json, t->out);
    else text_add(&json, "null");
    text_add(&json, "}");
    put(t, json.data, json.size);
    arena_free(a);
}

/* Whether to go on. */
static bool take_text(Texts *t, const char *text, size_t bytes, Origin at)
{
    const bool answered = answer(t, text, bytes, at);
    if (t->session->choices->json) put_json(t, text, bytes, answered);
    else {
        size_t n = strlen(t->out);
        t->out[n] = '\n';           /* in the place of the NUL */
        put(t, t->out, n + 1);
    }
    t->count++;
    return t->code != EXIT_IO && t->code != EXIT_OUR_BUG;
}

static bool take_lines(Texts *t)
{
    char *line = NULL;
    size_t room = 0;
    Origin at = { "line", 0 };
    bool good = true;
    for (ssize_t n; good && (n = getline(&line, &room, stdin)) >= 0;) {
        at.number++;
        if (n && line[n - 1] == '\n') line[--n] = '\0';
        if (n && line[n - 1] == '\r') line[--n] = '\0';
        good = take_text(t, line, (size_t)n, at);
    }
    if (good && !feof(stdin)) {
        fprintf(stderr, "%s: cannot read standard input: %s\n", t->session->model->name, strerror(errno));
        t->code = EXIT_IO;
        good = false;
    }
    free(line);
    return good;
}

static void take_all(Texts *t)
{
    const Choices *c = t->session->choices;
    bool good = c->word_count || take_lines(t);
    for (int i = 0; i < c->word_count && good; i++) {
        const Origin at = { "argument", (size_t)i + 1 };
        good = strcmp(c->words[i], "-") ? take_text(t, c->words[i], strlen(c->words[i]), at) : take_lines(t);
    }
}

static RtCharacters characters(const Packed *table, const Packed *texts)
{
    return (RtCharacters){ table->integers, (int)(table->integer_count / 2), texts->integers, (int)texts->integer_count };
}

bool command_text_ids(Session *s, const Plan *p, const char *text, int *ids, int *n)
{
    const Model *m = s->model;
    const RtCharacters table = m->has_encoder ? characters(p->source_characters, p->source_texts)
                                              : characters(p->target_characters, p->target_texts);
    const long long most = m->has_encoder ? m->max_source : m->max_target;
    const Loc none = { 0 };
    RtTextFault fault = { 0, 0 };
    rt_status status = rt_characters_encode(&table, text, ids, (int)most, n, &fault);
    if (status == RT_OK && *n > 0) return true;
    if (status == RT_OK) diag_error(s->diag, EXIT_BAD_DATA, none, "the text is empty");
    else if (status == RT_TOO_LONG) diag_error(s->diag, EXIT_BAD_DATA, none, "the text has %d characters, but at most %lld fit", *n, most);
    else if (fault.code_point < 0) diag_error(s->diag, EXIT_BAD_DATA, none, "the text is not valid UTF-8 at byte %zu", fault.at + 1);
    else
        diag_error(s->diag, EXIT_BAD_DATA, none, "U+%04X at character %zu of the text is not in the vocabulary", (unsigned)fault.code_point,
                   characters_in(text, fault.at) + 1);
    return false;
}

static bool can_answer(Session *s)
{
    const Model *m = s->model;
    if (s->choices->input_count)
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--input %s: only an xf.graph has inputs; %s answers texts", s->choices->inputs[0], m->name);
    else if (!m->source || !m->target)
        diag_error(s->diag, EXIT_NO_FEATURE, m->at, "%s has no tokenizer, so it cannot answer texts", m->name);
    else return true;
    return false;
}

Exit run_texts(Session *s)
{
    const Model *m = s->model;
    const bool json = s->choices->json;
    Engine *e = can_answer(s) ? session_engine(s, s->choices->engine, NULL, false) : NULL;
    if (!e) return EXIT_DONE;       /* told to s->diag */
    const Plan *p = e->plan;
    Texts t = { .session = s, .engine = e, .source = characters(p->source_characters, p->source_texts),
                .target = characters(p->target_characters, p->target_texts), .room = 4 * (size_t)m->max_target + 1 };
    t.ids = arena_array(s->arena, (size_t)m->max_source, sizeof *t.ids);
    t.out = arena_alloc(s->arena, t.room);
    if (json) put(&t, "{\"answers\":[", 12);
    take_all(&t);
    if (json) put(&t, "\n]}\n", 4);
    engine_close(e);
    return t.code;
}
