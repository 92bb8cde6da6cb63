/* command_verify_task.c: count correct answers and measure perplexity, for a model in its own dtype
 * and in f32. */
#include "command_verify_task.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "command_run_texts.h"
#include "json_text.h"
#include "progress.h"
#include "run_program.h"
#include "text_ids.h"

static bool refuse(Session *s, const char *option, const char *why)
{
    diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--%s: %s %s", option, s->model->name, why);
    return false;
}

/* ---- answers ---------------------------------------------------------------------------------------------------- */

/* The most likely label. */
static const char *label_of(const Cli *cli)
{
    const rt_program *p = cli->program;
    const float *values = p->vector(cli->state);
    int best = 0;
    for (int i = 1; i < p->vector_width; i++)
        if (values[i] > values[best]) best = i;
    return p->labels[best];
}

/* The answer as `run` prints it; for an encoder, the most likely label. NULL after an error. */
static const char *answer(Session *s, Cli *cli, const char *text, int line)
{
    const int code = cli_answer(cli, text, strlen(text), 0);
    const char *why = cli->answer.message;
    cli_tell_input(cli, (CliPlace){ "line", (size_t)line });
    if (!*why) return cli->program->vectors ? label_of(cli) : cli->answer.text.text;
    if (code) diag_error(s->diag, EXIT_BAD_DATA, (Loc){ 0 }, "--task: line %d: %s", line, why);
    else
        diag_error(s->diag, EXIT_BAD_DATA, (Loc){ 0 }, "--task: the model cannot read line %d: %s",
                   line, why);
    return NULL;
}

static bool count_answers(Session *s, Cli *cli, const char *path, TaskResult *result)
{
    size_t size;
    int number = 0;
    Diag *d = s->diag;
    char *file = file_read(s->arena, d, (Loc){ 0 }, path, SIZE_MAX, &size);
    if (!file) return false;
    for (char *line = file, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end) *end++ = '\0';
        number++;
        progress_part("answering", (double)(line - file), (double)size);
        char *expected = strchr(line, '\t');
        if (!expected) {
            diag_error(d, EXIT_BAD_DATA, (Loc){ .file = path, .line = number }, "expected a text and its answer, separated by a tab");
            return false;
        }
        *expected++ = '\0';
        expected[strcspn(expected, "\t\r")] = '\0';
        const char *found = answer(s, cli, line, number);
        if (!found) return false;
        result->right += strcmp(found, expected) == 0;
        result->texts++;
    }
    if (!result->texts) diag_error(d, EXIT_BAD_DATA, (Loc){ .file = path }, "the file has no lines");
    return result->texts;
}

static bool measure_answers(Session *s, Engine *e, const char *path, TaskResult *result)
{
    const Model *m = s->model;
    CliOptions options = { 0 };
    const RunOptions plain = { .engine = ENGINE_ANY };
    if (m->model_kind == KIND_GRAPH || !run_has_texts(m)) return refuse(s, "task", "does not read text");
    if (!m->has_decoder && (!m->labels.count || !model_pools(m)))
        return refuse(s, "task", "neither generates text nor labels whole texts");
    if (m->has_decoder && !command_generation(s, &plain, &options.generation)) return false;
    RunProgram *r = run_program(s->arena, e);
    Cli cli = run_cli(r, &options);
    const bool open = cli_texts_open(&cli) == 0;
    const bool good = open && count_answers(s, &cli, path, result);
    cli_texts_close(&cli);
    if (!open) diag_error(s->diag, EXIT_NO_FEATURE, (Loc){ 0 }, "--task: no memory for texts");
    return good;
}

/* ---- perplexity -------------------------------------------------------------------------------------------------- */

/* -log of the probability of an id. */
static double surprise(const float *logits, int64_t n, int id)
{
    double most = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++) most = logits[i] > most ? logits[i] : most;
    for (int64_t i = 0; i < n; i++) sum += exp(logits[i] - most);
    return log(sum) + most - logits[id];
}

/* Add the surprise of all ids but the first to *sum. ids[n] fit one sequence. */
static rt_status sum_window(Engine *e, const int *ids, int n, double *sum)
{
    const Model *m = e->plan->graph->model;
    const int most = engine_rows(e);
    rt_token *rows = malloc((size_t)most * sizeof *rows);
    rt_status status = RT_OK;
    if (!rows) no_memory("%d rows", most);
    for (int first = 0, count; first + 1 < n && status == RT_OK; first += count) {
        count = n - 1 - first < most ? n - 1 - first : most;
        for (int i = 0; i < count; i++) rows[i] = (rt_token){ 0, first + i, ids[first + i] };
        status = e->ops->decode(e, rows, count);
        for (int i = 0; i < count && status == RT_OK; i++) {
            const float *logits = e->ops->logits(e) + i * engine_logits_stride(e);
            if (!rt_logits_good(logits, (int)m->target_vocab)) status = RT_NOT_FINITE;
            else *sum += surprise(logits, m->target_vocab, ids[first + i + 1]);
        }
    }
    free(rows);
    return status;
}

static bool file_ids(Session *s, const char *text, size_t size, rt_cli_source *ids)
{
    ids->room = (int)size + 16;
    ids->ids = arena_array(s->arena, (size_t)ids->room, sizeof *ids->ids);
    const rt_status status = text_tokens(s->model, text, size, ids);
    if (status != RT_OK) diag_error(s->diag, EXIT_BAD_DATA, (Loc){ 0 }, "--perplexity: %s", rt_text_fault(status));
    return status == RT_OK;
}

static bool measure_perplexity(Session *s, Engine *e, const char *path, TaskResult *result)
{
    enum { MOST_BYTES = 64 << 20 };
    const Model *m = s->model;
    size_t size;
    rt_cli_source ids = { .ids = NULL };
    double sum = 0;
    if (m->model_kind == KIND_GRAPH || m->has_encoder || !m->tokenizer_data)
        return refuse(s, "perplexity", "is not a decoder-only model with a subword tokenizer");
    const char *text = file_read(s->arena, s->diag, (Loc){ 0 }, path, MOST_BYTES, &size);
    if (!text || !file_ids(s, text, size, &ids)) return false;
    for (int at = 0, n; at + 1 < ids.n; at += n) {
        n = ids.n - at < m->max_target ? ids.n - at : (int)m->max_target;
        progress_part("perplexity", at, ids.n);
        const rt_status status = sum_window(e, ids.ids + at, n, &sum);
        if (status != RT_OK) {
            const int code = status == RT_NOT_FINITE ? EXIT_BAD_DATA : EXIT_OUR_BUG;
            diag_error(s->diag, code, (Loc){ 0 }, "--perplexity: %s", rt_status_text(status));
            return false;
        }
        result->tokens += n - 1;
    }
    const Loc at = { .file = path };
    if (engine_saturated(e)) diag_remark(s->diag, (Loc){ 0 }, "%s: " RT_SATURATED, m->name);
    if (!result->tokens) diag_error(s->diag, EXIT_BAD_DATA, at, "at least two tokens are needed, found %d", ids.n);
    result->perplexity = exp(sum / (double)result->tokens);
    return result->tokens;
}

/* ---- both dtypes ------------------------------------------------------------------------------------------------- */

static bool measure(Session *s, EngineKind kind, Task *task)
{
    TaskResult *result = &task->results[task->count++];
    *result = (TaskResult){ .dtype = model_dtype(s->model),
                            .kv_dtype = s->model->kv_dtype == KV_DTYPES_F32 ? NULL : model_kv_dtype(s->model) };
    Engine *e = session_engine(s, kind, false);
    const bool good = e && (!task->answers || measure_answers(s, e, task->answers, result)) &&
                      (!task->perplexity || measure_perplexity(s, e, task->perplexity, result));
    if (e) engine_close(e);
    return good;
}

bool task_measure(Session *s, EngineKind kind, Task *task)
{
    if (!task->answers && !task->perplexity) return true;
    if (!measure(s, kind, task)) return false;
    if (!model_is_narrow(s->model) && s->model->kv_dtype == KV_DTYPES_F32) return true;
    CompileOptions o = s->options;
    o.dtype = "f32";
    if (s->model->kv_dtype != KV_DTYPES_F32) o.kv_dtype = "f32";
    Session *plain = session_new(&o);
    const bool good = session_read(plain) && measure(plain, kind, task);
    return session_end(plain) == EXIT_DONE && good;
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

/* "f32", "int8, kv f16" */
static const char *dtype_words(Arena *a, const TaskResult *r) { return r->kv_dtype ? arena_format(a, "%s, kv %s", r->dtype, r->kv_dtype) : r->dtype; }
static const char *kv_key(Arena *a, const TaskResult *r) { return r->kv_dtype ? arena_format(a, ", \"kv_dtype\": \"%s\"", r->kv_dtype) : ""; }

static double percent(const TaskResult *r) { return 100.0 * r->right / r->texts; }

void task_print(Arena *arena, const Task *task, FILE *to)
{
    const TaskResult *a = &task->results[0], *b = &task->results[1];
    if (task->answers) {
        fprintf(to, "accuracy: %s %d of %d (%.2f %%)", dtype_words(arena, a), a->right, a->texts, percent(a));
        if (task->count > 1) fprintf(to, ", %s %d of %d (%.2f %%): %+.2f points", b->dtype, b->right, b->texts, percent(b), percent(a) - percent(b));
        fputc('\n', to);
    }
    if (task->perplexity) {
        fprintf(to, "perplexity over %lld token%s: %s %.4f", (long long)a->tokens, a->tokens == 1 ? "" : "s", dtype_words(arena, a), a->perplexity);
        if (task->count > 1) fprintf(to, ", %s %.4f (%+.2f %%)", b->dtype, b->perplexity, 100 * (a->perplexity / b->perplexity - 1));
        fputc('\n', to);
    }
}

const char *task_json(Arena *arena, const Task *task)
{
    Text t = text_new(arena);
    for (int i = 0; task->answers && i < task->count; i++) {
        const TaskResult *r = &task->results[i];
        text_printf(&t, "%s{\"dtype\": \"%s\"%s, \"right\": %d, \"texts\": %d}", i ? ", " : ",\n \"accuracy\": [", r->dtype,
                    kv_key(arena, r), r->right, r->texts);
    }
    if (task->answers) text_add(&t, "]");
    for (int i = 0; task->perplexity && i < task->count; i++) {
        const TaskResult *r = &task->results[i];
        text_printf(&t, "%s{\"dtype\": \"%s\"%s, \"perplexity\": ", i ? ", " : ",\n \"perplexity\": [", r->dtype,
                    kv_key(arena, r));
        json_add_number(&t, r->perplexity);
        text_printf(&t, ", \"tokens\": %lld}", (long long)r->tokens);
    }
    if (task->perplexity) text_add(&t, "]");
    return t.data ? t.data : "";
}
