/* jinja.h: Jinja templates of conversations, rendered as transformers renders them: with
 * trim_blocks and lstrip_blocks, break and continue, generation blocks, strftime_now and
 * raise_exception, but without tools.
 *
 * Unsupported syntax is a fault when the template is parsed; anything else that is not supported,
 * such as a filter, is a fault only if rendering reaches it. Faults name the feature. */
#ifndef JINJA_H
#define JINJA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"

typedef struct JinjaTemplate JinjaTemplate;

typedef struct JinjaMessage { const char *role, *content; } JinjaMessage;
typedef struct JinjaName { const char *name, *text; } JinjaName;

typedef struct JinjaChat {
    const JinjaMessage *messages;
    int count;
    const JinjaName *names;  int name_count;    /* variables: bos_token, date_string, ... */
    const char *today;                          /* what strftime_now returns, whatever the format */
    bool answers;                               /* add_generation_prompt */
} JinjaChat;

enum { JINJA_SOUGHT = 16 };             /* the most entries of sought, and of bound */

typedef struct JinjaResult {
    const char *text;       /* NULL: a fault */
    const char *fault;      /* what is wrong or unsupported in the template */
    bool raised;            /* the template itself rejects the conversation; fault is its message */
    const char *format;     /* the argument of strftime_now; NULL if it was not called */
    const char *sought[JINJA_SOUGHT];       /* strings that are compared or searched for */
    int sought_count;
    int64_t bound[JINJA_SOUGHT];            /* integer literals in comparisons and slices, without signs */
    int bound_count;
} JinjaResult;

/* NULL if the text is not a template, or has syntax that is not supported; *fault says why. */
const JinjaTemplate *jinja_parse(Arena *a, const char *text, size_t bytes, const char **fault);
/* The texts of the result are in the arena. */
JinjaResult jinja_render(Arena *a, const JinjaTemplate *t, const JinjaChat *chat);

#endif
