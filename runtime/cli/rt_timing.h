/* rt_timing.h: how long an answer took, as llama.cpp says it. */
#ifndef RT_TIMING_H
#define RT_TIMING_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Times in ns of a clock that only goes forward. */
typedef struct RtTiming {
    int input;                      /* ids of the text */
    int prompt;                     /* rows that a decoder is fed before the first id can follow */
    int kept;                       /* of both, rows that it holds and is not fed; not counted in them */
    int fed;                        /* rows so far */
    int steps;                      /* calls behind them: of one sequence an id each, of a search one of each beam */
    int64_t begin, first, last;     /* the call; when the first id was known, and the last */
} RtTiming;

/* An answer to a text of `input` ids is asked for, and `prompt` rows, at least 1, of which `kept` are held. */
void rt_timing_begin(RtTiming *t, int input, int prompt, int kept);
/* Nothing is held, and all is fed from the beginning. */
void rt_timing_anew(RtTiming *t);
/* A call has computed so many rows of the decoder. */
void rt_timing_fed(RtTiming *t, int rows);
/* Three lines on standard error, each behind `name: `. The first id counts to the prompt, whose last row it comes from. */
void rt_timing_print(const RtTiming *t, const char *name);

#ifdef __cplusplus
}
#endif

#endif
