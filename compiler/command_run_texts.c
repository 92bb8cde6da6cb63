/* command_run_texts.c: texts into answers, as the generated program gives them: one line for each text, an empty one for
 * a text that is refused, its fault told at once on standard error. Without a tokenizer, texts and answers are ids. With
 * --json an object that grows answer by answer. */
#include "command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command_run_vectors.h"
#include "decode.h"
#include "json_text.h"
#include "tokenizer.h"

typedef struct Texts {
    Session *session;
    Decoder *decoder;               /* NULL of an encoder alone */
    Vectors *vectors;               /* of an encoder alone, else NULL */
    bool numbers;                   /* there is no tokenizer */
    RtCharacters source, target;
    RtTokenizer *tokenizer;         /* NULL without pieces */
    void *scratch;  size_t scratch_bytes;
    int *all;                       /* of a decoder alone: a prompt and what follows; [2 * max_target] */
    int prompt;                     /* ids of the text */
    int *ids;  int most;            /* [most]: ids of a source, or of a decoder's prompt */
    char *out;  size_t room;        /* the answer; 4 bytes for each character, 12 for each id, and a NUL */
    size_t answer_from;             /* bytes of the prompt before the answer, where there is a --stop */
    int *told;  int told_count;     /* ids of the answer so far, where there is a --stop */
    int count;                      /* of the texts so far */
    Exit code;                      /* 65 after a refused text; 70, 74: nothing more is answered */
} Texts;

/* Where a text came from, for messages. */
typedef struct Origin { const char *kind; size_t number; } Origin;

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

static void tell_fault(const char *text, const RtTextFault *fault)
{
    int32_t c = 0;
    int bytes = utf8_next(text + fault->at, strlen(text + fault->at), &c);
    if (fault->code_point < 0) fprintf(stderr, "not valid UTF-8 at byte %zu\n", fault->at + 1);
    else {
        if (may_print(c)) fprintf(stderr, "'%.*s' (U+%04X)", bytes, text + fault->at, (unsigned)c);
        else fprintf(stderr, "U+%04X", (unsigned)c);
        fprintf(stderr, " at character %zu is not in the vocabulary\n", characters_in(text, fault->at) + 1);
    }
}

static void begin_message(const Texts *t, Origin at) { fprintf(stderr, "%s: %s %zu: ", t->session->model->name, at.kind, at.number); }

/* ---- one text ------------------------------------------------------------------------------------------- */

/* The ids of a text; false after telling why it is refused. */
static bool read_text(Texts *t, const char *text, size_t bytes, Origin at, int *n)
{
    const size_t length = strlen(text);
    RtTextFault fault = { 0, -1 };
    rt_status status = RT_OK;
    if (length == bytes && bytes) status = rt_characters_encode(&t->source, text, t->ids, t->most, n, &fault);
    if (length == bytes && bytes && status == RT_OK) return true;
    begin_message(t, at);
    if (length < bytes) fprintf(stderr, "a NUL at byte %zu\n", length + 1);
    else if (!bytes) fprintf(stderr, "empty; 1 to %d characters fit\n", t->most);
    else if (status == RT_TOO_LONG) fprintf(stderr, "%d characters, but at most %d fit\n", *n, t->most);
    else tell_fault(text, &fault);
    t->code = EXIT_BAD_DATA;
    return false;
}

/* By pieces; most texts want a small part of the scratch that the longest could need, so it grows. */
static rt_status pieces(RtTokenizer *t, void **scratch, size_t *scratch_bytes, const char *text, size_t bytes, int *ids, int room, int *n)
{
    const RtTokenText x = { .text = text, .bytes = bytes };
    const RtTokens out = { .ids = ids, .room = room };
    const size_t most = rt_tokenizer_scratch_bytes(t, bytes, false);
    if (most == SIZE_MAX) return RT_TOO_LONG;
    for (;;) {
        const rt_status status = rt_tokenizer_encode(t, &x, &out, n, *scratch, *scratch_bytes);
        if (status != RT_NO_ROOM || *scratch_bytes >= most) return status;
        const size_t more = 4 * *scratch_bytes + (64 << 10);
        free(*scratch);
        *scratch = malloc(*scratch_bytes = more < most ? more : most);
        if (!*scratch) die("out of memory: %zu bytes", *scratch_bytes);
    }
}

static bool read_pieces(Texts *t, const char *text, size_t bytes, Origin at, int *n)
{
    const rt_status status = pieces(t->tokenizer, &t->scratch, &t->scratch_bytes, text, bytes, t->ids, t->most, n);
    if (status == RT_OK && *n) return true;
    begin_message(t, at);
    if (status == RT_TOO_LONG) fprintf(stderr, "%d tokens, but at most %d fit\n", *n, t->most);
    else if (status == RT_OK) fprintf(stderr, "empty; 1 to %d tokens fit\n", t->most);
    else fprintf(stderr, "%s\n", status == RT_BAD_ID ? "a character that the vocabulary has no id for" : rt_status_text(status));
    t->code = EXIT_BAD_DATA;
    return false;
}

/* The first id that the model does not know; n where it knows all. */
static int unknown_id(const Texts *t, int n)
{
    const Model *m = t->session->model;
    const int64_t known = m->has_encoder ? m->source_vocab : m->target_vocab;
    int i = 0;
    while (i < n && t->ids[i] < known) i++;
    return i;
}

/* The ids that a text is; false after telling why it is refused. */
static bool read_ids(Texts *t, const char *text, size_t bytes, Origin at, int *n)
{
    const Model *m = t->session->model;
    const size_t length = strlen(text);
    const long long last = (m->has_encoder ? m->source_vocab : m->target_vocab) - 1;
    RtTextFault fault = { 0, 0 };
    rt_status status = rt_numbers_read(text, t->ids, t->most, n, &fault);
    const int unknown = status == RT_OK ? unknown_id(t, *n) : 0;
    if (length == bytes && status == RT_OK && *n && unknown == *n) return true;
    begin_message(t, at);
    if (length < bytes) fprintf(stderr, "a NUL at byte %zu\n", length + 1);
    else if (status == RT_TOO_LONG) fprintf(stderr, "%d ids, but at most %d fit\n", *n, t->most);
    else if (status != RT_OK) fprintf(stderr, "no id at byte %zu; %s has no tokenizer and takes ids, with spaces between\n", fault.at + 1, m->name);
    else if (!*n) fprintf(stderr, "empty; 1 to %d ids fit\n", t->most);
    else fprintf(stderr, "id %d; the model has ids from 0 to %lld\n", t->ids[unknown], last);
    t->code = EXIT_BAD_DATA;
    return false;
}

/* Of a decoder alone the prompt too, since a piece may depend on the one before. */
static rt_status write_pieces(Texts *t, const RtBeamResult *r)
{
    const int n = t->session->model->has_encoder ? 0 : t->prompt;
    const int length = r->length && decoder_ended(t->decoder, r) ? r->length - 1 : r->length;
    memcpy(t->all, t->ids, (size_t)n * sizeof *t->all);
    memcpy(t->all + n, r->ids, (size_t)length * sizeof *t->all);
    for (;; t->out = arena_alloc(t->session->arena, t->room *= 2)) {
        size_t used = 0;
        const rt_status status = rt_tokenizer_decode(t->tokenizer, t->all, n + length, true, t->out, t->room, &used);
        if (status != RT_NO_ROOM || t->room > (size_t)1 << 32) return status;
    }
}

/* The text of an answer in t->out: its characters, or its ids where there is no tokenizer. */
static rt_status write_answer(Texts *t, const RtBeamResult *r)
{
    size_t used = 0;
    rt_status status = RT_OK;
    t->out[0] = '\0';
    if (t->tokenizer) return write_pieces(t, r);
    for (int i = 0; i < r->length && status == RT_OK; i++) {
        if (t->numbers) status = rt_numbers_add(t->out, t->room, &used, r->ids[i]);
        else if (i + 1 < r->length || !decoder_ended(t->decoder, r)) status = rt_characters_decode(&t->target, r->ids[i], t->out, t->room, &used);
    }
    return status;
}

/* ---- stopping ------------------------------------------------------------------------------------------- */

/* Where an answer in t->out will begin: behind the prompt, which is written too where a decoder alone continues it by pieces. */
static size_t answer_begin(Texts *t)
{
    const RtBeamResult nothing = { t->ids, 0, 0, 0 };
    return write_answer(t, &nothing) == RT_OK ? strlen(t->out) : 0;
}

/* Cut the answer in t->out where the first of the --stop texts begins; whether there was one. */
static bool cut_at_stop(Texts *t)
{
    const Choices *c = t->session->choices;
    const size_t from = t->answer_from < strlen(t->out) ? t->answer_from : strlen(t->out);
    char *first = NULL;
    for (int i = 0; i < c->stop_count; i++) {
        char *found = strstr(t->out + from, c->stops[i]);
        if (found && (!first || found < first)) first = found;
    }
    if (first) *first = '\0';
    return first != NULL;
}

/* The text so far is written anew with each id, so a stop is found wherever tokens part it. */
static int stop_told(void *user, int id)
{
    Texts *t = user;
    t->told[t->told_count++] = id;
    const RtBeamResult so_far = { t->told, t->told_count, 0, 0 };
    if (write_answer(t, &so_far) != RT_OK) return 0;
    return cut_at_stop(t);
}

/* The best answer, up to its stop. */
static rt_status write_best(Texts *t)
{
    const rt_status status = write_answer(t, &t->decoder->results[0]);
    if (status == RT_OK && t->session->choices->stop_count) cut_at_stop(t);
    return status;
}

/* With -v: of a search every sequence with its score; else the sum alone. */
static rt_status tell_scores(Texts *t)
{
    const Choices *c = t->session->choices;
    rt_status status = RT_OK;
    if (!c->verbose) return RT_OK;
    for (int i = 0; i < t->decoder->count && status == RT_OK; i++) {
        const RtBeamResult *r = &t->decoder->results[i];
        if ((status = write_answer(t, r)) != RT_OK) break;
        fprintf(stderr, "%s: ", t->out);
        if (t->decoder->generation.beams) fprintf(stderr, "score %.6f, ", r->score);
        fprintf(stderr, "sum of log-probabilities %.4f\n", r->sum);
    }
    return status;
}

static rt_status decode_answer(Texts *t, int n)
{
    t->told_count = 0;
    t->answer_from = t->told ? answer_begin(t) : 0;
    rt_status status = decoder_answer(t->decoder, t->ids, n);
    if (status == RT_OK && !t->decoder->count) return RT_BAD_WEIGHTS;
    if (status == RT_OK) status = tell_scores(t);
    return status == RT_OK ? write_best(t) : status;
}

/* False after telling; the answer is then empty. */
static bool answer(Texts *t, const char *text, size_t bytes, Origin at)
{
    int n = 0;
    t->out[0] = '\0';
    if (!(t->numbers ? read_ids : t->tokenizer ? read_pieces : read_text)(t, text, bytes, at, &n)) return false;
    t->prompt = n;
    const rt_status status = t->vectors ? vectors_encode(t->vectors, t->ids, n) : decode_answer(t, n);
    if (status == RT_OK) return true;
    begin_message(t, at);
    fprintf(stderr, "%s\n", status == RT_BAD_WEIGHTS ? "the model's logits are no numbers" : rt_status_text(status));
    t->out[0] = '\0';
    t->code = status == RT_BAD_WEIGHTS ? EXIT_BAD_DATA : EXIT_OUR_BUG;
    return false;
}

/* ---- all texts ------------------------------------------------------------------------------------------ */

static void put(Texts *t, const char *s, size_t n)
{
    if (t->code == EXIT_IO || (fwrite(s, 1, n, stdout) == n && fflush(stdout) == 0)) return;
    fprintf(stderr, "%s: cannot write to standard output: %s\n", t->session->model->name, strerror(errno));
    t->code = EXIT_IO;
}

/* Every sequence of a search, best first. */
static void add_beams(Texts *t, Text *json, int count)
{
    text_add(json, ",\"beams\":[");
    for (int i = 0; i < count; i++) {
        const RtBeamResult *r = &t->decoder->results[i];
        write_answer(t, r);         /* the first of them was written before, and the others are no longer */
        text_add(json, i ? ",\n   {\"answer\":" : "{\"answer\":");
        json_add_string(json, t->out);
        text_add(json, ",\"ids\":[");
        for (int k = 0; k < r->length; k++) text_printf(json, k ? ",%d" : "%d", r->ids[k]);
        text_add(json, "],\"score\":");
        json_add_number(json, r->score);
        text_add(json, ",\"sum\":");
        json_add_number(json, r->sum);
        text_add(json, "}");
    }
    text_add(json, "]");
}

/* The input as ids, then the numbers. */
static void add_vectors(Texts *t, Text *json)
{
    text_add(json, ",\"input_ids\":[");
    for (int i = 0; i < t->prompt; i++) text_printf(json, i ? ",%d" : "%d", t->ids[i]);
    text_add(json, "]");
    vectors_print_json(t->vectors, json);
}

static void put_vectors(Texts *t, bool answered)
{
    Arena *a = arena_new();
    Text out = text_new(a);
    const bool raw = t->session->choices->raw;
    if (answered) (raw ? vectors_print_raw : vectors_print)(t->vectors, &out);
    if (!raw) text_add(&out, "\n");
    put(t, out.data, out.size);
    arena_free(a);
}

static void put_json(Texts *t, const char *text, size_t bytes, bool answered)
{
    Arena *a = arena_new();
    Text json = text_new(a);
    text_add(&json, t->count ? ",\n {\"input\":" : "\n {\"input\":");
    json_add_bytes(&json, text, bytes);
    if (!t->vectors || !answered) text_add(&json, ",\"answer\":");
    if (!answered) text_add(&json, "null");
    else if (t->vectors) add_vectors(t, &json);
    else json_add_string(&json, t->out);
    if (t->decoder && t->decoder->generation.beams) add_beams(t, &json, answered ? t->decoder->count : 0);
    text_add(&json, "}");
    put(t, json.data, json.size);
    arena_free(a);
}

/* Whether to go on. */
static bool take_text(Texts *t, const char *text, size_t bytes, Origin at)
{
    const bool answered = answer(t, text, bytes, at);
    if (t->session->choices->json) put_json(t, text, bytes, answered);
    else if (t->vectors) put_vectors(t, answered);
    else {
        size_t n = strlen(t->out);
        t->out[n] = '\n';           /* in the place of the NUL */
        put(t, t->out, n + 1);
    }
    t->count++;
    return t->code != EXIT_IO && t->code != EXIT_OUR_BUG;
}

static bool take_lines(Texts *t)
{
    char *line = NULL;
    size_t room = 0;
    Origin at = { "line", 0 };
    bool good = true;
    for (ssize_t n; good && (n = getline(&line, &room, stdin)) >= 0;) {
        at.number++;
        if (n && line[n - 1] == '\n') line[--n] = '\0';
        if (n && line[n - 1] == '\r') line[--n] = '\0';
        good = take_text(t, line, (size_t)n, at);
    }
    if (good && !feof(stdin)) {
        fprintf(stderr, "%s: cannot read standard input: %s\n", t->session->model->name, strerror(errno));
        t->code = EXIT_IO;
        good = false;
    }
    free(line);
    return good;
}

/* Whether a decoder alone has something to go on from without a text: the mark that its tokenizer begins every text with. */
static bool begins_alone(Texts *t)
{
    int n = 0;
    if (!t->tokenizer || t->session->model->has_encoder) return false;
    return pieces(t->tokenizer, &t->scratch, &t->scratch_bytes, "", 0, t->ids, t->most, &n) == RT_OK && n;
}

/* The text of -p, or of the file of -f; NULL after telling. */
static const char *prompt_text(Texts *t, const Prompt *p, size_t *bytes)
{
    enum { MOST_BYTES = 64 << 20 };
    Session *s = t->session;
    *bytes = strlen(p->text);
    if (!p->file) return p->text;
    char *text = file_read(s->arena, s->diag, (Loc){ 0 }, p->text, MOST_BYTES, bytes);
    if (text && *bytes && text[*bytes - 1] == '\n') text[--*bytes] = '\0';
    return text;
}

/* Without a word the lines of standard input. Where these are none, or nobody has put anything there, the beginning of a text. */
static void take_all(Texts *t)
{
    const Choices *c = t->session->choices;
    const bool given = c->word_count || c->prompt_count;
    bool good = given || (isatty(STDIN_FILENO) && begins_alone(t)) || take_lines(t);
    if (good && !given && !t->count && begins_alone(t)) take_text(t, "", 0, (Origin){ "argument", 1 });
    for (int i = 0; i < c->prompt_count && good; i++) {
        const Origin at = { "prompt", (size_t)i + 1 };
        size_t bytes;
        const char *text = prompt_text(t, &c->prompts[i], &bytes);
        good = text && take_text(t, text, bytes, at);
    }
    for (int i = 0; i < c->word_count && good; i++) {
        const Origin at = { "argument", (size_t)i + 1 };
        good = strcmp(c->words[i], "-") ? take_text(t, c->words[i], strlen(c->words[i]), at) : take_lines(t);
    }
}

static RtCharacters characters(const Packed *table, const Packed *texts)
{
    return (RtCharacters){ table->integers, (int)(table->integer_count / 2), texts->integers, (int)texts->integer_count };
}

static bool piece_ids(Session *s, const char *text, int *ids, int *n)
{
    const Model *m = s->model;
    const long long most = m->has_encoder ? m->max_source : m->max_target;
    RtTokenizer t;
    void *scratch = NULL;
    size_t bytes = 0;
    if (rt_tokenizer_open(&t, m->tokenizer_data, m->tokenizer_size) != RT_OK) die("the model's tokenizer is damaged");
    const rt_status status = pieces(&t, &scratch, &bytes, text, strlen(text), ids, (int)most, n);
    free(scratch);
    if (status == RT_OK && *n) return true;
    if (status == RT_OK) diag_error(s->diag, EXIT_BAD_DATA, (Loc){ 0 }, "the text is empty");
    else if (status == RT_TOO_LONG) diag_error(s->diag, EXIT_BAD_DATA, (Loc){ 0 }, "the text has %d tokens, but at most %lld fit", *n, most);
    else diag_error(s->diag, EXIT_BAD_DATA, (Loc){ 0 }, "the text: %s", rt_status_text(status));
    return false;
}

bool command_text_ids(Session *s, const Plan *p, const char *text, int *ids, int *n)
{
    const Model *m = s->model;
    if (m->tokenizer_data) return piece_ids(s, text, ids, n);
    const RtCharacters table = m->has_encoder ? characters(p->source_characters, p->source_texts)
                                              : characters(p->target_characters, p->target_texts);
    const long long most = m->has_encoder ? m->max_source : m->max_target;
    const Loc none = { 0 };
    RtTextFault fault = { 0, 0 };
    rt_status status = rt_characters_encode(&table, text, ids, (int)most, n, &fault);
    if (status == RT_OK && *n > 0) return true;
    if (status == RT_OK) diag_error(s->diag, EXIT_BAD_DATA, none, "the text is empty");
    else if (status == RT_TOO_LONG) diag_error(s->diag, EXIT_BAD_DATA, none, "the text has %d characters, but at most %lld fit", *n, most);
    else if (fault.code_point < 0) diag_error(s->diag, EXIT_BAD_DATA, none, "the text is not valid UTF-8 at byte %zu", fault.at + 1);
    else
        diag_error(s->diag, EXIT_BAD_DATA, none, "U+%04X at character %zu of the text is not in the vocabulary", (unsigned)fault.code_point,
                   characters_in(text, fault.at) + 1);
    return false;
}

/* A setting of the command line that has a meaning for beams alone; NULL where there is none. */
static const char *beam_setting(const GenerationChoices *c)
{
    for (int i = 0; i < c->count; i++)
        if (!strcmp(c->name[i], "length-penalty") || !strcmp(c->name[i], "early-stopping")) return c->name[i];
    return NULL;
}

bool command_generation(Session *s, RtGeneration *g)
{
    const GenerationChoices *c = &s->choices->generation;
    const char *expected;
    *g = generation_of(s->model);
    for (int i = 0; i < c->count; i++) rt_generation_set(g, c->name[i], c->value[i], &expected);
    const char *fault = rt_generation_fault(g), *alone = beam_setting(c);
    if (alone && !g->beams) {
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--%s needs --beam N", alone);
        return false;
    }
    if (fault) diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "%s", fault);
    else if (g->beams > session_slots(s))
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--slots %d are too few for %d beams", session_slots(s), g->beams);
    else return true;
    return false;
}

static bool has_texts(const Model *m) { return m->tokenizer_data || (m->source && m->target); }

static bool can_answer(Session *s)
{
    const Model *m = s->model;
    const Choices *c = s->choices;
    if (c->input_count)
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--input %s: only an xf.graph has inputs; %s answers texts", c->inputs[0], m->name);
    else if (c->stop_count && (c->ids || !has_texts(m) || !m->has_decoder))
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--stop %s: answers are %s here, and no text", c->stops[0], m->has_decoder ? "ids" : "numbers");
    else if (!m->has_decoder && c->generation.count)
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--%s: %s has no decoder and generates nothing", c->generation.name[0], m->name);
    else if (c->raw && m->has_decoder)
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--raw: %s answers by text; vectors are an encoder's", m->name);
    else if (c->raw && c->json) diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--raw and --json are two forms of one answer");
    else return true;
    return false;
}

Exit run_texts(Session *s)
{
    const Model *m = s->model;
    const bool json = s->choices->json;
    RtGeneration settings;
    const bool ready = can_answer(s) && (!m->has_decoder || command_generation(s, &settings));
    Engine *e = ready ? session_engine(s, s->choices->engine, NULL, false) : NULL;
    if (!e) return EXIT_DONE;       /* told to s->diag */
    const Plan *p = e->plan;
    Texts t = { .session = s, .numbers = s->choices->ids || !has_texts(m),
                .most = (int)(m->has_encoder ? m->max_source : m->max_target), .room = 12 * (size_t)m->max_target + 1 };
    if (m->has_decoder) t.decoder = decoder_new(s->arena, e, &settings);
    else t.vectors = vectors_new(s->arena, e);
    RtTokenizer tokenizer;
    if (m->tokenizer_data && !t.numbers) {
        t.tokenizer = &tokenizer;
        t.all = arena_array(s->arena, 2 * (size_t)m->max_target + 2, sizeof *t.all);
        if (rt_tokenizer_open(&tokenizer, m->tokenizer_data, m->tokenizer_size) != RT_OK) die("the model's tokenizer is damaged");
    } else if (!t.numbers) {
        t.source = characters(p->source_characters, p->source_texts);
        t.target = characters(p->target_characters, p->target_texts);
    }
    if (t.decoder) t.decoder->answering.scored = s->choices->verbose;
    if (s->choices->stop_count) {
        t.told = arena_array(s->arena, (size_t)t.decoder->longest + 1, sizeof *t.told);
        t.decoder->answering.told = stop_told;
        t.decoder->answering.user = &t;
    }
    t.ids = arena_array(s->arena, (size_t)t.most, sizeof *t.ids);
    t.out = arena_alloc(s->arena, t.room);
    if (json) put(&t, "{\"answers\":[", 12);
    take_all(&t);
    if (json) put(&t, "\n]}\n", 4);
    engine_close(e);
    free(t.scratch);
    return t.code;
}
