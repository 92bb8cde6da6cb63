/* rt_generation.c: answer a prompt by the settings of rt_generation.h. */
#include "rt_generation.h"

static RtGenerate single(const RtGeneration *g, const RtAnswering *a, int most, int longest)
{
    return (RtGenerate){ .most = most, .longest = longest, .ends = g->ends, .end_count = g->end_count, .processors = g->processors,
                         .sampling = g->sampling, .seed = g->seed, .text = a->text, .scored = a->scored, .on_id = a->on_id, .user = a->user,
                         .prompt_cache = a->prompt_cache };
}

static RtBeamOptions search(const RtGeneration *g, int most, int longest)
{
    return (RtBeamOptions){ .beams = g->beams, .most = most, .ends = g->ends, .end_count = g->end_count, .length_penalty = g->length_penalty,
                            .early_stopping = g->early_stopping, .processors = g->processors, .longest = longest };
}

static int least(int a, int b) { return a < b ? a : b; }

int rt_generation_most(const RtGeneration *g, int n, int longest)
{
    int most = longest - n;
    if (g->max_new) most = least(most, g->max_new);
    else if (g->max_length) most = least(most, g->max_length - n);
    return most > 0 ? most : 0;
}

int rt_generation_prompt(const RtGeneration *g, int most)
{
    return !g->max_new && g->max_length ? least(most, g->max_length - 1) : most;
}

int rt_generation_searches(const RtGeneration *g) { return g->beams > 1; }

size_t rt_answer_scratch_bytes(const RtGeneration *g, int longest, int vocab)
{
    const int most = rt_generation_most(g, 0, longest);
    const RtAnswering scored = { .scored = 1 };
    const RtGenerate one = single(g, &scored, most, longest);
    const RtBeamOptions many = search(g, most, longest);
    if (rt_generation_searches(g)) return rt_beam_scratch_bytes(&many, vocab);
    return rt_padded((size_t)most * sizeof(int)) + rt_generate_scratch_bytes(&one, vocab);
}

rt_status rt_answer(const RtDecoder *d, const RtGeneration *g, const RtAnswering *a, const int *prompt, int n, int longest,
                    void *scratch, size_t bytes, RtBeamResult *results, int *count)
{
    const int most = rt_generation_most(g, n, longest);
    const RtBeamOptions many = search(g, most, longest);
    const RtGenerate one = single(g, a, most, longest);
    *count = 0;
    if (n < 1) return RT_ORDER;
    if (n > longest) return RT_TOO_LONG;
    /* The answer is empty if the context is full or the prompt has at least max_length ids. */
    if (!most) {
        results[0] = (RtBeamResult){ NULL, 0, 0, 0 };
        *count = 1;
        return RT_OK;
    }
    if (rt_generation_searches(g)) {
        if (a->prompt_cache) a->prompt_cache->count = 0;
        const rt_status status = rt_beam_search(d, &many, prompt, n, scratch, bytes, results, count);
        return status == RT_OK && !*count ? RT_NO_TOKEN : status;
    }
    const size_t ids = rt_padded((size_t)most * sizeof(int));
    RtGenerated made;
    if (ids > bytes) return RT_NO_ROOM;
    const rt_status status = rt_generate(d, &one, prompt, n, scratch, (unsigned char *)scratch + ids, bytes - ids, &made);
    results[0] = (RtBeamResult){ scratch, made.count, made.sum, made.sum };
    *count = status == RT_OK;
    return status;
}
