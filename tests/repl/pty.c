/* pty.c: a command on a pseudo-terminal, and a script of what a person types and expects to see.
 * usage: pty SCRIPT COMMAND [ARGUMENT…]
 * A line of the script is `> TEXT` (typed, with Enter), `. TEXT` (typed, without), `^ LETTER` (with the control key), or
 * `? TEXT` (must appear, behind what was found before, within forty seconds) or `w FILE` (must be there and not empty, in the
 * same time). Exit 0: all appeared and the command ended by
 * itself with 0; 1: not, and what was on the screen is printed; 77: there are no pseudo-terminals here. PTY_SIZE=ROWSxCOLUMNS: that
 * the terminal says it has. PTY_SHOW: the screen is printed in any case. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 40000 };

typedef struct Screen { int fd; char *text; size_t size, found; } Screen;

/* More of the screen, or nothing for so many milliseconds; false at the end. */
static int more(Screen *s, int ms)
{
    struct pollfd p = { .fd = s->fd, .events = POLLIN };
    char part[4096];
    int ready = poll(&p, 1, ms);
    if (ready <= 0) return ready == 0 || errno == EINTR;
    ssize_t n = read(s->fd, part, sizeof part);
    if (n < 0 && errno == EAGAIN) return 1;
    if (n <= 0) return 0;
    s->text = realloc(s->text, s->size + (size_t)n + 1);
    if (!s->text) exit(70);
    for (ssize_t i = 0; i < n; i++)
        if (part[i]) s->text[s->size++] = part[i];
    s->text[s->size] = '\0';
    return 1;
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
            return 1;
        }
        if (!open || now_ms() > end) break;
        open = more(s, 100);
    }
    printf("not seen: %s\n---- behind\n%s\n----\n", words, s->text ? s->text + s->found : "");
    return 0;
}

/* What is typed goes out as the terminal takes it; what comes is read meanwhile, or both sides would wait. */
static void type(Screen *s, const char *text, size_t n)
{
    const long end = now_ms() + PATIENCE_MS;
    while (n && now_ms() < end) {
        struct pollfd p = { .fd = s->fd, .events = POLLIN | POLLOUT };
        if (poll(&p, 1, 100) > 0 && (p.revents & POLLIN) && !more(s, 0)) return;
        if (!(p.revents & POLLOUT)) continue;
        ssize_t sent = write(s->fd, text, n < 256 ? n : 256);
        if (sent < 0 && errno != EAGAIN) return;
        if (sent < 0) sent = 0;
        text += sent;
        n -= (size_t)sent;
    }
}

/* Until it ends; whether with 0. */
static int ended_well(Screen *s, pid_t child)
{
    const long end = now_ms() + PATIENCE_MS;
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (now_ms() > end) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            puts("it did not end");
            return 0;
        }
        if (!more(s, 50)) usleep(10000);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 1;
    printf("it ended with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
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
        more(s, 20);
    }
    return 1;
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
        else if (*line == '^') {
            const char control = (char)(line[2] & 0x1F);
            usleep(100000);         /* an editor that has shown its prompt may not yet have the keyboard */
            type(s, &control, 1);
        } else if (*line == '?') good = expect(s, line + 2);
        else if (*line == 'w') good = await_file(s, line + 2);
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
    pid_t child = forkpty(&s.fd, NULL, NULL, &size);
    if (child < 0) return 77;
    if (child == 0) {
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    fcntl(s.fd, F_SETFL, O_NONBLOCK);
    int good = play(&s, script) & ended_well(&s, child);
    if (!good || getenv("PTY_SHOW")) printf("---- the screen\n%s\n----\n", s.text ? s.text : "");
    fclose(script);
    free(s.text);
    return !good;
}
