/* front_dump.c: read one spec, dump its model to stdout and its diagnostics to stderr, and exit
 * with their code. */
#include "front.h"
#include "model.h"
#include "spec_lua.h"

/* A sample of the operations of graphs, with their result counts. */
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
