/* command_ops.c: list the calls of an xf.graph, and the operations of ops.def. */
#include "command.h"

#include <string.h>

#include "wrap.h"

typedef struct Call { const char *name, *signature, *doc; } Call;

/* The builder's own calls. The calls in the next list are operations. */
static const Call own_calls[] = {
    { "input", "(name, {rows, columns}[, values]) -> x",
      "an input, with values from the spec or from --input; for a bias, the sizes may be "
      "{heads, queries, keys}" },
    { "param", "(name, {sizes}[, values]) -> w",
      "a weight: these values, else those of the weights file, else random ones; a file given with "
      "--from replaces these values too" },
    { "cache", "(name, {capacity, width}) -> c",
      "rows that stay in the state between runs, for append" },
    { "name", "(name, x) -> x",
      "give an intermediate a name, to print and compare it" },
    { "output", "(name, x) -> x",
      "an output; a graph has at least one" },
};
static const Call calls[] = {
    { "matmul", "(x, w) -> y",
      "x w; w [in, out]" },
    { "linear", "(x, w[, b]) -> y",
      "x w^T + b; w [out, in]" },
    { "norm", "(x, gain[, bias][, {kind = \"layer\"|\"rms\"|\"annotated\", eps, heads}]) -> y",
      "norm of each row, or of each head in it" },
    { "relu", "(x) -> y",
      "max(x, 0)" },
    { "activation", "(x, {kind}) -> y",
      "activation of every element; kind: a value of the field \"activation\"" },
    { "gate", "(a, b, {kind}) -> y",
      "activation of every element of a, times b; kind: as for activation" },
    { "rotary", "(x[, {heads, dims, theta = 10000, layout = \"halves\"|\"interleaved\"}]) -> y",
      "rotate each head by the position of its row" },
    { "attention", "(q, k, v[, mask][, bias][, {heads, kv_heads, scale, softcap, causal, keys}])"
                   " -> out, weights, scores",
      "softmax(scale q k^T + bias) v; mask: 1, or 0 where a query may not attend; bias: any number "
      "or -inf" },
    { "append", "(cache, x) -> keys or values",
      "the rows of the cache followed by those of x; in attention, each row of x sees the rows "
      "up to its own" },
    { "log_softmax", "(x) -> y",
      "x - log(sum(exp(x)))" },
};

static const Call *call_named(const char *name)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].name, name) == 0) return &calls[i];
    return NULL;
}

/* Print a signature, its further lines indented, and then its description. */
static void print_entry(const char *signature, const char *doc)
{
    Wrap w = { stdout, 4, 1 };
    fputs(" ", stdout);
    wrap_words(&w, signature);
    fputs("\n", stdout);
    wrap_text(stdout, 6, doc);
}

static void print_call(const char *name, const char *signature, const char *doc)
{
    char call[240];
    snprintf(call, sizeof call, "g.%s%s", name, signature);
    print_entry(call, doc);
}

/* Print an elementwise operation from its row: "add(a[n,d], b[n,d]) -> [n,d]" becomes
 * "g.add(a, b) -> y". */
static void print_element_op(const char *name)
{
    char call[160];
    int row = 0, n = 0;
    while (row < OP_KINDS && strcmp(op_rows[row].name, name)) row++;
    if (row == OP_KINDS) die("g.%s has no row", name);
    bool inside = false;
    for (const char *s = strchr(op_rows[row].signature, '('); *s && strncmp(s, " ->", 3) && n < (int)sizeof call - 1; s++) {
        if (*s == '[') inside = true;
        if (!inside) call[n++] = *s;
        if (*s == ']') inside = false;
    }
    call[n] = '\0';
    char signature[sizeof call + 8];
    snprintf(signature, sizeof signature, "%s -> y", call);
    print_call(name, signature, op_rows[row].doc);
}

static void print_named(const char *name)
{
    const Call *c = call_named(name);
    if (c) print_call(name, c->signature, c->doc);
    else print_element_op(name);
}

Exit command_ops(const Options *c)
{
    (void)c;
    int n;
    const OpName *builder = graph_builder_ops(&n);
    puts("Calls on g, the argument of the graph function (a table of options comes last):");
    for (size_t i = 0; i < sizeof own_calls / sizeof *own_calls; i++) print_call(own_calls[i].name, own_calls[i].signature, own_calls[i].doc);
    for (int i = 0; i < n; i++) print_named(builder[i].name);
    puts("\nThe operations that graphs consist of, as -d g shows them:");
    for (int i = 0; i < OP_KINDS; i++) print_entry(op_rows[i].signature, op_rows[i].doc);
    return EXIT_DONE;
}
