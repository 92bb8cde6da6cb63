/* background.h: compile native code for a running jit engine in a child process, while this process
 * continues.
 *
 * One child compiles at a time; the latest request is served first. The child owns its temporary
 * folder and removes it, however this process ends. Libraries are kept in the cache, and taken from
 * it without starting a child. */
#ifndef BACKGROUND_H
#define BACKGROUND_H

#include "emit.h"
#include "engine.h"

typedef enum BackgroundState {
    BACKGROUND_NONE,                /* no request */
    BACKGROUND_WAITS, BACKGROUND_RUNS,
    BACKGROUND_DONE,                /* the engine runs native code */
    BACKGROUND_FAILED               /* the engine stays as it is; `why` says why */
} BackgroundState;

/* A request; initialise it with zeros. It and the engine must not move until background_drop. */
typedef struct Background {
    BackgroundState state;
    Engine *engine;
    EmitForm form;
    int threads;
    Arena *arena;                   /* the engine's, for native_replace */
    bool looked, cached;            /* the cache was searched; it had the library */
    int64_t asked_ns, took_ns;      /* time of the request; duration of compiling or lookup */
    char why[640];
    struct Background *next;        /* in the queue */
} Background;

/* Request native code of this form, with that many threads, for an engine opened by jit_open. */
void background_ask(Background *b, Arena *a, Engine *e, EmitForm form, int threads);
/* Advance all requests without waiting for a compiler, and switch engines whose code is ready:
 * call it while no engine runs. If b is not NULL, look once for its library in the cache. If no
 * child runs, start one once the latest request is 20 ms old, or at once with `now`. */
void background_poll(Background *b, bool now);
/* Sleep until the child reports something, for at most 20 ms. */
void background_sleep(void);
/* Cancel the request, and end its child if it has one. */
void background_drop(Background *b);

#endif
