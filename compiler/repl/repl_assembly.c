/* repl_assembly.c: print the assembly of one function of the emitted C. The function is marked
 * noinline, since it would otherwise vanish in its callers. */
#include "repl.h"

#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "file.h"
#include "folder.h"
#include "progress.h"

/* The text with the function marked noinline and used; NULL if it does not define the function as
 * static and void, as those of blocks are. */
static const char *apart(Arena *a, const char *text, const char *function)
{
    static const char *const before[] = { "static void ", "static inline void " };
    for (int i = 0; i < 2; i++) {
        const char *whole = arena_format(a, "\n%s%s(", before[i], function), *at = strstr(text, whole);
        if (!at) continue;
        return arena_format(a, "%.*s\n__attribute__((noinline, used)) static void %s(%s", (int)(at - text), text,
                            function, at + strlen(whole));
    }
    return NULL;
}

static bool compile(Arena *a, ReplModel *m, const char *folder, const char *file)
{
    const char *cc = m->session->options.cc ? m->session->options.cc : "cc", *log = file_join(a, folder, "log");
    char *argv[] = { arena_text(a, cc), (char *)"-std=c11", (char *)"-O2", (char *)"-march=native", (char *)"-ffp-contract=off",
                     (char *)"-fno-asynchronous-unwind-tables", (char *)"-S", arena_format(a, "-I%s", file_join(a, folder, "runtime")),
                     arena_format(a, "-I%s", folder), (char *)"-o", arena_text(a, file_join(a, folder, "function.s")),
                     arena_text(a, file_join(a, folder, file)), NULL };
    progress_say("compiling %s with %s", file, cc);
    const int status = cleanup_run(argv, log, 0);
    progress_clear();
    return status == 0;
}

/* Print the code from the function's label to its .size, without directives; false if there is no
 * such label. */
static bool print_function(const char *text, const char *function)
{
    const size_t n = strlen(function);
    bool inside = false;
    for (const char *line = text, *end; *line; line = end) {
        end = strchr(line, '\n');
        end = end ? end + 1 : line + strlen(line);
        if (strncmp(line, function, n) == 0 && line[n] == ':') inside = true;
        if (inside && strncmp(line, "\t.size", 6) == 0) break;
        if (inside && (strncmp(line, "\t.", 2) != 0)) fwrite(line, 1, (size_t)(end - line), stdout);
    }
    return inside;
}

static void assemble(Arena *a, Diag *d, ReplModel *m, const char *folder, const char *function)
{
    const Plan *p = m->engine->plan;
    const char *files[] = { arena_format(a, "%s.c", p->graph->model->name), arena_format(a, "%s_kernels.h", p->graph->model->name) };
    const char *changed = NULL;
    size_t size;
    const FolderText emitted = folder_text(a, p, (EmitForm){ .weights = WEIGHTS_FILE });
    if (!folder_write_text(a, d, p, &emitted, folder)) return;
    for (int i = 0; i < 2 && !changed; i++) {
        const char *path = file_join(a, folder, files[i]), *text = file_read(a, d, (Loc){ 0 }, path, SIZE_MAX / 2, &size);
        if (text && (changed = apart(a, text, function)) && !file_write(a, d, path, changed, strlen(changed))) return;
    }
    if (!changed) {
        diag_error(d, EXIT_BAD_DATA, (Loc){ 0 }, "no function '%s' among those that :asm lists", function);
        return;
    }
    const bool compiled = compile(a, m, folder, files[0]);
    if (cleanup_caught()) return;               /* Ctrl-C: the output is no longer wanted */
    if (!compiled) {
        diag_error(d, EXIT_NO_FEATURE, (Loc){ 0 }, "%s failed to compile the emitted C", m->session->options.cc ? m->session->options.cc : "cc");
        return;
    }
    const char *text = file_read(a, d, (Loc){ 0 }, file_join(a, folder, "function.s"), SIZE_MAX / 2, &size);
    if (text && !print_function(text, function))
        diag_error(d, EXIT_BAD_DATA, (Loc){ 0 }, "the C compiler removed '%s'", function);
}

Exit repl_assembly(ReplModel *m, const char *function)
{
    Arena *a = arena_new();
    Diag *d = diag_new(a);
    cleanup_hold();
    progress_begin(":asm", false);
    if (m->engine->plan->options.target != TARGET_PANELS) diag_error(d, EXIT_BAD_DATA, (Loc){ 0 }, "the generic engine emits no code");
    else {
        const char *folder = folder_temporary(a, d);
        if (folder) {
            assemble(a, d, m, folder, function);
            folder_remove(a, folder);
        }
    }
    progress_end();
    cleanup_release();
    diag_print(d, stderr, diag_colours(2));
    const Exit code = diag_exit(d);
    arena_free(a);
    return code;
}
