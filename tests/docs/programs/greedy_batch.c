/* greedy_batch.c: the loop over NAME_decode_greedy in generated/README.md, included as excerpt.h.
 * Answers four dates at once, one per line.     usage: greedy_batch WEIGHTS */
#include <stdio.h>
#include <string.h>

#include "dates.h"
#include "rt_weights.h"

static dates model;
static dates_state state;

int main(int argc, char **argv)
{
    static const char *const texts[DATES_SLOTS] = { "3rd of May 2019", "1/2/34", "Monday, 3rd of September 2018", "2093-10-06" };
    int ids[DATES_SLOTS][DATES_MAX_SOURCE], lengths[DATES_SLOTS], next[DATES_SLOTS], answers[DATES_SLOTS][DATES_MAX_TARGET];
    rt_token rows[DATES_SLOTS];
    RtWeights file;
    if (argc < 2 || rt_weights_open(&file, argv[1])) return 2;
    rt_status status = dates_bind(&model, file.data, file.bytes);
    memset(answers, -1, sizeof answers);
    for (int k = 0; k < DATES_SLOTS && status == RT_OK; k++)
        status = dates_tokenize(&model, &state, texts[k], ids[k], DATES_MAX_SOURCE, &lengths[k], NULL);
    if (status != RT_OK) return 2;
#include "excerpt.h"
    for (int k = 0; k < DATES_SLOTS; k++) {
        char out[64];
        int n = 0;
        while (n < DATES_MAX_TARGET && answers[k][n] >= 0) n++;
        dates_detokenize(&model, answers[k], n, out, sizeof out, NULL);
        puts(out);
    }
    rt_weights_close(&file);
    return status != RT_OK;
}
