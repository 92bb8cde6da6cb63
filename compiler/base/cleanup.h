/* cleanup.h: what must not stay behind when a signal ends the program: files half written, a
 * temporary folder, a child.
 *
 * SIGINT ends with exit code 130; SIGTERM, SIGHUP and SIGQUIT end by the signal itself. So does
 * SIGPIPE where nobody reads standard output any more: quietly, 141 to a shell. Of another pipe,
 * and with SIGXFSZ, a write fails instead: exit code 74. SIGBUS, of a file that was cut while it
 * is mapped, ends with a message and 74. SIGINT and the like that were ignored at the start stay
 * ignored. A signal ends the program at once, registered files removed, unless it is held: then
 * its child is ended and the program goes on to its release. */
#ifndef CLEANUP_H
#define CLEANUP_H

#include <stdbool.h>

void cleanup_install(void);                 /* once, from main */

/* A file to remove when a signal comes, or the program ends before its time; register it before
 * it is made. Longer than PATH_MAX: not registered. */
void cleanup_add(const char *path);
void cleanup_drop(const char *path);
/* Remove those that are registered; exit() does so too, but not in a child that was forked. */
void cleanup_files(void);
/* A terminal as it is now, before its settings are changed: a signal that ends the process gives
 * them back. */
void cleanup_terminal(int descriptor);

/* Whether there is a line on the terminal that a signal is to clear: progress.h. */
void cleanup_line(bool shown);
/* Called some times a second while a child of cleanup_run works; NULL: nothing is. */
void cleanup_watch(void (*tick)(void));

/* Between the two no signal ends the program; they nest. The last release ends it if a signal
 * came. */
void cleanup_hold(void);
void cleanup_release(void);
bool cleanup_caught(void);                  /* a signal came, or cleanup_stop: do nothing more than tidy up */

/* Of a program that takes signals itself: its child is ended as if one had been caught, no other
 * is begun, and it goes on to cleanup_go_on. To be called from a signal handler; a second time
 * the child is killed. */
void cleanup_stop(void);
void cleanup_go_on(void);

/* End by this signal at once, as one that nothing holds does: files removed, the child killed.
 * From a signal handler too. */
_Noreturn void cleanup_end(int signal);

/* Run a command to its end, found on the PATH, in a process group of its own, with its standard
 * input empty and its outputs in the file `log`. A signal ends the group: politely, a second one
 * at once; so does time, where `seconds` are not 0. Call it with signals held. Returns the wait
 * status, or -1 with errno when the command cannot be started, or ETIMEDOUT. */
int cleanup_run(char *const *argv, const char *log, int seconds);

#endif
