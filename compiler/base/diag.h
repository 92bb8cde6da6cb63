/* diag.h: report user and system errors with file, line, column, source line and caret. Errors are
 * collected and printed together. Everything lives in the arena given to diag_new. */
#ifndef DIAG_H
#define DIAG_H

#include <stdbool.h>
#include <stdio.h>

#include "arena.h"

/* A place in a source file. line and column count from 1, column in bytes; line 0 means the whole
 * file; file NULL means no file. */
typedef struct Loc { const char *file; int line, column; } Loc;

/* Exit codes; 65 to 74 are those of sysexits.h. The program ends with the code of the first
 * error. */
typedef enum Exit {
    EXIT_DONE = 0,
    EXIT_DIFFERS = 1,       /* a comparison or test failed, or a limit is exceeded */
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
/* An error that repeats the text and place of the last error is dropped. */
void  diag_error(Diag *d, Exit code, Loc at, const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Add a note to the last error; if there is none, the note stands alone. */
void  diag_note(Diag *d, Loc at, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* A remark does not make the run fail. diag_print prints it in its place among the errors, as
 * `note:`. */
void  diag_remark(Diag *d, Loc at, const char *format, ...) __attribute__((format(printf, 3, 4)));
int   diag_errors(const Diag *d);
void  diag_forget(Diag *d);                                 /* drops messages, keeps sources */
Exit  diag_exit(const Diag *d);                             /* EXIT_DONE when there is no error */
/* Print each message that was not printed before: `FILE:LINE:COLUMN: error: MESSAGE`, the source
 * line, a caret, notes. Source lines come from the file, or from the text that diag_source gave for
 * that name. At most 20 errors are printed, over all calls, then how many more there are. */
void  diag_print(Diag *d, FILE *to, bool colour);
/* True if a file descriptor is a terminal that shows colours, and NO_COLOR is empty or not set. */
bool  diag_colours(int file);
void  diag_source(Diag *d, const char *file, const char *text);
/* Never quote lines of this file: an untrusted spec may name a file that only this user may
 * read. */
void  diag_conceal(Diag *d, const char *file);

/* The nearest of `n` words to `word` by edit distance, or NULL if none is close. Used for "did you
 * mean". */
const char *diag_nearest(const char *word, const char *const *words, int n);
/* The edit distance between a and b, of at most 64 bytes each. */
int diag_distance(const char *a, const char *b);

#endif
