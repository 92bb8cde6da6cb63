/* test_safetensors.c: safetensors.c on valid files, on files that each break one rule of the
 * format, on deep nesting, and on files with random damage. */
#include "front_test.h"
#include "weights.h"

#include "model.h"

static const Loc nowhere;

/* Build a file from a header and `data` zero bytes. length < 0: the header's true length. */
static size_t make_file(unsigned char *out, const char *header, size_t header_size, int64_t length, size_t data)
{
    uint64_t n = length < 0 ? header_size : (uint64_t)length;
    for (int i = 0; i < 8; i++) out[i] = (unsigned char)(n >> 8 * i);
    memcpy(out + 8, header, header_size);
    memset(out + 8 + header_size, 0, data);
    return 8 + header_size + data;
}

/* Write a file, open it, and read its small F32 tensors. NULL if it is accepted, otherwise the
 * diagnostics. */
static const char *complaint(Arena *a, const char *path, const unsigned char *file, size_t size)
{
    Diag *d = diag_new(a);
    assert_true(file_write(a, d, path, file, size));
    TensorFile *f = safetensors_open(a, d, nowhere, path);
    assert_int_equal(f != NULL, diag_errors(d) == 0);
    for (int i = 0; f && i < f->count; i++) {
        const TensorSource *t = &f->tensors[i];
        assert_ptr_equal(tensor_file_find(f, t->name), t);
        assert_true(t->offset <= f->map.size);
        if (t->dtype != DTYPE_F32 || tensor_elements(t) > 1000) continue;
        float out[1000];
        tensor_read(t, out);
    }
    tensor_file_close(f);
    return f ? NULL : printed(a, d);
}

#define T(dtype, shape, begin, end) "{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[" #begin "," #end "]}"

typedef struct Case { const char *header; int64_t length; size_t data; const char *expected; } Case;

static const Case cases[] = {
    /* valid */
    { "{}", -1, 0, NULL },
    { "{}     ", -1, 0, NULL },
    { " \t\r\n{} \n", -1, 0, NULL },    /* accepted, as by the format's own reader; the specification requires '{' first */
    { "{\"__metadata__\":{\"format\":\"pt\"},\"a\":" T("F32", "[2,3]", 0, 24) "}", -1, 24, NULL },
    { "{\"b\":" T("F32", "[1]", 4, 8) ",\"a\":" T("F32", "[]", 0, 4) "}", -1, 8, NULL },
    { "{\"empty\":" T("F32", "[0,3]", 0, 0) ",\"a\":" T("F64", "[1]", 0, 8) ",\"end\":" T("I8", "[0]", 8, 8) "}", -1, 8, NULL },
    { "{\"a\":" T("F32", "[1]", 0, 4) ",\"half\":" T("F4", "[2,3]", 4, 7) "}", -1, 7, NULL },
    { "{\"a\":{\"dtype\":\"F8_E4M3\",\"shape\":[3],\"data_offsets\":[0,3],\"note\":1}}", -1, 3, NULL },
    /* the length */
    { "", 100000001, 0, "its first 8 bytes give a header size of more than 100000000 bytes" },
    { "{}", 3, 0, "a header of 3 bytes does not fit in a file of 10" },
    { "{}", 0, 0, "does not start with '{'" },
    { "", 0, 0, "does not start with '{'" },
    /* the JSON */
    { "\v{}", -1, 0, "does not start with '{'" },
    { "   ", -1, 0, "does not start with '{'" },
    { "\xEF\xBB\xBF{}", -1, 0, "does not start with '{'" },
    { "[]", -1, 0, "does not start with '{'" },
    { "{\"a\"}", -1, 0, "is not valid JSON" },
    { "{} x", -1, 0, "is not valid JSON" },
    { "{\"a\xFF\":1}", -1, 0, "is not valid JSON" },
    { "{\"a\":" T("F32", "[1]", 0, 4) ",\"a\":" T("F32", "[1]", 0, 4) "}", -1, 4, "names a key twice" },
    { "{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", -1, 4, "names a key twice" },
    { "{\"a\":" T("F32", "[99999999999999999999]", 0, 4) "}", -1, 4, "number that is too large" },
    { "{\"a\":{\"dtype\":\"F32\\u0000\",\"shape\":[1],\"data_offsets\":[0,4]}}", -1, 4, "unknown dtype" },
    { "{\"__metadata__\":{\"n\":\"x\\u0000y\"}}", -1, 0, NULL },
    { "{\"__metadata__\":[]}", -1, 0, "__metadata__ is not an object" },
    { "{\"__metadata__\":{\"n\":3}}", -1, 0, "\"n\" is not a string" },
    /* entries */
    { "{\"a\":3}", -1, 0, "not described by an object" },
    { "{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", -1, 4, "has no string \"dtype\"" },
    { "{\"a\":{\"dtype\":32,\"shape\":[1],\"data_offsets\":[0,4]}}", -1, 4, "has no string \"dtype\"" },
    { "{\"a\":" T("F33", "[1]", 0, 4) "}", -1, 4, "unknown dtype \"F33\"" },
    { "{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", -1, 4, "has no list \"shape\"" },
    { "{\"a\":" T("F32", "[1,1,1,1,1]", 0, 4) "}", -1, 4, "has 5 dimensions" },
    { "{\"a\":" T("F32", "[-1]", 0, 4) "}", -1, 4, "must contain only non-negative integers" },
    { "{\"a\":" T("F32", "[1.0]", 0, 4) "}", -1, 4, "must contain only non-negative integers" },
    { "{\"a\":" T("F32", "[4294967296,4294967296]", 0, 4) "}", -1, 4, "product of its shape is too large" },
    { "{\"a\":" T("F32", "[4611686018427387904]", 0, 4) "}", -1, 4, "product of its shape is too large" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", -1, 4, "must be two non-negative integers" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,2,4]}}", -1, 4, "must be two non-negative integers" },
    { "{\"a\":" T("F32", "[1]", -4, 0) "}", -1, 4, "must be two non-negative integers" },
    { "{\"a\":" T("F32", "[1]", 0, 4e0) "}", -1, 4, "must be two non-negative integers" },
    { "{\"a\":" T("F32", "[1]", 4, 0) "}", -1, 4, "ends before it begins" },
    { "{\"a\":" T("F32", "[1]", 0, 4) "}", -1, 3, "past the 3 bytes of the file's data" },
    { "{\"a\":" T("F32", "[1]", 9223372036854775803, 9223372036854775807) "}", -1, 4, "past the 4 bytes" },
    { "{\"a\":" T("F32", "[2]", 0, 4) "}", -1, 4, "has 4 bytes of data; its shape and dtype need 8" },
    { "{\"a\":" T("F4", "[3]", 0, 2) "}", -1, 2, "do not fill whole bytes" },
    /* coverage of the data */
    { "{\"a\":" T("F32", "[1]", 4, 8) "}", -1, 8, "the first 4 bytes of data belong to no tensor" },
    { "{\"a\":" T("F32", "[1]", 0, 4) ",\"b\":" T("F32", "[1]", 8, 12) "}", -1, 12, "between \"a\" and \"b\", 4 bytes belong" },
    { "{\"a\":" T("F32", "[2]", 0, 8) ",\"b\":" T("F32", "[1]", 4, 8) "}", -1, 8, "tensor \"b\" overlaps \"a\"" },
    { "{\"a\":" T("F32", "[1]", 0, 4) "}", -1, 6, "the last 2 bytes belong to no tensor" },
    { "{}", -1, 1, "the last byte belongs to no tensor" },
};

static void every_rule_is_checked(void **state)
{
    (void)state;
    Arena *a = arena_new();
    const char *folder = new_folder(a), *path = file_join(a, folder, "x.safetensors");
    unsigned char file[1024];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Case *c = &cases[i];
        size_t size = make_file(file, c->header, strlen(c->header), c->length, c->data);
        const char *said = complaint(a, path, file, size);
        if (!said && !c->expected) continue;
        if (!said || !c->expected || !strstr(said, c->expected))
            fail_msg("%s: expected \"%s\", found \"%s\"", c->header, c->expected ? c->expected : "", said ? said : "");
    }
    assert_non_null(strstr(complaint(a, path, file, 7), "not a safetensors file: only 7 bytes"));
    assert_non_null(strstr(complaint(a, path, file, 0), "not a safetensors file: only 0 bytes"));
    remove_file(a, folder, "x.safetensors");
    remove_folder(folder);
    arena_free(a);
}

static void deep_nesting_is_refused(void **state)
{
    (void)state;
    Arena *a = arena_new();
    enum { DEPTH = 100000 };
    const char *folder = new_folder(a), *path = file_join(a, folder, "x.safetensors");
    char *header = arena_alloc(a, DEPTH + 8);
    memcpy(header, "{\"a\":", 5);
    memset(header + 5, '[', DEPTH);
    unsigned char *file = arena_alloc(a, DEPTH + 64);
    size_t size = make_file(file, header, DEPTH + 5, -1, 0);
    assert_non_null(strstr(complaint(a, path, file, size), "is not valid JSON"));
    remove_file(a, folder, "x.safetensors");
    remove_folder(folder);
    arena_free(a);
}

static uint64_t next_random(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    return *x ^= *x << 17;
}

/* The reader accepts or rejects any bytes, and reads nothing outside the file. */
static void damage_does_no_harm(void **state)
{
    (void)state;
    static const char header[] = "{\"__metadata__\":{\"format\":\"pt\"},\"aa\":" T("F32", "[2,3]", 0, 24)
        ",\"b\":" T("BF16", "[4]", 24, 32) ",\"c\":" T("I64", "[]", 32, 40) "}";
    static const char digits[] = "0123456789-[]{},:\"e. ";
    uint64_t x = 88172645463325252u;
    for (int round = 0; round < 40; round++) {
        Arena *a = arena_new();
        const char *folder = new_folder(a), *path = file_join(a, folder, "x.safetensors");
        for (int i = 0; i < 50; i++) {
            unsigned char file[1024];
            size_t size = make_file(file, header, strlen(header), -1, 40);
            for (uint64_t edits = 1 + next_random(&x) % 3; edits; edits--) {
                unsigned char *at = &file[next_random(&x) % (size - 40)];
                *at = (unsigned char)next_random(&x);
                if (next_random(&x) % 4) *at = (unsigned char)digits[*at % (sizeof digits - 1)];
            }
            if (next_random(&x) % 4 == 0) size = next_random(&x) % size;
            complaint(a, path, file, size);
        }
        remove_file(a, folder, "x.safetensors");
        remove_folder(folder);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_is_checked), cmocka_unit_test(deep_nesting_is_refused), cmocka_unit_test(damage_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
