/* front_test.h: what the cmocka tests of base/ and front/ share. Each program includes it once. */
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

/* What diag_print says of `d`, in the arena. */
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

/* A new folder for the files of one test; removed by remove_folder. */
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
    assert_int_equal(rmdir(folder), 0);     /* also shows that nothing was left behind */
}

#endif
