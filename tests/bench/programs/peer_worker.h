/* peer_worker.h: shared by the C workers of the peers' benchmark: KEY=VALUE arguments, ids, argmax,
 * and requests, one per line.
 *
 * A worker first prints `ready`. `run SECONDS` repeats one unit of work for that time, from once to
 * MOST_RUNS times, and prints `ns` and each time in nanoseconds; `check FILE` writes what the work
 * computes and prints `ok`. A worker is idle between requests, and exits at the end of standard
 * input. */
#ifndef PEER_WORKER_H
#define PEER_WORKER_H

#include "measuring.h"

/* For decode, prefill and batch, `check` writes the logits of 16 ids, [16][vocab] floats; for
 * batch, the greedy ids follow, as 32-bit integers. */
enum { CHECKED_IDS = 16, MOST_RUNS = 100000 };

typedef struct PeerWork {
    int (*run)(void);                   /* one unit; 0: it failed */
    int (*check)(FILE *to);             /* likewise */
} PeerWork;

static char **peer_arguments;           /* argv + 1 */

static const char *argument(const char *key, const char *otherwise)
{
    const size_t n = strlen(key);
    for (char **a = peer_arguments; *a; a++)
        if (strncmp(*a, key, n) == 0 && (*a)[n] == '=') return *a + n + 1;
    return otherwise;
}

static inline int number(const char *key, int otherwise)
{
    const char *text = argument(key, NULL);
    return text ? atoi(text) : otherwise;
}

_Noreturn static void give_up(const char *what)
{
    fprintf(stderr, "worker: %s\n", what);
    exit(1);
}

/* All workers use the same ids; peers/shapes.py has this formula too. */
static inline int an_id(int i, int vocab) { return (int)((uint32_t)i * 2654435761u % (uint32_t)vocab); }

/* The index of the first maximum. The search takes sixteen floats at a time, so that it costs
 * almost nothing. */
static inline int argmax(const float *logits, int vocab)
{
    float most[16], all;
    int i = 0, best = 0;
    for (int k = 0; k < 16; k++) most[k] = logits[0];
    for (; i + 16 <= vocab; i += 16)
        for (int k = 0; k < 16; k++) most[k] = logits[i + k] > most[k] ? logits[i + k] : most[k];
    all = most[0];
    for (int k = 1; k < 16; k++) all = most[k] > all ? most[k] : all;
    for (; i < vocab; i++) all = logits[i] > all ? logits[i] : all;
    while (best + 1 < vocab && logits[best] != all) best++;
    return best;
}

static void answer_run(const PeerWork *w, double seconds)
{
    static int64_t times[MOST_RUNS];
    const int64_t end = now_ns() + (int64_t)(1e9 * seconds);
    int n = 0;
    for (int64_t begin = now_ns(); n < MOST_RUNS && (n == 0 || begin < end); n++) {
        if (!w->run()) give_up("the work failed");
        const int64_t now = now_ns();
        times[n] = now - begin, begin = now;
    }
    fputs("ns", stdout);
    for (int i = 0; i < n; i++) printf(" %lld", (long long)times[i]);
    putchar('\n');
}

static void answer_check(const PeerWork *w, const char *path)
{
    FILE *f = fopen(path, "wb");
    if (!f || !w->check(f) || fclose(f)) give_up("the check failed");
    puts("ok");
}

static int serve(const PeerWork *w)
{
    char line[4096];
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "run ", 4) == 0) answer_run(w, atof(line + 4));
        else if (strncmp(line, "check ", 6) == 0) answer_check(w, line + 6);
        else give_up("not a request");
        fflush(stdout);
    }
    return 0;
}

#endif
