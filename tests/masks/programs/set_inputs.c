/* set_inputs.c: masks and biases given to an emitted xf.graph: illegal values are rejected, and
 * rows that attend to nothing give 0. */
#include <math.h>
#include <string.h>

#include "masked.h"
#include "rt_weights.h"

static masked_state state;

/* Run with a mask of ones and a bias of zeros, except for one place in each. */
static rt_status run_with(const masked *m, float in_mask, float in_bias)
{
    float mask[6] = { 1, 1, 1, 1, 1, 1 }, bias[12] = { 0 };
    mask[4] = in_mask;
    bias[7] = in_bias;
    masked_set_mask(&state, mask);
    masked_set_bias(&state, bias);
    return masked_run(m, &state);
}

/* Rows that attend to nothing: row 0 by the mask, row 1 by the bias of head 1. */
static int zeros(const masked *m)
{
    const float mask[6] = { 0, 0, 0, 1, 1, 1 };
    const float bias[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, -INFINITY, -INFINITY, -INFINITY };
    float weights[12], out[8];
    masked_set_mask(&state, mask);
    masked_set_bias(&state, bias);
    if (masked_run(m, &state) != RT_OK) return 0;
    masked_get_weights(&state, weights);
    masked_get_out(&state, out);
    for (int i = 0; i < 3; i++)
        if (weights[i] != 0 || weights[6 + i] != 0 || weights[9 + i] != 0 || !(weights[3 + i] > 0)) return 0;
    for (int i = 0; i < 8; i++)
        if (i < 4 || i > 5 ? out[i] != 0 : !(out[i] > 0)) return 0;
    return 1;
}

int main(int argc, char **argv)
{
    static const float masks[] = { -1e9f, -INFINITY, NAN, 0.5f, 2, -1 };
    const float q[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, k[12] = { 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6 };
    masked model = { 0 };
    RtWeights weights;
    if (argc != 2 || rt_weights_open(&weights, argv[1]) || masked_bind(&model, weights.data, weights.bytes) != RT_OK) return 1;
    masked_set_q(&state, q);
    masked_set_k(&state, k);
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++)
        if (run_with(&model, masks[i], 0) != RT_BAD_VALUE) return 2;
    if (run_with(&model, 1, NAN) != RT_BAD_VALUE || run_with(&model, 1, INFINITY) != RT_BAD_VALUE) return 3;
    if (strcmp(rt_status_text(RT_BAD_VALUE), "a mask with a number other than 0 and 1, or a bias with NaN or +inf") != 0) return 4;
    if (run_with(&model, 0, -INFINITY) != RT_OK || run_with(&model, 1, -1e9f) != RT_OK) return 5;
    return zeros(&model) ? 0 : 6;
}
