/* command_ops.c: list the operations of ops.def. */
#include "command.h"

Exit command_ops(const Choices *c)
{
    (void)c;
    int n;
    const OpName *builder = graph_builder_ops(&n);
    for (int i = 0; i < OP_KINDS; i++) printf("%-12s %s\n%12s %s\n", op_rows[i].name, op_rows[i].signature, "", op_rows[i].doc);
    fputs("\nIn an xf.graph: input, param, name, output", stdout);
    for (int i = 0; i < n; i++) printf(", %s", builder[i].name);
    puts("");
    return EXIT_DONE;
}
