/* command_run.c: run a spec: an xf.graph prints every named tensor; any other model reads texts or
 * ids and prints its answers. */
#include "command.h"

#include <string.h>

#include "command_run_texts.h"
#include "json_text.h"
#include "progress.h"
#include "tensor_text.h"
#include "trace.h"
#include "weights.h"

/* ---- xf.graph -------------------------------------------------------------------------------------------------- */

static Tensor *find_input(const Session *s, const char *name, size_t n)
{
    for (int i = 0; i < s->graph->tensor_count; i++) {
        Tensor *t = s->graph->tensors[i];
        if (t->kind == TENSOR_INPUT && !t->integer && strlen(t->name) == n && strncmp(t->name, name, n) == 0) return t;
    }
    return NULL;
}

/* "[4, 3]" */
static const char *input_shape(const Session *s, const Tensor *t)
{
    const char *text = "";
    for (int r = 0; r < t->rank; r++)
        text = arena_format(s->arena, "%s%s%lld", text, r ? ", " : "", (long long)t->dim[r].bound);
    return arena_format(s->arena, "[%s]", text);
}

static void tell_inputs(Session *s)
{
    for (int i = 0; i < s->graph->tensor_count; i++) {
        const Tensor *t = s->graph->tensors[i];
        if (t->kind == TENSOR_INPUT && !t->integer)
            diag_note(s->diag, (Loc){ 0 }, "input %s %s", t->name, input_shape(s, t));
    }
}

/* Set an input to the tensor of the same name in a file. False after an error. */
static bool read_input(Session *s, const TensorFile *f, const char *path, Tensor *t)
{
    const TensorSource *source = tensor_file_find(f, t->name);
    if (!source) {
        diag_error(s->diag, EXIT_BAD_DATA, (Loc){ path, 0, 0 }, "no tensor is called '%s'", t->name);
        return false;
    }
    bool fits = source->rank == t->rank;
    for (int r = 0; fits && r < t->rank; r++) fits = source->shape[r] == t->dim[r].bound;
    bool real = source->dtype == DTYPE_F32 || source->dtype == DTYPE_F16 || source->dtype == DTYPE_BF16 || source->dtype == DTYPE_F64;
    if (!fits || !real) {
        diag_error(s->diag, EXIT_BAD_DATA, (Loc){ path, 0, 0 }, "tensor '%s' must have shape %s and dtype "
                   "F32, F16, BF16 or F64", t->name, input_shape(s, t));
        return false;
    }
    float *values = arena_array(s->arena, (size_t)tensor_elements(source), sizeof *values);
    tensor_read(source, values);
    t->values = values;
    const char *fault = graph_value_fault(s->arena, t, values);
    if (fault) diag_error(s->diag, EXIT_BAD_DATA, (Loc){ path, 0, 0 }, "%s", fault);
    return !fault;
}

/* X=FILE: set input X to the tensor X of FILE. */
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
    const bool read = read_input(s, f, path, t);
    tensor_file_close(f);
    return read;
}

static void print_tensor(const char *name, int rank, const int64_t *shape, const float *values)
{
    int64_t columns = shape[rank - 1], rows = 1;
    for (int r = 0; r < rank - 1; r++) rows *= shape[r];
    const int width = tensor_cell_width(values, rows * columns);
    char cell[TENSOR_CELL];
    printf("%s [", name);
    for (int r = 0; r < rank; r++) printf("%s%lld", r ? ", " : "", (long long)shape[r]);
    puts("]");
    for (int64_t r = 0; r < rows; r++) {
        if (rank == 3 && r && r % shape[1] == 0) puts("");
        fputs("  ", stdout);
        for (int64_t c = 0; c < columns; c++) {
            tensor_cell(cell, values[r * columns + c]);
            printf("%s%*s", c ? " " : "", width, cell);
        }
        puts("");
    }
}

static void print_json_tensor(Session *s, bool first, const char *name, int rank, const int64_t *shape, const float *values)
{
    int64_t n = 1;
    Text t = text_new(s->arena);
    text_add(&t, first ? "{\"name\":" : ",{\"name\":");
    json_add_string(&t, name);
    text_add(&t, ",\"shape\":[");
    for (int r = 0; r < rank; n *= shape[r++]) text_printf(&t, "%s%lld", r ? "," : "", (long long)shape[r]);
    text_add(&t, "],\"values\":[");
    for (int64_t i = 0; i < n; i++) {
        if (i) text_add(&t, ",");
        json_add_number(&t, (double)values[i]);
    }
    text_add(&t, "]}");
    fwrite(t.data, 1, t.size, stdout);
}

static void print_params(Session *s, bool json, bool *first)
{
    for (int i = 0; i < s->model->tensor_count; i++) {
        const TensorSource *t = &s->model->tensors[i];
        float *values = arena_array(s->arena, (size_t)tensor_elements(t), sizeof *values);
        tensor_read(t, values);
        if (json) print_json_tensor(s, *first, t->name, t->rank, t->shape, values);
        else print_tensor(t->name, t->rank, t->shape, values);
        *first = false;
    }
}

static bool is_used(const Graph *g, const Tensor *t)
{
    for (int b = 0; b < g->block_count; b++)
        for (int i = 0; i < g->blocks[b]->count; i++)
            for (int k = 0; k < NODE_INPUTS; k++)
                if (g->blocks[b]->nodes[i]->in[k] == t) return true;
    return false;
}

/* Remark once on the inputs that are read but have no values; they are zeros. */
static void mention_zeros(Session *s)
{
    Text names = text_new(s->arena);
    int n = 0;
    for (int i = 0; i < s->graph->tensor_count; i++) {
        const Tensor *t = s->graph->tensors[i];
        if (t->kind == TENSOR_INPUT && !t->integer && !t->values && is_used(s->graph, t)) text_printf(&names, "%s%s", n++ ? ", " : "", t->name);
    }
    if (!n) return;
    diag_remark(s->diag, (Loc){ 0 }, "input%s %s %s no values; using zeros. Set them in the spec "
                "or with --input NAME=FILE", n == 1 ? "" : "s", names.data,
                n == 1 ? "has" : "have");
}

Engine *command_graph_engine(Session *s, const RunOptions *c)
{
    if (c->prompt_count || c->stop_count) {
        const char *option = c->stop_count ? "stop" : c->prompts[0].file ? "file" : "prompt";
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--%s: an xf.graph %s", option, c->stop_count ? "generates nothing" : "takes no text");
        return NULL;
    }
    if (c->word_count) {
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "'%s': an xf.graph takes no text", c->words[0]);
        return NULL;
    }
    for (int i = 0; i < c->input_count; i++)
        if (!take_input(s, c->inputs[i])) return NULL;
    mention_zeros(s);
    Engine *e = session_engine(s, c->engine, true);
    for (int i = 0; e && i < s->graph->tensor_count; i++) {
        const Tensor *t = s->graph->tensors[i];
        if (t->kind == TENSOR_INPUT && !t->integer && t->values) engine_set_input(e, t->name, t->values);
    }
    return e;
}

static bool run_graph(Session *s, const RunOptions *c)
{
    if (c->raw) {
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--raw prints an encoder's vectors; an "
                   "xf.graph has none");
        return false;
    }
    if (c->generation.count) {
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--%s: an xf.graph generates nothing", c->generation.name[0]);
        return false;
    }
    if (c->stream || c->chat) {
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "%s",
                   c->stream ? "--stream: an xf.graph generates nothing" : "--chat: an xf.graph takes no text");
        return false;
    }
    Engine *e = command_graph_engine(s, c);
    progress_end();
    if (!e) return false;
    Trace *trace = trace_graph(s->arena, e);
    if (trace->status == RT_BAD_VALUE) {
        diag_error(s->diag, EXIT_BAD_DATA, (Loc){ 0 }, "%s", engine_fault(s->arena, e));
        engine_close(e);
        return false;
    }
    if (trace->status != RT_OK) diag_error(s->diag, EXIT_OUR_BUG, (Loc){ 0 }, "the graph did not run: %s", rt_status_text(trace->status));
    bool first = true;
    if (c->json) fputs("{\"tensors\":[", stdout);
    print_params(s, c->json, &first);
    for (int i = 0; i < trace->count; i++) {
        const TraceTensor *t = &trace->tensors[i];
        if (c->json) print_json_tensor(s, first, t->name, t->rank, t->shape, t->values);
        else print_tensor(t->name, t->rank, t->shape, t->values);
        first = false;
    }
    if (c->json) puts("]}");
    engine_close(e);
    return true;
}

/* False, after a message, if an option that needs --chat is given without it. */
static bool chat_fits(const Options *o)
{
    if (o->chat || (!o->system && !o->date && !o->turns)) return true;
    options_refuse(o, "--%s needs --chat", o->system ? "system" : o->date ? "date" : "turns");
    return false;
}

Exit command_run(const Options *o)
{
    CompileOptions compile;
    EngineKind kind;
    if (!options_compile(o, &compile) || !options_engine(o, ENGINE_JIT, &kind) || !chat_fits(o)) return EXIT_USAGE;
    const RunOptions run = options_run(o, kind);
    compile.cached = true;
    compile.chat = o->chat;
    Session *s = session_new(&compile);
    Exit answered = EXIT_DONE;
    progress_begin("run", false);          /* until the answers begin */
    if (session_open(s)) {
        if (s->model->model_kind == KIND_GRAPH) run_graph(s, &run);
        else answered = run_texts(s, &run);
    }
    progress_end();
    const char *fault = answered != EXIT_IO ? file_output_fault() : NULL;
    if (fault) diag_error(s->diag, EXIT_IO, (Loc){ 0 }, "cannot write to standard output: %s", fault);
    Exit told = session_end(s);
    return told != EXIT_DONE ? told : answered;
}
