/* library_beam.c: the example of generated/README.md, a user's own program that runs a beam search
 * over the slots of dates.
 * usage: library_beam WEIGHTS TEXT */
#include <stdio.h>
#include <stdlib.h>

#include "dates.h"
#include "rt_beam.h"
#include "rt_weights.h"

static dates model;
static dates_state state;

static rt_status rows(void *self, const rt_token *r, int n) { (void)self; return dates_decode(&model, &state, r, n); }
static const float *logits(void *self) { (void)self; return dates_scores(&state); }
static rt_status fork_slot(void *self, int from, int to) { (void)self; return dates_fork(&state, from, to); }
static rt_status clear(void *self, int slot) { (void)self; return dates_clear(&state, slot); }

enum { BEAMS = 3, MOST = DATES_MAX_TARGET - 1 };

int main(int argc, char **argv)
{
    const RtDecoder decoder = { NULL, DATES_SLOTS, DATES_ROWS, DATES_VOCAB, DATES_LOGITS_STRIDE, rows, logits, fork_slot, clear, NULL, NULL };
    const int start = DATES_START, end = DATES_END;
    static RtBeamOptions options;
    options.beams = BEAMS, options.length_penalty = 1;
    options.most = MOST, options.longest = DATES_MAX_TARGET;
    options.ends = &end, options.end_count = 1;
    const size_t bytes = rt_beam_scratch_bytes(&options, DATES_VOCAB);
    void *scratch = malloc(bytes);
    RtBeamResult results[BEAMS];
    RtWeights file;
    int ids[DATES_MAX_SOURCE], n, count;
    if (argc < 3 || !scratch || rt_weights_open(&file, argv[1])) return 1;
    if (dates_bind(&model, file.data, file.bytes) || dates_tokenize(&model, &state, argv[2], ids, DATES_MAX_SOURCE, &n, NULL)) return 1;
    if (dates_encode(&model, &state, 0, ids, n)) return 1;                                  /* into slot 0 */
    if (rt_beam_search(&decoder, &options, &start, 1, scratch, bytes, results, &count)) return 1;
    for (int i = 0; i < count; i++) {
        char text[4 * DATES_MAX_TARGET + 1];
        if (dates_detokenize(&model, results[i].ids, results[i].length, text, sizeof text, NULL)) return 1;
        printf("%s %.4f\n", text, results[i].score);
    }
    free(scratch);
    rt_weights_close(&file);
    return 0;
}
