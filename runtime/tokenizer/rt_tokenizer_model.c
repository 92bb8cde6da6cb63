/* rt_tokenizer_model.c: a model's tokenizer, which lies in its packed weights, for emitted code: text to ids and ids to text.
 * The blob is checked once, when the weights are bound, so damaged ones do no harm. */
#include "rt_tokenizer.h"

#include <string.h>

rt_status rt_text_check(const void *tokenizer, size_t bytes)
{
    RtTokenizer t;
    return rt_tokenizer_open(&t, tokenizer, bytes);
}

size_t rt_text_scratch_bytes(const void *tokenizer, size_t bytes, size_t text_bytes)
{
    RtTokenizer t;
    return rt_tokenizer_view(&t, tokenizer, bytes) == RT_OK ? rt_tokenizer_scratch_bytes(&t, text_bytes, 0) : 0;
}

rt_status rt_text_ids(const void *tokenizer, size_t bytes, const char *utf8, int *ids, int room, int *n, void *scratch, size_t scratch_bytes)
{
    RtTokenizer t;
    const rt_status status = rt_tokenizer_view(&t, tokenizer, bytes);
    const RtTokenText text = { utf8, strlen(utf8), NULL, 0, 0 };
    const RtTokens out = { ids, NULL, NULL, room, NULL };
    *n = 0;
    return status == RT_OK ? rt_tokenizer_encode(&t, &text, &out, n, scratch, scratch_bytes) : status;
}

rt_status rt_text_of_ids(const void *tokenizer, size_t bytes, const int *ids, int n, char *out, size_t cap)
{
    RtTokenizer t;
    size_t used = 0;
    const rt_status status = rt_tokenizer_view(&t, tokenizer, bytes);
    return status == RT_OK ? rt_tokenizer_decode(&t, ids, n, 1, out, cap, &used) : status;
}
