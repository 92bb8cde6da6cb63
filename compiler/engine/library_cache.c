/* library_cache.c: the keys of compiled models, and the libraries cached under them. */
#include "library_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#elif defined(__linux__)
#include <sys/auxv.h>
#endif

#include "cache.h"
#include "clock.h"
#include "file.h"
#include "isa.h"
#include "pack.h"
#include "rt_packed.h"
#include "runtime_text.h"

extern char **environ;

/* ---- the key ----------------------------------------------------------------------------------------------------- */

static uint64_t hash_text(uint64_t h, const char *text) { return text ? rt_hash(h, text, strlen(text) + 1) : rt_hash(h, "\1", 1); }

/* Hash what -march=native depends on. */
static uint64_t hash_machine(uint64_t h)
{
    struct utsname system;
    if (uname(&system) == 0) h = hash_text(hash_text(h, system.sysname), system.machine);
#if defined(__x86_64__) || defined(__i386__)
    static const unsigned leaves[][2] = { { 0, 0 }, { 1, 0 }, { 7, 0 }, { 7, 1 }, { 0x80000000, 0 }, { 0x80000001, 0 } };
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
        unsigned r[4] = { 0 };
        __get_cpuid_count(leaves[i][0], leaves[i][1], &r[0], &r[1], &r[2], &r[3]);
        if (leaves[i][0] == 1) r[1] = 0;            /* holds the APIC id of this core */
        h = rt_hash(h, r, sizeof r);
    }
#elif defined(__linux__)
    const unsigned long words[] = { getauxval(AT_HWCAP), getauxval(AT_HWCAP2) };
    h = rt_hash(h, words, sizeof words);
#endif
    return h;
}

/* The path of a command found on PATH, or NULL. */
static const char *on_path(Arena *a, const char *name, struct stat *info)
{
    const char *path = getenv("PATH");
    for (size_t n; path && *path; path += n + (path[n] == ':')) {
        n = strcspn(path, ":");
        const char *file = file_join(a, n ? arena_copy(a, path, n) : ".", name);
        if (stat(file, info) == 0 && S_ISREG(info->st_mode) && access(file, X_OK) == 0) return file;
    }
    return NULL;
}

/* Start a child in its own process group, with stdout to ends[1]; returns -1 if that fails. */
static pid_t start(char *const *argv, const int ends[2])
{
    pid_t pid;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    const int failed = posix_spawnp(&pid, argv[0], &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed ? -1 : pid;
}

/* Read what a command prints; returns its length. 0 if the command fails, or takes longer than a
 * second and is killed. */
static size_t ask(char *const *argv, char *words, size_t room)
{
    enum { PATIENCE_MS = 1000 };
    const int64_t end = clock_now_ns() + PATIENCE_MS * INT64_C(1000000);
    int ends[2], status = 1;
    size_t n = 0;
    if (pipe2(ends, O_CLOEXEC) != 0) return 0;
    const pid_t pid = start(argv, ends);
    close(ends[1]);
    for (ssize_t got = 1; pid > 0 && got != 0 && n < room;) {
        struct pollfd p = { ends[0], POLLIN, 0 };
        const int64_t left = (end - clock_now_ns()) / 1000000;
        const int ready = left > 0 ? poll(&p, 1, (int)left) : 0;
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) {
            kill(-pid, SIGKILL);
            n = 0;
            break;
        }
        got = read(ends[0], words + n, room - n);
        if (got > 0) n += (size_t)got;
        else if (got < 0 && errno != EINTR) break;
    }
    close(ends[0]);
    if (pid < 0) return 0;
    for (const struct timespec pause = { 0, 1000000 }; waitpid(pid, &status, WNOHANG) == 0; nanosleep(&pause, NULL))
        if (clock_now_ns() > end) kill(-pid, SIGKILL);
    return status == 0 ? n : 0;
}

/* Hash the output of `cc --version`, which runs again only if the compiler's file changes. False if
 * the command fails. */
static bool hash_version(const char *path, const struct stat *info, uint64_t *version)
{
    static struct { char path[4096]; int64_t size, seconds, nanoseconds; uint64_t version; bool answers; } known;
    const int64_t size = info->st_size, seconds = info->st_mtim.tv_sec, nanoseconds = info->st_mtim.tv_nsec;
    if (strcmp(known.path, path) != 0 || known.size != size || known.seconds != seconds || known.nanoseconds != nanoseconds) {
        char words[4096], *argv[] = { (char *)"cc", (char *)"--version", NULL };
        if (strlen(path) >= sizeof known.path) return false;
        const size_t n = ask(argv, words, sizeof words);
        known.answers = n > 0;
        strcpy(known.path, path);
        known.size = size, known.seconds = seconds, known.nanoseconds = nanoseconds;
        known.version = rt_hash(rt_hash_start, words, n);
    }
    *version = known.version;
    return known.answers;
}

/* Hash the environment variables that affect the build. */
static uint64_t hash_variables(uint64_t h)
{
    static const char *const names[] = { "LDFLAGS", "CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) h = hash_text(h, getenv(names[i]));
    return h;
}

static uint64_t hash_runtime(void)
{
    static uint64_t h;
    if (h) return h;
    h = rt_hash_start;
    for (const RuntimeFile *f = runtime_files; f->name; f++)
        if (f->use != RUNTIME_NONE) h = hash_text(hash_text(h, f->name), f->text);
    return h;
}

/* True for a file that is left out of the key, since it does not affect the model's functions:
 * NAME_main.c, NAME_settings.c and NAME_generate.c. */
static bool is_beside(const Plan *p, const char *file)
{
    const char *name = p->graph->model->name, *rest = file + strlen(name);
    if (strncmp(file, name, strlen(name)) != 0) return false;
    return strcmp(rest, "_main.c") == 0 || strcmp(rest, "_settings.c") == 0 || strcmp(rest, "_generate.c") == 0;
}

/* Hash the emitted files, including the Makefile, which has the compiler's flags. */
static uint64_t hash_emitted(uint64_t h, const Plan *p, const FolderText *t)
{
    for (int i = 0; i < t->count; i++)
        if (!is_beside(p, t->files[i].name)) h = hash_text(hash_text(h, t->files[i].name), t->files[i].text.data);
    return h;
}

const char *library_cache_path(Arena *a, const Plan *p, EmitForm form, const FolderText *text)
{
    int n;
    struct stat info;
    uint64_t version;
    const char *const *isas = isa_list(a, form.isa, &n);
    const char *cc = cache_folder(a) && n == 1 ? on_path(a, "cc", &info) : NULL;
    if (!cc || !hash_version(cc, &info, &version)) return NULL;
    const uint64_t runtime = hash_runtime();
    uint64_t h = hash_emitted(rt_hash_start, p, text);
    h = rt_hash(rt_hash(h, &runtime, sizeof runtime), &version, sizeof version);
    h = hash_text(hash_text(h, cc), isa_flags(isas[0]));
    h = hash_variables(hash_machine(h));
    return cache_path(a, p->graph->model->name, h, CACHE_LIBRARY);
}

/* ---- entries ----------------------------------------------------------------------------------------------------- */

/* TRAIL: the bytes of the line at the end of an entry, "xformc " and a hash. */
enum { TRAIL = 7 + 16 + 1, MOST_BYTES = 256 << 20 };

static const char *trail(Arena *a, const char *data, size_t size)
{
    return arena_format(a, "xformc %016llx\n", (unsigned long long)rt_hash(rt_hash_start, data, size));
}

bool library_cache_whole(const char *path)
{
    size_t size;
    Arena *a = arena_new();
    const char *data = file_read(a, diag_new(a), (Loc){ 0 }, path, MOST_BYTES, &size);
    const bool whole = data && size > TRAIL && memcmp(data + size - TRAIL, trail(a, data, size - TRAIL), TRAIL) == 0;
    arena_free(a);
    return whole;
}

bool library_cache_has(Arena *a, Diag *d, const char *path)
{
    if (!path || !cache_has(a, d, path)) return false;
    const bool whole = library_cache_whole(path);
    if (whole) cache_used(path);
    else unlink(path);
    return whole;
}

void library_cache_add(Arena *a, const char *path, const char *library)
{
    size_t size;
    const char *data = path ? file_read(a, diag_new(a), (Loc){ 0 }, library, MOST_BYTES, &size) : NULL;
    FileWriter *w = data ? cache_create(a, path, (int64_t)size + TRAIL) : NULL;
    if (!w) return;
    if (file_append(w, data, size) && file_append(w, trail(a, data, size), TRAIL)) cache_commit(a, w);
    else file_abandon(w);
}
