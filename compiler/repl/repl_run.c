/* repl_run.c: run chunks and commands with Ctrl-C handled. */
#include "repl.h"

#include <signal.h>
#include <unistd.h>

#include "cleanup.h"
#include "clock.h"

static volatile sig_atomic_t busy;
static bool typed;    /* at a terminal: between chunks, the line editor handles Ctrl-C */
static struct sigaction before;                 /* the previous handling of SIGINT */
static volatile int64_t interrupted_ns;

/* The first Ctrl-C asks to stop; the second also leaves emitted code that does not react, or says
 * that it cannot; the third ends the process. Within 250 ms, several count as one. */
static void on_interrupt(int signal)
{
    static const char words[] = "\nthis cannot be interrupted: press Ctrl-C again to quit xformc\n";
    enum { AT_ONCE_NS = 250000000 };
    const int64_t now = clock_now_ns();
    if (!busy && !typed) before.sa_handler(signal);
    if (!busy || (repl_interrupts && now - interrupted_ns < AT_ONCE_NS)) return;
    interrupted_ns = now;
    if (++repl_interrupts > 2) cleanup_end(SIGINT);
    if (repl_interrupt(repl_interrupts > 1)) return;
    if (write(2, words, sizeof words - 1) < 0) return;
}

/* SIGINT stays ignored if it was ignored at the start. */
void repl_catch_interrupts(const Repl *r)
{
    struct sigaction action = { .sa_handler = on_interrupt };
    typed = r->terminal;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(SIGINT, &action, NULL);
}

/* An interrupted script ends and fails, even if its chunk caught the error. */
static ChunkResult done(Repl *r, ChunkResult result)
{
    busy = 0;
    if (!repl_interrupted() || r->terminal) return result;
    r->quit = true;
    r->exit_code = EXIT_INTERRUPT;
    return CHUNK_FAILED;
}

ChunkResult repl_run(Repl *r, const char *name, const char *text, bool last)
{
    repl_interrupts = 0;
    busy = 1;
    ChunkResult result = repl_chunk(r, name, text, last);
    return done(r, result);
}

ChunkResult repl_run_piece(Repl *r, const ReplWhole *whole, int line, const char *text)
{
    repl_interrupts = 0;
    busy = 1;
    ChunkResult result = repl_piece(r, whole, line, text);
    return done(r, result);
}

void repl_run_command(Repl *r, const char *line)
{
    repl_interrupts = 0;
    busy = 1;
    r->command(r, line);
    done(r, CHUNK_DONE);
}

bool repl_is_command(const char *line) { return (*line == ':' || *line == '?') && line[1] != ':'; }
