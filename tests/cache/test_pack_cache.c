/* test_pack_cache.c: An engine reads cached weights from their file and, from its 32nd call on,
 * from a copy in 2 MB pages, with identical results. A weights file that changes after it was
 * opened and before it is packed is an error and leaves no entry. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cache.h"
#include "jit.h"
#include "session.h"

static char folder[] = "/tmp/xf-test-XXXXXX";

static const char *inside(Arena *a, const char *name) { return arena_format(a, "%s/%s", folder, name); }

static void write_text(Arena *a, const char *name, const char *text)
{
    assert_true(file_write(a, diag_new(a), inside(a, name), text, strlen(text)));
}

static int begin(void **state)
{
    Arena *a = arena_new();
    (void)state;
    if (!mkdtemp(folder)) return -1;
    unsetenv("XFORMC_CACHE");
    setenv("XDG_CACHE_HOME", folder, 1);
    write_text(a, "wide.lua", "return xf.model { name = \"wide\", kind = \"decoder\", layers = 1, heads = 2, d_model = 64, d_ff = 128, "
                              "vocab = 20000, max_target = 80, position = \"none\", weights = \"random\" }\n");
    write_text(a, "read.lua", "return xf.graph(\"reader\", function(g) g.output(\"z\", g.matmul(g.input(\"x\", { 1, 1024 }), "
                              "g.param(\"w\", { 1024, 2048 }))) end, { weights = \"read.safetensors\" })\n");
    arena_free(a);
    return 0;
}

static int end(void **state)
{
    static const char *const names[] = { "wide.lua", "read.lua", "read.safetensors" };
    Arena *a = arena_new();
    int n, error;
    const CacheEntry *e = cache_list(a, &n, &error);
    (void)state;
    for (int i = 0; i < n; i++) unlink(e[i].path);
    for (int i = 0; i < 3; i++) unlink(inside(a, names[i]));
    rmdir(inside(a, "xformc"));
    arena_free(a);
    return rmdir(folder);
}

static int entries(void)
{
    Arena *a = arena_new();
    int n, error;
    cache_list(a, &n, &error);
    arena_free(a);
    assert_int_equal(error, 0);
    return n;
}

/* ---- pages of 2 MB --------------------------------------------------------------------------- */

enum { STEPS = 40, VOCABULARY = 20000 };

/* The logits of every step. moved: the first step that left the weights at an address other than
 * that before step 1, or 0. same: the bytes at both addresses are equal. */
typedef struct Steps { float logits[STEPS][VOCABULARY]; int moved; bool same; } Steps;

static Steps *room_for_steps(void)
{
    void *p = mmap(NULL, sizeof(Steps), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    return p;
}

static bool take_steps(const char *spec, Steps *out)
{
    const CompileOptions options = { .spec = spec };
    Session *s = session_new(&options);
    Engine *e = session_read(s) ? session_engine(s, ENGINE_JIT, false) : NULL;
    if (!e) return false;
    const unsigned char *first = jit_weights(e);
    for (int i = 0; i < STEPS; i++) {
        if (e->ops->step(e, 7 * i) != RT_OK) return false;
        memcpy(out->logits[i], e->ops->logits(e), sizeof out->logits[i]);
        if (jit_weights(e) != first && !out->moved) out->moved = i + 1;
    }
    out->same = memcmp(first, jit_weights(e), e->plan->weights_bytes) == 0;
    engine_close(e);
    session_free(s);
    return true;
}

/* Take the steps in a new process, which has no weights yet. */
static Steps *steps_of(const char *spec)
{
    int status;
    Steps *out = room_for_steps();
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) _exit(!take_steps(spec, out));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    return out;
}

static void weights_are_copied_before_the_32nd_call(void **state)
{
    Arena *a = arena_new();
    const char *spec = inside(a, "wide.lua");
    (void)state;
    setenv("XFORMC_CACHE", "off", 1);
    Steps *apart = steps_of(spec);
    unsetenv("XFORMC_CACHE");
    assert_int_equal(entries(), 0);
    assert_int_equal(apart->moved, 0);
    for (int turn = 0; turn < 2; turn++) {              /* packed into the cache, then found there */
        Steps *cached = steps_of(spec);
        assert_int_equal(entries(), 1);
        assert_int_equal(cached->moved, 32);
        assert_true(cached->same);
        assert_memory_equal(cached->logits, apart->logits, sizeof apart->logits);
        munmap(cached, sizeof *cached);
    }
    munmap(apart, sizeof *apart);
    arena_free(a);
}

/* ---- files that change ----------------------------------------------------------------------- */

enum { ROWS = 1024, COLUMNS = 2048 };

/* Write a safetensors file with a matrix of zeros. */
static void write_matrix(const char *path)
{
    char head[8 + 96];
    const size_t bytes = sizeof(float) * ROWS * COLUMNS;
    memset(head, ' ', sizeof head);
    memcpy(head, (const char[8]){ 96 }, 8);
    const int n = snprintf(head + 8, 96, "{\"w\":{\"dtype\":\"F32\",\"shape\":[%d,%d],\"data_offsets\":[0,%zu]}}", ROWS, COLUMNS, bytes);
    head[8 + n] = ' ';
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(head, 1, sizeof head, f), sizeof head);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(truncate(path, (off_t)(sizeof head + bytes)), 0);
}

static void a_file_that_is_written_to_is_an_error(void **state)
{
    Arena *a = arena_new();
    const char *spec = inside(a, "read.lua"), *weights = inside(a, "read.safetensors");
    const CompileOptions options = { .spec = spec };
    const int before = entries();
    bool reused;
    (void)state;
    write_matrix(weights);
    for (int turn = 0; turn < 2; turn++) {
        Session *s = session_new(&options);
        assert_true(session_read(s));
        session_look_at_weights(s);
        const Pack pack = pack_layout(s->arena, session_plan(s, TARGET_PANELS, false));
        if (!turn) assert_int_equal(utimensat(AT_FDCWD, weights, (struct timespec[2]){ { 1, 0 }, { 1, 0 } }, 0), 0);
        const unsigned char *data = pack_acquire(s->arena, s->diag, &pack, &reused);
        assert_int_equal(data != NULL, turn);           /* the second time the file does not change */
        assert_int_equal(diag_exit(s->diag), turn ? EXIT_DONE : EXIT_BAD_DATA);
        assert_int_equal(entries(), before + turn);
        if (data) pack_release(data);
        session_free(s);
    }
    arena_free(a);
}

/* A file that changes is an error without a cache too, whether the weights are packed in memory or
 * into a file, as xformc pack and build do. */
static void packing_without_a_cache_checks_it_too(void **state)
{
    Arena *a = arena_new();
    const char *spec = inside(a, "read.lua"), *weights = inside(a, "read.safetensors"), *packed = inside(a, "read.packed");
    const CompileOptions options = { .spec = spec };
    const struct timespec changed[2] = { { 2, 0 }, { 2, 0 } };
    bool reused;
    (void)state;
    write_matrix(weights);
    setenv("XFORMC_CACHE", "off", 1);
    for (int turn = 0; turn < 4; turn++) {
        const bool in_memory = turn % 2, changes = turn < 2;
        Session *s = session_new(&options);
        assert_true(session_read(s));
        session_look_at_weights(s);
        const Pack pack = pack_layout(s->arena, session_plan(s, TARGET_PANELS, false));
        if (changes) assert_int_equal(utimensat(AT_FDCWD, weights, changed, 0), 0);
        const unsigned char *data = in_memory ? pack_acquire(s->arena, s->diag, &pack, &reused) : NULL;
        assert_int_equal(in_memory ? data != NULL : pack_write(s->arena, s->diag, &pack, packed), !changes);
        assert_int_equal(diag_exit(s->diag), changes ? EXIT_BAD_DATA : EXIT_DONE);
        assert_int_equal(access(packed, F_OK), changes ? -1 : 0);
        if (data) pack_release(data);
        session_free(s);
        if (changes) write_matrix(weights);
    }
    unsetenv("XFORMC_CACHE");
    assert_int_equal(unlink(packed), 0);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_copied_before_the_32nd_call),
        cmocka_unit_test(a_file_that_is_written_to_is_an_error), cmocka_unit_test(packing_without_a_cache_checks_it_too),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
