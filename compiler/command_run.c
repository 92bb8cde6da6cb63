/* command_run.c: run a spec in an engine: texts into answers, or an xf.graph's inputs into every named tensor. */
#include "command.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace.h"

/* ---- xf.graph -------------------------------------------------------------------------------------------------- */

static Tensor *find_input(const Session *s, const char *name, size_t n)
{
    for (int i = 0; i < s->graph->tensor_count; i++) {
        Tensor *t = s->graph->tensors[i];
        if (t->kind == TENSOR_INPUT && !t->integer && strlen(t->name) == n && strncmp(t->name, name, n) == 0) return t;
    }
    return NULL;
}

static void tell_inputs(Session *s)
{
    for (int i = 0; i < s->graph->tensor_count; i++) {
        const Tensor *t = s->graph->tensors[i];
        if (t->kind == TENSOR_INPUT && !t->integer)
            diag_note(s->diag, (Loc){ 0 }, "input %s [%lld, %lld]", t->name, (long long)t->dim[0].bound, (long long)t->dim[1].bound);
    }
}

/* X=FILE: the tensor X of FILE, or its only tensor, becomes the value of input X. */
static bool take_input(Session *s, const char *word)
{
    const char *equals = strchr(word, '=');
    Tensor *t = equals ? find_input(s, word, (size_t)(equals - word)) : NULL;
    if (!equals) {
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--input %s: expected NAME=FILE", word);
        return false;
    }
    if (!t) {
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--input %s: the graph has no such input", word);
        tell_inputs(s);
        return false;
    }
    const char *path = equals + 1;
    TensorFile *f = safetensors_open(s->arena, s->diag, (Loc){ 0 }, path);
    if (!f) return false;
    const TensorSource *source = tensor_file_find(f, t->name);
    if (!source) {
        diag_error(s->diag, EXIT_BAD_DATA, (Loc){ path, 0, 0 }, "no tensor is called %s", t->name);
        return false;
    }
    bool fits = source->rank == 2 && source->shape[0] == t->dim[0].bound && source->shape[1] == t->dim[1].bound;
    bool real = source->dtype == DTYPE_F32 || source->dtype == DTYPE_F16 || source->dtype == DTYPE_BF16 || source->dtype == DTYPE_F64;
    if (!fits || !real) {
        diag_error(s->diag, EXIT_BAD_DATA, (Loc){ path, 0, 0 }, "%s must be [%lld, %lld] of floating-point numbers", t->name,
                   (long long)t->dim[0].bound, (long long)t->dim[1].bound);
        return false;
    }
    float *values = arena_array(s->arena, (size_t)tensor_elements(source), sizeof *values);
    tensor_read(source, values);
    t->values = values;
    tensor_file_close(f);
    return true;
}

static void print_tensor(const char *name, int rank, const int64_t *shape, const float *values)
{
    int64_t columns = shape[rank - 1], rows = 1;
    for (int r = 0; r < rank - 1; r++) rows *= shape[r];
    printf("%s [", name);
    for (int r = 0; r < rank; r++) printf("%s%lld", r ? ", " : "", (long long)shape[r]);
    puts("]");
    for (int64_t r = 0; r < rows; r++) {
        if (rank == 3 && r && r % shape[1] == 0) puts("");
        fputs("  ", stdout);
        for (int64_t c = 0; c < columns; c++) printf("%s%10.5f", c ? " " : "", (double)values[r * columns + c]);
        puts("");
    }
}

static void print_json_tensor(bool first, const char *name, int rank, const int64_t *shape, const float *values)
{
    int64_t n = 1;
    printf("%s{\"name\":\"%s\",\"shape\":[", first ? "" : ",", name);
    for (int r = 0; r < rank; n *= shape[r++]) printf("%s%lld", r ? "," : "", (long long)shape[r]);
    fputs("],\"values\":[", stdout);
    for (int64_t i = 0; i < n; i++) printf("%s%.9g", i ? "," : "", (double)values[i]);
    fputs("]}", stdout);
}

static void print_params(Session *s, bool json, bool *first)
{
    for (int i = 0; i < s->model->tensor_count; i++) {
        const TensorSource *t = &s->model->tensors[i];
        float *values = arena_array(s->arena, (size_t)tensor_elements(t), sizeof *values);
        tensor_read(t, values);
        if (json) print_json_tensor(*first, t->name, t->rank, t->shape, values);
        else print_tensor(t->name, t->rank, t->shape, values);
        *first = false;
    }
}

static bool run_graph(Session *s)
{
    const Choices *c = s->choices;
    for (int i = 0; i < c->input_count; i++)
        if (!take_input(s, c->inputs[i])) return false;
    Engine *e = session_engine(s, c->engine, NULL, true);
    if (!e) return false;
    for (int i = 0; i < s->graph->tensor_count; i++) {
        const Tensor *t = s->graph->tensors[i];
        if (t->kind == TENSOR_INPUT && !t->integer && t->values) engine_set_input(e, t->name, t->values);
    }
    Trace *trace = trace_graph(s->arena, e);
    if (trace->status != RT_OK) diag_error(s->diag, EXIT_OUR_BUG, (Loc){ 0 }, "the graph did not run: %s", rt_status_text(trace->status));
    bool first = true;
    if (c->json) fputs("{\"tensors\":[", stdout);
    print_params(s, c->json, &first);
    for (int i = 0; i < trace->count; i++) {
        const TraceTensor *t = &trace->tensors[i];
        if (c->json) print_json_tensor(first, t->name, t->rank, t->shape, t->values);
        else print_tensor(t->name, t->rank, t->shape, t->values);
        first = false;
    }
    if (c->json) puts("]}");
    engine_close(e);
    return true;
}

/* ---- texts ----------------------------------------------------------------------------------------------------- */

static RtCharacters characters(const Packed *table, const Packed *texts)
{
    return (RtCharacters){ table->integers, (int)(table->integer_count / 2), texts->integers, (int)texts->integer_count };
}

static bool refuse_text(Session *s, const char *text, rt_status status, const RtTextFault *fault)
{
    Diag *d = s->diag;
    const Loc none = { 0 };
    if (status == RT_TOO_LONG) diag_error(d, EXIT_BAD_DATA, none, "\"%s\": longer than %lld characters", text, (long long)s->model->max_source);
    else if (status == RT_ORDER) diag_error(d, EXIT_BAD_DATA, none, "\"%s\": empty", text);
    else if (fault->code_point < 0) diag_error(d, EXIT_BAD_DATA, none, "not valid UTF-8 at byte %zu of a text", fault->at + 1);
    else
        diag_error(d, EXIT_BAD_DATA, none, "\"%s\": the character U+%04X at byte %zu is not in the vocabulary", text,
                   (unsigned)fault->code_point, fault->at + 1);
    return false;
}

/* Greedy: print the answer, and with -v the sum of the log-probabilities of its ids. */
static bool answer(Session *s, Engine *e, const char *text)
{
    const Plan *p = e->plan;
    const Model *m = s->model;
    const RtCharacters source = characters(p->source_characters, p->source_texts), target = characters(p->target_characters, p->target_texts);
    int *ids = arena_array(s->arena, (size_t)m->max_source, sizeof *ids), n = 0, id = m->target->start;
    char *out = arena_alloc(s->arena, 4 * (size_t)m->max_target + 1);
    size_t used = 0;
    double sum = 0;
    RtTextFault fault = { 0, 0 };
    rt_status status = rt_characters_encode(&source, text, ids, (int)m->max_source, &n, &fault);
    if (status == RT_OK) status = e->ops->encode(e, ids, n);
    if (status != RT_OK) return refuse_text(s, text, status, &fault);
    for (int i = 1; i < m->max_target; i++) {
        status = e->ops->step(e, id);
        if (status != RT_OK) break;
        const float *logits = e->ops->logits(e);
        id = 0;
        for (int v = 1; v < m->target_vocab; v++)
            if (logits[v] > logits[id]) id = v;
        sum += (double)logits[id];
        if (id == m->target->end) break;
        if (rt_characters_decode(&target, id, out, 4 * (size_t)m->max_target + 1, &used) != RT_OK) break;
    }
    printf("%s\n", out);
    if (s->choices->verbose && m->log_softmax) fprintf(stderr, "%s: sum of log-probabilities %.4f\n", out, sum);
    return true;
}

static bool run_texts(Session *s)
{
    const Choices *c = s->choices;
    if (!s->model->source || !s->model->target) {
        diag_error(s->diag, EXIT_NO_FEATURE, s->model->at, "%s has no tokenizer, so it cannot answer texts", s->model->name);
        return false;
    }
    Engine *e = session_engine(s, c->engine, NULL, false);
    if (!e) return false;
    bool from_stdin = c->word_count == 0;
    for (int i = 0; i < c->word_count; i++) answer(s, e, c->words[i]);
    char *line = NULL;
    size_t room = 0;
    for (ssize_t n; from_stdin && (n = getline(&line, &room, stdin)) >= 0;) {
        while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r')) line[--n] = 0;
        if (!answer(s, e, line)) puts("");
    }
    free(line);
    engine_close(e);
    return true;
}

Exit command_run(const Choices *c)
{
    Session *s = session_new(c);
    if (session_read(s)) {
        if (s->model->model_kind == KIND_GRAPH) run_graph(s);
        else run_texts(s);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) diag_error(s->diag, EXIT_IO, (Loc){ 0 }, "cannot write the results");
    return session_end(s);
}
