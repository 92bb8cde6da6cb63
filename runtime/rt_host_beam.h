/* rt_host_beam.h: a program's answer by beam search, over the slots of its state. */
#ifndef RT_HOST_BEAM_H
#define RT_HOST_BEAM_H

#include "rt_beam.h"
#include "rt_host_options.h"

typedef struct HostBeam {
    const rt_program *program;
    void *model, *state;            /* the host's */
    RtBeamOptions options;
    void *scratch;  size_t bytes;
    RtBeamResult *results;          /* [beams]; NULL: the program answers without a search */
} HostBeam;

/* Make ready what --beam asks for, which may be nothing. Returns 0, or an exit code after a message. */
int host_beam_open(HostBeam *b, const rt_program *p, const HostOptions *o, void *model, void *state);
/* The best answer to input[n]: ids[max_target], the end mark among them, and the sum of their log-probabilities.
 * RT_BAD_WEIGHTS where the logits are no numbers. */
rt_status host_beam_answer(HostBeam *b, const int *input, int n, int *ids, int *count, double *score);
void host_beam_close(HostBeam *b);

#endif
