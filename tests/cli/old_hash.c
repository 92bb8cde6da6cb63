/* old_hash.c: a tool of the shell suites: copy a packed file as older versions wrote it, with an
 * FNV-1a hash of its content. usage: old_hash FROM TO */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "file.h"
#include "rt_packed.h"

int main(int argc, char **argv)
{
    if (argc != 3) return EXIT_USAGE;
    Arena *a = arena_new();
    Diag *d = diag_new(a);
    size_t size;
    char *data = file_read(a, d, (Loc){ 0 }, argv[1], SIZE_MAX, &size);
    bool written = false;
    if (data && size > RT_PACKED_DATA_AT) {
        memcpy(data + RT_PACKED_KIND_AT, "content", strlen("content"));
        const char *hash = arena_format(a, "%016" PRIx64, rt_packed_content(data, size));
        memcpy(data + RT_PACKED_CONTENT_AT, hash, RT_PACKED_DIGITS);
        written = file_write(a, d, argv[2], data, size);
    }
    diag_print(d, stderr, false);
    arena_free(a);
    return written ? EXIT_DONE : EXIT_IO;
}
