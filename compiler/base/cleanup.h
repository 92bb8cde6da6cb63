/* cleanup.h: remove partial files and end a child when a signal ends the program.
 *
 * SIGINT ends the program with exit code 130; SIGTERM, SIGHUP and SIGQUIT end it by the signal
 * itself. So does SIGPIPE if standard output has lost its reader: there is no message, and a shell
 * sees 141. On another pipe, and with SIGXFSZ, the write fails instead: exit code 74. SIGBUS,
 * raised when a mapped file was truncated, ends the program with a message and exit code 74.
 * SIGINT, SIGTERM, SIGHUP and SIGQUIT stay ignored if they were ignored at the start. A signal
 * removes the registered files and ends the program at once. While signals are held (cleanup_hold),
 * a signal ends only the child, and the program continues until it releases them. */
#ifndef CLEANUP_H
#define CLEANUP_H

#include <stdbool.h>

void cleanup_install(void);                 /* once, from main */

/* Register a file to be removed by a signal or exit(); call it before creating the file. A path of
 * PATH_MAX bytes or more is not registered, nor is a file while 16 others are. */
void cleanup_add(const char *path);
void cleanup_drop(const char *path);
/* Remove the registered files. exit() does so too, except in a forked child. */
void cleanup_files(void);
/* Save the settings of a terminal before they are changed; a signal that ends the process restores
 * them. */
void cleanup_terminal(int descriptor);

/* Record whether the terminal shows a progress line, which a signal must clear; see progress.h. */
void cleanup_line(bool shown);
/* Call `tick` a few times a second while a child of cleanup_run runs; NULL: call nothing. */
void cleanup_watch(void (*tick)(void));

/* Between hold and release, no handled signal but SIGBUS ends the program; the calls nest. If a
 * signal came in between, the last release ends the program. */
void cleanup_hold(void);
void cleanup_release(void);
bool cleanup_caught(void);                  /* after a signal or cleanup_stop: only clean up now */

/* For code that handles signals itself: end the child as a caught signal would, and start no
 * other until cleanup_go_on. Call it from a signal handler; a second call kills the child. */
void cleanup_stop(void);
void cleanup_go_on(void);

/* End the program by this signal at once, even while signals are held: remove files, kill the
 * child. May be called from a signal handler. */
_Noreturn void cleanup_end(int signal);

/* Run a command, found on the PATH, and wait for it. It gets its own process group, an empty
 * standard input, and the file `log` for both outputs. A signal sends SIGTERM to the group, a
 * second one SIGKILL. If `seconds` is not 0, the group gets SIGKILL after that time. Call it with
 * signals held. Returns the wait status, or -1 with errno: ETIMEDOUT, or why the command did not
 * start. */
int cleanup_run(char *const *argv, const char *log, int seconds);

#endif
