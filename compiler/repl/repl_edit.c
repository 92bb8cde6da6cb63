/* repl_edit.c: input lines, edited by libedit with history at a terminal, or read as they are from
 * a pipe. */
#include <histedit.h>

#include "line.h"
#include "repl.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "file.h"

struct Lines {
    Repl *repl;
    EditLine *edit;                 /* NULL without a terminal, or if it is too large */
    History *history;
    char *line;  size_t room;
    const char *path;               /* of the history; NULL: not kept */
    bool more;
};

/* ---- completion -------------------------------------------------------------------------------------------------- */

/* Print the words in lines that fit the terminal; no word is split. */
static void print_words(const Completion *c)
{
    struct winsize size = { .ws_col = 0 };
    const size_t width = ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
    size_t used = 0;
    fputs("\n", stdout);
    for (int i = 0; i < c->count; i++) {
        const size_t n = strlen(c->words[i]);
        if (used && used + 2 + n > width) {
            fputs("\n", stdout);
            used = 0;
        }
        used += (size_t)printf("%s%s", used ? "  " : "", c->words[i]);
    }
    fputs("\n", stdout);
}

/* True if more input is already waiting: the tab is part of pasted text. */
static bool is_pasted(void)
{
    int waiting = 0;
    return ioctl(0, FIONREAD, &waiting) == 0 && waiting > 0;
}

/* The tab key. A pasted tab stays a tab; before the first word, tab indents. */
static unsigned char on_tab(EditLine *edit, int key)
{
    (void)key;
    Lines *l;
    el_get(edit, EL_CLIENTDATA, &l);
    const LineInfo *info = el_line(edit);
    const char *word = info->buffer;
    while (word < info->cursor && strchr(" \t", *word)) word++;
    const bool pasted = is_pasted();
    if (pasted || word == info->cursor) return el_insertstr(edit, pasted ? "\t" : "    ") ? CC_ERROR : CC_REFRESH;
    Arena *a = arena_new();
    const Completion c = repl_complete(l->repl, a, arena_copy(a, info->buffer, (size_t)(info->cursor - info->buffer)));
    const size_t typed = strlen(c.prefix);
    unsigned char result = CC_ERROR;
    if (c.count && c.shared > typed) {
        result = el_insertstr(edit, arena_copy(a, c.words[0] + typed, c.shared - typed)) ? CC_ERROR : CC_REFRESH;
    } else if (c.count > 1) {
        print_words(&c);
        result = CC_REDISPLAY;
    }
    arena_free(a);
    return result;
}

/* ---- history ----------------------------------------------------------------------------------------------------- */

/* NULL if no history is kept: there is no folder for it, or the path is not a regular file. */
static const char *history_path(Arena *a)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    struct stat there;
    if ((!state || *state != '/') && (!home || !*home)) return NULL;
    const char *folder = state && *state == '/' ? state : file_join(a, home, ".local/state");
    const char *ours = file_join(a, folder, "xformc"), *path = file_join(a, ours, "history");
    if (!file_make_folder(diag_new(a), ours)) return NULL;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) {
        fprintf(stderr, "note: %s is not a regular file, so no history is kept\n", path);
        return NULL;
    }
    return path;
}

static History *new_history(void)
{
    HistEvent event;
    History *h = history_init();
    if (!h) no_memory("the history");
    history(h, &event, H_SETSIZE, 1000);
    history(h, &event, H_SETUNIQUE, 1);
    return h;
}

/* Append one entry to the file at once, so that a signal loses nothing and the lines of other
 * prompts are kept. The lock is on the history file itself. */
static void keep_line(const char *path, const char *text)
{
    HistEvent event;
    const int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock < 0 || flock(lock, LOCK_EX) < 0) {
        if (lock >= 0) close(lock);
        return;
    }
    History *h = new_history();
    history(h, &event, H_LOAD, path);
    history(h, &event, H_ENTER, text);
    history(h, &event, H_SAVE, path);
    history_end(h);
    close(lock);
}

void lines_remember(Lines *l, const char *text)
{
    HistEvent event;
    if (!l->history || !*text) return;
    history(l->history, &event, H_ENTER, text);
    if (l->path) keep_line(l->path, text);
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static char *prompt(EditLine *edit)
{
    Lines *l;
    static char first[] = "> ", next[] = ">> ";
    el_get(edit, EL_CLIENTDATA, &l);
    return l->more ? next : first;
}

/* Home, End, Delete, and the arrows with the control key, as terminals send them. */
static void bind_keys(EditLine *edit)
{
    static const struct { const char *keys, *does; } bound[] = {
        { "\\e[1~", "ed-move-to-beg" }, { "\\e[7~", "ed-move-to-beg" }, { "\\e[H", "ed-move-to-beg" }, { "\\eOH", "ed-move-to-beg" },
        { "\\e[4~", "ed-move-to-end" }, { "\\e[8~", "ed-move-to-end" }, { "\\e[F", "ed-move-to-end" }, { "\\eOF", "ed-move-to-end" },
        { "\\e[3~", "ed-delete-next-char" }, { "\\e[1;5D", "ed-prev-word" }, { "\\e[5D", "ed-prev-word" },
        { "\\e[1;5C", "em-next-word" }, { "\\e[5C", "em-next-word" },
    };
    for (size_t i = 0; i < sizeof bound / sizeof *bound; i++) el_set(edit, EL_BIND, bound[i].keys, bound[i].does, NULL);
}

/* Input is UTF-8 even if the locale is not. LC_NUMERIC stays "C". */
static void take_unicode(void)
{
    if (setlocale(LC_CTYPE, "") && strcmp(nl_langinfo(CODESET), "UTF-8") == 0) return;
    if (!setlocale(LC_CTYPE, "C.UTF-8")) setlocale(LC_CTYPE, "en_US.UTF-8");
}

/* libedit keeps two copies of the screen, so a terminal that reports 65,535 columns and rows would
 * use up all memory. False if the terminal is too large; then lines are read without the editor. */
static bool fits_editor(void)
{
    enum { CELLS_MOST = 4 << 20 };
    struct winsize size = { .ws_col = 0 };
    if (ioctl(1, TIOCGWINSZ, &size) != 0 || (size_t)size.ws_col * size.ws_row <= CELLS_MOST) return true;
    fprintf(stderr, "note: a terminal of %u columns and %u rows is too large for the line editor\n", size.ws_col, size.ws_row);
    return false;
}

Lines *lines_open(Repl *r)
{
    Lines *l = calloc(1, sizeof *l);
    HistEvent event;
    if (!l) no_memory("the line editor");
    l->repl = r;
    if (!r->terminal || !fits_editor()) return l;
    take_unicode();
    cleanup_terminal(0);
    l->edit = el_init("xformc", stdin, stdout, stderr);
    l->history = new_history();
    if (!l->edit) no_memory("the line editor");
    l->path = history_path(r->reader.arena);
    if (l->path) history(l->history, &event, H_LOAD, l->path);
    el_set(l->edit, EL_CLIENTDATA, l);
    el_set(l->edit, EL_PROMPT, prompt);
    el_set(l->edit, EL_EDITOR, "emacs");
    el_set(l->edit, EL_HIST, history, l->history);
    el_set(l->edit, EL_ADDFN, "xf-complete", "Complete a name", on_tab);
    el_set(l->edit, EL_BIND, "^I", "xf-complete", NULL);
    el_set(l->edit, EL_BIND, "^R", "em-inc-search-prev", NULL);
    bind_keys(l->edit);
    el_set(l->edit, EL_SIGNAL, 0);
    el_source(l->edit, NULL);
    return l;
}

static char *keep(Lines *l, const char *line, size_t n)
{
    while (n && (line[n - 1] == '\n' || line[n - 1] == '\r')) n--;
    if (l->room < n + 1 && !(l->line = realloc(l->line, l->room = n + 1))) no_memory("a line of %zu bytes", n);
    memcpy(l->line, line, n);
    l->line[n] = '\0';
    return l->line;
}

const char *lines_next(Lines *l, bool more)
{
    l->more = more;
    if (l->edit) {
        int n;
        errno = 0;
        const char *line = el_gets(l->edit, &n);
        if (!line && n < 0 && errno == EINTR) return keep(l, "\x03", 1);
        return line && n > 0 ? keep(l, line, (size_t)n) : NULL;
    }
    char *line = NULL;
    size_t room = 0;
    errno = 0;
    if (l->repl->terminal) fputs(more ? ">> " : "> ", stdout), fflush(stdout);
    enum { LINE_MOST = 16 << 20 };          /* as for a Lua file */
    const long long n = line_read(&line, &room, LINE_MOST, stdin);
    if (n == LINE_TOO_LONG) repl_refuse(l->repl, EXIT_BAD_DATA, "a line is longer than 16 MiB; nothing more is read");
    if (n < 0 && ferror(stdin) && errno == EINTR && l->repl->terminal) {
        clearerr(stdin);
        free(line);
        return keep(l, "\x03", 1);
    }
    if (n < 0 && more && l->repl->terminal) clearerr(stdin);       /* Ctrl-D only drops the chunk */
    if (n < 0 && ferror(stdin)) repl_refuse(l->repl, EXIT_IO, "cannot read standard input: %s", strerror(errno));
    const bool zero = n > 0 && memchr(line, 0, (size_t)n);
    if (zero) repl_refuse(l->repl, EXIT_BAD_DATA, "a line contains a zero byte; Lua code must be text");
    const char *kept = n < 0 ? NULL : keep(l, line, zero ? 0 : (size_t)n);
    free(line);
    return kept;
}

void lines_close(Lines *l)
{
    if (l->history) history_end(l->history);
    if (l->edit) el_end(l->edit);
    free(l->line);
    free(l);
}
