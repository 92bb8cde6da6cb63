/* library_text.c: texts answered by a library with a tokenizer: talk_text. Its tables are checked by talk_bind, and by no call. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt_tokenizer_format.h"
#include "talk.h"

extern const unsigned char talk_weights[];
static talk_state state;
static XF_ALIGN(64) unsigned char copy[TALK_WEIGHTS_BYTES];

/* A cell of the vocabulary's tree that no text comes to, with a number that no sound tree has. False where there is none. */
static int damage(const talk *model)
{
    size_t bytes;
    const unsigned char *blob = talk_tokenizer(model, &bytes);
    uint32_t section[2], cell[2];
    memcpy(section, blob + 16 + 8 * TOK_TRIE, sizeof section);
    for (uint32_t i = 8; i + 8 <= section[1]; i += 8) {
        unsigned char *p = copy + (blob - copy) + section[0] + i;
        memcpy(cell, p, sizeof cell);
        if (cell[1]) continue;
        memset(p + 4, 0xFF, 4);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    static char out[4096];
    talk model = { 0 };
    memcpy(copy, talk_weights, sizeof copy);
    if (talk_bind(&model, copy, sizeof copy) != RT_OK) return 1;
    const size_t bytes = talk_scratch_bytes(&model, 256);
    void *scratch = malloc(bytes);
    if (!scratch) return 1;
    for (int i = 1; i < argc; i++) {
        if (talk_text(&model, &state, argv[i], out, 2, scratch, bytes) == RT_OK) return 2;     /* no room for an answer */
        if (talk_text(&model, &state, argv[i], out, sizeof out, scratch, 8) == RT_OK) return 3;
        if (talk_text(&model, &state, argv[i], out, sizeof out, scratch, bytes) != RT_OK) return 4;
        puts(out);
    }
    if (!damage(&model)) return 5;
    if (argc > 1 && talk_text(&model, &state, argv[1], out, sizeof out, scratch, bytes) != RT_OK) return 6;        /* not looked at again */
    free(scratch);
    return talk_bind(&model, copy, sizeof copy) == RT_BAD_WEIGHTS ? 0 : 7;
}
