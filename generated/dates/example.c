/* example.c: dates inside another program: bind, encode, step. */
#include <stdio.h>

#include "dates.h"
#include "rt_weights.h"

static dates_state state;

int main(int argc, char **argv)
{
    dates model = { 0 };
    RtWeights weights;
    const int source[] = { 4, 7, 10, 13 };                /* ids of a source; from a text, see dates_ids */
    int missing = rt_weights_open(&weights, argc > 1 ? argv[1] : "dates.safetensors");    /* 0 or an errno */
    rt_status status = missing ? RT_BAD_WEIGHTS : dates_bind(&model, weights.data, weights.bytes);
    if (status == RT_OK) status = dates_encode(&model, &state, 0, source, (int)(sizeof source / sizeof *source));
    for (int i = 1, id = 1; status == RT_OK && i < DATES_MAX_TARGET; i++) {
        status = dates_next(&model, &state, id, &id);
        if (status == RT_OK) printf("%d%c", id, id == 2 || i + 1 == DATES_MAX_TARGET ? '\n' : ' ');
        if (id == 2) break;
    }
    if (status != RT_OK) fprintf(stderr, "example: %s\n", rt_status_text(status));
    rt_weights_close(&weights);
    return status == RT_OK ? 0 : 1;
}
