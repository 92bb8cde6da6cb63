/* background.h: native code for engines that run already in memory, made by a child process while this one goes on.
 *
 * One child compiles at a time; of those that wait the last asked is the next. The child owns its temporary folder and removes
 * it, however this process ends. Results go to the cache, and come from it without a child. */
#ifndef BACKGROUND_H
#define BACKGROUND_H

#include "emit.h"
#include "engine.h"

typedef enum BackgroundState {
    BACKGROUND_NONE,                /* nothing was asked */
    BACKGROUND_WAITS, BACKGROUND_RUNS,
    BACKGROUND_DONE,                /* the engine runs native code */
    BACKGROUND_FAILED               /* it stays as it is; `why` says why */
} BackgroundState;

/* All of 0 before it is asked. It and the engine must not move until background_drop. */
typedef struct Background {
    BackgroundState state;
    Engine *engine;
    EmitForm form;
    int threads;
    Arena *arena;                   /* of the engine; for its name */
    bool looked, cached;            /* the cache was asked; it had the library */
    int64_t asked_ns, took_ns;      /* when; of what is done, how long it was compiled, or looked up */
    char why[640];
    struct Background *next;        /* of those that wait */
} Background;

/* Ask for native code for an engine of jit_open, of this form and with that many threads. */
void background_ask(Background *b, Arena *a, Engine *e, EmitForm form, int threads);
/* Go on with what was asked, without waiting, and change every engine whose code is there: call it while none of them runs.
 * The cache is asked for b, unless it is NULL. A child is started for what was asked over 20 ms ago, or with `now`. */
void background_poll(Background *b, bool now);
/* Sleep until there may be news, some milliseconds at most. */
void background_sleep(void);
/* Forget it; its child is ended. */
void background_drop(Background *b);

#endif
