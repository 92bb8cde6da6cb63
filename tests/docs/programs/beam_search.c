/* beam_search.c: the beam search of generated/README.md, with its functions in functions.h and its
 * call in search.h. Prints the three best answers to one date, one per line.
 * usage: beam_search WEIGHTS */
#include <stdio.h>

#include "dates.h"
#include "rt_beam.h"
#include "rt_weights.h"

static dates model;
static dates_state state;

#include "functions.h"

int main(int argc, char **argv)
{
    static double scratch[1 << 16];
    const size_t bytes = sizeof scratch;
    const int start = DATES_START, end = DATES_END;
    RtBeamResult results[3];
    RtWeights file;
    int ids[DATES_MAX_SOURCE], n, count;
    if (argc < 2 || rt_weights_open(&file, argv[1])) return 2;
    rt_status status = dates_bind(&model, file.data, file.bytes);
    if (status == RT_OK) status = dates_tokenize(&model, &state, "1/2/34", ids, DATES_MAX_SOURCE, &n, NULL);
    if (status != RT_OK) return 2;
#include "search.h"
    for (int i = 0; status == RT_OK && i < count; i++) {
        char out[64];
        dates_detokenize(&model, results[i].ids, results[i].length, out, sizeof out, NULL);
        puts(out);
    }
    rt_weights_close(&file);
    return status != RT_OK;
}
