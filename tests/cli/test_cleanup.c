/* test_cleanup.c: Half-written files are removed at a signal or at exit. No command starts after a
 * signal; a held signal ends the program at the last release; an ignored SIGINT stays ignored. A
 * command has a time limit. A closed output ends the program. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../kernels/patience.h"
#include "cleanup.h"
#include "file.h"

static char folder[] = "/tmp/xformc-test-XXXXXX";

static Arena *held;                 /* reachable while a process ends, so not a leak */

static void begin_file(void)
{
    held = arena_new();
    FileWriter *w = file_create(held, diag_new(held), arena_format(held, "%s/half", folder));
    if (!w || !file_append(w, "half", 4)) _exit(99);
}

/* The wait status of a process that runs `what`, which may create files in a new folder. rmdir then
 * checks that the folder is empty. */
static int status_of(void (*what)(void))
{
    int status;
    assert_non_null(mkdtemp(strcpy(folder, "/tmp/xformc-test-XXXXXX")));
    pid_t child = fork();
    if (!child) {
        cleanup_install();
        what();
        _exit(98);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(rmdir(folder), 0);
    return status;
}

static void interrupt_file(void) { begin_file(); raise(SIGINT); }
static void end_file(void) { begin_file(); raise(SIGTERM); }
static void quit_file(void)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
    begin_file();
    raise(SIGQUIT);
}

/* A child that exits does not remove its parent's file; the parent does when it exits. */
static void exit_with_file(void)
{
    int status;
    begin_file();
    const pid_t child = fork();
    if (!child) exit(0);
    if (waitpid(child, &status, 0) != child || rmdir(folder) == 0 || errno != ENOTEMPTY) _exit(97);
    exit(69);
}

static void half_files_are_removed(void **state)
{
    (void)state;
    int status = status_of(exit_with_file);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 69);
    status = status_of(interrupt_file);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 130);
    status = status_of(end_file);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    status = status_of(quit_file);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGQUIT);
}

static void hold_and_release(void)
{
    cleanup_hold();
    cleanup_hold();
    raise(SIGHUP);
    if (!cleanup_caught()) _exit(97);
    cleanup_release();
    begin_file();               /* still alive */
    cleanup_release();
}

static void the_last_release_ends_it(void **state)
{
    (void)state;
    int status = status_of(hold_and_release);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGHUP);
}

static void ignore_and_go_on(void)
{
    signal(SIGINT, SIG_IGN);
    cleanup_install();          /* as in a background job of a script: SIGINT stays ignored */
    raise(SIGINT);
    raise(SIGPIPE);
    raise(SIGXFSZ);
    _exit(0);
}

/* Write to a pipe without a reader. On standard output, SIGPIPE ends the process, and its
 * registered file is removed. On another descriptor, only the write fails. */
static void write_to_nobody(int fd)
{
    int ends[2];
    signal(SIGPIPE, SIG_IGN);   /* ignored, as some parents leave it */
    cleanup_install();
    if (fd == STDOUT_FILENO) begin_file();
    if (pipe(ends) != 0 || dup2(ends[1], fd) != fd) _exit(99);
    close(ends[0]);
    close(ends[1]);
    _exit(write(fd, "x", 1) < 0 && errno == EPIPE ? 0 : 98);
}

static void write_out(void) { write_to_nobody(STDOUT_FILENO); }
static void write_aside(void) { write_to_nobody(9); }

static void ends_where_nobody_reads_the_output(void **state)
{
    (void)state;
    int status = status_of(write_out);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
    assert_int_equal(status_of(write_aside), 0);
}

static void what_is_ignored_stays_ignored(void **state)
{
    (void)state;
    assert_int_equal(status_of(ignore_and_go_on), 0);
}

/* After a signal, cleanup_run starts no command. */
static void start_too_late(void)
{
    char *const argv[] = { (char *)"true", NULL };
    cleanup_hold();
    if (cleanup_run(argv, "/dev/null", 0) != 0) _exit(96);
    raise(SIGINT);
    if (cleanup_run(argv, "/dev/null", 0) != -1) _exit(95);
    cleanup_release();
}

static void nothing_is_started_after_a_signal(void **state)
{
    (void)state;
    int status = status_of(start_too_late);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 130);
}

static void a_command_has_so_many_seconds(void **state)
{
    char *const slow[] = { (char *)"sleep", (char *)"1000", NULL };
    char *const quick[] = { (char *)"true", NULL };
    (void)state;
    alarm(PATIENCE);
    assert_int_equal(cleanup_run(slow, "/dev/null", 1), -1);
    assert_int_equal(errno, ETIMEDOUT);
    alarm(0);
    assert_int_equal(cleanup_run(quick, "/dev/null", PATIENCE), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_files_are_removed),
        cmocka_unit_test(the_last_release_ends_it),
        cmocka_unit_test(what_is_ignored_stays_ignored),
        cmocka_unit_test(ends_where_nobody_reads_the_output),
        cmocka_unit_test(nothing_is_started_after_a_signal),
        cmocka_unit_test(a_command_has_so_many_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
