/* example.c: story inside another program: bind, next. */
#include <stdio.h>
#include <string.h>

#include "story.h"
#include "rt_weights.h"

static story_state state;

int main(int argc, char **argv)
{
    static story model;
    const char *path = argc > 1 ? argv[1] : "story.safetensors";       /* of the packed weights */
    RtWeights weights;
    const int ids[] = { 4, 7, 10, 13 };
    const int n = (int)(sizeof ids / sizeof *ids);
    const int missing = rt_weights_open(&weights, path);                /* 0 or an errno */
    rt_status status = missing ? RT_BAD_WEIGHTS : story_bind(&model, weights.data, weights.bytes);
    /* ids, then what follows them */
    for (int i = 0, id = ids[0]; status == RT_OK && i < STORY_MAX_TARGET; i++) {
        int next;
        status = story_next(&model, &state, id, &next);
        id = i + 1 < n ? ids[i + 1] : next;
        if (status == RT_OK) printf("%d%c", id,
                                    id == STORY_END || i + 1 == STORY_MAX_TARGET ? '\n' : ' ');
        if (id == STORY_END) break;
    }
    if (missing) fprintf(stderr, "example: %s: %s\n", path, strerror(missing));
    else if (status != RT_OK) fprintf(stderr, "example: %s\n", rt_status_text(status));
    rt_weights_close(&weights);
    return status == RT_OK ? 0 : 1;
}
