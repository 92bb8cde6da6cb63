/* front_test.h: shared by the cmocka tests of this folder. Each program includes it once. */
#ifndef FRONT_TEST_H
#define FRONT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "diag.h"
#include "file.h"

/* The output of diag_print for `d`, in the arena. */
static inline const char *printed(Arena *a, Diag *d)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    diag_print(d, to, false);
    fclose(to);
    const char *copy = arena_copy(a, text, size);
    free(text);
    return copy;
}

/* Create a folder for one test's files; remove_folder removes it. */
static inline const char *new_folder(Arena *a)
{
    const char *base = getenv("TMPDIR");
    char *name = arena_format(a, "%s/front-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(name));
    return name;
}

static inline void remove_file(Arena *a, const char *folder, const char *name)
{
    unlink(file_join(a, folder, name));
}

static inline void remove_folder(const char *folder)
{
    assert_int_equal(rmdir(folder), 0);     /* fails if a file was left behind */
}

#endif
