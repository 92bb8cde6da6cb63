/* folder.c: write a model's folder, and build it with the Makefile that stands in it. */
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime_text.h"

extern char **environ;

static const struct { const char *name, *flags; } isas[] = {
    { "native", "-march=native" },
    { "portable", "" },
    { "avx512", "-mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma -mf16c" },
};
enum { ISAS = sizeof isas / sizeof *isas };

const char *isa_flags(const char *name)
{
    for (int i = 0; i < ISAS; i++)
        if (strcmp(isas[i].name, name) == 0) return isas[i].flags;
    return NULL;
}

const char *const *isa_names(int *n)
{
    static const char *names[ISAS];
    for (int i = 0; i < ISAS; i++) names[i] = isas[i].name;
    *n = ISAS;
    return names;
}

/* A file that is as it should be keeps its date, so make has nothing to do. */
static bool write_if_changed(Arena *a, Diag *d, const char *path, const char *data, size_t size)
{
    FILE *f = fopen(path, "rb");
    if (f) {
        char *old = arena_alloc(a, size + 1);
        bool same = fread(old, 1, size + 1, f) == size && memcmp(old, data, size) == 0;
        fclose(f);
        if (same) return true;
    }
    return file_write(a, d, path, data, size);
}

static bool write_runtime(Arena *a, Diag *d, const char *folder)
{
    const char *runtime = file_join(a, folder, "runtime");
    if (!file_make_folder(d, runtime)) return false;
    for (const RuntimeFile *f = runtime_files; f->name; f++)
        if (f->copied && !write_if_changed(a, d, file_join(a, runtime, f->name), f->text, strlen(f->text))) return false;
    return true;
}

bool folder_write(Arena *a, Diag *d, const Plan *p, WeightsForm weights, const char *folder)
{
    Pack pack = pack_layout(a, p);
    int n;
    EmittedFile *files = emit_files(a, p, pack.identity, pack.head_bytes, weights, &n);
    if (!file_make_folder(d, folder) || !write_runtime(a, d, folder)) return false;
    for (int i = 0; i < n; i++)
        if (!write_if_changed(a, d, file_join(a, folder, files[i].name), files[i].text.data, files[i].text.size)) return false;
    return pack_write(a, d, &pack, file_join(a, folder, arena_format(a, "%s.safetensors", p->graph->model->name)));
}

/* Run a command with its output in `log`; returns its wait status, or -1 with errno when it cannot be started. */
static int run(char *const *argv, const char *log)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    int failed = posix_spawnp(&child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed) {
        errno = failed;
        return -1;
    }
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return status;
}

static void show(const char *log)
{
    char line[4096];
    FILE *f = fopen(log, "r");
    while (f && fgets(line, sizeof line, f)) fputs(line, stderr);
    if (f) fclose(f);
}

static bool there_is(Arena *a, Diag *d, const char *command, const char *what, const char *log)
{
    char *const argv[] = { arena_text(a, command), (char *)"--version", NULL };
    int status = run(argv, log);
    if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) != 127) return true;
    if (status < 0 && errno != ENOENT && errno != EACCES) {
        diag_error(d, EXIT_IO, (Loc){ 0 }, "cannot run %s: %s", command, strerror(errno));
        return false;
    }
    diag_error(d, EXIT_NO_FEATURE, (Loc){ 0 }, "%s '%s' is not installed", what, command);
    return false;
}

bool folder_make(Arena *a, Diag *d, const char *folder, const char *target, const char *cc, const char *isa)
{
    const char *log = file_join(a, folder, "make.log");
    if (!there_is(a, d, "make", "the build tool", log) || !there_is(a, d, cc ? cc : "cc", "the C compiler", log)) {
        unlink(log);
        return false;
    }
    char *argv[] = { (char *)"make", (char *)"--no-print-directory", (char *)"-s", (char *)"-C", arena_text(a, folder), arena_text(a, target),
                     arena_format(a, "ISA=%s", isa_flags(isa)), cc ? arena_format(a, "CC=%s", cc) : NULL, NULL };
    unsetenv("MAKEFLAGS");      /* started by a make: its variables are not for this one */
    int status = run(argv, log);
    bool ok = status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!ok) {
        show(log);
        if (status < 0) diag_error(d, EXIT_IO, (Loc){ 0 }, "cannot run make: %s", strerror(errno));
        else diag_error(d, EXIT_NO_FEATURE, (Loc){ 0 }, "%s did not build %s; see above", cc ? cc : "cc", target);
    }
    unlink(log);
    return ok;
}
