/* text_ids.c: convert a text to ids, with a subword or a character tokenizer. */
#include "text_ids.h"

#include <stdlib.h>
#include <string.h>

#include "rt_cli_language.h"
#include "run_program.h"

static rt_cli_tokenizer *opened(const Model *m)
{
    rt_status status;
    rt_cli_tokenizer *t = rt_cli_text.open(m->tokenizer_data, m->tokenizer_size, &status);
    if (!t) die("cannot open the model's tokenizer");
    return t;
}

rt_status text_tokens(const Model *m, const char *text, size_t bytes, rt_cli_source *ids)
{
    rt_cli_tokenizer *t = opened(m);
    const rt_status status = rt_cli_text.ids(t, text, bytes, NULL, 0, 0, ids);
    rt_cli_text.close(t);
    return status;
}

/* The text of a token, for messages. */
static const char *mark_of(Session *s, int id)
{
    enum { ROOM = 64 };
    rt_status status;
    size_t used = 0;
    char *mark = arena_alloc(s->arena, ROOM);
    rt_cli_tokenizer *t = rt_cli_text.open(s->model->tokenizer_data, s->model->tokenizer_size, &status);
    *mark = '\0';
    if (t) rt_cli_text.token(t, id, mark, ROOM, &used);
    rt_cli_text.close(t);
    return mark;
}

static bool refuse(Session *s, const char *why)
{
    diag_error(s->diag, EXIT_BAD_DATA, (Loc){ 0 }, "%s", why);
    return false;
}

/* Apply the languages of the options to the tokenizer and *begin; false after an error. */
static bool translate(Session *s, rt_cli_tokenizer *t, const TextOptions *o, CliBegin *begin)
{
    char *said = NULL;
    size_t bytes = 0;
    if (!o->source_language && !o->target_language) return true;
    FILE *messages = open_memstream(&said, &bytes);
    if (!messages) no_memory("a message");
    const CliLanguages l = { o->source_language, o->target_language, run_translations(s->arena, s->model), messages, NULL, o->names, 0 };
    const int code = rt_cli_text.translate(t, &l, begin);
    if (fclose(messages)) no_memory("a message of %zu bytes", bytes);
    if (code) diag_error(s->diag, (Exit)code, (Loc){ 0 }, "%s", said);
    free(said);
    return code == 0;
}

static bool of_pieces(Session *s, const char *text, const TextOptions *o, rt_cli_source *ids, CliBegin *begin)
{
    const Model *m = s->model;
    const char *separator = !m->pairs || (o->separator && !*o->separator) ? NULL : o->separator ? o->separator : "\t";
    rt_cli_tokenizer *t = opened(m);
    if (o->plain) rt_cli_text.literal(t);
    const bool translated = translate(s, t, o, begin);
    const rt_status status = translated ? rt_cli_text.ids(t, text, strlen(text), separator, !m->has_decoder, 0, ids) : RT_OK;
    rt_cli_text.close(t);
    if (!translated) return false;
    if (status == RT_OK && ids->whole > ids->n)
        diag_remark(s->diag, (Loc){ 0 }, "%s: the text has %d tokens; truncated to %d", m->name, ids->whole, ids->n);
    if (ids->twice && m->has_decoder)
        diag_remark(s->diag, (Loc){ 0 }, "%s: the text begins with %s twice, because the tokenizer adds it "
                    "to every text", m->name, mark_of(s, ids->ids[0]));
    if (status == RT_OK && ids->n) return true;
    if (status == RT_OK) return refuse(s, "the text is empty");
    if (status == RT_TOO_LONG) return refuse(s, arena_format(s->arena, "the text has %d tokens, but at most %d fit", ids->n, ids->room));
    if (status == RT_NO_ROOM) no_memory("a text of %zu bytes", strlen(text));
    return refuse(s, rt_text_fault(status));
}

/* The number of characters that begin in the first `bytes` bytes of valid UTF-8. */
static size_t characters_in(const char *s, size_t bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++) n += ((unsigned char)s[i] & 0xC0) != 0x80;
    return n;
}

bool text_ids(Session *s, const Plan *p, const char *text, const TextOptions *o, rt_cli_source *ids, CliBegin *begin)
{
    const Model *m = s->model;
    *begin = (CliBegin){ (int)m->start_id, -1 };
    if (m->tokenizer_data) return of_pieces(s, text, o, ids, begin);
    const RtCharacters table = m->has_encoder ? run_characters(p->source_characters, p->source_texts)
                                              : run_characters(p->target_characters, p->target_texts);
    RtTextFault fault = { 0, 0 };
    const rt_status status = rt_characters_encode(&table, text, ids->ids, ids->room, &ids->n, &fault);
    if (status == RT_OK && ids->n > 0) return true;
    if (status == RT_OK) return refuse(s, "the text is empty");
    if (status == RT_TOO_LONG) return refuse(s, arena_format(s->arena, "the text has %d characters, but at most %d fit", ids->n, ids->room));
    if (fault.code_point < 0) return refuse(s, arena_format(s->arena, "the text is not valid UTF-8 at byte %zu", fault.at + 1));
    return refuse(s, arena_format(s->arena, "U+%04X at character %zu of the text is not in the vocabulary", (unsigned)fault.code_point,
                                  characters_in(text, fault.at) + 1));
}
