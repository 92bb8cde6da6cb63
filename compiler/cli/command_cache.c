/* command_cache.c: list, check or empty the cache. */
#include "command.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cache.h"
#include "json_text.h"
#include "library_cache.h"
#include "pack.h"
#include "progress.h"

/* An age in the largest unit in which it is at least 1: "3 d"; below a second "0 s". */
static const char *age(Arena *a, int64_t seconds)
{
    static const struct { int64_t seconds; const char *name; } units[] = { { 86400, "d" }, { 3600, "h" }, { 60, "min" }, { 1, "s" } };
    size_t i = 0;
    if (seconds < 0) seconds = 0;
    while (i + 1 < sizeof units / sizeof *units && seconds < units[i].seconds) i++;
    return arena_format(a, "%lld %s", (long long)(seconds / units[i].seconds), units[i].name);
}

/* Indexed by the kind of an entry. */
static const struct { const char *word; bool (*whole)(const char *path); } kinds[CACHE_KINDS] = {
    [CACHE_LIBRARY] = { "library", library_cache_whole },
    [CACHE_PACKED] = { "weights", pack_cache_whole },
};

static void list(Arena *a, const CacheEntry *e, int n)
{
    const int64_t now = time(NULL);
    int width = 0;
    int64_t bytes = 0;
    for (int i = 0; i < n; i++)
        if ((int)strlen(e[i].name) > width) width = (int)strlen(e[i].name);
    for (int i = 0; i < n; i++) {
        const char *size = text_bytes(a, (size_t)e[i].bytes);
        printf("%-*s  %8s  %8s\n", width, e[i].name, size, age(a, now - e[i].used));
        bytes += e[i].bytes;
    }
    printf("%s of %s\n", text_bytes(a, (size_t)bytes), text_bytes(a, (size_t)cache_most(a)));
}

static void list_json(Arena *a, const char *folder, const CacheEntry *e, int n)
{
    Text t = text_new(a);
    text_add(&t, "{\"folder\":");
    if (folder) json_add_string(&t, folder);
    else text_add(&t, "null");
    text_printf(&t, ",\"most_bytes\":%lld,\"entries\":[", (long long)(folder ? cache_most(a) : 0));
    for (int i = 0; i < n; i++) {
        text_add(&t, i ? ",{\"name\":" : "{\"name\":");
        json_add_string(&t, e[i].name);
        text_printf(&t, ",\"kind\":\"%s\",\"bytes\":%lld,\"used\":%lld}", kinds[e[i].kind].word,
                    (long long)e[i].bytes, (long long)e[i].used);
    }
    text_add(&t, "]}");
    puts(t.data);
}

/* Report and remove damaged entries. */
static Exit check(Diag *d, const CacheEntry *e, int n)
{
    int damaged = 0;
    for (int i = 0; i < n; i++) {
        progress_part("checking", i, n);
        if (kinds[e[i].kind].whole(e[i].path)) continue;
        progress_clear();
        damaged++;
        if (unlink(e[i].path) == 0 || errno == ENOENT) printf("%s: damaged, removed\n", e[i].name);
        else diag_error(d, EXIT_IO, (Loc){ 0 }, "%s is damaged and cannot be removed: %s",
                        e[i].path, strerror(errno));
    }
    progress_clear();
    printf("%d entr%s, %d damaged\n", n, n == 1 ? "y" : "ies", damaged);
    return damaged ? EXIT_DIFFERS : EXIT_DONE;
}

Exit command_cache(const Options *o)
{
    Arena *a = arena_new();
    Diag *d = diag_new(a);
    int n, error;
    Exit found = EXIT_DONE;
    const char *folder = cache_folder(a);
    const CacheEntry *e = cache_list(a, &n, &error);
    progress_begin("cache", false);
    cache_remark_on_settings(a, d);
    if (error) diag_error(d, EXIT_IO, (Loc){ 0 }, "cannot read %s: %s", folder, strerror(error));
    else if (o->clear) cache_clear(a, d);
    else if (o->check) found = check(d, e, n);
    else if (o->json) list_json(a, folder, e, n);
    else if (folder) list(a, e, n);
    progress_end();
    diag_print(d, stderr, diag_colours(2));
    if (!folder && !o->json)
        fputs("xformc: there is no cache: XFORMC_CACHE is off, or neither XDG_CACHE_HOME nor HOME is an absolute path\n", stderr);
    const Exit told = diag_exit(d);
    arena_free(a);
    return told != EXIT_DONE ? told : found;
}
