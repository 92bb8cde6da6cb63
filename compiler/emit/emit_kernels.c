/* emit_kernels.c: NAME_kernels.h, the interface between a model and its kernels: one function per
 * distinct shape, which calls a kernel of the library with constants for the C compiler to fold;
 * and the kernel files to copy into a model's folder. */
#include "custom.h"
#include "emit.h"
#include "runtime_text.h"

#include <stdio.h>
#include <string.h>

/* A row of kernels.def: the kernel's file and its parameters,
 * "(const RtNorm *shape, float *y, ...)". */
typedef struct KernelRow { const char *file, *parameters; } KernelRow;

static const KernelRow kernel_rows[KERNELS] = {
#define RT_KERNEL_ROW(id, format, file, function, parameters) [KERNEL_##id] = { file, #parameters },
#include "kernels.def"
#undef RT_KERNEL_ROW
};
static const KernelRow rows_by_format[KERNELS][FORMATS] = {
#define RT_KERNEL_ROW(id, format, file, function, parameters)
#define RT_KERNEL_FORMAT(id, format, file, function, parameters) [KERNEL_##id][FORMAT_PANELS_##format] = { file, #parameters },
#include "kernels.def"
#undef RT_KERNEL_ROW
};
static const KernelRow rows_by_cache[KERNELS][KV_DTYPES] = {
#define RT_KERNEL_ROW(id, format, file, function, parameters)
#define RT_KERNEL_CACHE(id, format, file, function, parameters) [KERNEL_##id][KV_DTYPES_##format] = { file, #parameters },
#include "kernels.def"
#undef RT_KERNEL_ROW
};

/* The file is NULL for an xf.op. */
static const KernelRow *kernel_row(const Wrapper *w)
{
    const int cache = plan_op_kv_dtype(w->op);
    if (cache != KV_DTYPES_F32) return &rows_by_cache[w->kernel][cache];
    const KernelRow *row = w->op->weights ? &rows_by_format[w->kernel][w->op->weights->format] : NULL;
    return row && row->file ? row : &kernel_rows[w->kernel];
}

static const char *kernel_file(const Wrapper *w) { return kernel_row(w)->file; }

/* The start of the next line. */
static const char *next_line(const char *s) { return s[strcspn(s, "\n")] ? s + strcspn(s, "\n") + 1 : s + strlen(s); }

void emit_paste(Text *out, const char *file)
{
    for (const char *s = runtime_text(file), *end; *s; s = end) {
        end = next_line(s);
        if (strncmp(s, "#include \"", 10) != 0) text_add_bytes(out, s, (size_t)(end - s));
        else if (strncmp(s + 10, "activations.def\"", 16) == 0) emit_paste(out, "activations.def");
        else if (strncmp(s + 10, "instruction_sets.def\"", 21) == 0) emit_paste(out, "instruction_sets.def");
    }
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

/* A macro instead of a function saves a call if the compiler does not inline. */
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

/* The optional inputs of attention: additional parameters, and the struct that passes them on; both
 * are "" if there are none. */
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

/* How a call is cut. loop: a loop around it, or "". For a call over rows: the `first` row, the
 * `count` of rows, and the range of `parts` of each; for a call of one row: the `range` of its
 * parts. */
typedef struct Cutting { const char *loop, *first, *count, *range, *parts; } Cutting;

static Cutting cutting_of(Emit *e, const Wrapper *w, const char *begin, const char *end)
{
    const CutRow *cut = &cut_rows[w->cut];
    if (cut->rows)
        return (Cutting){ arena_format(e->arena, "for (int r = rows.begin; r < rows.end; r += %d)\n    ", cut->rows), "r",
                          arena_format(e->arena, "rows.end - r < %d ? rows.end - r : %d", cut->rows, cut->rows), "", "" };
    if (!cut->panels) return (Cutting){ "", "rows.begin", "rt_count(rows)", arena_format(e->arena, "%s, %s", begin, end), "" };
    const char *range = arena_format(e->arena, "p, p + %d < %s ? p + %d : %s", cut->panels, end, cut->panels, end);
    return (Cutting){ arena_format(e->arena, "for (int p = %s; p < %s; p += %d)\n    ", begin, end, cut->panels), "", "", range, "" };
}

/* The argument for a parameter of a kernel, in a wrapper over rows: operands are advanced to the
 * row `first`, by a stride that depends on the parameter's name; weights, caches and scratch are
 * not. */
static const char *moved(Emit *e, const Wrapper *w, const char *parameter, const char *name, const char *first)
{
    const bool linear = kernel_is_linear(w->kernel);
    const char *type = strncmp(parameter, "const ", 6) == 0 ? parameter + 6 : parameter;
    if (strncmp(type, "int *", 5) == 0) return arena_format(e->arena, "%s + %s", name, first);
    const bool is_y = strcmp(name, "y") == 0 || strcmp(name, "out") == 0 || (linear && strcmp(name, "a") == 0);
    const bool is_x = strcmp(name, "x") == 0 || strcmp(name, "q") == 0 || strcmp(name, "a") == 0;
    if (!is_y && !is_x && strcmp(name, "b") != 0) return name;
    return arena_format(e->arena, "%s + %lld * %s", name, (long long)(is_y ? w->y_stride : is_x ? w->x_stride : w->z_stride), first);
}

/* Derived from the parameters of a wrapper's kernel: the type of its shape, the parameters of the
 * wrapper, and the arguments for the kernel. */
typedef struct Signature { const char *type, *parameters, *arguments; } Signature;

static Signature signature_of(Emit *e, const Wrapper *w, const Extra *extra, const Cutting *cut)
{
    const bool rows = w->split == SPLIT_ROWS;
    Text type = text_new(e->arena), parameters = text_new(e->arena), arguments = text_new(e->arena);
    const char *s = kernel_row(w)->parameters + strlen("(const ");
    text_add_bytes(&type, s, strcspn(s, " "));
    for (s = strchr(s, ',') + 2; strncmp(s, "int rows", 8) != 0; s += strcspn(s, ",") + 2) {
        const char *parameter = arena_copy(e->arena, s, strcspn(s, ",")), *name = strrchr(parameter, '*') + 1;
        const bool more = strcmp(name, "extra") == 0;
        if (!more) text_printf(&parameters, "%s%s", parameters.size ? ", " : "", parameter);
        else if (*extra->parameters) text_printf(&parameters, ",%.*s", (int)strlen(extra->parameters) - 1, extra->parameters);
        text_add(&arguments, more ? *extra->body ? "&extra" : "NULL" : rows ? moved(e, w, parameter, name, cut->first) : name);
        text_add(&arguments, ", ");
    }
    text_add(&arguments, rows ? cut->count : "1");
    if (strchr(s, ',')) text_printf(&arguments, ", %s", rows ? cut->parts : cut->range);
    return (Signature){ type.data, parameters.data, arguments.data };
}

static void emit_one(Emit *e, Text *out, const Wrapper *w)
{
    bool rows = w->split == SPLIT_ROWS, ranged = w->split == SPLIT_COLUMNS || w->split == SPLIT_HEADS;
    const char *span = rows ? "rows" : w->split == SPLIT_HEADS ? "heads" : kernel_is_linear(w->kernel) ? "panels" : "groups";
    const bool panels = emit_takes_panels(e, w);
    const Extra extra = extra_of(e, w);
    Cutting cut = cutting_of(e, w, ranged ? arena_format(e->arena, "%s.begin", span) : "0",
                             ranged ? arena_format(e->arena, "%s.end", span) : emit_number(e, w->parts));
    cut.parts = panels ? "panels.begin, panels.end" : arena_format(e->arena, "0, %d", w->parts);
    const char *tuned = w->tuned ? arena_format(e->arena, "/* tuned: %s */", tuning_times(e->arena, w->tuned)) : "";
    const Signature f = signature_of(e, w, &extra, &cut);
    const char *parameters = f.parameters;
    if (rows || ranged) parameters = arena_format(e->arena, "%s, rt_span %s%s", parameters, span, panels ? ", rt_span panels" : "");
    if (e->form.kernels == KERNELS_BOUND && !rows && !*extra.body && !*cut.loop) {
        text_fill(out, macro_template, "doc", w->doc, "tuned", tuned, "type", f.type, "name", w->name, "shape", w->shape,
                  "names", parameter_names(e, parameters), "function", plan_kernel_name(w->op), "arguments", f.arguments, NULL);
        return;
    }
    text_fill(out, wrapper_template, "doc", w->doc, "tuned", tuned, "loop", cut.loop, "name", w->name, "parameters", parameters,
              "type", f.type, "shape", w->shape, "extra", extra.body, "function", plan_kernel_name(w->op), "arguments", f.arguments, NULL);
}

static const char head_template[] =
    "/* ${name}_kernels.h: the operations of ${name}.c.\n"
    " * The library's kernels as static functions, then one function per distinct shape, whose\n"
    " * constants let the compiler unroll loops and fold expressions. The text is the same for every\n"
    " * instruction set; the compiler's flags choose one. */\n"
    "${tuned}\n"
    "#ifndef ${upper}_KERNELS_H\n"
    "#define ${upper}_KERNELS_H\n\n"
    "#define RT_KERNEL RT_INLINE\n"
    "#define RT_KERNELS_H            /* leave out kernels.h: its prototypes have external linkage */\n";

static bool has_custom(const Emit *e)
{
    bool any = false;
    for (int i = 0; i < e->wrapper_count; i++) any |= e->wrappers[i]->kernel == KERNEL_CUSTOM;
    return any;
}

void emit_custom(Emit *e, Text *out)
{
    if (!has_custom(e)) return;
    text_add(out, "/* ---- operations of the spec (xf.op) ---------------------------------------------------------- */\n\n");
    if (e->form.kernels != KERNELS_BOUND) text_add(out, "#pragma GCC system_header       /* no warnings about the user's C */\n\n");
    for (int i = 0; i < e->wrapper_count; i++)
        if (e->wrappers[i]->kernel == KERNEL_CUSTOM) custom_function(out, e->wrappers[i]);
}

static void emit_wrappers(Emit *e, Text *out)
{
    for (int i = 0; i < e->wrapper_count; i++)
        if (e->wrappers[i]->kernel != KERNEL_CUSTOM) emit_one(e, out, e->wrappers[i]);
}

void emit_bound(Emit *e, Text *out)
{
    if (has_custom(e)) emit_paste(out, "rt_plain.h");
    text_printf(out, "#undef RT_ISA_BUILT\n#define RT_ISA_BUILT %uu\n", e->isa);
    if (e->hooks & EMIT_POLLS) text_add(out, "int rt_poll(int thread, int turn);\n");
    if (e->hooks & EMIT_WATCHES) text_add(out, "void rt_watch(int block, int operation, int layer, int rows);\n");
#define RT_KERNEL_ROW(id, format, file, function, parameters) text_add(out, "void " #function #parameters ";\n");
#define RT_KERNEL_FORMAT RT_KERNEL_ROW
#define RT_KERNEL_CACHE RT_KERNEL_ROW
#include "kernels.def"
#undef RT_KERNEL_ROW
    emit_wrappers(e, out);
}

static bool is_among(const char *text, const char *const *list, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(list[i], text) == 0) return true;
    return false;
}

/* Add a file of the runtime and the files that it includes, each once. */
static void add_file(Emit *e, const char *name, NameMap *seen, EmittedFile *files, int *n)
{
    static const char include[] = "#include \"";
    const RuntimeFile *f = runtime_find(name);
    if (name_map_find(seen, name)) return;
    name_map_add(seen, name, seen);
    if (f->use == RUNTIME_NONE) {       /* folder.c copies the others */
        files[*n] = (EmittedFile){ arena_format(e->arena, "runtime/%s", name), text_new(e->arena) };
        text_add(&files[(*n)++].text, f->text);
    }
    for (const char *line = f->text; *line; line = next_line(line)) {
        if (strncmp(line, include, sizeof include - 1) != 0) continue;
        const char *included = line + sizeof include - 1;
        add_file(e, arena_copy(e->arena, included, strcspn(included, "\"")), seen, files, n);
    }
}

void emit_kernel_files(Emit *e, EmittedFile *files, int *n)
{
    NameMap *seen = name_map_new(e->arena);
    if (e->form.kernels != KERNELS_LIBRARY) return;
    add_file(e, "rt_simd.h", seen, files, n);
    for (int i = 0; i < e->wrapper_count; i++)
        if (kernel_file(e->wrappers[i])) add_file(e, kernel_file(e->wrappers[i]), seen, files, n);
}

/* A copy of a string without what a comment must not contain. */
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
    const char *machine = t && t->machine ? t->machine : "a machine that the tuning file does not name";
    const char *tuned = t ? arena_format(e->arena, "/* Tuned on %s: the times of calls were measured there. */", in_comment(e, machine)) : "";
    text_fill(out, head_template, "name", e->name, "upper", e->upper, "tuned", tuned, NULL);
    const char *included[KERNELS];
    int n = 0;
    if (has_custom(e)) text_add(out, "#include \"rt_plain.h\"\n");
    text_add(out, "#include \"rt_simd.h\"\n");
    for (int i = 0; i < e->wrapper_count; i++) {
        const char *file = kernel_file(e->wrappers[i]);
        if (!file || is_among(file, included, n)) continue;
        included[n++] = file;
        text_printf(out, "#include \"%s\"\n", file);
    }
    /* NAME.h comes last: kernels may have locals with the names that it declares. */
    text_printf(out, "\n#include \"%s.h\"\n", e->name);
    text_add(out, "\n/* ---- the shapes of this model -------------------------------------------------------------------------- */\n\n");
    emit_wrappers(e, out);
}
