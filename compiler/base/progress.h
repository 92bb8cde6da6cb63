/* progress.h: a progress line on the terminal, shown while long work runs and cleared at its end.
 *
 * It is written to standard error if that is a terminal, TERM is set and not "dumb", and the
 * caller does not ask for quiet. A signal that ends the program clears it, and so does diag_print.
 * Other code that writes to the terminal calls progress_clear first. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

/* Allow a progress line until progress_end. It begins with the name of the command. */
void progress_begin(const char *command, bool quiet);
void progress_end(void);
bool progress_is_shown(void);               /* true while a line may be shown */
double progress_seconds(void);              /* since progress_begin */

/* Replace the text of the line. While a child of cleanup_run runs, the line also shows how old the
 * text is. */
void progress_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Show how much is done, at most ten times a second, and after a second also the time left:
 * "answering, 43 %, 12 s left". progress_bytes also shows the rate: "310 MB/s". */
void progress_part(const char *what, double done, double all);
void progress_bytes(const char *what, double done, double all);
/* Format the text of progress_part, or progress_bytes if `bytes`, for a given rate per second; 0:
 * not known yet. */
void progress_words(char *words, size_t room, const char *what, double done, double all,
                    double rate, bool bytes);
void progress_clear(void);

#endif
