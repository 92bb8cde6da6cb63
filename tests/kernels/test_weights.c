/* test_weights.c: Weights from files, pipes and the program itself. Large ones are put into large
 * pages, at once or later, and are held in memory only once. */
#include "kernel_test.h"
#include "rt_weights.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LARGE = 24 << 20, SMALL = 1 << 20, PAGE = 2 << 20 };

static void small_files_and_pipes(void **state)
{
    char path[] = "/tmp/test_host_XXXXXX", fifo[64];
    const int fd = mkstemp(path);
    RtWeights w;
    (void)state;
    assert_int_equal(write(fd, "0123456789", 10), 10);
    close(fd);
    assert_int_equal(rt_weights_open(&w, path), 0);
    assert_true(w.mapped && w.bytes == 10 && !memcmp(w.data, "0123456789", 10) && (uintptr_t)w.data % 64 == 0);
    rt_weights_close(&w);
    assert_true(!w.data && !w.bytes);
    rt_weights_close(&w);
    unlink(path);
    assert_int_equal(rt_weights_open(&w, path), ENOENT);
    rt_weights_close(&w);
    snprintf(fifo, sizeof fifo, "%s.fifo", path);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    if (fork() == 0) {
        static const char block[100000];
        const int pipe_end = open(fifo, O_WRONLY);
        for (int i = 0; i < 30; i++)
            if (write(pipe_end, block, sizeof block) < 0) break;
        _exit(0);
    }
    assert_int_equal(rt_weights_open(&w, fifo), 0);
    assert_true(!w.mapped && w.bytes == 3000000 && (uintptr_t)w.data % 64 == 0);
    rt_weights_close(&w);
    wait(NULL);
    unlink(fifo);
    assert_int_equal(rt_weights_map(&w, "/dev/zero", 5000000), 0);       /* endless */
    assert_true(!w.mapped && w.bytes > 5000000 && w.bytes < 50000000);
    rt_weights_close(&w);
}

/* Make a file of `bytes` bytes, in which neighbouring words differ, and map it as the system maps a
 * program. The caller unmaps and removes it. */
static unsigned char *mapped_file(char *path, size_t bytes)
{
    const int fd = mkstemp(path);
    uint32_t *words = malloc(bytes);
    assert_true(fd >= 0 && words);
    for (size_t i = 0; i < bytes / 4; i++) words[i] = (uint32_t)i * 2654435761u;
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = write(fd, (char *)words + done, bytes - done);
        assert_true(n > 0);
        done += (size_t)n;
    }
    free(words);
    unsigned char *data = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    assert_true(data != MAP_FAILED);
    close(fd);
    return data;
}

/* A large file is read into large pages, or mapped and then copied into them, even if its size is
 * not a multiple of a page. */
static void large_files(void **state)
{
    (void)state;
    for (int odd = 0; odd < 2; odd++) {
        char path[] = "/tmp/test_weights_XXXXXX";
        const size_t bytes = LARGE + (odd ? 4092 : 0);
        unsigned char *data = mapped_file(path, bytes);
        RtWeights w;
        assert_int_equal(rt_weights_open(&w, path), 0);
        assert_true(!w.mapped && w.bytes == bytes && (uintptr_t)w.data % PAGE == 0 && !memcmp(w.data, data, bytes));
        rt_weights_close(&w);
        assert_int_equal(rt_weights_map(&w, path, SMALL), 0);   /* the limit is for endless files */
        assert_true(w.mapped && w.bytes == bytes && !memcmp(w.data, data, bytes));
        RtWeights copy;
        rt_weights_copy(&copy, w.data, bytes);
        assert_true(!copy.mapped && copy.bytes == bytes && (uintptr_t)copy.data % PAGE == 0 && !memcmp(copy.data, data, bytes));
        assert_memory_equal(w.data, data, bytes);                             /* unchanged */
        rt_weights_close(&w);
        rt_weights_close(&copy);
        munmap(data, bytes), unlink(path);
    }
}

static long peak(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* KiB by which the peak memory of a child process grows while it copies. */
static int growth(const unsigned char *data, size_t bytes)
{
    int ends[2], kib = -1;
    assert_int_equal(pipe(ends), 0);
    if (fork() == 0) {
        RtWeights w;
        const long before = peak();
        rt_weights_copy(&w, data, bytes);
        kib = (int)(peak() - before);
        _exit(write(ends[1], &kib, sizeof kib) != sizeof kib);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &kib, sizeof kib), sizeof kib);
    close(ends[0]);
    wait(NULL);
    return kib;
}

/* Weights in the program are held only once: their pages are given back as they are copied. Small
 * weights are not copied. */
static void copies(void **state)
{
    char path[] = "/tmp/test_weights_XXXXXX", small[] = "/tmp/test_weights_XXXXXX";
    (void)state;
    unsigned char *data = mapped_file(path, LARGE), *less = mapped_file(small, SMALL);
    RtWeights w, none = { data, 1, 1 };
    assert_in_range(growth(data, LARGE), LARGE / 1024 - 1024, (LARGE + 4 * PAGE) / 1024);
    rt_weights_copy(&w, data, LARGE);
    assert_true(w.bytes == LARGE && !w.mapped && (uintptr_t)w.data % PAGE == 0);
    assert_memory_equal(w.data, data, LARGE);
    rt_weights_close(&w);
    rt_weights_copy(&none, less, SMALL);
    assert_true(!none.data && !none.bytes && !none.mapped);
    munmap(data, LARGE), munmap(less, SMALL);
    unlink(path), unlink(small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_files_and_pipes), cmocka_unit_test(large_files), cmocka_unit_test(copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
