/* example.c: dates inside another program: bind, encode, next. */
#include <stdio.h>
#include <string.h>

#include "dates.h"
#include "rt_weights.h"

static dates_state state;

int main(int argc, char **argv)
{
    static dates model;
    const char *path = argc > 1 ? argv[1] : "dates.safetensors";       /* of the packed weights */
    RtWeights weights;
    const int ids[] = { 4, 7, 10, 13 };
    const int n = (int)(sizeof ids / sizeof *ids);
    const int missing = rt_weights_open(&weights, path);                /* 0 or an errno */
    rt_status status = missing ? RT_BAD_WEIGHTS : dates_bind(&model, weights.data, weights.bytes);
    if (status == RT_OK) status = dates_encode(&model, &state, 0, ids, n);
    for (int i = 1, id = DATES_START; status == RT_OK && i < DATES_MAX_TARGET; i++) {
        status = dates_next(&model, &state, id, &id);
        if (status == RT_OK) printf("%d%c", id,
                                    id == DATES_END || i + 1 == DATES_MAX_TARGET ? '\n' : ' ');
        if (id == DATES_END) break;
    }
    if (missing) fprintf(stderr, "example: %s: %s\n", path, strerror(missing));
    else if (status != RT_OK) fprintf(stderr, "example: %s\n", rt_status_text(status));
    rt_weights_close(&weights);
    return status == RT_OK ? 0 : 1;
}
