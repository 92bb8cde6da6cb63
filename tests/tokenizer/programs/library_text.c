/* library_text.c: texts answered by a library with a tokenizer: talk_text. */
#include <stdio.h>
#include <stdlib.h>

#include "talk.h"

extern const unsigned char talk_weights[];
static talk_state state;

int main(int argc, char **argv)
{
    static char out[4096];
    talk model = { 0 };
    if (talk_bind(&model, talk_weights, TALK_WEIGHTS_BYTES) != RT_OK) return 1;
    const size_t bytes = talk_scratch_bytes(&model, 256);
    void *scratch = malloc(bytes);
    if (!scratch) return 1;
    for (int i = 1; i < argc; i++) {
        if (talk_text(&model, &state, argv[i], out, 2, scratch, bytes) == RT_OK) return 2;     /* no room for an answer */
        if (talk_text(&model, &state, argv[i], out, sizeof out, scratch, 8) == RT_OK) return 3;
        if (talk_text(&model, &state, argv[i], out, sizeof out, scratch, bytes) != RT_OK) return 4;
        puts(out);
    }
    free(scratch);
    return 0;
}
