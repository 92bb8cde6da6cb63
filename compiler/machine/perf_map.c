/* perf_map.c: write the file of perf_map.h: a line "ADDRESS SIZE NAME" for each function and
 * external variable, with hexadecimal numbers. */
#include "perf_map.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text.h"

bool perf_map_wanted(void)
{
    const char *choice = getenv("XFORMC_PERF_MAP");
    return choice && *choice && strcmp(choice, "0") != 0;
}

/* True if a line that begins with "static " defines or declares a function: a name and '(' come
 * before any '='. */
static bool is_function(const char *line)
{
    const size_t n = strcspn(line, "(=;[{\n");
    return line[n] == '(' && n > 0 && (isalnum((unsigned char)line[n - 1]) || line[n - 1] == '_');
}

const char *perf_map_text(Arena *a, const char *text)
{
    Text out = text_new(a);
    for (const char *line = text; *line;) {
        const char *end = strchr(line, '\n');
        const size_t n = end ? (size_t)(end - line) + 1 : strlen(line);
        size_t skip = 0;
        if (strncmp(line, "static ", 7) == 0 && is_function(line)) skip = strncmp(line + 7, "inline ", 7) == 0 ? 14 : 7;
        text_add_bytes(&out, line + skip, n - skip);
        line += n;
    }
    return out.data;
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

typedef struct Found { uintptr_t at; const char *name; } Found;
typedef struct List { Arena *arena; const CSymbol *symbols; int symbol_count; Found *list; int count, room; } List;

static void keep(void *user, const char *name, const void *address)
{
    List *l = user;
    for (int i = 0; i < l->symbol_count; i++)
        if (strcmp(l->symbols[i].name, name) == 0) return;
    if (l->count == l->room) {
        const int room = l->room ? 2 * l->room : 64;
        l->list = arena_grow(l->arena, l->list, (size_t)l->room * sizeof *l->list, (size_t)room * sizeof *l->list);
        l->room = room;
    }
    l->list[l->count++] = (Found){ (uintptr_t)address, arena_text(l->arena, name) };
}

static int by_address(const void *x, const void *y)
{
    const Found *a = x, *b = y;
    return (a->at > b->at) - (a->at < b->at);
}

/* Open the file, which must be a regular file of this user with no other name, since others can
 * write to /tmp. The first call empties a file that an earlier process with this PID left. */
static int open_map(const char *path)
{
    static bool begun;
    struct stat file;
    const int f = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (f < 0) return -1;
    if (fstat(f, &file) || !S_ISREG(file.st_mode) || file.st_nlink != 1 || file.st_uid != geteuid() || (!begun && ftruncate(f, 0))) {
        close(f);
        errno = EACCES;
        return -1;
    }
    begun = true;
    return f;
}

void perf_map_add(Arena *a, Diag *d, CMemory *code, const CSymbol *symbols, int n)
{
    enum { LAST = 4096 };           /* assumed size of the last symbol: libtcc reports no sizes */
    List l = { .arena = a, .symbols = symbols, .symbol_count = n };
    Text lines = text_new(a);
    c_memory_symbols(code, &l, keep);
    qsort(l.list, (size_t)l.count, sizeof *l.list, by_address);
    for (int i = 0; i < l.count; i++) {
        const uintptr_t size = i + 1 < l.count ? l.list[i + 1].at - l.list[i].at : LAST;
        if (size && l.list[i].name[0] != '_') text_printf(&lines, "%zx %zx %s\n", (size_t)l.list[i].at, (size_t)size, l.list[i].name);
    }
    const char *path = arena_format(a, "/tmp/perf-%ld.map", (long)getpid());
    const int f = open_map(path);
    const bool good = f >= 0 && write(f, lines.data, lines.size) == (ssize_t)lines.size;
    const int fault = errno;
    if ((f >= 0 && close(f)) || !good)
        diag_remark(d, (Loc){ 0 }, "XFORMC_PERF_MAP: cannot write %s: %s", path, strerror(good ? errno : fault));
}
