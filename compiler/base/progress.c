/* progress.c: the line of progress.h. It is never longer than the terminal is wide: one that wraps
 * could not be cleared. */
#include "progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cleanup.h"
#include "clock.h"

enum { LINE = 256 };

static struct {
    const char *command;
    bool on;
    int64_t begin_ns;                       /* of progress_begin */
    int64_t said_ns, drawn_ns;              /* of the last words, of the last line */
    char words[LINE];                       /* "" where nothing is said */
} progress;

static double seconds_since(int64_t ns) { return (double)(clock_now_ns() - ns) / 1e9; }

static int columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

/* Words that are slow to change say how long it has been. */
static void draw(void)
{
    enum { SLOW = 2 };                      /* seconds */
    char line[LINE + 64];
    const double seconds = seconds_since(progress.said_ns);
    int n = snprintf(line, sizeof line, "\r\033[K%s: %s", progress.command, progress.words);
    const int room = columns() - 1 + (int)strlen("\r\033[K");
    if (seconds >= SLOW) n += snprintf(line + n, sizeof line - (size_t)n, ", %.0f s", seconds);
    if (n > room) n = room;
    while (n > 0 && ((unsigned char)line[n] & 0xC0) == 0x80) n--;       /* whole characters */
    cleanup_line(true);
    if (write(STDERR_FILENO, line, (size_t)n) < 0) progress.on = false;
    progress.drawn_ns = clock_now_ns();
}

static void tick(void)
{
    const int64_t second = 1000000000;
    if (progress.on && *progress.words && clock_now_ns() - progress.drawn_ns >= second) draw();
}

void progress_begin(const char *command, bool quiet)
{
    const char *term = getenv("TERM");
    progress.command = command;
    progress.begin_ns = clock_now_ns();
    progress.words[0] = '\0';
    progress.on = !quiet && isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
    cleanup_watch(progress.on ? tick : NULL);
}

void progress_end(void)
{
    progress_clear();
    progress.on = false;
    cleanup_watch(NULL);
}

bool progress_is_shown(void) { return progress.on; }

double progress_seconds(void) { return seconds_since(progress.begin_ns); }

void progress_say(const char *format, ...)
{
    va_list arguments;
    if (!progress.on) return;
    va_start(arguments, format);
    vsnprintf(progress.words, sizeof progress.words, format, arguments);
    va_end(arguments);
    progress.said_ns = clock_now_ns();
    draw();
}

void progress_part(const char *what, double done, double all)
{
    const double pause = 0.1;               /* seconds */
    if (!progress.on || (done > 0 && seconds_since(progress.drawn_ns) < pause)) return;
    progress_say("%s, %.0f %%", what, all > 0 ? 100 * done / all : 100);
}

void progress_clear(void)
{
    static const char clear[] = "\r\033[K";
    if (!progress.on || !*progress.words) return;
    progress.words[0] = '\0';
    if (write(STDERR_FILENO, clear, strlen(clear)) < 0) progress.on = false;
    cleanup_line(false);
}
