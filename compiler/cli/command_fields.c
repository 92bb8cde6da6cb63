/* command_fields.c: list the fields of a spec. */
#include "command.h"

Exit command_fields(const Options *c)
{
    (void)c;
    fields_print(stdout);
    return EXIT_DONE;
}
