/* pty.c: run a command on a pseudo-terminal, with a script of keys to type and text that must
 * appear.
 * usage: pty SCRIPT COMMAND [ARGUMENT…]
 * Lines of the script:
 *   > TEXT     type TEXT and Enter
 *   . TEXT     type TEXT
 *   ^ LETTER   type Ctrl-LETTER once the command waits for a key or a line; Ctrl-C also while it
 *              works
 *   ^^         type Ctrl-C while the command works, and wait until it has taken the signal, so that
 *              the next one counts separately
 *   ? TEXT     TEXT must appear after the previous match
 *   w FILE     wait until FILE exists and is not empty
 *   ! COMMAND  run COMMAND with sh; it must succeed
 * Nothing depends on the speed of the machine: a line waits for what it needs, up to PATIENCE_MS.
 * Exit status: 0: every line succeeded, and the command exited with the status in PTY_ENDS (default
 * 0; 128 + N: killed by signal N); 1: otherwise, and the screen is printed; 2: wrong usage; 77:
 * there are no pseudo-terminals. PTY_SIZE=ROWSxCOLUMNS: size of the terminal. PTY_SHOW: always
 * print the screen. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 300000 };

typedef struct Screen { int fd; pid_t child; char *text; size_t size, found; } Screen;

/* The prompt counts signals within 250 ms of each other as one, so the next Ctrl-C is typed
 * APART_MS after the last sign of the previous one. */
enum { APART_MS = 300 };
static long next_interrupt;
static int seen_since_interrupt = 1;

/* Read more of the screen; wait up to `ms` milliseconds for it. Returns the number of bytes read;
 * -1 at the end. */
static ssize_t more(Screen *s, int ms)
{
    struct pollfd p = { .fd = s->fd, .events = POLLIN };
    char part[4096];
    int ready = poll(&p, 1, ms);
    if (ready <= 0) return ready == 0 || errno == EINTR ? 0 : -1;
    ssize_t n = read(s->fd, part, sizeof part);
    if (n < 0 && errno == EAGAIN) return 0;
    if (n <= 0) return -1;
    s->text = realloc(s->text, s->size + (size_t)n + 1);
    if (!s->text) exit(70);
    for (ssize_t i = 0; i < n; i++)
        if (part[i]) s->text[s->size++] = part[i];
    s->text[s->size] = '\0';
    return n;
}

/* Like more(), but waits even if no more output can come. */
static void pause_for(Screen *s, int ms)
{
    if (more(s, ms) < 0) usleep((useconds_t)ms * 1000);
}

static long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int expect(Screen *s, const char *words)
{
    const long end = now_ms() + PATIENCE_MS;
    int open = 1;
    while (1) {
        const char *at = s->text ? strstr(s->text + s->found, words) : NULL;
        if (at) {
            s->found = (size_t)(at - s->text) + strlen(words);
            if (!seen_since_interrupt) next_interrupt = now_ms() + APART_MS;
            seen_since_interrupt = 1;
            return 1;
        }
        if (!open || now_ms() > end) break;
        open = more(s, 100) >= 0;
    }
    printf("not seen: %s\n---- after\n%s\n----\n", words, s->text ? s->text + s->found : "");
    return 0;
}

/* Type the text as fast as the terminal accepts it, and read the output meanwhile; otherwise both
 * sides would wait. */
static void type(Screen *s, const char *text, size_t n)
{
    const long end = now_ms() + PATIENCE_MS;
    while (n && now_ms() < end) {
        struct pollfd p = { .fd = s->fd, .events = POLLIN | POLLOUT };
        if (poll(&p, 1, 100) > 0 && (p.revents & POLLIN) && more(s, 0) < 0) return;
        if (!(p.revents & POLLOUT)) continue;
        ssize_t sent = write(s->fd, text, n < 256 ? n : 256);
        if (sent < 0 && errno != EAGAIN) return;
        if (sent < 0) sent = 0;
        text += sent;
        n -= (size_t)sent;
    }
}

/* ---- the state of the command ---------------------------------------------------------------- */

/* The state letter of a process in /proc/N/stat, "N (name) S ..."; 0 if unknown. */
static char state_of(pid_t pid)
{
    char path[64], line[512] = "";
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *stat = fopen(path, "r");
    const char *name_end = stat && fgets(line, sizeof line, stat) ? strrchr(line, ')') : NULL;
    if (stat) fclose(stat);
    return name_end && name_end[1] ? name_end[2] : '\0';
}

/* True if SIGINT is pending for the process, or being handled. */
static int has_interrupt(pid_t pid)
{
    const unsigned long long bit = 1ULL << (SIGINT - 1);
    static const char sets[] = "SigPnd ShdPnd SigBlk";
    char path[64], line[512], name[32];
    unsigned long long set, all = 0;
    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    FILE *status = fopen(path, "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "%31[A-Za-z]: %llx", name, &set) == 2 && strstr(sets, name)) all |= set;
    if (status) fclose(status);
    return (all & bit) != 0;
}

/* True if keys are read one by one, as by a line editor: then nothing else runs. */
static int is_edited(const Screen *s)
{
    struct termios t;
    return tcgetattr(s->fd, &t) == 0 && !(t.c_lflag & ICANON);
}

/* True if the command has not read all typed keys. poll also sees keys that the terminal has not
 * delivered yet. */
static int has_keys(const Screen *s)
{
    const char *name = ptsname(s->fd);
    struct pollfd p = { .events = POLLIN };
    if (!name || (p.fd = open(name, O_RDONLY | O_NOCTTY | O_NONBLOCK)) < 0) return 0;
    const int ready = poll(&p, 1, 0);
    close(p.fd);
    return ready > 0 && (p.revents & POLLIN);
}

/* True if a command without an editor waits for a line: it is in a call that reads standard input,
 * or in one that polls. /proc/N/syscall is "NUMBER ARGUMENT..."; if it is unreadable, any sleeping
 * command counts. */
static int waits_for_line(pid_t pid, char state)
{
    char path[64], line[512] = "";
    unsigned long long first = 0;
    long number = -1;
    snprintf(path, sizeof path, "/proc/%ld/syscall", (long)pid);
    FILE *call = fopen(path, "r");
    const int known = call && fgets(line, sizeof line, call);
    if (call) fclose(call);
    if (!known) return strchr("SZX", state) != NULL;
    if (sscanf(line, "%ld %llx", &number, &first) < 2) return 0;
    return (number == SYS_read && first == STDIN_FILENO) || number == SYS_ppoll ||
           number == SYS_pselect6
#ifdef SYS_poll
           || number == SYS_poll
#endif
        ;
}

/* True if all typed keys are read and the command waits for a key or a line, or if it has ended. */
static int awaits_keys(const Screen *s)
{
    const int keys = has_keys(s);
    const char state = state_of(s->child);
    if (!state || strchr("ZX", state)) return 1;
    return !keys && (is_edited(s) ? state == 'S' : waits_for_line(s->child, state));
}

/* Wait until the command awaits keys. An editor takes the keyboard a moment after its prompt
 * appears: a control key typed before that goes to the terminal, and may be lost. */
static void await_keyboard(Screen *s)
{
    const long end = now_ms() + PATIENCE_MS;
    while (!awaits_keys(s) && now_ms() < end) pause_for(s, 10);
}

/* Wait until an editor has read the typed keys, or has released the keyboard. */
static void await_editor(Screen *s)
{
    const long end = now_ms() + PATIENCE_MS;
    while (is_edited(s) && !awaits_keys(s) && now_ms() < end) pause_for(s, 10);
}

static void type_interrupt(Screen *s)
{
    while (now_ms() < next_interrupt) pause_for(s, 10);
    type(s, "\x03", 1);
    seen_since_interrupt = 0;
}

/* Type Ctrl-C and wait until the command has taken the signal. The terminal shows ^C once the
 * signal is sent. */
static int interrupt(Screen *s)
{
    const long end = now_ms() + PATIENCE_MS;
    type_interrupt(s);
    if (!expect(s, "^C")) return 0;
    while (has_interrupt(s->child) && now_ms() < end) pause_for(s, 10);
    next_interrupt = now_ms() + APART_MS;
    return 1;
}

/* Read the remaining output of a command that has ended. */
static void read_rest(Screen *s)
{
    while (more(s, 0) > 0) {}
}

/* Wait until the command ends. Returns true if it has the expected status. */
static int ended_well(Screen *s)
{
    const char *wanted = getenv("PTY_ENDS");
    const long end = now_ms() + PATIENCE_MS;
    int status = 0;
    while (waitpid(s->child, &status, WNOHANG) == 0) {
        if (now_ms() > end) {
            kill(s->child, SIGKILL);
            waitpid(s->child, &status, 0);
            puts("the command did not end");
            return 0;
        }
        pause_for(s, 10);
    }
    read_rest(s);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (code == (wanted ? atoi(wanted) : 0)) return 1;
    printf("the command ended with %d\n", code);
    return 0;
}

static int await_file(Screen *s, const char *path)
{
    const long end = now_ms() + PATIENCE_MS;
    struct stat info;
    while (stat(path, &info) != 0 || !info.st_size) {
        if (now_ms() > end) {
            printf("not written: %s\n", path);
            return 0;
        }
        pause_for(s, 20);
    }
    return 1;
}

/* ---- the script ----------------------------------------------------------------------------- */

static void type_control(Screen *s, char letter)
{
    const char control = (char)(letter & 0x1F);
    if (control == 'C' - '@') {         /* a signal, even to a busy command */
        await_editor(s);
        type_interrupt(s);
    } else {
        await_keyboard(s);
        type(s, &control, 1);
    }
    await_editor(s);
}

static int play(Screen *s, FILE *script)
{
    char *line = NULL;
    size_t room = 0;
    int good = 1;
    for (ssize_t n; good && (n = getline(&line, &room, script)) > 0;) {
        if (line[n - 1] == '\n') line[--n] = '\0';
        if (*line == '>' && n == 1) type(s, "\r", 1);
        if (n < 2) continue;
        if (*line == '>') {
            line[n] = '\r';
            type(s, line + 2, (size_t)n - 1);
        } else if (*line == '.') type(s, line + 2, (size_t)n - 2);
        else if (*line == '^' && line[1] == '^') good = interrupt(s);
        else if (*line == '^') type_control(s, line[2]);
        else if (*line == '?') good = expect(s, line + 2);
        else if (*line == 'w') good = await_file(s, line + 2);
        else if (*line == '!') good = system(line + 2) == 0;
    }
    free(line);
    return good;
}

int main(int argc, char **argv)
{
    Screen s = { .fd = -1 };
    struct winsize size = { .ws_row = 24, .ws_col = 100 };
    FILE *script = argc > 2 ? fopen(argv[1], "r") : NULL;
    if (!script) {
        fputs("usage: pty SCRIPT COMMAND [ARGUMENT…]\n", stderr);
        return 2;
    }
    if (getenv("PTY_SIZE")) sscanf(getenv("PTY_SIZE"), "%hux%hu", &size.ws_row, &size.ws_col);
    s.child = forkpty(&s.fd, NULL, NULL, &size);
    if (s.child < 0) return 77;
    if (s.child == 0) {
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    fcntl(s.fd, F_SETFL, O_NONBLOCK);
    int good = play(&s, script);
    if (!good) kill(s.child, SIGKILL);      /* no more keys will be typed */
    good &= ended_well(&s);
    if (!good || getenv("PTY_SHOW")) printf("---- the screen\n%s\n----\n", s.text ? s.text : "");
    fclose(script);
    free(s.text);
    return !good;
}
