/* rt_beam.h: beam search over a model that decodes rows of several sequences at once.
 *
 * A step is one call of `decode` over all live beams, so each weight is read once per step; slots
 * 0 .. beams - 1 are used. The score of a candidate is the log-softmax of its logit, changed by the
 * rules of rt_logits.h, plus its beam's sum. The best max(2, 1 + ends) * beams candidates are kept;
 * of equal ones, those with the lower beam, then the lower id. A kept candidate that ends, with an
 * end id or at the maximum length, is finished if it is among the first `beams`; its score is sum /
 * length^length_penalty. The best `beams` of the others live on. The length is the number of
 * generated ids, including the end id. These are the rules of Hugging Face's `generate`. */
#ifndef RT_BEAM_H
#define RT_BEAM_H

#include "rt_decoder.h"
#include "rt_logits.h"

#ifdef __cplusplus
extern "C" {
#endif

/* When to stop before every beam has the maximum length: `early_stopping` of generation settings.
 * FALSE: `beams` sequences are finished, and the best live beam, if it ended now, would not be
 * above the worst of them. TRUE: `beams` sequences are finished. NEVER: like FALSE, but with a
 * length_penalty above 0 as if the live beam ended at the maximum length. */
typedef enum RtBeamStop {
    RT_BEAM_STOP_FALSE,
    RT_BEAM_STOP_TRUE,
    RT_BEAM_STOP_NEVER
} RtBeamStop;

enum { RT_BEAM_MOST = 128 };        /* beams */

typedef struct RtBeamOptions {
    int beams;                      /* 1 .. RT_BEAM_MOST; 1: greedy, unless RT_BEAM_STOP_NEVER */
    int most;                       /* maximum number of ids to generate, including the end id */
    const int *ends;  int end_count;                        /* ids that end a sequence; may be none */
    double length_penalty;          /* 0: ranks by sum; 1: by mean; above 1: favours length */
    RtBeamStop early_stopping;
    RtProcessors processors;
    int longest;                    /* maximum number of ids in all, prompt and generated */
} RtBeamOptions;

typedef struct RtBeamResult {
    const int *ids;  int length;    /* generated, including the end id; in the scratch */
    double sum;                     /* of the log-probabilities of ids, changed by the rules */
    double score;                   /* sum / length^length_penalty */
} RtBeamResult;

/* Bytes of scratch that a search takes, for options that rt_beam_search accepts. */
size_t rt_beam_scratch_bytes(const RtBeamOptions *o, int vocab);

/* Continue prompt[n]; its source, if there is one, was encoded into slot 0. scratch: aligned like a
 * double. results[beams]: best first; *count receives their number, which is below beams if the
 * vocabulary, the length or the rules allow no more. On an error *count is 0. RT_ORDER: no
 * prompt, no beam or nothing to generate; RT_TOO_LONG: more than RT_BEAM_MOST beams, more beams
 * than the model has slots or rows, or more ids than `longest`; RT_NO_ROOM: too little scratch;
 * RT_NOT_FINITE: a logit is NaN or INFINITY; otherwise the status of a call that failed. */
rt_status rt_beam_search(const RtDecoder *m, const RtBeamOptions *o, const int *prompt, int n, void *scratch, size_t bytes,
                         RtBeamResult *results, int *count);

#ifdef __cplusplus
}
#endif

#endif
