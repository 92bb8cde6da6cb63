/* command_run_read.c: texts into ids: by characters, by pieces, or numbers as they stand. */
#include "command_run_read.h"

#include <string.h>

#include "decode.h"

/* ---- telling -------------------------------------------------------------------------------------------- */

static bool may_print(int32_t c)
{
    return c >= 0x20 && (c < 0x7F || c > 0x9F) && !(c >= 0x200B && c <= 0x200F) && !(c >= 0x2028 && c <= 0x202E) &&
           !(c >= 0x2060 && c <= 0x2069) && c != 0xFEFF;
}

/* The characters that begin in the first `bytes` bytes of valid UTF-8. */
static size_t characters_in(const char *s, size_t bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++) n += ((unsigned char)s[i] & 0xC0) != 0x80;
    return n;
}

static void tell_fault(FILE *to, const char *text, const RtTextFault *fault)
{
    int32_t c = 0;
    int bytes = utf8_next(text + fault->at, strlen(text + fault->at), &c);
    if (fault->code_point < 0) fprintf(to, "not valid UTF-8 at byte %zu\n", fault->at + 1);
    else {
        if (may_print(c)) fprintf(to, "'%.*s' (U+%04X)", bytes, text + fault->at, (unsigned)c);
        else fprintf(to, "U+%04X", (unsigned)c);
        fprintf(to, " at character %zu is not in the vocabulary\n", characters_in(text, fault->at) + 1);
    }
}

void text_reader_begin_message(const TextReader *r, Origin at) { fprintf(r->messages, "%s: %s %zu: ", r->session->model->name, at.kind, at.number); }

const char *text_reader_unit(const TextReader *r) { return r->numbers ? "ids" : r->tokenizer ? "tokens" : "characters"; }

/* The end of a message on a text that is too long. */
static const char *why_most(TextReader *r)
{
    return r->max_length ? arena_format(r->session->arena, ": max_length is %d", r->max_length) : "";
}

/* ---- one text ------------------------------------------------------------------------------------------- */

/* The ids of a text; false after telling why it is refused. */
static bool read_text(TextReader *r, const char *text, size_t bytes, Origin at, int *n)
{
    const size_t length = strlen(text);
    RtTextFault fault = { 0, -1 };
    rt_status status = RT_OK;
    if (length == bytes && bytes) status = rt_characters_encode(&r->source, text, r->ids, r->most, n, &fault);
    if (length == bytes && bytes && status == RT_OK) return true;
    text_reader_begin_message(r, at);
    if (length < bytes) fprintf(r->messages, "a NUL at byte %zu\n", length + 1);
    else if (!bytes) fprintf(r->messages, "empty; 1 to %d characters fit\n", r->most);
    else if (status == RT_TOO_LONG) fprintf(r->messages, "%d characters, but at most %d fit%s\n", *n, r->most, why_most(r));
    else tell_fault(r->messages, text, &fault);
    return false;
}

/* The text as the chat template wraps it, whose marks stand in it, behind what was said before. */
static const char *wrap(TextReader *r, const char *text, size_t *bytes)
{
    const RtChatWords words = { r->options->system, r->options->date };
    const char *wrapped;
    if (!r->goes_on) rt_turns_clear(&r->turns);
    if (rt_turns_say(&r->turns, text, *bytes) != RT_OK || rt_turns_text(&r->turns, r->chat, &words, &wrapped, bytes) != RT_OK) die("no memory");
    return wrapped;
}

void text_reader_answered(TextReader *r, const char *answer, size_t bytes)
{
    if (!r->chat) return;
    if (!answer) rt_turns_drop(&r->turns);
    else if (rt_turns_answer(&r->turns, answer, bytes) != RT_OK) die("no memory");
}

/* An encoder alone reads what fits of a text, as its training did; what is left out is said. */
static bool read_pieces(TextReader *r, const char *text, size_t bytes, Origin at, int *n)
{
    const Model *m = r->session->model;
    if (r->chat) text = wrap(r, text, &bytes);
    r->pieces.plain = r->chat != NULL;
    PieceIds ids = { .ids = r->ids, .room = r->most };
    const rt_status status = pieces_read(&r->pieces, text, bytes, m->pairs, !m->has_decoder, &ids);
    *n = ids.n;
    r->first = ids.first;
    if (status == RT_OK && *n) {
        if (ids.whole > *n) text_reader_begin_message(r, at), fprintf(r->messages, "%d tokens; cut to %d\n", ids.whole, *n);
        return true;
    }
    text_reader_begin_message(r, at);
    const char *all = r->turns.count > 1 ? "with it the conversation has " : "";
    text_reader_answered(r, NULL, 0);
    if (status == RT_TOO_LONG) fprintf(r->messages, "%s%d tokens, but at most %d fit%s\n", all, *n, r->most, why_most(r));
    else if (status == RT_OK) fprintf(r->messages, "empty; 1 to %d tokens fit\n", r->most);
    else fprintf(r->messages, "%s\n", status == RT_BAD_ID ? "a character that the vocabulary has no id for" : rt_status_text(status));
    return false;
}

/* The first id that the model does not know; n where it knows all. */
static int unknown_id(const TextReader *r, int n)
{
    const Model *m = r->session->model;
    const int64_t known = m->has_encoder ? m->source_vocab : m->target_vocab;
    int i = 0;
    while (i < n && r->ids[i] < known) i++;
    return i;
}

/* The ids that a text is; false after telling why it is refused. */
static bool read_ids(TextReader *r, const char *text, size_t bytes, Origin at, int *n)
{
    const Model *m = r->session->model;
    const size_t length = strlen(text);
    const long long last = (m->has_encoder ? m->source_vocab : m->target_vocab) - 1;
    RtTextFault fault = { 0, 0 };
    rt_status status = rt_numbers_read(text, r->ids, r->most, n, &fault);
    const int unknown = status == RT_OK ? unknown_id(r, *n) : 0;
    r->first = m->pairs ? rt_numbers_before_tab(text) : *n;
    if (length == bytes && status == RT_OK && *n && unknown == *n) return true;
    text_reader_begin_message(r, at);
    if (length < bytes) fprintf(r->messages, "a NUL at byte %zu\n", length + 1);
    else if (status == RT_TOO_LONG) fprintf(r->messages, "%d ids, but at most %d fit%s\n", *n, r->most, why_most(r));
    else if (status != RT_OK)
        fprintf(r->messages, "no id at byte %zu; %s%s takes ids, with spaces between\n", fault.at + 1,
                r->options->ids ? "" : m->name,
                r->options->ids ? "--ids" : " has no tokenizer and");
    else if (!*n) fprintf(r->messages, "empty; 1 to %d ids fit\n", r->most);
    else fprintf(r->messages, "id %d; the model has ids from 0 to %lld\n", r->ids[unknown], last);
    return false;
}

bool text_reader_ids(TextReader *r, const char *text, size_t bytes, Origin at, int *n)
{
    *n = 0;
    return (r->numbers ? read_ids : r->tokenizer ? read_pieces : read_text)(r, text, bytes, at, n);
}

bool text_reader_begins_alone(TextReader *r)
{
    PieceIds ids = { .ids = r->ids, .room = r->most };
    if (!r->tokenizer || r->chat || r->session->model->has_encoder) return false;
    return pieces_read(&r->pieces, "", 0, false, false, &ids) == RT_OK && ids.n;
}

/* ---- opening -------------------------------------------------------------------------------------------- */

static RtCharacters characters(const Packed *table, const Packed *texts)
{
    return (RtCharacters){ table->integers, (int)(table->integer_count / 2), texts->integers, (int)texts->integer_count };
}

bool text_reader_has_texts(const Model *m) { return m->tokenizer_data || (m->source && m->target); }

TextReader *text_reader_new(Session *s, const Plan *p, const RunOptions *o)
{
    const Model *m = s->model;
    TextReader *r = arena_alloc(s->arena, sizeof *r);
    *r = (TextReader){ .session = s, .options = o, .messages = stderr, .numbers = o->ids || !text_reader_has_texts(m),
                       .most = (int)(m->has_encoder ? m->max_source : m->max_target) };
    if (o->chat) {
        RtChat *chat = arena_alloc(s->arena, sizeof *chat);
        *chat = chat_of(m);
        r->chat = chat;
    }
    r->ids = arena_array(s->arena, (size_t)r->most, sizeof *r->ids);
    r->more = m->has_decoder ? NULL : arena_array(s->arena, (size_t)r->most, sizeof *r->ids);
    if (m->tokenizer_data && !r->numbers) {
        r->tokenizer = r->pieces.tokenizer = arena_alloc(s->arena, sizeof *r->tokenizer);
        if (rt_tokenizer_open(r->tokenizer, m->tokenizer_data, m->tokenizer_size) != RT_OK) die("the model's tokenizer is damaged");
    } else if (!r->numbers) {
        r->source = characters(p->source_characters, p->source_texts);
        r->target = characters(p->target_characters, p->target_texts);
    }
    return r;
}

void text_reader_limit(TextReader *r, const RtGeneration *g)
{
    const int most = rt_generation_prompt(g, r->most);
    r->max_length = most < r->most ? g->max_length : 0;
    r->most = most;
}

void text_reader_close(TextReader *r)
{
    pieces_free(&r->pieces);
    rt_turns_free(&r->turns);
}

/* ---- a text of other commands --------------------------------------------------------------------------- */

static bool piece_ids(Session *s, const char *text, PieceIds *ids)
{
    const Model *m = s->model;
    RtTokenizer t;
    Pieces p = { .tokenizer = &t };
    if (rt_tokenizer_open(&t, m->tokenizer_data, m->tokenizer_size) != RT_OK) die("the model's tokenizer is damaged");
    const rt_status status = pieces_read(&p, text, strlen(text), m->pairs, !m->has_decoder, ids);
    pieces_free(&p);
    if (status == RT_OK && ids->whole > ids->n) diag_remark(s->diag, (Loc){ 0 }, "%s: %d tokens; cut to %d", m->name, ids->whole, ids->n);
    if (status == RT_OK && ids->n) return true;
    if (status == RT_OK) diag_error(s->diag, EXIT_BAD_DATA, (Loc){ 0 }, "the text is empty");
    else if (status == RT_TOO_LONG) diag_error(s->diag, EXIT_BAD_DATA, (Loc){ 0 }, "the text has %d tokens, but at most %d fit", ids->n, ids->room);
    else diag_error(s->diag, EXIT_BAD_DATA, (Loc){ 0 }, "the text: %s", rt_status_text(status));
    return false;
}

bool command_text_ids(Session *s, const Plan *p, const char *text, PieceIds *ids)
{
    const Model *m = s->model;
    if (m->tokenizer_data) return piece_ids(s, text, ids);
    const RtCharacters table = m->has_encoder ? characters(p->source_characters, p->source_texts)
                                              : characters(p->target_characters, p->target_texts);
    const Loc none = { 0 };
    RtTextFault fault = { 0, 0 };
    rt_status status = rt_characters_encode(&table, text, ids->ids, ids->room, &ids->n, &fault);
    if (status == RT_OK && ids->n > 0) return true;
    if (status == RT_OK) diag_error(s->diag, EXIT_BAD_DATA, none, "the text is empty");
    else if (status == RT_TOO_LONG) diag_error(s->diag, EXIT_BAD_DATA, none, "the text has %d characters, but at most %d fit", ids->n, ids->room);
    else if (fault.code_point < 0) diag_error(s->diag, EXIT_BAD_DATA, none, "the text is not valid UTF-8 at byte %zu", fault.at + 1);
    else
        diag_error(s->diag, EXIT_BAD_DATA, none, "U+%04X at character %zu of the text is not in the vocabulary", (unsigned)fault.code_point,
                   characters_in(text, fault.at) + 1);
    return false;
}
