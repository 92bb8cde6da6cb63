/* example.c: encoder inside another program: bind, encode. */
#include <stdio.h>
#include <string.h>

#include "encoder.h"
#include "rt_weights.h"

static encoder_state state;

int main(int argc, char **argv)
{
    static encoder model;
    const char *path = argc > 1 ? argv[1] : "encoder.safetensors";       /* of the packed weights */
    RtWeights weights;
    const int ids[] = { 4, 7, 10, 13 };
    const int n = (int)(sizeof ids / sizeof *ids);
    const int missing = rt_weights_open(&weights, path);                /* 0 or an errno */
    rt_status status = missing ? RT_BAD_WEIGHTS : encoder_bind(&model, weights.data, weights.bytes);
    if (status == RT_OK) status = encoder_encode(&model, &state, 0, ids, n);
    for (int i = 0; status == RT_OK && i < n; i++)
        printf("%d: %.5f ..\n", ids[i], encoder_hidden(&state)[i * ENCODER_HIDDEN_STRIDE]);
    if (missing) fprintf(stderr, "example: %s: %s\n", path, strerror(missing));
    else if (status != RT_OK) fprintf(stderr, "example: %s\n", rt_status_text(status));
    rt_weights_close(&weights);
    return status == RT_OK ? 0 : 1;
}
