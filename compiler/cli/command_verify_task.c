/* command_verify_task.c: answers counted and perplexity summed, for one model as two sessions that differ in their dtype. */
#include "command_verify_task.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "command_run_read.h"
#include "answer_vectors.h"
#include "command_run_texts.h"
#include "decode.h"
#include "json_text.h"
#include "progress.h"

static bool refuse(Session *s, const char *option, const char *why)
{
    diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--%s: %s %s", option, s->model->name, why);
    return false;
}

/* ---- answers ---------------------------------------------------------------------------------------------------- */

/* Either decoder or vectors; text[room] is the last answer. */
typedef struct Answering { Session *session; TextReader *reader; Decoder *decoder; Vectors *vectors; char *text; size_t room; } Answering;

/* What the ids say, end marks left out; a decoder alone repeats its prompt, as `run` writes it. */
static rt_status text_of_ids(Answering *a, int prompt)
{
    const TextReader *r = a->reader;
    const RtBeamResult *answer = &a->decoder->results[0];
    int *ids = malloc((size_t)(prompt + answer->length + 1) * sizeof *ids), n = 0;
    if (!ids) die("no memory");
    for (int i = 0; !a->session->model->has_encoder && r->tokenizer && i < prompt; i++) ids[n++] = r->ids[i];
    for (int i = 0; i < answer->length; i++)
        if (!decoder_is_end(a->decoder, answer->ids[i])) ids[n++] = answer->ids[i];
    size_t used = 0;
    RtTokenStream stream = { 0 };
    rt_status status = RT_OK;
    *a->text = '\0';
    if (r->tokenizer) status = rt_tokenizer_stream_end(r->tokenizer, &stream, ids, n, true, a->text, a->room, &used);
    else for (int i = 0; i < n && status == RT_OK; i++) status = rt_characters_decode(&r->target, ids[i], a->text, a->room, &used);
    free(ids);
    return status;
}

/* The likeliest label. */
static void text_of_label(Answering *a)
{
    const Whole *labels = &a->session->model->labels;
    int best = 0;
    for (int i = 1; i < a->vectors->width; i++)
        if (a->vectors->values[i] > a->vectors->values[best]) best = i;
    snprintf(a->text, a->room, "%s", labels->text[best]);
}

static bool answer(Answering *a, const char *text, Origin at)
{
    int n;
    if (!text_reader_ids(a->reader, text, strlen(text), at, &n)) {
        diag_error(a->session->diag, EXIT_BAD_DATA, (Loc){ 0 }, "--task: line %zu is no text of the model", at.number);
        return false;
    }
    rt_status status = a->decoder ? decoder_answer(a->decoder, a->reader->ids, n) : vectors_encode(a->vectors, a->reader->ids, n, a->reader->first);
    if (status == RT_OK && a->decoder) status = a->decoder->count ? text_of_ids(a, n) : RT_BAD_WEIGHTS;
    if (status == RT_OK && a->vectors) text_of_label(a);
    if (status != RT_OK) diag_error(a->session->diag, EXIT_BAD_DATA, (Loc){ 0 }, "--task: line %zu: %s", at.number, rt_status_text(status));
    return status == RT_OK;
}

static bool count_answers(Answering *a, const char *path, TaskResult *result)
{
    size_t size;
    Diag *d = a->session->diag;
    char *file = file_read(a->session->arena, d, (Loc){ 0 }, path, SIZE_MAX, &size);
    if (!file) return false;
    Origin at = { "line", 0 };
    for (char *line = file, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end) *end++ = '\0';
        at.number++;
        progress_part("answering", (double)(line - file), (double)size);
        char *expected = strchr(line, '\t');
        if (!expected) {
            diag_error(d, EXIT_BAD_DATA, (Loc){ .file = path, .line = (int)at.number }, "expected a text, a tab and its answer");
            return false;
        }
        *expected++ = '\0';
        expected[strcspn(expected, "\t\r")] = '\0';
        if (!answer(a, line, at)) return false;
        result->right += strcmp(a->text, expected) == 0;
        result->texts++;
    }
    if (!result->texts) diag_error(d, EXIT_BAD_DATA, (Loc){ .file = path }, "it has no lines");
    return result->texts;
}

static bool measure_answers(Session *s, Engine *e, const char *path, TaskResult *result)
{
    enum { ROOM = 1 << 20 };
    const Model *m = s->model;
    RtGeneration settings;
    const RunOptions plain = { .engine = ENGINE_ANY };
    if (m->model_kind == KIND_GRAPH || !text_reader_has_texts(m)) return refuse(s, "task", "has no texts");
    if (!m->has_decoder && (!m->labels.count || !model_pools(m))) return refuse(s, "task", "answers by numbers, and not by text");
    if (m->has_decoder && !command_generation(s, &plain, &settings)) return false;
    Answering a = { .session = s, .reader = text_reader_new(s, e->plan, &plain), .text = arena_alloc(s->arena, ROOM), .room = ROOM };
    if (m->has_decoder) a.decoder = decoder_new(s->arena, e, &settings);
    else a.vectors = vectors_new(s->arena, e);
    const bool good = count_answers(&a, path, result);
    text_reader_close(a.reader);
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

/* Of ids[n], which one sequence has room for. */
static rt_status sum_window(Engine *e, const int *ids, int n, double *sum)
{
    const Model *m = e->plan->graph->model;
    const int most = engine_rows(e);
    rt_row *rows = malloc((size_t)most * sizeof *rows);
    rt_status status = RT_OK;
    if (!rows) die("no memory");
    for (int first = 0, count; first + 1 < n && status == RT_OK; first += count) {
        count = n - 1 - first < most ? n - 1 - first : most;
        for (int i = 0; i < count; i++) rows[i] = (rt_row){ 0, first + i, ids[first + i] };
        status = e->ops->rows(e, rows, count);
        for (int i = 0; i < count && status == RT_OK; i++)
            *sum += surprise(e->ops->logits(e) + i * engine_logits_stride(e), m->target_vocab, ids[first + i + 1]);
    }
    free(rows);
    return status;
}

static bool file_ids(Session *s, const char *text, size_t size, PieceIds *ids)
{
    RtTokenizer t;
    Pieces p = { .tokenizer = &t };
    if (rt_tokenizer_open(&t, s->model->tokenizer_data, s->model->tokenizer_size) != RT_OK) die("the model's tokenizer is damaged");
    ids->room = (int)size + 16;
    ids->ids = arena_array(s->arena, (size_t)ids->room, sizeof *ids->ids);
    const rt_status status = pieces_read(&p, text, size, false, false, ids);
    pieces_free(&p);
    if (status != RT_OK) diag_error(s->diag, EXIT_BAD_DATA, (Loc){ 0 }, "--perplexity: %s", rt_status_text(status));
    return status == RT_OK;
}

static bool measure_perplexity(Session *s, Engine *e, const char *path, TaskResult *result)
{
    enum { MOST_BYTES = 64 << 20 };
    const Model *m = s->model;
    size_t size;
    PieceIds ids = { .ids = NULL };
    double sum = 0;
    if (m->model_kind == KIND_GRAPH || m->has_encoder || !m->tokenizer_data) return refuse(s, "perplexity", "is no decoder alone with a tokenizer");
    const char *text = file_read(s->arena, s->diag, (Loc){ 0 }, path, MOST_BYTES, &size);
    if (!text || !file_ids(s, text, size, &ids)) return false;
    for (int at = 0, n; at + 1 < ids.n; at += n) {
        n = ids.n - at < m->max_target ? ids.n - at : (int)m->max_target;
        progress_part("perplexity", at, ids.n);
        const rt_status status = sum_window(e, ids.ids + at, n, &sum);
        if (status != RT_OK) {
            diag_error(s->diag, EXIT_OUR_BUG, (Loc){ 0 }, "--perplexity: %s", rt_status_text(status));
            return false;
        }
        result->tokens += n - 1;
    }
    const Loc at = { .file = path };
    if (!result->tokens) diag_error(s->diag, EXIT_BAD_DATA, at, "two tokens at least are needed, found %d", ids.n);
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
    o.dtype = o.kv_dtype = "f32";
    Session *plain = session_new(&o);
    const bool good = session_read(plain) && measure(plain, kind, task);
    return session_end(plain) == EXIT_DONE && good;
}

/* ---- telling ----------------------------------------------------------------------------------------------------- */

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
        fprintf(to, "perplexity: %s %.4f", dtype_words(arena, a), a->perplexity);
        if (task->count > 1) fprintf(to, ", %s %.4f: %+.2f %%", b->dtype, b->perplexity, 100 * (a->perplexity / b->perplexity - 1));
        fprintf(to, ", of %lld tokens\n", (long long)a->tokens);
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
