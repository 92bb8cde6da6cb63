/* story_settings.c: the model's generation settings. */
#include "rt_generation.h"
extern const RtGeneration story_generation;
static const int story_ends[] = { 2 };
const RtGeneration story_generation = {
    .ends = story_ends, .end_count = sizeof story_ends / sizeof *story_ends,
    .sampling = { .top_k = 50 }, .seed = 1, .length_penalty = 1,
};
