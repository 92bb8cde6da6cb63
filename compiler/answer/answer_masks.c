/* answer_masks.c: of each mask the likeliest ids with their probabilities, printed as a generated program prints them. */
#include "answer_masks.h"

#include "generation.h"
#include "json_text.h"

enum { ANSWERS = 5, TOKEN_BYTES = 4096 };

int masks_count(const Masks *m, int n)
{
    int count = 0;
    for (int i = 0; i < n; i++) count += m->ids[i] == m->id;
    return count;
}

/* Quoted, or its id. */
static void print_token(const Masks *m, int id, Text *to)
{
    char text[TOKEN_BYTES];
    size_t used = 0;
    if (m->tokenizer && rt_tokenizer_decode(m->tokenizer, &id, 1, false, text, sizeof text, &used) == RT_OK) json_add_bytes(to, text, used);
    else text_printf(to, "%d", id);
}

static void print_one(const Masks *m, const float *logits, bool json, Text *to)
{
    int best[ANSWERS];
    const int width = m->vectors->width, n = rt_largest(logits, width, best, ANSWERS);
    for (int i = 0; i < n; i++) {
        const double p = rt_probability(logits, width, best[i]);
        if (json) text_printf(to, "%s{\"token\":%d", i ? "," : "", best[i]);
        else if (i) text_add(to, "\t");
        if (json && m->tokenizer) text_add(to, ",\"token_str\":");
        if (!json || m->tokenizer) print_token(m, best[i], to);
        if (json) {
            text_add(to, ",\"score\":");
            json_add_number(to, p);
            text_add(to, "}");
        } else {
            text_printf(to, " %.4f", p);
        }
    }
}

static void print_all(const Masks *m, bool json, Text *to)
{
    bool again = false;
    for (int i = 0; i < m->vectors->rows; i++) {
        if (m->ids[i] != m->id) continue;
        if (json) text_add(to, again ? ",[" : "[");
        else if (again) text_add(to, "\t|\t");
        print_one(m, m->vectors->values + (size_t)i * (size_t)m->vectors->width, json, to);
        if (json) text_add(to, "]");
        again = true;
    }
}

void masks_print(const Masks *m, Text *to) { print_all(m, false, to); }

void masks_print_json(const Masks *m, Text *to)
{
    text_add(to, ",\"masks\":[");
    print_all(m, true, to);
    text_add(to, "]");
}
