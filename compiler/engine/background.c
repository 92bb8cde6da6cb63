/* background.c: one child process at a time. It sends one line through a socket, "+NANOSECONDS
 * LIBRARY" or "-REASON", and removes its folder when the other end closes. The parent closes its
 * end when it has loaded the library or no longer needs it; if the parent is gone, the system has
 * closed it. */
#include "background.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "cleanup.h"
#include "clock.h"
#include "folder.h"
#include "isa.h"
#include "kernel_set.h"
#include "library_cache.h"
#include "native.h"

static Background *waiting;         /* latest request first */
static struct {
    Background *job;                /* NULL: no child */
    pid_t pid, parent;
    int socket;
    size_t size;
    char line[4096 + 2];
} child;

/* ---- in the child ------------------------------------------------------------------------------------------------ */

/* The first line of the first error, without its place and the word "error". */
static const char *first_error(Arena *a, Diag *d)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f) no_memory("a message");
    diag_print(d, f, false);
    if (fclose(f) != 0 || !size) {
        free(text);
        return "no message";
    }
    const char *error = strstr(text, "error: ");
    error = error ? error + strlen("error: ") : text;
    const char *line = arena_copy(a, error, strcspn(error, "\n"));
    free(text);
    return line;
}

static bool send_line(int socket, const char *line)
{
    for (size_t n = strlen(line) + 1; n;) {
        const ssize_t sent = write(socket, line, n);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        line += sent;
        n -= (size_t)sent;
    }
    return true;
}

static void await_end(int socket)
{
    char byte;
    ssize_t n;
    while ((n = read(socket, &byte, 1)) > 0 || (n < 0 && errno == EINTR)) {}
}

/* Emit and compile in `folder`, and add the library to the cache; returns the line to send. */
static const char *compile(Arena *a, const Background *b, const char *folder)
{
    const int64_t begin = clock_now_ns();
    Diag *d = diag_new(a);
    const Plan *p = b->engine->plan;
    const char *name = p->graph->model->name, *library = arena_format(a, "lib%s.so", name);
    const MakeOrder order = { folder, library, arena_format(a, "%s.c", name), NULL, b->form, true, false, graph_has_custom(p->graph) };
    const FolderText text = folder_text(a, p, b->form);
    if (!folder_write_text(a, d, p, &text, folder) || !folder_make(a, d, &order)) return arena_format(a, "-%s", first_error(a, d));
    const char *path = file_join(a, folder, library);
    library_cache_add(a, library_cache_path(a, p, b->form, &text), path);
    return arena_format(a, "+%lld %s", (long long)(clock_now_ns() - begin), path);
}

_Noreturn static void be_child(const Background *b, int socket, pid_t parent)
{
    Arena *a = arena_new();
    Diag *d = diag_new(a);
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    setpgid(0, 0);                                      /* Ctrl-C is for the parent only */
    cleanup_install();                                  /* in case the parent did not */
    cleanup_go_on();
    for (int fd = 0; fd < 3; fd++) dup2(nothing, fd);
    cleanup_hold();
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
    const char *folder = getppid() == parent ? folder_temporary(a, d) : NULL;
    if (folder) setenv("TMPDIR", folder, 1);            /* a killed compiler leaves files there */
    const char *line = folder ? compile(a, b, folder) : arena_format(a, "-%s", first_error(a, d));
    if (!cleanup_caught() && send_line(socket, line)) await_end(socket);
    if (folder) folder_remove(a, folder);
    _exit(0);
}

/* ---- the child from outside -------------------------------------------------------------------------------------- */

/* True if the child has ended, or ends within `patience` seconds. */
static bool has_ended(int patience)
{
    const struct timespec pause = { 0, 1000000 };
    const int64_t end = clock_now_ns() + patience * INT64_C(1000000000);
    for (;; nanosleep(&pause, NULL)) {
        const pid_t found = waitpid(child.pid, NULL, WNOHANG);
        if (found == child.pid || (found < 0 && errno != EINTR)) return true;
        if (clock_now_ns() > end) return false;
    }
}

/* The child cleans up before it ends. A second SIGTERM makes it kill a compiler that does not end
 * (cleanup.h). */
static void end_child(void)
{
    static const struct { int signal, patience; } asks[] = { { SIGTERM, 1 }, { SIGTERM, 6 }, { SIGKILL, 1 } };
    close(child.socket);
    for (int i = 0; i < 3; i++) {
        kill(child.pid, asks[i].signal);
        if (has_ended(asks[i].patience)) break;
    }
    child.job = NULL;
}

static void at_exit(void)
{
    if (child.job && child.parent == getpid()) end_child();
}

static void fail(Background *b, const char *why)
{
    b->state = BACKGROUND_FAILED;
    snprintf(b->why, sizeof b->why, "%.*s", (int)sizeof b->why - 1, why);
}

static void start_child(Background *b)
{
    static bool registered;
    int ends[2];
    if (!registered) atexit(at_exit);
    registered = true;
    child.parent = getpid();
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
        fail(b, strerror(errno));
        return;
    }
    for (int i = 0; i < 2; i++) fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    child.pid = fork();
    if (child.pid == 0) {
        close(ends[0]);
        be_child(b, ends[1], child.parent);
    }
    const int error = errno;
    close(ends[1]);
    if (child.pid < 0) {
        close(ends[0]);
        fail(b, strerror(error));
        return;
    }
    setpgid(child.pid, child.pid);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    child.socket = ends[0];
    child.size = 0;
    child.job = b;
    b->state = BACKGROUND_RUNS;
}

/* True once child.line is complete. The line is empty or cut short if the child ended early. */
static bool hear(void)
{
    for (;;) {
        const ssize_t n = read(child.socket, child.line + child.size, sizeof child.line - 1 - child.size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
        if (n > 0) child.size += (size_t)n;
        child.line[child.size] = '\0';
        if (n <= 0 || memchr(child.line, '\0', child.size)) return true;
    }
}

/* ---- the queue --------------------------------------------------------------------------------------------------- */

static void unqueue(const Background *b)
{
    for (Background **q = &waiting; *q; q = &(*q)->next) {
        if (*q != b) continue;
        *q = b->next;
        return;
    }
}

/* Switch the engine to the library. If that fails, a cached library is removed without an error, to
 * be compiled again. */
static void replace(Background *b, const char *library, bool cached)
{
    Arena *a = arena_new();
    Diag *d = diag_new(a);
    if (native_replace(b->arena, d, b->engine, library, b->threads)) {
        unqueue(b);
        b->state = BACKGROUND_DONE;
        b->cached = cached;
    } else if (cached) unlink(library);
    else fail(b, first_error(a, d));
    arena_free(a);
}

static void look(Background *b)
{
    const int64_t begin = clock_now_ns();
    Arena *a = arena_new();
    const FolderText text = folder_text(a, b->engine->plan, b->form);
    const char *path = library_cache_path(a, b->engine->plan, b->form, &text);
    b->looked = true;
    Diag *d = diag_new(a);
    if (library_cache_has(a, d, path)) replace(b, path, true);
    diag_print(d, stderr, false);
    b->took_ns = clock_now_ns() - begin;
    arena_free(a);
}

static void collect(void)
{
    Background *b = child.job;
    if (!b || !hear()) return;
    char *rest = child.line;
    if (*rest == '+') b->took_ns = strtoll(rest + 1, &rest, 10);
    if (*rest == ' ') replace(b, rest + 1, false);
    else fail(b, child.line[0] == '-' ? child.line + 1 : "the background compiler ended early");
    end_child();
}

static void start_next(bool now)
{
    enum { PATIENCE_NS = 20000000 };        /* a request that is dropped sooner starts no child */
    while (!child.job && waiting && (now || clock_now_ns() - waiting->asked_ns >= PATIENCE_NS)) {
        Background *b = waiting;
        if (!b->looked) look(b);
        if (b->state != BACKGROUND_WAITS) continue;
        unqueue(b);
        start_child(b);
    }
}

void background_poll(Background *b, bool now)
{
    if (b && b->state == BACKGROUND_WAITS && !b->looked) look(b);
    collect();
    start_next(now);
}

void background_sleep(void)
{
    enum { MS = 20 };
    struct pollfd p = { child.socket, POLLIN, 0 };
    poll(&p, child.job ? 1 : 0, MS);
}

void background_ask(Background *b, Arena *a, Engine *e, EmitForm form, int threads)
{
    int n;
    const char *const *isas = isa_list(a, form.isa, &n);
    form.weights = WEIGHTS_FILE;
    for (int i = 0; n > 1 && i < n; i++)            /* as jit_open chooses */
        if (kernel_set(isas[i])) form.isa = isas[i], n = 1;
    *b = (Background){ .state = BACKGROUND_WAITS, .engine = e, .form = form, .threads = threads, .arena = a,
                        .asked_ns = clock_now_ns(), .next = waiting };
    waiting = b;
}

void background_drop(Background *b)
{
    if (b->state == BACKGROUND_WAITS) unqueue(b);
    if (child.job == b) end_child();
    b->state = BACKGROUND_NONE;
}
