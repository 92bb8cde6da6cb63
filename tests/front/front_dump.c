/* front_dump.c: reads one spec; its model goes to stdout, diagnostics to stderr. Ends with the exit code of the run. */
#include "front.h"
#include "model.h"
#include "spec_lua.h"

/* Operations of graphs, as the graph floor might name them. */
static const OpName ops[] = {
    { "matmul", 1 }, { "linear", 1 }, { "attention", 3 }, { "add", 1 }, { "activation", 1 }, { "relu", 1 }, { "norm", 1 },
};

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: front_dump SPEC\n");
        return EXIT_USAGE;
    }
    sandbox_seconds = 600;
    Arena *a = arena_new();
    Diag *d = diag_new(a);
    Model *m = model_read(a, d, argv[1], ops, (int)(sizeof ops / sizeof *ops), NULL);
    if (m) model_dump(m, stdout);
    diag_print(d, stderr, false);
    Exit code = diag_exit(d);
    model_close(m);
    arena_free(a);
    return code;
}
