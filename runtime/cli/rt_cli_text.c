/* rt_cli_text.c: the tokenizer of a generated program, with its buffers, which grow with the
 * texts. */
#include "rt_cli_language.h"
#include "rt_cli_generate.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt_conversation.h"

struct rt_cli_tokenizer { RtTokenizer tokenizer; void *scratch; size_t scratch_bytes; RtTokenStream stream;
                            unsigned char *types; int types_room; RtConversation turns; int literal; };

static rt_cli_tokenizer *open_tokenizer(const void *blob, size_t bytes, rt_status *status)
{
    rt_cli_tokenizer *t = calloc(1, sizeof *t);
    *status = t ? rt_tokenizer_view(&t->tokenizer, blob, bytes) : RT_NO_ROOM;
    if (*status == RT_OK) return t;
    free(t);
    return NULL;
}

static void close_tokenizer(rt_cli_tokenizer *t)
{
    if (t) free(t->scratch), free(t->types), rt_conversation_free(&t->turns);
    free(t);
}

/* Most texts need only a small part of the largest possible scratch, so it grows when needed. */
static rt_status encode(rt_cli_tokenizer *t, const RtTokenText *x, const RtTokens *out, int *n)
{
    const size_t most = rt_tokenizer_scratch_bytes(&t->tokenizer, x->other_bytes > x->bytes ? x->other_bytes : x->bytes, 0);
    if (most == SIZE_MAX) return RT_NO_ROOM;
    for (;;) {
        const rt_status status = rt_tokenizer_encode(&t->tokenizer, x, out, n, t->scratch, t->scratch_bytes);
        const size_t more = 4 * t->scratch_bytes + 65536;
        if (status != RT_NO_ROOM || t->scratch_bytes >= most) return status;
        free(t->scratch);
        t->scratch_bytes = more < most ? more : most;
        t->scratch = malloc(t->scratch_bytes);
        if (!t->scratch) t->scratch_bytes = 0;
        if (!t->scratch) return RT_NO_ROOM;
    }
}

static rt_status wrap(rt_cli_tokenizer *t, const RtChat *chat, const RtChatWords *words, int goes_on, const char *text, size_t bytes,
                      const char **wrapped, size_t *n)
{
    if (!goes_on) rt_conversation_clear(&t->turns);
    const rt_status status = rt_conversation_say(&t->turns, text, bytes);
    return status == RT_OK ? rt_conversation_text(&t->turns, chat, words, wrapped, n) : status;
}

static rt_status answered(rt_cli_tokenizer *t, const char *answer, size_t bytes)
{
    if (answer) return rt_conversation_answer(&t->turns, answer, bytes);
    rt_conversation_drop(&t->turns);
    return RT_OK;
}

static unsigned char *types_of(rt_cli_tokenizer *t, int room)
{
    if (room > t->types_room) {
        free(t->types);
        t->types = malloc((size_t)room);
        t->types_room = t->types ? room : 0;
    }
    return t->types;
}

/* The first occurrence of what[bytes] in text[n], or NULL. */
static const char *find(const char *text, size_t n, const char *what, size_t bytes)
{
    for (size_t i = 0; i + bytes <= n; i++)
        if (memcmp(text + i, what, bytes) == 0) return text + i;
    return NULL;
}

static rt_status to_ids(rt_cli_tokenizer *t, const char *text, size_t bytes, const char *separator, int cut, int plain, rt_cli_source *out)
{
    const size_t between = separator ? strlen(separator) : 0;
    const char *parted = separator ? find(text, bytes, separator, between) : NULL;
    const size_t first = parted ? (size_t)(parted - text) : bytes;
    const RtTokenText x = { text, first, parted ? parted + between : NULL, parted ? bytes - first - between : 0, plain };
    const RtTokens to = { out->ids, types_of(t, out->room), NULL, out->room, NULL };
    if (!to.types) return RT_NO_ROOM;
    if (t->literal && plain) rt_tokenizer_literal(&t->tokenizer, t->turns.typed.at, t->turns.typed.count);
    else rt_tokenizer_literal(&t->tokenizer, NULL, t->literal ? -1 : 0);
    if (cut) rt_tokenizer_cut(&t->tokenizer, 0);
    rt_status status = encode(t, &x, &to, &out->n);
    out->whole = out->n;
    if (cut && status == RT_TOO_LONG && out->n > out->room) {
        rt_tokenizer_cut(&t->tokenizer, out->room);
        status = encode(t, &x, &to, &out->n);
    }
    out->twice = !plain && status == RT_OK && rt_tokenizer_begins_twice(&t->tokenizer, out->ids, out->n);
    out->first = 0;
    while (status == RT_OK && out->first < out->n && to.types[out->first] == 0) out->first++;
    return status;
}

static rt_status to_token(rt_cli_tokenizer *t, int id, char *out, size_t cap, size_t *used)
{
    return rt_tokenizer_decode(&t->tokenizer, &id, 1, 0, out, cap, used);
}

static rt_status detokenize(void *self, const int *ids, int from, int n, int last, char *out, size_t cap, size_t *used)
{
    rt_cli_tokenizer *t = self;
    return rt_tokenizer_detokenize(&t->tokenizer, &t->stream, ids, from, n, last, out, cap, used);
}

static int translate(rt_cli_tokenizer *t, const struct CliLanguages *l, struct CliBegin *begin)
{
    int target;
    const int code = cli_languages(&t->tokenizer, l, &target);
    const int free = l->answers && !rt_tokenizer_is_language(&t->tokenizer, begin->start);
    if (!code && target < 0 && free && rt_tokenizer_languages(&t->tokenizer) == RT_LANGUAGES_OF_SOURCE)
        cli_tell_free(l);
    if (code || target < 0) return code;
    if (rt_tokenizer_is_language(&t->tokenizer, begin->start)) begin->start = target;
    else begin->first = target;
    return 0;
}

static void tell_twice(rt_cli_tokenizer *t, const char *program, CliPlace place, int id)
{
    size_t n;
    const char *mark = rt_tokenizer_piece(&t->tokenizer, id, &n);
    fprintf(stderr, "%s: %s %zu: begins with %.*s twice: the tokenizer already adds it to every "
            "text\n", program, place.kind, place.number, (int)n, mark);
}

static void make_literal(rt_cli_tokenizer *t) { t->literal = 1; }

static const rt_cli_option text_options[] = {
    { "source-language", "CODE", "Translate from this language, such as deu_Latn or de", CLI_SOURCE_LANGUAGE,
      CLI_NEED_SOURCE },
    { "target-language", "CODE", "Translate into this language", CLI_TARGET_LANGUAGE, CLI_NEED_SOURCE },
    { "plain-text", NULL, "Treat special tokens in texts as plain text", CLI_PLAIN, CLI_NEED_NOTHING },
    { "pair-separator", "TEXT", "Separator between the texts of a pair; default: tab", CLI_SEPARATOR, CLI_NEED_PAIRS },
};

static void take(struct CliOptions *o, int option, const char *argument)
{
    if (option == CLI_PLAIN) o->plain_text = 1;
    else if (option == CLI_SEPARATOR) o->separator = argument;
    else if (option == CLI_SOURCE_LANGUAGE) o->source_language = argument;
    else o->target_language = argument;
}

static const char *asked(const struct CliOptions *o)
{
    return o->plain_text ? "plain-text" : o->separator ? "pair-separator" : o->source_language ? "source-language" :
           o->target_language ? "target-language" : NULL;
}

const rt_cli_texts rt_cli_text = { open_tokenizer, close_tokenizer, to_ids, translate, tell_twice, to_token, wrap, answered, detokenize, make_literal,
                                       text_options, sizeof text_options / sizeof text_options[0], take, asked };
