/* repl_edit.c: lines from a person, edited by libedit, with history and completion; or from a pipe, as they come. */
#include <histedit.h>

#include "repl.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"

struct Lines {
    Repl *repl;
    EditLine *edit;                 /* NULL without a terminal */
    History *history;
    char *line;  size_t room;
    const char *path;               /* of the history; NULL: not kept */
    bool more;
};

/* ---- completion -------------------------------------------------------------------------------------------------- */

typedef struct Found { char *prefix; int count; size_t shared; char common[128]; char list[2048]; } Found;

static void found(Found *f, const char *word)
{
    const size_t n = strlen(f->prefix);
    if (strncmp(word, f->prefix, n) != 0 || strlen(word) >= sizeof f->common) return;
    if (!f->count++) {
        strcpy(f->common, word);
        f->shared = strlen(word);
    }
    while (f->shared && strncmp(f->common, word, f->shared) != 0) f->shared--;
    const size_t used = strlen(f->list);
    if (used + strlen(word) + 3 < sizeof f->list) sprintf(f->list + used, "%s  ", word);
}

/* The names in the table, or behind the metatable, of the value at the top of the stack. */
static void names_of(lua_State *L, Found *f)
{
    const int top = lua_gettop(L);
    int table = top;
    if (lua_type(L, top) != LUA_TTABLE) {
        if (luaL_getmetafield(L, top, "__methods") == LUA_TNIL) return;
        table = lua_gettop(L);
    }
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1))
        if (lua_type(L, -2) == LUA_TSTRING) found(f, lua_tostring(L, -2));
    lua_settop(L, top);
}

/* Protected: 1 is a Found, 2 the path before its last dot or colon ("" for globals). */
static int complete_word(lua_State *L)
{
    Found *f = lua_touserdata(L, 1);
    const char *s = lua_tostring(L, 2);
    lua_pushglobaltable(L);
    while (*s) {
        const size_t n = strcspn(s, ".:");
        lua_pushlstring(L, s, n);
        if (lua_type(L, -2) == LUA_TTABLE) lua_rawget(L, -2);
        else lua_pushnil(L);
        if (lua_isnil(L, -1)) return 0;
        s += n + (s[n] != '\0');
    }
    names_of(L, f);
    return 0;
}

/* Files whose path begins as the text in quotes does. */
static void complete_path(Found *f)
{
    const char *slash = strrchr(f->prefix, '/');
    Arena *a = arena_new();
    const char *folder = slash ? arena_copy(a, f->prefix, (size_t)(slash - f->prefix) + 1) : "";
    DIR *d = opendir(*folder ? folder : ".");
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.') found(f, arena_format(a, "%s%s", folder, e->d_name));
    if (d) closedir(d);
    arena_free(a);
}

/* Names of tensors, for m:at("…"). */
static void complete_tensor(Repl *r, Found *f)
{
    const ReplModel *m = repl_last_model(r->L);
    const Plan *p = m && m->tapped ? m->tapped->plan : NULL;
    for (int i = 0; p && i < p->tap_count; i++) found(f, p->taps[i].name);
}

static void complete(Lines *l, char *text, Found *f)
{
    lua_State *L = l->repl->L;
    const char *quote = strrchr(text, '"');
    size_t quotes = 0;
    for (const char *s = text; *s; s++) quotes += *s == '"';
    if (*text == ':' || *text == '?') {
        for (int i = 0; *text == ':' && repl_command_name(i); i++) {
            f->prefix = text;
            found(f, repl_command_name(i));
        }
        if (*text == ':') return;
    }
    if (quotes % 2) {
        f->prefix = (char *)quote + 1;
        if (quote - text >= 4 && strncmp(quote - 4, ":at(", 4) == 0) complete_tensor(l->repl, f);
        else complete_path(f);
        return;
    }
    size_t begin = strlen(text);
    while (begin && strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:", text[begin - 1])) begin--;
    char *word = text + begin, *dot = word + strlen(word);
    while (dot > word && !strchr(".:", dot[-1])) dot--;
    f->prefix = dot;
    lua_pushcfunction(L, complete_word);
    lua_pushlightuserdata(L, f);
    lua_pushlstring(L, word, dot > word ? (size_t)(dot - word - 1) : 0);
    if (lua_pcall(L, 2, 0, 0) != LUA_OK) lua_pop(L, 1);
}

/* Bound to the tab key. */
static unsigned char on_tab(EditLine *edit, int key)
{
    (void)key;
    Lines *l;
    el_get(edit, EL_CLIENTDATA, &l);
    const LineInfo *info = el_line(edit);
    const size_t n = (size_t)(info->cursor - info->buffer);
    char *text = strndup(info->buffer, n);
    Found f = { .count = 0 };
    if (!text) return CC_ERROR;
    complete(l, text, &f);
    const size_t typed = f.prefix ? strlen(f.prefix) : 0;
    unsigned char result = CC_ERROR;
    if (f.count && f.shared > typed) {
        f.common[f.shared] = '\0';
        result = el_insertstr(edit, f.common + typed) ? CC_ERROR : CC_REFRESH;
    } else if (f.count > 1) {
        printf("\n%s\n", f.list);
        result = CC_REDISPLAY;
    }
    free(text);
    return result;
}

/* ---- history ----------------------------------------------------------------------------------------------------- */

static const char *history_path(Arena *a)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if ((!state || !*state) && (!home || !*home)) return NULL;
    const char *folder = state && *state ? state : file_join(a, home, ".local/state");
    const char *ours = file_join(a, folder, "xformc");
    if (!file_make_folder(diag_new(a), ours)) return NULL;
    return file_join(a, ours, "history");
}

void lines_remember(Lines *l, const char *text)
{
    HistEvent event;
    if (!l->history || !*text) return;
    history(l->history, &event, H_ENTER, text);
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static char *prompt(EditLine *edit)
{
    Lines *l;
    static char first[] = "> ", next[] = ">> ";
    el_get(edit, EL_CLIENTDATA, &l);
    return l->more ? next : first;
}

Lines *lines_open(Repl *r)
{
    Lines *l = calloc(1, sizeof *l);
    HistEvent event;
    if (!l) die("no memory");
    l->repl = r;
    if (!r->terminal) return l;
    l->edit = el_init("xformc", stdin, stdout, stderr);
    l->history = history_init();
    if (!l->edit || !l->history) die("no memory for the line editor");
    history(l->history, &event, H_SETSIZE, 1000);
    history(l->history, &event, H_SETUNIQUE, 1);
    l->path = history_path(r->reader.arena);
    if (l->path) history(l->history, &event, H_LOAD, l->path);
    el_set(l->edit, EL_CLIENTDATA, l);
    el_set(l->edit, EL_PROMPT, prompt);
    el_set(l->edit, EL_EDITOR, "emacs");
    el_set(l->edit, EL_HIST, history, l->history);
    el_set(l->edit, EL_ADDFN, "xf-complete", "Complete a name", on_tab);
    el_set(l->edit, EL_BIND, "^I", "xf-complete", NULL);
    el_set(l->edit, EL_BIND, "^R", "em-inc-search-prev", NULL);
    el_set(l->edit, EL_SIGNAL, 0);
    el_source(l->edit, NULL);
    return l;
}

static char *keep(Lines *l, const char *line, size_t n)
{
    while (n && (line[n - 1] == '\n' || line[n - 1] == '\r')) n--;
    if (l->room < n + 1 && !(l->line = realloc(l->line, l->room = n + 1))) die("no memory for a line");
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
    const ssize_t n = getline(&line, &room, stdin);
    const char *kept = n < 0 ? NULL : keep(l, line, (size_t)n);
    free(line);
    return kept;
}

void lines_close(Lines *l)
{
    HistEvent event;
    if (l->history && l->path) history(l->history, &event, H_SAVE, l->path);
    if (l->history) history_end(l->history);
    if (l->edit) el_end(l->edit);
    free(l->line);
    free(l);
}
