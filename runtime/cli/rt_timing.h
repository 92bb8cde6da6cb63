/* rt_timing.h: how long an answer took, in llama.cpp's format. */
#ifndef RT_TIMING_H
#define RT_TIMING_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Times in ns of a monotonic clock. */
typedef struct RtTiming {
    int input;                      /* ids of the text */
    int prompt;                     /* rows to feed a decoder before it gives the first id */
    int kept;                       /* rows in the prompt cache, left out of input and prompt */
    int fed;                        /* rows fed so far */
    int steps;                      /* calls after the prompt: one id each, or one per beam */
    int64_t begin, first, last;     /* times of rt_timing_begin, the first id and the last id */
} RtTiming;

/* Begin an answer to a text of `input` ids, with `prompt` rows, at least 1. `kept` of these
 * ids and rows are in the prompt cache. */
void rt_timing_begin(RtTiming *t, int input, int prompt, int kept);
/* The prompt cache is not used, and all rows are fed from the beginning. */
void rt_timing_anew(RtTiming *t);
/* A call has computed `rows` rows of the decoder. */
void rt_timing_fed(RtTiming *t, int rows);
/* Print three lines to standard error, each after `name: `. The time of the first id is part of the
 * prompt's, because it comes from the last row of the prompt. */
void rt_timing_print(const RtTiming *t, const char *name);

#ifdef __cplusplus
}
#endif

#endif
