/* rt_tokenizer_model.c: the tokenizer in a model's packed weights, for emitted code: text to ids
 * and ids to text. The blob is checked once, when the weights are bound, so a damaged one does no
 * harm. */
#include "rt_tokenizer.h"

#include <string.h>

rt_status rt_text_check(const void *tokenizer, size_t bytes)
{
    RtTokenizer t;
    return rt_tokenizer_open(&t, tokenizer, bytes);
}

rt_status rt_text_ids(const void *tokenizer, size_t bytes, const char *utf8, int plain, int *ids, int room, int *n,
                      RtTextFault *fault, void *scratch, size_t scratch_bytes)
{
    RtTokenizer t;
    const RtTokenText text = { utf8, strlen(utf8), NULL, 0, plain };
    const RtTokens out = { ids, NULL, NULL, room, NULL };
    *n = 0;
    rt_status status = rt_tokenizer_view(&t, tokenizer, bytes);
    if (status == RT_OK) status = rt_tokenizer_encode(&t, &text, &out, n, scratch, scratch_bytes);
    if (status == RT_BAD_ID && fault) fault->at = 0, fault->code_point = 0;
    if (status != RT_NO_ROOM) return status;
    *n = 0;
    return RT_TOO_LONG;
}

rt_status rt_text_of_ids(const void *tokenizer, size_t bytes, const int *ids, int n, char *out, size_t cap,
                         size_t *length)
{
    RtTokenizer t;
    size_t used = 0;
    if (length) *length = 0;
    if (!cap) return RT_NO_ROOM;
    out[0] = '\0';
    rt_status status = rt_tokenizer_view(&t, tokenizer, bytes);
    if (status == RT_OK) status = rt_tokenizer_decode(&t, ids, n, 1, out, cap, &used);
    if (length) *length = used;
    return status;
}
