/* repl_functions.c: find one function in a C text. */
#include "repl.h"

#include <string.h>

bool repl_find_function(const char *text, const char *name, const char **begin, const char **end)
{
    const size_t n = strlen(name);
    for (const char *at = n ? text : ""; *at && (at = strstr(at, name)); at++) {
        const char *line = at, *body = strchr(at, '\n');
        while (line > text && line[-1] != '\n') line--;
        if (at == text || at[n] != '(' || at[-1] != ' ' || strchr(" #/", *line) || !body || strncmp(body, "\n{\n", 3) != 0) continue;
        *begin = line;
        *end = strstr(body, "\n}\n");
        if (*end) *end += 3;
        return *end != NULL;
    }
    return false;
}
