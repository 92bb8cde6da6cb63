/* encoder_calls.c: text pairs, hidden states and vectors of an emitted encoder: statuses, and which
 * inputs change the results. Compiled with the emitted golden hf_bert_pair; argv[1]: its packed
 * weights. Prints TAP-like lines. */
#include <stdio.h>
#include <string.h>

#include "hf_bert_pair.h"
#include "rt_weights.h"

static hf_bert_pair_state state, before;
static hf_bert_pair model;
static int failures;

static void check(int good, const char *name)
{
    printf("%s %s\n", good ? "ok" : "not ok", name);
    failures += !good;
}

static int refused(const int *ids, int n, int first, rt_status want)
{
    memcpy(&before, &state, sizeof state);
    return hf_bert_pair_encode_pair(&model, &state, 0, ids, n, first) == want && memcmp(&before, &state, sizeof state) == 0;
}

static int same(const float *a, const float *b) { return memcmp(a, b, HF_BERT_PAIR_VECTOR_WIDTH * sizeof *a) == 0; }

int main(int argc, char **argv)
{
    const int ids[8] = { 3, 7, 28, 4, 9, 11, 5, 6 }, wrong[2] = { 3, HF_BERT_PAIR_SOURCE_VOCAB };
    float alone[HF_BERT_PAIR_VECTOR_WIDTH], hidden;
    RtWeights weights;
    if (argc < 2 || rt_weights_open(&weights, argv[1]) || hf_bert_pair_bind(&model, weights.data, weights.bytes) != RT_OK) return 1;
    check(hf_bert_pair_encode(&model, &state, 0, ids, 8) == RT_OK, "a text alone");
    memcpy(alone, hf_bert_pair_vector(&state), sizeof alone);
    hidden = hf_bert_pair_hidden(&state)[0];
    check(hf_bert_pair_encode_pair(&model, &state, 0, ids, 8, 8) == RT_OK && same(alone, hf_bert_pair_vector(&state)),
          "a pair without a second text is the same");
    check(hf_bert_pair_encode_pair(&model, &state, 0, ids, 8, 3) == RT_OK && !same(alone, hf_bert_pair_vector(&state)),
          "types make a difference");
    check(hf_bert_pair_encode_pair(&model, &state, 0, ids, 8, 0) == RT_OK && !same(alone, hf_bert_pair_vector(&state)),
          "all may be of the second text");
    check(refused(ids, 8, 9, RT_ORDER) && refused(ids, 8, -1, RT_ORDER) && refused(ids, 0, 0, RT_ORDER), "a second text outside the ids");
    memcpy(&before, &state, sizeof state);
    check(hf_bert_pair_encode(&model, &state, HF_BERT_PAIR_SLOTS, ids, 8) == RT_BAD_ID &&
          hf_bert_pair_encode(&model, &state, -1, ids, 8) == RT_BAD_ID &&
          hf_bert_pair_encode_pair(&model, &state, 1, ids, 8, 3) == RT_BAD_ID && !memcmp(&before, &state, sizeof state),
          "a slot that it does not have");
    check(refused(wrong, 2, 1, RT_BAD_ID) && refused(ids, HF_BERT_PAIR_MAX_SOURCE + 1, 1, RT_TOO_LONG), "an id outside the vocabulary, too many");
    check(hf_bert_pair_encode(&model, &state, 0, ids, 8) == RT_OK && same(alone, hf_bert_pair_vector(&state)) &&
          memcmp(&hidden, hf_bert_pair_hidden(&state), sizeof hidden) == 0, "nothing is left of a pair, and hidden states stay");
    check(hf_bert_pair_threads(&model, 2) == RT_OK && hf_bert_pair_encode(&model, &state, 0, ids, 8) == RT_OK &&
          same(alone, hf_bert_pair_vector(&state)), "on two threads the same bits");
    hf_bert_pair_threads(&model, 1);
    rt_weights_close(&weights);
    return failures != 0;
}
