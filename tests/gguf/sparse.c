/* sparse.c: a tool of the shell suite: copy a GGUF file with its tensors 5 GiB further on. The gap
 * after the header is never written, and takes no disk space.
 * usage: sparse FROM TO */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gguf.h"

enum { BYTES_OF_TYPE = 4 };
static const uint64_t further = UINT64_C(5) << 30;

/* Where the offset of a tensor is in the header: after its name, rank, dimensions and type. */
static size_t place_of(const FileMap *map, const GgufTensor *t)
{
    const size_t name_end = (size_t)((const unsigned char *)t->name.s - map->data) + t->name.n;
    return name_end + sizeof(uint32_t) + (size_t)t->rank * sizeof(uint64_t) + BYTES_OF_TYPE;
}

static void move_tensors(unsigned char *head, const FileMap *map, const Gguf *g)
{
    for (uint64_t i = 0; i < g->tensor_count; i++) {
        unsigned char *p = head + place_of(map, &g->tensors[i]);
        uint64_t offset = 0;
        for (int k = 7; k >= 0; k--) offset = offset << 8 | p[k];
        offset += further;
        for (int k = 0; k < 8; k++) p[k] = (unsigned char)(offset >> 8 * k);
    }
}

int main(int argc, char **argv)
{
    Arena *a = arena_new();
    Diag *d = diag_new(a);
    FileMap map;
    Gguf g;
    if (argc != 3) return EXIT_USAGE;
    if (!file_map(d, (Loc){ 0 }, argv[1], &map) || gguf_read(a, map.data, map.size, &g)) return EXIT_BAD_DATA;
    uint64_t begin = map.size;
    for (uint64_t i = 0; i < g.tensor_count; i++)
        if (g.tensors[i].offset < begin) begin = g.tensors[i].offset;
    unsigned char *copy = arena_alloc(a, map.size);
    memcpy(copy, map.data, map.size);
    move_tensors(copy, &map, &g);
    FILE *f = fopen(argv[2], "wb");
    const bool written = f && fwrite(copy, 1, begin, f) == begin && fseeko(f, (off_t)(begin + further), SEEK_SET) == 0 &&
                         fwrite(copy + begin, 1, map.size - begin, f) == map.size - begin;
    if (!f || fclose(f) != 0 || !written) return EXIT_IO;
    file_unmap(&map);
    arena_free(a);
    return EXIT_DONE;
}
