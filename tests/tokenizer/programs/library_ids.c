/* library_ids.c: print the ids of each argument, and their text, with the library of an encoder. */
#include <stdio.h>

#include "talk.h"

extern const unsigned char talk_weights[];
static talk_state state;

int main(int argc, char **argv)
{
    static int ids[TALK_MAX_SOURCE];
    static char out[4096];
    talk model = { 0 };
    if (talk_bind(&model, talk_weights, TALK_WEIGHTS_BYTES) != RT_OK) return 1;
    for (int i = 1; i < argc; i++) {
        int n;
        if (talk_tokenize(&model, &state, argv[i], ids, TALK_MAX_SOURCE, &n, NULL) != RT_OK) return 2;
        if (talk_encode(&model, &state, 0, ids, n) != RT_OK) return 3;
        for (int k = 0; k < n; k++) printf("%d ", ids[k]);
        if (talk_detokenize(&model, ids, n, out, sizeof out, NULL) != RT_OK) return 4;
        puts(out);
    }
    return 0;
}
