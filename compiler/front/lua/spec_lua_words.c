/* spec_lua_words.c: the words that a graph builder may call. */
#include "spec_lua.h"

#include <string.h>

const char *const spec_own_calls[OWN_CALLS] = { "input", "param", "cache", "name", "output" };

int spec_word_number(const SpecReader *r, const char *word)
{
    for (int i = 0; i < OWN_CALLS; i++)
        if (!strcmp(spec_own_calls[i], word)) return i;
    for (int i = 0; i < r->op_count; i++)
        if (!strcmp(r->ops[i].name, word)) return OWN_CALLS + i;
    for (int i = r->custom_count; i-- > 0;)
        if (!strcmp(r->custom[i]->name, word)) return OWN_CALLS + r->op_count + i;
    return -1;
}

bool spec_is_builder_word(const SpecReader *r, const char *word)
{
    const int n = spec_word_number(r, word);
    return n >= 0 && n < OWN_CALLS + r->op_count;
}
