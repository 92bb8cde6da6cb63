/* support_fuzz.c: files in memory, random numbers, checks that hold after every input, reading of
 * weights and specs, and the mutator for safetensors files. */
#include "support_fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dtypes.h"
#include "fields.h"
#include "session.h"
#include "weights.h"

enum { LENGTH_BYTES = 8 };

_Noreturn void fuzz_fail(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    abort();
}

uint32_t fuzz_below(uint64_t *random, uint32_t n)
{
    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(*random >> 33) % n;
}

const char *fuzz_file(const uint8_t *data, size_t size)
{
    static char path[32];
    static int fd = -1;
    if (fd < 0) fd = memfd_create("fuzz", 0);
    fuzz_expect(fd >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    fuzz_expect(ftruncate(fd, 0) == 0);
    fuzz_expect(pwrite(fd, data, size, 0) == (ssize_t)size);
    fuzz_expect(lseek(fd, 0, SEEK_SET) == 0);
    return path;
}

void fuzz_told(Diag *d, bool good)
{
    static FILE *nowhere;
    if (!nowhere) nowhere = fopen("/dev/null", "w");
    fuzz_expect(nowhere != NULL);
    diag_print(d, nowhere, true);
    const Exit code = diag_exit(d);
    fuzz_expect(good == (diag_errors(d) == 0));
    fuzz_expect(good == (code == EXIT_DONE));
    fuzz_expect(good || code == EXIT_BAD_DATA || code == EXIT_NO_INPUT || code == EXIT_NO_FEATURE || code == EXIT_IO);
}

void fuzz_inside(const TensorSource *t)
{
    static const size_t bytes[DTYPE_OTHER] = {
        [DTYPE_F32] = 4, [DTYPE_F16] = 2, [DTYPE_BF16] = 2, [DTYPE_F64] = 8, [DTYPE_I8] = 1, [DTYPE_U8] = 1, [DTYPE_I16] = 2,
        [DTYPE_U16] = 2, [DTYPE_I32] = 4, [DTYPE_U32] = 4, [DTYPE_I64] = 8, [DTYPE_U64] = 8, [DTYPE_BOOL] = 1,
    };
    static const struct { size_t elements, bytes; } blocks[DTYPE_OTHER] = {
        [DTYPE_Q8_0] = { 32, 34 }, [DTYPE_Q4_0] = { 32, 18 }, [DTYPE_Q4_1] = { 32, 20 }, [DTYPE_Q5_0] = { 32, 22 },
        [DTYPE_Q4_K] = { 256, 144 }, [DTYPE_Q5_K] = { 256, 176 }, [DTYPE_Q6_K] = { 256, 210 },
    };
    if (t->kind != SOURCE_FILE || t->dtype == DTYPE_OTHER || !tensor_elements(t)) return;
    size_t last = 0;
    for (int i = 0; i < t->rank; i++) last += (size_t)((t->shape[i] - 1) * t->stride[i]);
    fuzz_expect(bytes[t->dtype] || blocks[t->dtype].bytes);
    const size_t end = bytes[t->dtype] ? (last + 1) * bytes[t->dtype] : (last / blocks[t->dtype].elements + 1) * blocks[t->dtype].bytes;
    fuzz_expect(t->offset + end <= t->file->map.size);
}

void fuzz_weights(const char *path)
{
    enum { MOST = 1 << 20 };
    Arena *a = arena_new();
    Diag *d = diag_new(a);
    TensorFile *f = weights_open(a, d, (Loc){ 0 }, path);
    fuzz_told(d, f != NULL);
    for (int i = 0; f && i < f->count; i++) {
        const TensorSource *t = &f->tensors[i];
        const int64_t n = tensor_elements(t);
        fuzz_expect(n >= 0);
        fuzz_inside(t);
        if (t->group) fuzz_expect(t->scales + (size_t)(n / t->group) * 4 <= t->file->map.size);
        if (n > MOST || !(dtype_is_float(t->dtype) || t->group)) continue;
        tensor_read(t, arena_array(a, (size_t)n, sizeof(float)));
    }
    tensor_file_close(f);
    arena_free(a);
}

void fuzz_draft(const char *path, FuzzReader *read)
{
    enum { MOST_LAYERS = 64 };
    const CompileOptions options = { .spec = path };
    Session *s = session_new(&options);
    Draft *draft = read(s->arena, s->diag, path);
    const Choice *layers = draft ? draft_choice(draft, SIDE_BOTH, FIELD_ID_layers) : NULL;
    if (layers && layers->values[0].integer <= MOST_LAYERS) {
        draft->sizes_only = true;
        const bool good = session_take(s, draft);
        fuzz_told(s->diag, good);
    } else {
        fuzz_told(s->diag, draft != NULL);
    }
    session_free(s);
}

/* The length of the header, little-endian in the first 8 bytes, limited to the input. */
static size_t header_bytes(const uint8_t *data, size_t size)
{
    uint64_t n = 0;
    for (int i = 0; i < LENGTH_BYTES; i++) n |= (uint64_t)data[i] << 8 * i;
    return n <= size - LENGTH_BYTES ? (size_t)n : size - LENGTH_BYTES;
}

size_t fuzz_mutate_safetensors(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    if (size < LENGTH_BYTES || seed % 2) return LLVMFuzzerMutate(data, size, room);
    const size_t header = header_bytes(data, size), rest = size - LENGTH_BYTES - header;
    uint8_t *changed = malloc(room + 1), *data_after = malloc(rest + 1);
    fuzz_expect(changed && data_after);
    memcpy(changed, data + LENGTH_BYTES, header);
    memcpy(data_after, data + LENGTH_BYTES + header, rest);
    const size_t most = room - LENGTH_BYTES - rest, now = most ? LLVMFuzzerMutate(changed, header, most) : 0;
    for (int i = 0; i < LENGTH_BYTES; i++) data[i] = (uint8_t)((uint64_t)now >> 8 * i);
    memcpy(data + LENGTH_BYTES, changed, now);
    memcpy(data + LENGTH_BYTES + now, data_after, rest);
    free(changed);
    free(data_after);
    return LENGTH_BYTES + now + rest;
}
