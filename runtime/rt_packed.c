/* rt_packed.c: see rt_packed.h. It needs only memcpy, memcmp, fabs and fmax from the C library. */
#include "rt_packed.h"

#include <math.h>
#include <string.h>

uint64_t rt_hash(uint64_t h, const void *data, size_t n)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 1099511628211u;
    return h;
}

static uint64_t little_endian(const unsigned char *p)
{
    const uint32_t low = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    const uint32_t high = p[4] | (uint32_t)p[5] << 8 | (uint32_t)p[6] << 16 | (uint32_t)p[7] << 24;
    return low | (uint64_t)high << 32;
}

/* Bijective in h for a fixed number, and in the number for a fixed h. */
static uint64_t mixed(uint64_t h, uint64_t number)
{
    h = (h ^ number) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 32;
}

uint64_t rt_digest(const void *data, size_t n)
{
    const unsigned char *p = data;
    uint64_t a = 1, b = 2, c = 3, d = 4;
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        a = mixed(a, little_endian(p + i));
        b = mixed(b, little_endian(p + i + 8));
        c = mixed(c, little_endian(p + i + 16));
        d = mixed(d, little_endian(p + i + 24));
    }
    const uint64_t rest = rt_hash(rt_hash_start, p + i, n - i);
    return mixed(mixed(mixed(mixed(mixed(rest, a), b), c), d), n);
}

uint64_t rt_digest_join(uint64_t h, uint64_t digest) { return mixed(h, digest); }

static uint64_t of_digests(const unsigned char *p, size_t bytes)
{
    uint64_t h = rt_digest(p, RT_PACKED_CONTENT_AT);
    for (size_t at = RT_PACKED_DATA_AT, n; at < bytes; at += n) {
        n = bytes - at < RT_PACKED_BLOCK ? bytes - at : RT_PACKED_BLOCK;
        h = rt_digest_join(h, rt_digest(p + at, n));
    }
    return h;
}

static uint64_t of_content(const unsigned char *p, size_t bytes)
{
    static const char zeros[] = "0000000000000000";
    const uint64_t h = rt_hash(rt_hash(rt_hash_start, p, RT_PACKED_CONTENT_AT), zeros, RT_PACKED_DIGITS);
    return rt_hash(h, p + RT_PACKED_DATA_AT, bytes - RT_PACKED_DATA_AT);
}

uint64_t rt_packed_content(const void *file, size_t bytes)
{
    static const char old[] = "content";
    const unsigned char *p = file;
    const int is_old = memcmp(p + RT_PACKED_KIND_AT, old, sizeof old - 1) == 0;
    return is_old ? of_content(p, bytes) : of_digests(p, bytes);
}

/* -1: not a lower-case hex digit. */
static int digit(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

uint64_t rt_packed_number(const char *digits)
{
    uint64_t n = 0;
    for (int i = 0; i < RT_PACKED_DIGITS; i++) {
        if (digit(digits[i]) < 0) return 0;
        n = n << 4 | (uint64_t)digit(digits[i]);
    }
    return n;
}

int rt_selftest_source(int *ids, int longest, int vocab)
{
    const int n = longest < RT_SELFTEST_SOURCE ? longest : RT_SELFTEST_SOURCE;
    for (int i = 0; i < n; i++) ids[i] = i % vocab;
    return n;
}

int rt_selftest_target(int *ids, int longest, int vocab, int start)
{
    const int n = longest < RT_SELFTEST_ROWS ? longest : RT_SELFTEST_ROWS;
    for (int i = 0; i < n; i++) ids[i] = vocab - 1 - (i + vocab - 1) % vocab;
    if (start >= 0 && start < vocab) ids[0] = start;
    return n;
}

void rt_selftest_keep(float *values, int room, int rows, int width, const float *x, int first, int n, int stride)
{
    const int64_t all = (int64_t)rows * width, kept = all < room ? all : room;
    for (int64_t i = 0; i < kept; i++) {
        const int64_t row = i * all / kept / width - first, column = i * all / kept % width;
        if (row >= 0 && row < n) values[i] = x[row * stride + column];
    }
}

void rt_selftest_write(char *digits, const float *values)
{
    for (int i = 0; i < RT_SELFTEST_VALUES; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        for (int k = 0; k < 8; k++) *digits++ = "0123456789abcdef"[bits >> (28 - 4 * k) & 15];
    }
}

int rt_selftest_read(float *values, const char *digits)
{
    uint32_t any = 0;
    for (int i = 0; i < RT_SELFTEST_VALUES; i++) {
        uint32_t bits = 0;
        for (int k = 0; k < 8; k++, digits++) {
            if (digit(*digits) < 0) return 0;
            bits = bits << 4 | (uint32_t)digit(*digits);
        }
        memcpy(&values[i], &bits, sizeof bits);
        any |= bits;
    }
    return any != 0;
}

double rt_selftest_distance(const float *values, const float *expected)
{
    double apart = 0, largest = 0;
    for (int i = 0; i < RT_SELFTEST_VALUES; i++) {
        const double a = (double)values[i], b = (double)expected[i];
        if (!isfinite(a) || !isfinite(b)) return INFINITY;
        apart = fmax(apart, fabs(a - b));
        largest = fmax(largest, fabs(b));
    }
    return apart > 0 ? apart / largest : 0;
}
