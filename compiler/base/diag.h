/* diag.h: what goes wrong and is not our fault, reported with file, line, column, source line and caret.
 * Several errors are collected and printed together. Everything lives in the arena of diag_new. */
#ifndef DIAG_H
#define DIAG_H

#include <stdbool.h>
#include <stdio.h>

#include "arena.h"

/* A place in a source file. line and column from 1, column in bytes; line 0 means the whole file; file NULL means none. */
typedef struct Loc { const char *file; int line, column; } Loc;

/* Exit codes, as sysexits has them. The first error's code is that of the program. */
typedef enum Exit {
    EXIT_DONE = 0,
    EXIT_DIFFERS = 1,       /* a comparison or test failed */
    EXIT_USAGE = 2,
    EXIT_BAD_DATA = 65,
    EXIT_NO_INPUT = 66,
    EXIT_NO_FEATURE = 69,   /* a tool, a feature or memory is missing */
    EXIT_OUR_BUG = 70,
    EXIT_IO = 74,
    EXIT_INTERRUPT = 130
} Exit;

typedef struct Diag Diag;

Diag *diag_new(Arena *a);
/* The same error reported twice running, at the same place, is one. */
void  diag_error(Diag *d, Exit code, Loc at, const char *format, ...) __attribute__((format(printf, 4, 5)));
void  diag_note(Diag *d, Loc at, const char *format, ...) __attribute__((format(printf, 3, 4)));   /* to the last error */
/* A remark that does not fail the run; printed with the rest as `note:`. */
void  diag_remark(Diag *d, Loc at, const char *format, ...) __attribute__((format(printf, 3, 4)));
int   diag_errors(const Diag *d);
void  diag_forget(Diag *d);                                 /* all messages; their sources stay */
Exit  diag_exit(const Diag *d);                             /* EXIT_DONE when there is no error */
/* `FILE:LINE:COLUMN: error: MESSAGE`, the source line, a caret, notes. Reads source lines from the files themselves,
 * or from a text given with diag_source for a name that is not a file. At most 20 errors are shown, the rest counted.
 * What was printed before is not printed again. */
void  diag_print(Diag *d, FILE *to, bool colour);
void  diag_source(Diag *d, const char *file, const char *text);
/* Show no line of this file: a spec of somebody else may name one that only its reader may see. */
void  diag_conceal(Diag *d, const char *file);

/* The nearest of `n` words to `word` by edit distance, or NULL when none is near: for "did you mean". */
const char *diag_nearest(const char *word, const char *const *words, int n);
/* Of a word and its nearest: the edits between them. */
int diag_distance(const char *a, const char *b);

#endif
