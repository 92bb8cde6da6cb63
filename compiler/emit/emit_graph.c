/* emit_graph.c: the calls of an xf.graph (set inputs, run, read outputs), and its two programs. */
#include "emit_kind.h"

#include <math.h>
#include <string.h>

static const Tensor *tensor_at(Emit *e, int i) { return e->plan->graph->tensors[i]; }

/* True for an input that the caller sets. */
static bool is_input(const Tensor *t) { return t->kind == TENSOR_INPUT && !t->integer; }
static bool is_output(const Tensor *t) { return t->output; }

static const char *dense(Emit *e, const Tensor *t)
{
    Text s = text_new(e->arena);
    for (int r = 0; r < t->rank; r++) text_printf(&s, "[%lld]", (long long)t->dim[r].bound);
    return s.data;
}

static const Buffer *buffer_of(Emit *e, const Tensor *t)
{
    for (int i = 0; i < e->plan->buffer_count; i++)
        if (e->plan->buffers[i]->tensor == t && e->plan->buffers[i]->place == PLACE_SCRATCH) return e->plan->buffers[i];
    die("%s has no buffer of its own", t->name);
}

static const char *identifier(Emit *e, const Tensor *t)
{
    char *c = arena_text(e->arena, t->name);
    for (char *s = c; *s; s++)
        if (*s == '.') *s = '_';
    return c;
}

/* ---- masks and biases: check each, since either could be misread as the other ---------------- */

static const char *const holds_words[] = {
    [HOLDS_ANY] = "", [HOLDS_MASK] = ": only 0 and 1", [HOLDS_BIAS] = ": finite numbers and -inf"
};
static const char checked_words[] =
    "\n * Errors: RT_BAD_VALUE if a mask contains a number other than 0 and 1, or a bias contains NaN or\n"
    " * +inf; the outputs are then not valid.";
static const char *const holds_functions[] = { [HOLDS_MASK] = "is_mask", [HOLDS_BIAS] = "is_bias" };

static const char is_mask_text[] =
    "/* True if rows hold only 0 and 1. */\n"
    "static int is_mask(const float *x, int rows, int stride, int width)\n"
    "{\n"
    "    for (int r = 0; r < rows; r++)\n"
    "        for (int i = 0; i < width; i++)\n"
    "            if (x[r * stride + i] != 0 && x[r * stride + i] != 1) return 0;\n"
    "    return 1;\n"
    "}\n\n";
static const char is_bias_text[] =
    "/* True if rows hold only finite numbers and -inf. */\n"
    "static int is_bias(const float *x, int rows, int stride, int width)\n"
    "{\n"
    "    for (int r = 0; r < rows; r++)\n"
    "        for (int i = 0; i < width; i++)\n"
    "            if (!(x[r * stride + i] <= 3.402823466e38f)) return 0;\n"
    "    return 1;\n"
    "}\n\n";

/* List the masks and added biases of all attentions, each once: if `inputs`, those that are inputs,
 * else those that are computed. Return their number. */
static int checked_buffers(const Emit *e, bool inputs, const Buffer **buffers, Holds *holds)
{
    int n = 0;
    const PlanBlock *b = e->plan->blocks[0];
    for (int i = 0; i < b->op_count; i++)
        for (int k = 6; k < NODE_INPUTS; k += 2) {
            const PlanOp *op = &b->ops[i];
            const Tensor *t = op->node->op == OP_ATTENTION && op->in[k] ? op->node->in[k] : NULL;
            bool again = false;
            for (int j = 0; t && j < n; j++) again |= buffers[j] == op->in[k];
            if (!t || again || (t->kind == TENSOR_INPUT) != inputs) continue;
            buffers[n] = op->in[k];
            holds[n++] = t->holds;
        }
    return n;
}

/* Like checked_buffers, but allocates both arrays. */
static int checks_of(const Emit *e, bool inputs, const Buffer ***buffers, Holds **holds)
{
    const size_t most = 2 * (size_t)e->plan->blocks[0]->op_count + 1;
    *buffers = arena_array(e->arena, most, sizeof **buffers);
    *holds = arena_array(e->arena, most, sizeof **holds);
    return checked_buffers(e, inputs, *buffers, *holds);
}

static int checks(const Emit *e, bool inputs)
{
    const Buffer **buffers;
    Holds *holds;
    return checks_of(e, inputs, &buffers, &holds);
}

static void check_lines(Emit *e, Text *out, bool inputs)
{
    const Buffer **buffers;
    Holds *holds;
    const int n = checks_of(e, inputs, &buffers, &holds);
    for (int i = 0; i < n; i++)
        text_fill(out, "    if (!${function}(${values}, ${rows}, ${stride}, ${width})) return RT_BAD_VALUE;\n",
                  "function", holds_functions[holds[i]], "values", emit_in_state(e, buffers[i], NULL),
                  "rows", emit_number(e, buffers[i]->heads * buffers[i]->rows),
                  "stride", emit_number(e, buffers[i]->stride),
                  "width", emit_number(e, buffers[i]->width), NULL);
}

static void check_functions(Emit *e, Text *out)
{
    const Buffer **buffers;
    Holds *holds;
    bool used[] = { [HOLDS_MASK] = false, [HOLDS_BIAS] = false };
    for (int inputs = 0; inputs < 2; inputs++) {
        const int n = checks_of(e, inputs, &buffers, &holds);
        for (int i = 0; i < n; i++) used[holds[i]] = true;
    }
    if (used[HOLDS_MASK]) text_add(out, is_mask_text);
    if (used[HOLDS_BIAS]) text_add(out, is_bias_text);
}

static void graph_header(Emit *e, Text *out, const char *types)
{
    text_add(out, types);
    for (int i = 0; i < e->plan->graph->tensor_count; i++) {
        const Tensor *t = tensor_at(e, i);
        if (is_input(t))
            text_fill(out, "\n/* Set input ${tensor}, row-major ${shape}${holds}. */\n"
                      "void ${name}_set_${id}(${name}_state *s, const float *values);\n",
                      "tensor", t->name, "id", identifier(e, t), "shape", dense(e, t),
                      "holds", holds_words[t->holds], "name", e->name, NULL);
    }
    const Graph *g = e->plan->graph;
    const char *steps = "";
    if (g->step_rows)
        steps = arena_format(e->arena, "\n * Append this run's rows (%lld) to those of earlier runs in the caches; RT_TOO_LONG beyond %lld rows,\n"
                             " * until the state is reset.", (long long)g->step_rows, (long long)g->capacity);
    text_fill(out, "\n/* Compute every output from the inputs that were set.${steps}${checked} */\n"
                   "rt_status ${name}_run(const ${name} *m, ${name}_state *s);\n",
              "name", e->name, "steps", steps,
              "checked", checks(e, true) || checks(e, false) ? checked_words : "", NULL);
    for (int i = 0; i < e->plan->graph->tensor_count; i++) {
        const Tensor *t = tensor_at(e, i);
        if (is_output(t))
            text_fill(out, "\n/* Copy output ${tensor} of the last run, row-major ${shape}. */\n"
                           "void ${name}_get_${id}(const ${name}_state *s, float *values);\n",
                      "tensor", t->name, "id", identifier(e, t), "shape", dense(e, t), "name", e->name, NULL);
    }
}

static const char set_template[] =
    "void ${name}_set_${id}(${name}_state *state, const float *values)\n"
    "{\n"
    "    struct state *const s = (struct state *)(void *)state;\n"
    "    float *const rows = (float *)(void *)${whole};\n"
    "    for (int r = 0; r < ${rows}; r++) rt_copy(rows + r * ${stride}, values + r * ${width}, ${width} * sizeof(float));\n"
    "}\n\n";
static const char get_template[] =
    "void ${name}_get_${id}(const ${name}_state *state, float *values)\n"
    "{\n"
    "    const struct state *const s = (const struct state *)(const void *)state;\n"
    "    const float *const rows = (const float *)(const void *)${whole};\n"
    "    for (int r = 0; r < ${rows}; r++) rt_copy(values + r * ${width}, rows + r * ${stride}, ${width} * sizeof(float));\n"
    "}\n\n";

/* Take the address of the whole member: a pointer to its first row may not be used for the others,
 * and gcc 12 warns about it at -O3. */
static void copy_call(Emit *e, Text *out, const char *template, const Tensor *t)
{
    const Buffer *b = buffer_of(e, t);
    const char *first = emit_in_state(e, b, NULL), *index = strchr(first, '[');
    const char *whole = index ? arena_copy(e->arena, first, (size_t)(index - first)) : first;
    text_fill(out, template, "name", e->name, "id", identifier(e, t), "whole", whole, "rows", emit_number(e, b->heads * b->rows),
              "stride", emit_number(e, b->stride), "width", emit_number(e, b->width), NULL);
}

static const char *fill_text(Emit *e, const Tensor *t)
{
    switch (t->fill) {
    case FILL_INDEX: return "i";
    case FILL_COUNT: return "i + 1";
    case FILL_POSITION: return "*position + i";
    case FILL_SEEN:  return "*position + i + 1";
    default:         return emit_number(e, t->fill);
    }
}

static void fill_lines(Emit *e, Text *out)
{
    for (int i = 0; i < e->plan->graph->tensor_count; i++) {
        const Tensor *t = tensor_at(e, i);
        if (t->kind != TENSOR_INPUT || !t->integer) continue;
        text_fill(out, "    for (int i = 0; i < ${n}; i++) ${ints}[i] = ${value};\n", "n", emit_number(e, t->dim[0].bound),
                  "ints", emit_in_state(e, buffer_of(e, t), NULL), "value", fill_text(e, t), NULL);
    }
}

static void graph_calls(Emit *e, Text *out)
{
    text_fill(out, "/* ---- the calls ------------------------------------------------------------------------------- */\n\n"
              "void ${name}_reset(${name}_state *state)\n"
              "{\n"
              "    struct state *const s = (struct state *)(void *)state;\n"
              "    rt_clear(s->next_position, sizeof s->next_position);\n"
              "}\n\n", "name", e->name, NULL);
    for (int i = 0; i < e->plan->graph->tensor_count; i++)
        if (is_input(tensor_at(e, i))) copy_call(e, out, set_template, tensor_at(e, i));
    const Graph *g = e->plan->graph;
    const bool steps = g->step_rows > 0;
    check_functions(e, out);
    text_fill(out, "rt_status ${name}_run(const ${name} *m, ${name}_state *state)\n{\n"
                   "    struct state *const s = (struct state *)(void *)state;\n"
                   "    ${job} };\n", "name", e->name, "job", emit_job(e), NULL);
    if (steps)
        text_fill(out, "    int *const position = s->next_position;       /* rows so far */\n"
                       "    if (*position > ${last}) return RT_TOO_LONG;\n",
                  "last", emit_number(e, g->capacity - g->step_rows), NULL);
    check_lines(e, out, true);
    fill_lines(e, out);
    text_printf(out, "    %s;\n", emit_body_call(e, "run_body", PROGRAM_RUN, 0));
    check_lines(e, out, false);
    if (steps) text_fill(out, "    *position += ${rows};\n", "rows", emit_number(e, g->step_rows), NULL);
    text_add(out, "    return RT_OK;\n}\n\n");
    for (int i = 0; i < e->plan->graph->tensor_count; i++)
        if (is_output(tensor_at(e, i))) copy_call(e, out, get_template, tensor_at(e, i));
}

/* ---- the program: compute on the spec's own inputs and print every output ------------------------------------------ */

static void values_array(Emit *e, Text *out, const Tensor *t)
{
    int64_t n = 1;
    for (int r = 0; r < t->rank; r++) n *= t->dim[r].bound;
    text_printf(out, "static const float input_%s[] = {", identifier(e, t));
    for (int64_t i = 0; i < n; i++) {
        text_add(out, i % 12 ? " " : "\n    ");
        if (isfinite(t->values[i])) text_printf(out, "%.9g", (double)t->values[i]);
        else text_add(out, "-INFINITY");
        if (i + 1 < n) text_add(out, ",");
    }
    text_add(out, "\n};\n\n");
}

/* True if the spec gives an input the value -inf; no other value that is not finite is possible. */
static bool has_lowest(Emit *e)
{
    for (int i = 0; i < e->plan->graph->tensor_count; i++) {
        const Tensor *t = tensor_at(e, i);
        int64_t n = is_input(t) && t->values ? 1 : 0;
        for (int r = 0; r < t->rank; r++) n *= t->dim[r].bound;
        for (int64_t j = 0; j < n; j++)
            if (!isfinite(t->values[j])) return true;
    }
    return false;
}

static const char main_head[] =
    "/* ${file}: run ${name} on the inputs of its spec and print every output. Compiled for the baseline instruction set. */\n"
    "${math}"
    "#include <stdio.h>\n"
    "#include <string.h>\n"
    "\n"
    "#include \"${name}.h\"\n"
    "#include \"rt_weights.h\"\n"
    "\n"
    "${define}\n"
    "${weights_declaration}\n"
    "static ${name}_state state;\n"
    "\n"
    "static void print(const char *name, const float *values, int rows, int columns)\n"
    "{\n"
    "    for (int r = 0; r < rows; r++) {\n"
    "        printf(\"%-12s [\", r ? \"\" : name);\n"
    "        for (int c = 0; c < columns; c++) printf(\"%s%.5f\", c ? \", \" : \"\", values[r * columns + c]);\n"
    "        puts(\"]\");\n"
    "    }\n"
    "}\n"
    "\n";

static const char open_embedded[] =
    "    rt_status status = ${name}_bind(&model, ${weights}, ${upper}_WEIGHTS_BYTES);\n"
    "";
static const char open_file[] =
    "    RtWeights weights;\n"
    "    const char *path = argc > 1 ? argv[1] : ${place};\n"
    "    const int missing = rt_weights_open(&weights, path);                /* 0 or an errno */\n"
    "    if (missing) {\n"
    "        fprintf(stderr, \"error: %s: %s\\n\", path, strerror(missing));\n"
    "        return 66;\n"
    "    }\n"
    "    rt_status status = ${name}_bind(&model, weights.data, weights.bytes);\n";

static const char graph_arguments[] =
    "int main(int argc, char **argv)\n"
    "{\n"
    "    ${name} model = { 0 };\n"
    "    const int help = argc == 2 && (strcmp(argv[1], \"-h\") == 0 || strcmp(argv[1], \"--help\") == 0);\n"
    "    if (help || argc > ${most} || (argc > 1 && argv[1][0] == '-')) {\n"
    "        fputs(\"usage: ${command}${usage}\\n\"\n"
    "              \"Prints every output for the inputs of the spec; an input without values is all zeros.\\n\", help ? stdout : stderr);\n"
    "        return help ? 0 : 2;\n"
    "    }\n";

/* command: the program's name. own: the path of the program that weights are appended to; NULL if
 * they are linked into the program. */
static void program(Emit *e, Text *out, const char *file, const char *command, const char *own)
{
    const bool embed = !own;
    Text open = text_new(e->arena);
    if (embed) text_fill(&open, open_embedded, "name", e->name, "upper", e->upper, "weights", emit_weights_symbol(e), NULL);
    else text_fill(&open, open_file, "name", e->name, "place", emit_weights_place(e), NULL);
    text_fill(out, main_head, "file", file, "name", e->name, "define", embed ? "" : emit_weights_define(e, own),
              "weights_declaration", embed ? emit_weights_declaration(e) : "",
              "math", has_lowest(e) ? "#include <math.h>\n" : "", NULL);
    for (int i = 0; i < e->plan->graph->tensor_count; i++)
        if (is_input(tensor_at(e, i)) && tensor_at(e, i)->values) values_array(e, out, tensor_at(e, i));
    text_fill(out, graph_arguments, "name", e->name, "command", command, "most", embed ? "1" : "2",
              "usage", embed ? "" : " [WEIGHTS.safetensors]", NULL);
    text_add(out, open.data);
    text_add(out, "    if (status != RT_OK) {\n"
                  "        fprintf(stderr, \"error: %s\\n\", rt_status_text(status));\n"
                  "        return status == RT_NO_ISA ? 69 : 65;\n    }\n");
    for (int i = 0; i < e->plan->graph->tensor_count; i++) {
        const Tensor *t = tensor_at(e, i);
        if (is_input(t) && t->values) text_printf(out, "    %s_set_%s(&state, input_%s);\n", e->name, identifier(e, t), identifier(e, t));
    }
    text_fill(out, "    status = ${name}_run(&model, &state);\n"
                   "    if (status != RT_OK) {\n"
                   "        fprintf(stderr, \"error: %s\\n\", rt_status_text(status));\n"
                   "        return status == RT_BAD_VALUE ? 65 : 70;\n    }\n", "name", e->name, NULL);
    for (int i = 0; i < e->plan->graph->tensor_count; i++) {
        const Tensor *t = tensor_at(e, i);
        if (!is_output(t)) continue;
        const Buffer *b = buffer_of(e, t);
        text_fill(out, "    {\n        static float values[${n}];\n        ${name}_get_${id}(&state, values);\n"
                       "        print(\"${tensor}\", values, ${rows}, ${columns});\n    }\n",
                  "n", emit_number(e, b->heads * b->rows * b->width), "name", e->name, "id", identifier(e, t), "tensor", t->name,
                  "rows", emit_number(e, b->heads * b->rows), "columns", emit_number(e, b->width), NULL);
    }
    text_add(out, "    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 74;\n}\n");
}

static void graph_main(Emit *e, Text *out)
{
    program(e, out, arena_format(e->arena, "%s_main.c", e->name), e->name, emit_has_weights_file(e) ? "/proc/self/exe" : NULL);
}

static void graph_example(Emit *e, Text *out) { program(e, out, "example.c", "example", e->name); }

static const EmitName *graph_names(Emit *e, int *n)
{
    EmitName *names = arena_array(e->arena, 1 + 2 * (size_t)e->plan->graph->tensor_count, sizeof *names);
    *n = 0;
    names[(*n)++] = (EmitName){ "run", "${name}_state *s", "s" };
    for (int i = 0; i < e->plan->graph->tensor_count; i++) {
        const Tensor *t = tensor_at(e, i);
        if (is_input(t)) names[(*n)++] = (EmitName){ arena_format(e->arena, "set_%s", identifier(e, t)), NULL, NULL };
        if (is_output(t)) names[(*n)++] = (EmitName){ arena_format(e->arena, "get_%s", identifier(e, t)), NULL, NULL };
    }
    return names;
}

const EmitKind emit_graph = { graph_header, graph_calls, graph_main, graph_example, graph_names };
