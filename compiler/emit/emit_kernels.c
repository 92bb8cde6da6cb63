/* emit_kernels.c: NAME_kernels.h, the seam between a model and what computes it: the library's kernels, pasted, and
 * one function per distinct shape, so that the C compiler folds the constants. */
#include "custom.h"
#include "emit.h"
#include "runtime_text.h"

#include <string.h>

static const char *const kernel_files[KERNELS] = {
#define RT_KERNEL_ROW(id, format, file, function, parameters) [KERNEL_##id] = file,
#include "kernels.def"
#undef RT_KERNEL_ROW
};
static const char *const files_by_format[KERNELS][FORMATS] = {
#define RT_KERNEL_ROW(id, format, file, function, parameters)
#define RT_KERNEL_FORMAT(id, format, file, function, parameters) [KERNEL_##id][FORMAT_PANELS_##format] = file,
#include "kernels.def"
#undef RT_KERNEL_ROW
};

static const char *const files_of_half[KERNELS] = {
#define RT_KERNEL_ROW(id, format, file, function, parameters)
#define RT_KERNEL_CACHE(id, format, file, function, parameters) [KERNEL_##id] = file,
#include "kernels.def"
#undef RT_KERNEL_ROW
};

/* NULL of an xf.op. */
static const char *kernel_file(const Wrapper *w)
{
    if (plan_op_is_half(w->op)) return files_of_half[w->kernel];
    const char *file = w->op->weights ? files_by_format[w->kernel][w->op->weights->format] : NULL;
    return file ? file : kernel_files[w->kernel];
}

/* rt_simd.h has a case for each row of activations.def; a model's text shows them. */
static const char activation_cases[] =
    "#define RT_ACTIVATION(id, name, formula, vector, plain, exact) case RT_##id: return vector;\n"
    "#include \"activations.def\"\n"
    "#undef RT_ACTIVATION\n";

static void paste_activations(Text *out)
{
#define RT_ACTIVATION(id, name, formula, vector, plain, exact) text_add(out, "    case RT_" #id ": return " #vector ";\n");
#include "activations.def"
#undef RT_ACTIVATION
}

void emit_paste(Text *out, const char *file)
{
    for (const char *s = runtime_text(file), *end; *s; s = end) {
        if (strncmp(s, activation_cases, sizeof activation_cases - 1) == 0) {
            paste_activations(out);
            end = s + sizeof activation_cases - 1;
            continue;
        }
        end = strchr(s, '\n');
        end = end ? end + 1 : s + strlen(s);
        if (strncmp(s, "#include \"", 10) != 0) {
            text_add_bytes(out, s, (size_t)(end - s));
            continue;
        }
        const char *def = memchr(s, '"', (size_t)(end - s)) ? strchr(s, '"') + 1 : s;
        if (strncmp(def, "activations.def\"", 16) == 0) emit_paste(out, "activations.def");
    }
}

/* Parameters and the call of the kernel, for each way of sharing: rows move the operands along, the rest pass a
 * range, and what one lane does alone takes it all. */
typedef struct Form { const char *parameters, *rows_call, *part_call; } Form;
static const Form forms[KERNELS] = {
    [KERNEL_LINEAR] = { "float *y, const float *x, const void *w${round}",
        "y + ${y} * ${first}, x + ${x} * ${first}, w${rounded}, ${count}, ${panels}",
        "y, x, w${rounded}, 1, ${range}" },
    [KERNEL_LINEAR_GATE] = { "float *y, const float *x, const void *w${round}",
        "y + ${y} * ${first}, x + ${x} * ${first}, w${rounded}, ${count}, ${panels}",
        "y, x, w${rounded}, 1, ${range}" },
    [KERNEL_LINEAR_ADD] = { "float *y, const float *x, const void *w, const float *a${round}",
        "y + ${y} * ${first}, x + ${x} * ${first}, w, a + ${y} * ${first}${rounded}, ${count}, ${panels}",
        "y, x, w, a${rounded}, 1, ${range}" },
    [KERNEL_NORM] = { "float *y, const float *x, const void *w",
        "y + ${y} * rows.begin, x + ${x} * rows.begin, w, ${count}", "y, x, w, 1" },
    [KERNEL_EMBED] = { "float *y, const void *table, const int *ids",
        "y + ${y} * rows.begin, table, ids + rows.begin, ${count}", "y, table, ids, 1" },
    [KERNEL_POSITION] = { "float *y, const float *x, const void *table, const int *positions",
        "y + ${y} * rows.begin, x + ${x} * rows.begin, table, positions + rows.begin, ${count}", "y, x, table, positions, 1" },
    [KERNEL_ADD] = { "float *y, const float *a, const float *b",
        "y + ${y} * rows.begin, a + ${x} * rows.begin, b + ${z} * rows.begin, ${count}, 0, ${parts}", "y, a, b, 1, ${range}" },
    [KERNEL_ACTIVATION] = { "float *y, const float *a",
        "y + ${y} * rows.begin, a + ${x} * rows.begin, ${count}, 0, ${parts}", "y, a, 1, ${range}" },
    [KERNEL_STORE_K] = { "${cache} *cache, const float *x, const int *positions",
        "cache, x + ${x} * rows.begin, positions + rows.begin, ${count}, 0, ${parts}", "cache, x, positions, 1, ${range}" },
    [KERNEL_STORE_V] = { "${cache} *cache, const float *x, const int *positions",
        "cache, x + ${x} * rows.begin, positions + rows.begin, ${count}, 0, ${parts}", "cache, x, positions, 1, ${range}" },
    [KERNEL_GATE] = { "float *y, const float *a, const float *b",
        "y + ${y} * rows.begin, a + ${x} * rows.begin, b + ${z} * rows.begin, ${count}, 0, ${parts}", "y, a, b, 1, ${range}" },
    [KERNEL_ROTARY] = { "float *y, const float *x, const void *table, const int *positions",
        "y + ${y} * rows.begin, x + ${x} * rows.begin, table, positions + rows.begin, ${count}, 0, ${parts}",
        "y, x, table, positions, 1, ${range}" },
    [KERNEL_ATTENTION] = { "float *out, const float *q, const ${cache} *k, const ${cache} *v, float *scratch,${extras} const int *visible",
        "out + ${y} * rows.begin, q + ${x} * rows.begin, k, v, scratch, ${extra}, visible + rows.begin, ${count}, 0, ${parts}",
        "out, q, k, v, scratch, ${extra}, visible, 1, ${range}" },
    [KERNEL_RING_K] = { "${cache} *cache, const float *x, const int *positions",
        "cache, x + ${x} * rows.begin, positions + rows.begin, ${count}, 0, ${parts}", "cache, x, positions, 1, ${range}" },
    [KERNEL_RING_V] = { "${cache} *cache, const float *x, const int *positions",
        "cache, x + ${x} * rows.begin, positions + rows.begin, ${count}, 0, ${parts}", "cache, x, positions, 1, ${range}" },
    [KERNEL_WINDOW] = { "float *out, const float *q, const ${cache} *k, const ${cache} *v, float *scratch,${extras} const int *visible",
        "out + ${y} * rows.begin, q + ${x} * rows.begin, k, v, scratch, ${extra}, visible + rows.begin, ${count}, 0, ${parts}",
        "out, q, k, v, scratch, ${extra}, visible, 1, ${range}" },
    [KERNEL_POOL] = { "float *y, const float *x, const int *visible", "y, x, visible, 1", "y, x, visible, 1" },
    [KERNEL_SCALE] = { "float *y, const float *x",
        "y + ${y} * rows.begin, x + ${x} * rows.begin, ${count}, 0, ${parts}", "y, x, 1, ${range}" },
    [KERNEL_LOG_SOFTMAX] = { "float *y, const float *x", "y + ${y} * rows.begin, x + ${x} * rows.begin, ${count}", "y, x, 1" },
    [KERNEL_ARGMAX] = { "int *y, const float *x", "y + rows.begin, x + ${x} * rows.begin, ${count}", "y, x, 1" },
};
static const char *const shape_types[KERNELS] = {
    [KERNEL_LINEAR] = "RtLinear",       [KERNEL_LINEAR_GATE] = "RtLinear",  [KERNEL_LINEAR_ADD] = "RtLinear",
    [KERNEL_NORM] = "RtNorm",         [KERNEL_EMBED] = "RtEmbed",
    [KERNEL_POSITION] = "RtEmbed",      [KERNEL_ADD] = "RtElement",       [KERNEL_ACTIVATION] = "RtElement",
    [KERNEL_STORE_K] = "RtCache",       [KERNEL_STORE_V] = "RtCache",     [KERNEL_ATTENTION] = "RtAttention",
    [KERNEL_GATE] = "RtElement",        [KERNEL_ROTARY] = "RtRotary",
    [KERNEL_RING_K] = "RtCache",        [KERNEL_RING_V] = "RtCache",      [KERNEL_WINDOW] = "RtWindow",
    [KERNEL_POOL] = "RtPool",
    [KERNEL_SCALE] = "RtScale",
    [KERNEL_LOG_SOFTMAX] = "RtVocabulary", [KERNEL_ARGMAX] = "RtVocabulary",
};

/* Replace the places of a form; unlike text_fill it allows those that do not occur. */
static const char *fill(Emit *e, const char *form, const char *const *pairs)
{
    Text t = text_new(e->arena);
    for (const char *s = form; *s;) {
        if (strncmp(s, "${", 2) != 0) {
            text_add_bytes(&t, s++, 1);
            continue;
        }
        size_t n = strcspn(s + 2, "}");
        const char *value = NULL;
        for (int i = 0; pairs[i]; i += 2)
            if (strlen(pairs[i]) == n && strncmp(pairs[i], s + 2, n) == 0) value = pairs[i + 1];
        if (!value) die("no value for %.*s", (int)n + 3, s);
        text_add(&t, value);
        s += n + 3;
    }
    return t.data;
}

static const char wrapper_template[] =
    "/* ${doc} */\n"
    "${tuned}\n"
    "static inline void ${name}(${parameters})\n"
    "{\n"
    "    static const ${type} shape = ${shape};\n"
    "${extra}\n"
    "    ${loop}${function}(&shape, ${arguments});\n"
    "}\n\n";

/* The same for a compiler that inlines nothing: a call less. */
static const char macro_template[] =
    "/* ${doc} */\n"
    "${tuned}\n"
    "static const ${type} shape_of_${name} = ${shape};\n"
    "#define ${name}(${names}) ${function}(&shape_of_${name}, ${arguments})\n\n";

/* "float *y, const float *x, rt_span panels" -> "y, x, panels" */
static const char *parameter_names(Emit *e, const char *parameters)
{
    Text t = text_new(e->arena);
    for (const char *s = parameters, *end; *s; s = *end ? end + 1 : end) {
        end = s + strcspn(s, ",");
        const char *name = end;
        while (name > s && name[-1] != ' ' && name[-1] != '*') name--;
        if (t.size) text_add(&t, ", ");
        text_add_bytes(&t, name, (size_t)(end - name));
    }
    return t.data;
}

/* What an attention has besides: more parameters, and the struct that hands them on; both empty where there is nothing. */
typedef struct Extra { const char *parameters, *body; } Extra;

static Extra extra_of(Emit *e, const Wrapper *w)
{
    bool rows = w->split == SPLIT_ROWS;
    Text parameters = text_new(e->arena), body = text_new(e->arena);
    if (!w->bias && !w->both && !w->masked && !w->added && !w->taps) return (Extra){ "", "" };
    text_add(&body, "    const RtAttentionExtra extra = {\n");
    if (w->bias) {
        text_add(&parameters, " const void *bias, const int *positions,");
        text_printf(&body, "        .bias = bias, .reach = %lld, .positions = positions%s,\n", (long long)w->reach, rows ? " + rows.begin" : "");
    }
    if (w->both) {
        text_add(&parameters, " const int *positions,");
        text_printf(&body, "        .positions = positions%s,\n", rows ? " + rows.begin" : "");
    }
    if (w->masked) {
        const char *moved = rows ? arena_format(e->arena, " + %lld * rows.begin", (long long)w->mask_stride) : "";
        text_add(&parameters, " const float *mask,");
        text_printf(&body, "        .mask = mask%s, .mask_stride = %lld,\n", moved, (long long)w->mask_stride);
    }
    if (w->added) {
        const long long stride = w->added_stride;
        const char *moved = rows ? arena_format(e->arena, " + %lld * rows.begin", stride) : "";
        text_add(&parameters, " const float *added,");
        text_printf(&body, "        .added = added%s, .added_stride = %lld, .added_head = %lld,\n",
                    moved, stride, (long long)w->added_head);
    }
    if (w->taps) {
        const char *moved = rows ? arena_format(e->arena, " + %lld * rows.begin", (long long)w->z_stride) : "";
        text_add(&parameters, " float *scores, float *weights,");
        text_printf(&body, "        .scores = scores ? scores%s : NULL, .weights = weights ? weights%s : NULL,\n", moved, moved);
    }
    text_add(&body, "    };\n");
    return (Extra){ parameters.data, body.data };
}

/* How a call is cut: a loop before it, or "", and what it then begins with and does. */
typedef struct Cutting { const char *loop, *first, *count, *range; } Cutting;

static Cutting cutting_of(Emit *e, const Wrapper *w, const char *begin, const char *end)
{
    const CutRow *cut = &cut_rows[w->cut];
    if (cut->rows)
        return (Cutting){ arena_format(e->arena, "for (int r = rows.begin; r < rows.end; r += %d)\n    ", cut->rows), "r",
                          arena_format(e->arena, "rows.end - r < %d ? rows.end - r : %d", cut->rows, cut->rows), "" };
    if (!cut->panels) return (Cutting){ "", "rows.begin", "rows.end - rows.begin", arena_format(e->arena, "%s, %s", begin, end) };
    const char *range = arena_format(e->arena, "p, p + %d < %s ? p + %d : %s", cut->panels, end, cut->panels, end);
    return (Cutting){ arena_format(e->arena, "for (int p = %s; p < %s; p += %d)\n    ", begin, end, cut->panels), "", "", range };
}

static void emit_one(Emit *e, Text *out, const Wrapper *w)
{
    bool rows = w->split == SPLIT_ROWS, ranged = w->split == SPLIT_COLUMNS || w->split == SPLIT_HEADS;
    const char *span = rows ? "rows" : w->split == SPLIT_HEADS ? "heads" : kernel_is_linear(w->kernel) ? "panels" : "groups";
    const bool panels = emit_takes_panels(e, w);
    const Extra extra = extra_of(e, w);
    const Cutting cut = cutting_of(e, w, ranged ? arena_format(e->arena, "%s.begin", span) : "0",
                                   ranged ? arena_format(e->arena, "%s.end", span) : emit_number(e, w->parts));
    const char *tuned = w->tuned ? arena_format(e->arena, "/* tuned: %s */", tuning_times(e->arena, w->tuned)) : "";
    const char *const pairs[] = {
        "x", emit_number(e, w->x_stride), "y", emit_number(e, w->y_stride), "z", emit_number(e, w->z_stride), "parts", emit_number(e, w->parts),
        "first", cut.first, "count", cut.count, "range", cut.range,
        "panels", panels ? "panels.begin, panels.end" : arena_format(e->arena, "0, %d", w->parts),
        "cache", plan_op_is_half(w->op) ? "rt_f16" : "float",
        "round", w->rounds ? ", void *rounded" : "", "rounded", w->rounds ? ", rounded" : "",
        "extras", extra.parameters, "extra", *extra.body ? "&extra" : "NULL", NULL };
    const Form *f = &forms[w->kernel];
    const char *parameters = fill(e, f->parameters, pairs);
    if (rows || ranged) parameters = arena_format(e->arena, "%s, rt_span %s%s", parameters, span, panels ? ", rt_span panels" : "");
    if (e->form.kernels == KERNELS_BOUND && !rows && !*extra.body && !*cut.loop) {
        text_fill(out, macro_template, "doc", w->doc, "tuned", tuned, "type", shape_types[w->kernel], "name", w->name, "shape", w->shape,
                  "names", parameter_names(e, parameters), "function", plan_kernel_name(w->op), "arguments", fill(e, f->part_call, pairs), NULL);
        return;
    }
    text_fill(out, wrapper_template, "doc", w->doc, "tuned", tuned, "loop", cut.loop, "name", w->name, "parameters", parameters,
              "type", shape_types[w->kernel], "shape", w->shape, "extra", extra.body, "function", plan_kernel_name(w->op),
              "arguments", fill(e, rows ? f->rows_call : f->part_call, pairs), NULL);
}

static const char head_template[] =
    "/* ${name}_kernels.h: what ${name}.c computes with.\n"
    " * The library's kernels, then one function per distinct shape: with its constants in sight the compiler unrolls\n"
    " * and folds. The text is the same for every instruction set; the compiler's flags choose. */\n"
    "${tuned}\n"
    "#ifndef ${upper}_KERNELS_H\n"
    "#define ${upper}_KERNELS_H\n\n"
    "#include \"${name}.h\"\n\n"
    "#define RT_KERNEL static inline __attribute__((always_inline))\n\n";

static bool has_custom(const Emit *e)
{
    bool any = false;
    for (int i = 0; i < e->wrapper_count; i++) any |= e->wrappers[i]->kernel == KERNEL_CUSTOM;
    return any;
}

void emit_custom(Emit *e, Text *out)
{
    if (!has_custom(e)) return;
    text_add(out, "/* ---- operations of the spec, xf.op ---------------------------------------------------------------------- */\n\n");
    if (e->form.kernels != KERNELS_BOUND) text_add(out, "#pragma GCC system_header       /* the user's C may have what warnings are for */\n\n");
    for (int i = 0; i < e->wrapper_count; i++)
        if (e->wrappers[i]->kernel == KERNEL_CUSTOM) custom_function(out, e->wrappers[i]);
}

static void emit_wrappers(Emit *e, Text *out)
{
    for (int i = 0; i < e->wrapper_count; i++)
        if (e->wrappers[i]->kernel != KERNEL_CUSTOM) emit_one(e, out, e->wrappers[i]);
    emit_custom(e, out);
}

void emit_bound(Emit *e, Text *out)
{
    if (has_custom(e)) emit_paste(out, "rt_plain.h");
    text_printf(out, "#undef RT_ISA_BUILT\n#define RT_ISA_BUILT %uu\n", e->isa);
    if (e->hooks & EMIT_POLLS) text_add(out, "int rt_poll(int lane, int turn);\n");
    if (e->hooks & EMIT_WATCHES) text_add(out, "void rt_watch(int block, int operation, int layer, int rows);\n");
#define RT_KERNEL_ROW(id, format, file, function, parameters) text_add(out, "void " #function #parameters ";\n");
#define RT_KERNEL_FORMAT RT_KERNEL_ROW
#define RT_KERNEL_CACHE RT_KERNEL_ROW
#include "kernels.def"
#undef RT_KERNEL_ROW
    emit_wrappers(e, out);
}

/* Headers that files of kernels need besides rt_simd.h and rt_tile.h; rt_simd_f16.h stands before the latter. */
static const struct { const char *file, *header; } needs[] = {
    { "linear_int8.c", "rt_simd_f16.h" },    { "cache_f16.c", "rt_simd_f16.h" },
    { "attention_f16.c", "rt_simd_f16.h" },  { "window_f16.c", "rt_simd_f16.h" },
    { "linear_int8.c", "rt_simd_int8.h" },   { "attention_f32.c", "rt_attention.h" },
    { "attention_f16.c", "rt_attention.h" }, { "window_f32.c", "rt_window.h" },
    { "window_f16.c", "rt_window.h" },      { "linear_f32.c", "rt_linear.h" },
    { "linear_bf16.c", "rt_linear.h" },      { "cache_f32.c", "rt_cache.h" },
    { "cache_f16.c", "rt_cache.h" },
};

static bool is_among(const char *text, const char *const *list, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(list[i], text) == 0) return true;
    return false;
}

/* Paste a file with what it needs, each once. pasted[*n]: what is there already. */
static void paste_once(Text *out, const char *file, const char **pasted, int *n)
{
    if (is_among(file, pasted, *n)) return;
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (strcmp(needs[i].file, file) == 0) paste_once(out, needs[i].header, pasted, n);
    text_add(out, "\n");
    emit_paste(out, pasted[(*n)++] = file);
}

static bool any_needs(const Emit *e, const char *header)
{
    for (int i = 0; i < e->wrapper_count; i++)
        for (size_t k = 0; k < sizeof needs / sizeof *needs; k++) {
            const char *file = kernel_file(e->wrappers[i]);
            if (file && strcmp(needs[k].file, file) == 0 && strcmp(needs[k].header, header) == 0) return true;
        }
    return false;
}

/* What may stand in a comment. */
static const char *in_comment(Emit *e, const char *text)
{
    char *copy = arena_text(e->arena, text);
    for (char *s = copy; *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7F || *s == '\\' || (*s == '*' && s[1] == '/')) *s = ' ';
    return copy;
}

void emit_kernels(Emit *e, Text *out)
{
    const Tuning *t = e->form.tuning;
    const char *machine = t && t->machine ? t->machine : "a machine that the file of times does not name";
    const char *tuned = t ? arena_format(e->arena, "/* Tuned on %s: the times are those of calls there. */", in_comment(e, machine)) : "";
    text_fill(out, head_template, "name", e->name, "upper", e->upper, "tuned", tuned, NULL);
    enum { HEADERS = 8 };
    const char *pasted[KERNELS + HEADERS];
    const bool half = any_needs(e, "rt_simd_f16.h");
    int n = 0;
    if (has_custom(e) || half) text_add(out, "#include \"rt_plain.h\"\n\n");
    emit_paste(out, pasted[n++] = "rt_simd.h");
    if (half) paste_once(out, "rt_simd_f16.h", pasted, &n);
    paste_once(out, "rt_tile.h", pasted, &n);
    for (int i = 0; i < e->wrapper_count; i++)
        if (kernel_file(e->wrappers[i])) paste_once(out, kernel_file(e->wrappers[i]), pasted, &n);
    text_add(out, "\n/* ---- the shapes of this model -------------------------------------------------------------------------- */\n\n");
    emit_wrappers(e, out);
    text_fill(out, "#endif\n", NULL);
}
