/* custom.c: the C of an xf.op inside a function, as text; see custom.h. */
#include "custom.h"

#include <string.h>

#include "runtime_text.h"

static const char *tensor_shape(Arena *a, const Tensor *t)
{
    if (t->rank == 1) return arena_format(a, "[%lld]", (long long)t->dim[0].bound);
    return arena_format(a, "[%lld, %lld]", (long long)t->dim[0].bound, (long long)t->dim[1].bound);
}

const char *custom_doc(Arena *a, const PlanOp *op)
{
    const CustomOp *c = op->node->custom;
    Text t = text_new(a);
    text_printf(&t, "%s:", c->name);
    for (int i = 0; i < c->input_count; i++) text_printf(&t, "%s %s %s", i ? "," : "", c->inputs[i], tensor_shape(a, op->node->in[i]));
    text_printf(&t, " -> y %s", tensor_shape(a, op->node->out[0]));
    for (int i = 0; i < c->attribute_count; i++) text_printf(&t, "%s %s %.9g", i ? "," : ";", c->attributes[i].name, op->node->attributes[i]);
    return t.data;
}

static void constants(Text *t, const char *name, long long rows, long long columns, long long stride)
{
    text_printf(t, "    enum { %s_rows = %lld, %s_columns = %lld, %s_stride = %lld };\n", name, rows, name, columns, name, stride);
}

static void input_constants(Text *t, const PlanOp *op, int i, bool dense)
{
    const Tensor *x = op->node->in[i];
    const long long rows = x->rank == 1 ? 1 : x->dim[0].bound, columns = x->dim[x->rank - 1].bound;
    constants(t, op->node->custom->inputs[i], rows, columns, op->in[i] ? op->in[i]->stride : dense ? columns : pad16(columns));
}

/* The number of spaces that all lines with text begin with. */
static size_t common_indent(const char *c)
{
    size_t common = SIZE_MAX;
    for (const char *s = c; *s; s += strcspn(s, "\n"), s += *s == '\n') {
        const size_t n = strspn(s, " ");
        if (s[n] && s[n] != '\n' && s[n] != '\r' && n < common) common = n;
    }
    return common == SIZE_MAX ? 0 : common;
}

/* Add the user's lines, indented as a block in a function. */
static void add_lines(Text *t, const char *c)
{
    const size_t common = common_indent(c);
    const char *end = c + strlen(c);
    while (end > c && strchr(" \t\r\n", end[-1])) end--;
    for (const char *s = c; s < end;) {
        const size_t n = strcspn(s, "\n"), skipped = strspn(s, " ") < common ? strspn(s, " ") : common;
        size_t length = s + n > end ? (size_t)(end - s) : n;
        while (length && strchr(" \t\r", s[length - 1])) length--;
        if (length > skipped) text_printf(t, "        %.*s", (int)(length - skipped), s + skipped);
        text_add(t, "\n");
        s += n + (s[n] == '\n');
    }
}

const char *custom_body(Arena *a, const PlanOp *op, bool dense, bool placed)
{
    const CustomOp *c = op->node->custom;
    Text t = text_new(a), used = text_new(a);
    constants(&t, "y", op->out[0]->rows, op->out[0]->width, op->out[0]->stride);
    for (int i = 0; i < c->input_count; i++) {
        input_constants(&t, op, i, dense);
        text_printf(&used, ", (void)%s", c->inputs[i]);
    }
    for (int i = 0; i < c->attribute_count; i++) {
        text_printf(&t, "    const float %s = %s;\n", c->attributes[i].name,
                    emit_real(a, op->node->attributes[i]));
        text_printf(&used, ", (void)%s", c->attributes[i].name);
    }
    text_printf(&t, "    const int begin = rows.begin, end = rows.end;\n    (void)begin, (void)end%s;\n    {\n", used.data);
    if (placed) text_printf(&t, "#line %d \"op:%s\"\n", c->text.line, c->name);
    add_lines(&t, c->c);
    text_add(&t, "    }\n");
    return t.data;
}

void custom_parameters(Text *out, const CustomOp *c)
{
    text_add(out, "float *y");
    for (int i = 0; i < c->input_count; i++) text_printf(out, ", const float *%s", c->inputs[i]);
    text_add(out, ", rt_span rows");
}

void custom_function(Text *out, const Wrapper *w)
{
    text_printf(out, "/* %s */\nstatic inline void %s(", w->doc, w->name);
    custom_parameters(out, w->op->node->custom);
    text_printf(out, ")\n{\n%s}\n\n", w->shape);
}
