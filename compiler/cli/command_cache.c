/* command_cache.c: list what was compiled and kept, or remove it. */
#include "command.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "file.h"
#include "json_text.h"
#include "library_cache.h"

/* In the largest unit of which there is one. */
static const char *age(Arena *a, int64_t seconds)
{
    static const struct { int64_t seconds; const char *name; } units[] = { { 86400, "d" }, { 3600, "h" }, { 60, "min" }, { 1, "s" } };
    size_t i = 0;
    if (seconds < 0) seconds = 0;
    while (i + 1 < sizeof units / sizeof *units && seconds < units[i].seconds) i++;
    return arena_format(a, "%lld %s", (long long)(seconds / units[i].seconds), units[i].name);
}

static void list(Arena *a, const CacheEntry *e, int n)
{
    const int64_t now = time(NULL);
    int width = 0;
    for (int i = 0; i < n; i++)
        if ((int)strlen(e[i].name) > width) width = (int)strlen(e[i].name);
    for (int i = 0; i < n; i++)
        printf("%-*s %8.1f KiB  %8s\n", width, e[i].name, (double)e[i].bytes / 1024, age(a, now - e[i].used));
}

static void list_json(Arena *a, const char *folder, const CacheEntry *e, int n)
{
    Text t = text_new(a);
    text_add(&t, "{\"folder\":");
    if (folder) json_add_string(&t, folder);
    else text_add(&t, "null");
    text_add(&t, ",\"entries\":[");
    for (int i = 0; i < n; i++) {
        text_add(&t, i ? ",{\"name\":" : "{\"name\":");
        json_add_string(&t, e[i].name);
        text_printf(&t, ",\"bytes\":%lld,\"used\":%lld}", (long long)e[i].bytes, (long long)e[i].used);
    }
    text_add(&t, "]}");
    puts(t.data);
}

static void clear(Diag *d, const char *folder, const CacheEntry *e, int n)
{
    if (folder) file_remove_stale(folder);
    for (int i = 0; i < n; i++)
        if (unlink(e[i].path) != 0 && errno != ENOENT) diag_error(d, EXIT_IO, (Loc){ 0 }, "cannot remove %s: %s", e[i].path, strerror(errno));
}

Exit command_cache(const Options *o)
{
    Arena *a = arena_new();
    Diag *d = diag_new(a);
    int n, error;
    const char *folder = library_cache_folder(a);
    const CacheEntry *e = library_cache_list(a, &n, &error);
    if (error) diag_error(d, EXIT_IO, (Loc){ 0 }, "cannot read %s: %s", folder, strerror(error));
    else if (o->clear) clear(d, folder, e, n);
    else if (o->json) list_json(a, folder, e, n);
    else list(a, e, n);
    diag_print(d, stderr, isatty(2));
    if (!folder && !o->json) fputs("xformc: there is no cache: XFORMC_CACHE is off, or there is no home folder\n", stderr);
    const Exit code = diag_exit(d);
    arena_free(a);
    return code;
}
