/* dates_settings.c: the model's generation settings. */
#include "rt_generation.h"
extern const RtGeneration dates_generation;
static const int dates_ends[] = { 2 };
const RtGeneration dates_generation = {
    .ends = dates_ends, .end_count = sizeof dates_ends / sizeof *dates_ends,
    .sampling = { .top_k = 50 }, .seed = 1, .length_penalty = 1,
};
