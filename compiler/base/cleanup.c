/* cleanup.c: clean up when a signal ends the program. Handlers call only what POSIX allows in them,
 * such as kill, unlink, write, poll, tcsetattr, sigaction, raise and _exit. */
#include "cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

extern char **environ;

enum { FILES = 16 };
static struct { volatile sig_atomic_t used; char path[PATH_MAX]; } files[FILES];
static volatile sig_atomic_t caught, stopped, holds, child, line_shown;
static pid_t owner;             /* the process that called cleanup_install */
static void (*watch)(void);
static struct termios usual_terminal;
static volatile sig_atomic_t changed_terminal;          /* its descriptor + 1; 0: none */
static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
static const int usual_in_child[] = { SIGPIPE, SIGXFSZ };
enum { ENDING = sizeof ending / sizeof *ending };
enum { USUAL = sizeof usual_in_child / sizeof *usual_in_child };

void cleanup_files(void)
{
    for (int i = 0; i < FILES; i++)
        if (files[i].used) unlink(files[i].path);
}

/* ---- signals -------------------------------------------------------------------------------------------- */

static void set_of(sigset_t *set, const int *signals, int n)
{
    sigemptyset(set);
    for (int i = 0; i < n; i++) sigaddset(set, signals[i]);
}

_Noreturn static void end_by(int number)
{
    cleanup_files();
    if (line_shown && write(STDERR_FILENO, "\r\033[K", 4) < 0) line_shown = 0;
    if (changed_terminal) tcsetattr(changed_terminal - 1, TCSANOW, &usual_terminal);
    if (number == SIGINT) _exit(128 + SIGINT);
    struct sigaction usual = { .sa_handler = SIG_DFL };
    sigset_t set;
    set_of(&set, &number, 1);
    sigaction(number, &usual, NULL);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    _exit(128 + number);
}

static void on_signal(int number)
{
    int error = errno;
    if (child > 0) kill(-(pid_t)child, caught ? SIGKILL : SIGTERM);
    if (!caught) caught = number;
    if (!holds) end_by(number);
    errno = error;
}

/* If standard output has lost its reader, as in `xformc … | head`, there is nothing left to do. On
 * another pipe, only the write fails. */
static void on_pipe(int number)
{
    const int error = errno;
    struct pollfd output = { .fd = STDOUT_FILENO };
    if (poll(&output, 1, 0) == 1 && output.revents & (POLLERR | POLLHUP)) on_signal(number);
    errno = error;
}

/* SIGBUS: a mapped file was truncated. Exit code EX_IOERR of sysexits.h. */
static void on_cut(int number, siginfo_t *info, void *context)
{
    static const char message[] = "error: a file was truncated while it was being read\n";
    enum { EX_IO = 74 };
    (void)context;
    if (info->si_code != BUS_ADRERR) end_by(number);        /* a bug in xformc */
    cleanup_files();
    if (line_shown && write(STDERR_FILENO, "\r\033[K", 4) < 0) line_shown = 0;
    if (changed_terminal) tcsetattr(changed_terminal - 1, TCSANOW, &usual_terminal);
    if (child > 0) kill(-(pid_t)child, SIGKILL);
    if (write(STDERR_FILENO, message, sizeof message - 1) < 0) line_shown = 0;
    _exit(EX_IO);
}

/* A forked child has its parent's list, but the files are the parent's. */
static void at_exit(void)
{
    if (getpid() == owner) cleanup_files();
}

void cleanup_install(void)
{
    struct sigaction catch = { .sa_handler = on_signal, .sa_flags = SA_RESTART }, ignore = { .sa_handler = SIG_IGN }, before;
    struct sigaction pipe = { .sa_handler = on_pipe, .sa_flags = SA_RESTART };
    struct sigaction cut = { .sa_sigaction = on_cut, .sa_flags = SA_SIGINFO };
    set_of(&catch.sa_mask, ending, ENDING);
    set_of(&pipe.sa_mask, ending, ENDING);
    for (int i = 0; i < ENDING; i++)
        if (!sigaction(ending[i], NULL, &before) && before.sa_handler != SIG_IGN) sigaction(ending[i], &catch, NULL);
    sigaction(SIGPIPE, &pipe, NULL);
    sigaction(SIGBUS, &cut, NULL);
    sigaction(SIGXFSZ, &ignore, NULL);
    owner = getpid();
    atexit(at_exit);
}

/* ---- files ---------------------------------------------------------------------------------------------- */

void cleanup_add(const char *path)
{
    size_t n = strlen(path);
    for (int i = 0; i < FILES && n < sizeof files[i].path; i++) {
        if (files[i].used) continue;
        memcpy(files[i].path, path, n + 1);
        files[i].used = 1;
        return;
    }
}

void cleanup_drop(const char *path)
{
    for (int i = 0; i < FILES; i++)
        if (files[i].used && strcmp(files[i].path, path) == 0) files[i].used = 0;
}

void cleanup_terminal(int descriptor)
{
    if (tcgetattr(descriptor, &usual_terminal) == 0) changed_terminal = descriptor + 1;
}

void cleanup_line(bool shown) { line_shown = shown; }

void cleanup_watch(void (*tick)(void)) { watch = tick; }

/* ---- holding signals ------------------------------------------------------------------------------------ */

void cleanup_hold(void) { holds = holds + 1; }

void cleanup_release(void)
{
    holds = holds - 1;
    if (!holds && caught) end_by(caught);
}

bool cleanup_caught(void) { return caught || stopped; }

void cleanup_stop(void)
{
    const int error = errno;
    if (child > 0) kill(-(pid_t)child, stopped ? SIGKILL : SIGTERM);
    stopped = 1;
    errno = error;
}

void cleanup_go_on(void) { stopped = 0; }

void cleanup_end(int number)
{
    if (child > 0) kill(-(pid_t)child, SIGKILL);
    end_by(number);
}

/* ---- a child -------------------------------------------------------------------------------------------- */

/* Start a child in its own process group, with the signal mask `mask` and the default handling of
 * SIGPIPE and SIGXFSZ. Returns 0 or an errno. */
static int spawn(pid_t *pid, char *const *argv, const char *log, const sigset_t *mask)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t usual;
    set_of(&usual, usual_in_child, USUAL);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setsigmask(&attributes, mask);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    int failed = posix_spawnp(pid, argv[0], &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

/* Wait for the processes that the child started: they may outlive it, and write to files that are
 * about to be removed. Those that outlast `patience` are killed. */
static void await_group(pid_t pid)
{
    const struct timespec pause = { 0, 5000000 };
    const int64_t patience = 2000000000, begin = clock_now_ns();
    for (int64_t ns = 0; ns < 2 * patience; ns = clock_now_ns() - begin) {
        if (kill(-pid, ns < patience ? 0 : SIGKILL) != 0) return;
        nanosleep(&pause, NULL);
    }
}

/* Wait for a child, at most `seconds`; 0: without limit. Returns its wait status, or -1 with errno:
 * ETIMEDOUT if it took longer and was killed. */
static int await_child(pid_t pid, int seconds)
{
    enum { TICK = 100 };            /* pauses between two calls of `watch` */
    const struct timespec pause = { 0, 2000000 };
    struct timespec begin, now;
    int status, pauses = 0;
    bool late = false;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    const bool looks_up = seconds || watch;
    for (pid_t got; (got = waitpid(pid, &status, looks_up && !late ? WNOHANG : 0)) != pid;) {
        if (got < 0 && errno != EINTR) return -1;
        if (got != 0) continue;
        clock_gettime(CLOCK_MONOTONIC, &now);
        late = seconds && now.tv_sec - begin.tv_sec > seconds;
        if (watch && ++pauses % TICK == 0) watch();
        if (late) kill(-pid, SIGKILL);
        else nanosleep(&pause, NULL);
    }
    if (late) errno = ETIMEDOUT;
    return late ? -1 : status;
}

int cleanup_run(char *const *argv, const char *log, int seconds)
{
    pid_t pid = 0;
    int failed = EINTR;
    sigset_t block, mask;
    set_of(&block, ending, ENDING);
    sigprocmask(SIG_BLOCK, &block, &mask);      /* no signal before `child` is set */
    if (!cleanup_caught() && !(failed = spawn(&pid, argv, log, &mask))) child = pid;
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (failed) {
        errno = failed;
        return -1;
    }
    const int status = await_child(pid, seconds);
    failed = errno;
    child = 0;
    if (cleanup_caught()) await_group(pid);
    errno = failed;
    return status;
}
