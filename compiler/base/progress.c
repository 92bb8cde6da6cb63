/* progress.c: the progress line. It is never wider than the terminal, since a line that wraps could
 * not be cleared. */
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
    int64_t said_ns, drawn_ns;              /* when the words last changed; when the line was last
                                             * drawn */
    char words[LINE];                       /* "" if there are none */
    const char *part;                       /* `what` of the last progress_part or _bytes */
    int64_t part_ns;                        /* when that part began */
    double part_first, part_done;
} progress;

static double seconds_since(int64_t ns) { return (double)(clock_now_ns() - ns) / 1e9; }

static int columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

/* Draw the line. If the words have not changed for SLOW seconds, their age follows. */
static void draw(void)
{
    enum { SLOW = 2 };                      /* seconds */
    char line[LINE + 64];
    const double seconds = seconds_since(progress.said_ns);
    int n = snprintf(line, sizeof line, "\r\033[K%s: %s", progress.command, progress.words);
    const int room = columns() - 1 + (int)strlen("\r\033[K");
    if (seconds >= SLOW) n += snprintf(line + n, sizeof line - (size_t)n, ", %.0f s", seconds);
    if (n > room) n = room;
    while (n > 0 && ((unsigned char)line[n] & 0xC0) == 0x80) n--;       /* no partial character */
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

/* The amount of `what` done per second; 0 in the first second. */
static double rate_of(const char *what, double done)
{
    const bool goes_on = progress.part && strcmp(progress.part, what) == 0;
    if (!goes_on || done < progress.part_done) {
        progress.part = what;
        progress.part_ns = clock_now_ns();
        progress.part_first = done;
    }
    progress.part_done = done;
    const double seconds = seconds_since(progress.part_ns);
    return seconds < 1 ? 0 : (done - progress.part_first) / seconds;
}

void progress_words(char *words, size_t room, const char *what, double done, double all,
                    double rate, bool bytes)
{
    enum { WORDS = 32, MINUTE = 60 };
    const double left = rate > 0 ? (all - done) / rate : 0;
    char speed[WORDS] = "", time[WORDS] = "";
    if (bytes && rate > 0) snprintf(speed, sizeof speed, ", %.0f MB/s", rate / 1e6);
    if (left >= 2 * MINUTE) snprintf(time, sizeof time, ", %.0f min left", left / MINUTE);
    else if (left >= 1) snprintf(time, sizeof time, ", %.0f s left", left);
    snprintf(words, room, "%s, %.0f %%%s%s", what, all > 0 ? 100 * done / all : 100, speed, time);
}

static void say_part(const char *what, double done, double all, bool bytes)
{
    const double pause = 0.1;               /* seconds */
    char words[LINE];
    if (!progress.on) return;
    const double rate = rate_of(what, done);
    if (done > 0 && seconds_since(progress.drawn_ns) < pause) return;
    progress_words(words, sizeof words, what, done, all, rate, bytes);
    progress_say("%s", words);
}

void progress_part(const char *what, double done, double all) { say_part(what, done, all, false); }
void progress_bytes(const char *what, double done, double all) { say_part(what, done, all, true); }

void progress_clear(void)
{
    static const char clear[] = "\r\033[K";
    if (!progress.on || !*progress.words) return;
    progress.words[0] = '\0';
    if (write(STDERR_FILENO, clear, strlen(clear)) < 0) progress.on = false;
    cleanup_line(false);
}
