/* rt_beam.h: beam search over a model that decodes rows of several sequences at once.
 *
 * A step is one call of `rows` over all live beams, so each weight is read once a step; slots 0 .. beams - 1 are used. Candidates
 * are scored by the log-softmax of their logits, changed by the rules of rt_logits.h, plus the sum of their beam. Of all, the best max(2, 1 + ends) *
 * beams are kept, the first of equals, in order of beam and id. Of these, what ends, by an end id or because it is as long as it may be, is finished
 * where it is among the first `beams`, with the score sum / length^length_penalty; the best of what goes on lives on. The
 * length counts the generated ids, the end id included. These are the rules of Hugging Face's `generate`. */
#ifndef RT_BEAM_H
#define RT_BEAM_H

#include "rt_decoder.h"
#include "rt_logits.h"

#ifdef __cplusplus
extern "C" {
#endif

/* When to stop before every beam is as long as it may be: `early_stopping` of generation settings. */
typedef enum RtBeamStop {
    RT_BEAM_STOP_FALSE,             /* `beams` are finished, and the best that lives, were it to end here, is not above the worst */
    RT_BEAM_STOP_TRUE,              /* `beams` are finished */
    RT_BEAM_STOP_NEVER              /* as FALSE; with a length_penalty above 0, were it to end as late as it may */
} RtBeamStop;

enum { RT_BEAM_MOST = 128 };        /* beams */

typedef struct RtBeamOptions {
    int beams;                      /* 1 .. RT_BEAM_MOST; one gives what greedy gives, but for RT_BEAM_STOP_NEVER */
    int most;                       /* ids to generate, at most; the end id is one */
    const int *ends;  int end_count;                        /* ids that end a sequence; may be none */
    double length_penalty;          /* 0: sums are compared; 1: means; above: longer ones are liked */
    RtBeamStop early_stopping;
    RtProcessors processors;
    int longest;                    /* ids that the prompt and what is generated may have in all */
} RtBeamOptions;

typedef struct RtBeamResult {
    const int *ids;  int length;    /* generated, the end id included; in the scratch */
    double sum;                     /* of the log-probabilities of ids */
    double score;                   /* sum / length^length_penalty */
} RtBeamResult;

/* Bytes of scratch that a search takes, for options that rt_beam_search accepts. */
size_t rt_beam_scratch_bytes(const RtBeamOptions *o, int vocab);

/* Continue prompt[n], whose source, where there is one, was encoded into slot 0. scratch: aligned as for a double.
 * results: [beams], best first; *count receives how many there are: fewer than beams where the vocabulary or the length
 * has no more sequences. On an error *count is 0:
 * RT_ORDER for no prompt, no beam or nothing to generate, RT_TOO_LONG for more beams than the model has slots or rows, or more ids than `longest`,
 * RT_NO_ROOM for too little scratch, RT_BAD_WEIGHTS where a logit is NaN or INFINITY, or what a call returned. */
rt_status rt_beam_search(const RtDecoder *m, const RtBeamOptions *o, const int *prompt, int n, void *scratch, size_t bytes,
                         RtBeamResult *results, int *count);

#ifdef __cplusplus
}
#endif

#endif
