/* rt_numbers.c: ids as text. */
#include "rt_numbers.h"

#include <limits.h>
#include <stdio.h>

static int is_blank(char c) { return c == ' ' || c == '\t' || c == ','; }

/* Read one number from text[*at..]; 0 if there is none or it does not fit an int. */
static int read_one(const char *text, size_t *at, int *id)
{
    long long value = 0;
    size_t i = *at;
    for (; text[i] >= '0' && text[i] <= '9'; i++) {
        value = 10 * value + (text[i] - '0');
        if (value > INT_MAX) return 0;
    }
    if (i == *at) return 0;
    *at = i;
    *id = (int)value;
    return 1;
}

rt_status rt_numbers_read(const char *text, int *ids, int room, int *n, RtTextFault *fault)
{
    size_t at = 0;
    *n = 0;
    for (;;) {
        while (is_blank(text[at])) at++;
        if (!text[at]) return *n > room ? RT_TOO_LONG : RT_OK;
        int id;
        if (!read_one(text, &at, &id) || (text[at] && !is_blank(text[at]))) {
            if (fault) *fault = (RtTextFault){ at, (unsigned char)text[at] };
            return RT_BAD_ID;
        }
        if (*n < room) ids[*n] = id;
        ++*n;
    }
}

int rt_numbers_before_tab(const char *text)
{
    int n = 0;
    for (size_t i = 0; text[i] && text[i] != '\t'; i++) n += !is_blank(text[i]) && (!i || is_blank(text[i - 1]));
    return n;
}

static rt_status add(char *out, size_t cap, size_t *used, const char *word, int n)
{
    if (*used + (size_t)n + 2 > cap) return RT_NO_ROOM;
    *used += (size_t)snprintf(out + *used, cap - *used, "%s%s", *used ? " " : "", word);
    return RT_OK;
}

rt_status rt_numbers_add(char *out, size_t cap, size_t *used, int id)
{
    char word[16];
    return add(out, cap, used, word, snprintf(word, sizeof word, "%d", id));
}
