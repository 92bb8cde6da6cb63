/* progress.h: one line on the terminal about work that takes long; it stands there while the work
 * goes on, and then is gone.
 *
 * It is shown on standard error where that is a terminal, but with TERM=dumb and where less is to be
 * said. A signal that ends the program clears it, and so does diag_print. What else writes to the
 * terminal calls progress_clear before. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

/* From here to progress_end there may be a line, which begins with the name of the command. */
void progress_begin(const char *command, bool quiet);
void progress_end(void);
bool progress_is_shown(void);               /* whether there is a terminal for it */
double progress_seconds(void);              /* since progress_begin */

/* What is done now, in the place of what was. While a child of cleanup_run works, the line says
 * how long. */
void progress_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same with how much of it is done, at most ten times a second, and after a second with the
 * time that is left: "answering, 43 %, 12 s left". Of bytes the rate is said too: "310 MB/s". */
void progress_part(const char *what, double done, double all);
void progress_bytes(const char *what, double done, double all);
/* Those words, at `rate` a second, or 0 where it is not known yet. */
void progress_words(char *words, size_t room, const char *what, double done, double all,
                    double rate, bool bytes);
void progress_clear(void);

#endif
