/* command_ended.c: the last line of a long command. If progress is shown, it reports the result,
 * the time and, for some commands, the next step; otherwise it is a line without the time, for
 * scripts, or nothing. Also functions that format parts of these lines. */
#include "command.h"

#include <ctype.h>
#include <string.h>
#include <sys/stat.h>

#include "info.h"
#include "progress.h"
#include "run_program.h"

const char *command_file_size(Arena *a, const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? text_bytes(a, (size_t)info.st_size) : "nothing";
}

/* Quote a path as one word for a shell, with a slash so that it can be run as a command. */
const char *command_shell_path(Arena *a, const char *path)
{
    Text t = text_new(a);
    bool plain = *path && *path != '-';
    for (const char *s = path; *s; s++)
        plain &= isalnum((unsigned char)*s) || strchr("/._-+", *s) != NULL;
    if (!strchr(path, '/')) text_add(&t, "./");
    if (!plain) text_add(&t, "'");
    for (const char *s = path; *s; s++)
        if (*s == '\'') text_add(&t, "'\\''");
        else text_add_bytes(&t, s, 1);
    if (!plain) text_add(&t, "'");
    return t.data;
}

/* An example argument for the program, after a space: a text or ids; "" for an xf.graph. */
const char *command_example(const Model *m)
{
    if (m->graph) return "";
    return run_has_texts(m) ? " 'text'" : " '1 2 3'";
}

void command_ended(const Options *o, const char *plain, const char *done, const char *next)
{
    const bool person = progress_is_shown();
    const double seconds = progress_seconds();
    progress_end();
    if (o->quiet) return;
    if (person) fprintf(stderr, "%s, %.1f s%s%s\n", done, seconds, next ? "; " : "", next ? next : "");
    else if (plain) fprintf(stderr, "%s\n", plain);
}
