/* command_tokenize.c: convert texts to ids or, with --decode, ids to texts. Only the tokenizer is
 * read, not the model. Texts may hold any bytes; invalid UTF-8 counts as U+FFFD. */
#include "command.h"
#include "line.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json_text.h"
#include "rt_cli_language.h"
#include "tokenizer.h"

typedef struct Tokenize {
    const Options *options;
    RtTokenizer tokenizer;
    RtTokens out;                   /* room for `out.room` tokens */
    int n;
    void *scratch;  size_t scratch_bytes;
    char *text;  size_t room;       /* for --decode */
    int count;                      /* texts so far */
    Exit code;
} Tokenize;

static void *grown(void *old, size_t bytes)
{
    void *p = realloc(old, bytes ? bytes : 1);
    if (!p) no_memory("%zu bytes to convert a text", bytes);
    return p;
}

static void make_room(Tokenize *t, int tokens)
{
    t->out.ids = grown(t->out.ids, (size_t)tokens * sizeof *t->out.ids);
    t->out.types = grown(t->out.types, (size_t)tokens);
    t->out.spans = grown(t->out.spans, (size_t)tokens * sizeof *t->out.spans);
    t->out.characters = grown(t->out.characters, (size_t)tokens * sizeof *t->out.characters);
    t->out.room = tokens;
}

static void complain(Tokenize *t, const char *what)
{
    fprintf(stderr, "xformc: text %d: %s\n", t->count + 1, what);
    if (!t->code) t->code = EXIT_BAD_DATA;
}

/* ---- texts to ids ----------------------------------------------------------------------------------------------------- */

/* Most texts need far less scratch than the worst case, so the scratch grows on demand. */
static bool encode(Tokenize *t, const char *text, size_t bytes)
{
    const RtTokenText x = { text, bytes, t->options->pair, t->options->pair ? strlen(t->options->pair) : 0,
                            t->options->no_special };
    const size_t longest = x.other_bytes > bytes ? x.other_bytes : bytes, most = rt_tokenizer_scratch_bytes(&t->tokenizer, longest, true);
    if (most == SIZE_MAX) no_memory("a text of %zu bytes", longest);
    for (;;) {
        const rt_status status = rt_tokenizer_encode(&t->tokenizer, &x, &t->out, &t->n, t->scratch, t->scratch_bytes);
        if (status == RT_OK) {
            if (!x.plain && rt_tokenizer_begins_twice(&t->tokenizer, t->out.ids, t->n)) {
                size_t n;
                const char *mark = rt_tokenizer_piece(&t->tokenizer, t->out.ids[0], &n);
                fprintf(stderr, "xformc: text %d: begins with %.*s twice: the tokenizer already "
                        "adds it to every text\n", t->count + 1, (int)n, mark);
            }
            return true;
        }
        if (status == RT_TOO_LONG) make_room(t, t->n);
        else if (status == RT_NO_ROOM && t->scratch_bytes < most) {
            const size_t more = 4 * t->scratch_bytes + (64 << 10);
            free(t->scratch);
            t->scratch = grown(NULL, t->scratch_bytes = more < most ? more : most);
        } else {
            complain(t, rt_text_fault(status));
            return false;
        }
    }
}

static void add_piece(const Tokenize *t, Text *to, int id)
{
    size_t n;
    const char *piece = rt_tokenizer_piece(&t->tokenizer, id, &n);
    json_add_bytes(to, piece ? piece : "", n);
}

static void add_spans(Text *to, const RtTokenSpan *spans, int n)
{
    text_add(to, "[");
    for (int i = 0; i < n; i++) text_printf(to, i ? ",[%u,%u]" : "[%u,%u]", spans[i].begin, spans[i].end);
    text_add(to, "]");
}

static void add_json(const Tokenize *t, Text *to, const char *text, size_t bytes)
{
    text_add(to, t->count ? ",\n {\"text\":" : "\n {\"text\":");
    json_add_bytes(to, text, bytes);
    text_add(to, ",\"ids\":[");
    for (int i = 0; i < t->n; i++) text_printf(to, i ? ",%d" : "%d", t->out.ids[i]);
    text_add(to, "],\"pieces\":[");
    for (int i = 0; i < t->n; i++) {
        if (i) text_add(to, ",");
        add_piece(t, to, t->out.ids[i]);
    }
    text_add(to, "],\"types\":[");
    for (int i = 0; i < t->n; i++) text_printf(to, i ? ",%d" : "%d", t->out.types[i]);
    text_add(to, "],\"offsets\":");
    add_spans(to, t->out.spans, t->n);
    text_add(to, ",\"character_offsets\":");
    add_spans(to, t->out.characters, t->n);
    text_add(to, "}");
}

static void add_ids(const Tokenize *t, Text *to)
{
    for (int i = 0; i < t->n; i++) {
        text_printf(to, t->options->pieces || !i ? "%d" : " %d", t->out.ids[i]);
        if (!t->options->pieces) continue;
        text_printf(to, "\t%u-%u\t", t->out.spans[i].begin, t->out.spans[i].end);
        add_piece(t, to, t->out.ids[i]);
        text_add(to, "\n");
    }
    text_add(to, "\n");
}

/* ---- ids to texts ------------------------------------------------------------------------------------------------------- */

/* Report an id of `digits` digits that is out of range; a long one is cut. */
static void complain_of_id(Tokenize *t, const char *id, size_t digits)
{
    enum { SHOWN = 20 };
    fprintf(stderr, "xformc: text %d: id %.*s%s is not in the vocabulary (0 to %d)\n", t->count + 1,
            digits < SHOWN ? (int)digits : SHOWN, id, digits > SHOWN ? "…" : "", rt_tokenizer_size(&t->tokenizer) - 1);
    t->code = EXIT_BAD_DATA;
}

/* Read ids separated by blanks, commas or brackets. */
static bool read_ids(Tokenize *t, const char *text, size_t bytes)
{
    t->n = 0;
    for (size_t i = 0; i < bytes;) {
        const unsigned char c = (unsigned char)text[i];
        long id = 0;
        if (isspace(c) || c == ',' || c == '[' || c == ']') {
            i++;
            continue;
        }
        if (!isdigit(c)) {
            complain(t, "expected token ids: whole numbers separated by blanks");
            return false;
        }
        const size_t first = i;
        for (; i < bytes && isdigit((unsigned char)text[i]); i++)
            if (id < INT32_MAX / 16) id = 10 * id + (text[i] - '0');
        if (id >= rt_tokenizer_size(&t->tokenizer)) {
            complain_of_id(t, text + first, i - first);
            return false;
        }
        if (t->n == t->out.room) make_room(t, 2 * t->out.room);
        t->out.ids[t->n++] = (int)id;
    }
    return true;
}

static bool decode(Tokenize *t, size_t *used)
{
    for (;;) {
        *used = 0;
        const rt_status status = rt_tokenizer_decode(&t->tokenizer, t->out.ids, t->n, t->options->no_special, t->text, t->room, used);
        if (status == RT_OK) return true;
        if (status != RT_NO_ROOM || t->room > (size_t)1 << 32) {
            complain(t, rt_status_text(status));
            return false;
        }
        t->text = grown(t->text, t->room = 2 * t->room + 256);
    }
}

static void add_decoded_json(const Tokenize *t, Text *to, size_t used)
{
    text_add(to, t->count ? ",\n {\"ids\":[" : "\n {\"ids\":[");
    for (int i = 0; i < t->n; i++) text_printf(to, i ? ",%d" : "%d", t->out.ids[i]);
    text_add(to, "],\"text\":");
    json_add_bytes(to, t->text, used);
    text_add(to, "}");
}

/* ---- all texts ------------------------------------------------------------------------------------------------------------ */

static void put(Tokenize *t, const char *s, size_t n)
{
    if (t->code == EXIT_IO || fwrite(s, 1, n, stdout) == n) return;
    fprintf(stderr, "xformc: cannot write to standard output: %s\n", strerror(errno));
    t->code = EXIT_IO;
}

static void take_text(Tokenize *t, const char *text, size_t bytes)
{
    Arena *a = arena_new();
    Text line = text_new(a);
    const bool json = t->options->json, decoding = t->options->decode;
    size_t used = 0;
    const bool good = decoding ? read_ids(t, text, bytes) && decode(t, &used) : encode(t, text, bytes);
    if (!good) t->n = 0;
    if (json && decoding && good) add_decoded_json(t, &line, used);
    else if (json && good) add_json(t, &line, text, bytes);
    else if (json) text_add(&line, t->count ? ",\n null" : "\n null");
    else if (!decoding) add_ids(t, &line);
    else {
        if (good) text_add_bytes(&line, t->text, used);
        text_add(&line, "\n");
    }
    put(t, line.data, line.size);
    t->count++;
    arena_free(a);
}

static void take_lines(Tokenize *t)
{
    enum { LINE_MOST = 64 << 20 };
    char *line = NULL;
    size_t room = 0;
    long long n = 0;
    while (t->code != EXIT_IO && (n = line_read(&line, &room, LINE_MOST, stdin)) >= 0) {
        if (n && line[n - 1] == '\n') n--;
        take_text(t, line, (size_t)n);
        if (fflush(stdout) != 0) put(t, "", 1);
    }
    if (n == LINE_TOO_LONG) complain(t, "a line is longer than 64 MiB; the rest of the input is ignored");
    else if (!feof(stdin) && t->code != EXIT_IO) {
        fprintf(stderr, "xformc: cannot read standard input: %s\n", strerror(errno));
        t->code = EXIT_IO;
    }
    free(line);
}

/* Set the languages, so that texts are converted as for a translation. A target language that does
 * not change the ids is an error. */
static Exit translate(Tokenize *t)
{
    const CliLanguages l = { .from = t->options->source_language, .to = t->options->target_language, .messages = stderr, .program = "xformc" };
    int target;
    const int code = cli_languages(&t->tokenizer, &l, &target);
    if (code || target < 0) return (Exit)code;
    fprintf(stderr, "xformc: --target-language has no effect here: its token begins the answer and "
            "does not change the ids of a text\n");
    return EXIT_USAGE;
}

static Exit tokenize(const Options *o, const TokenizerBlob *blob)
{
    Tokenize t = { .options = o };
    if (rt_tokenizer_open(&t.tokenizer, blob->data, blob->size) != RT_OK) die("the runtime rejects the tokenizer");
    const Exit code = translate(&t);
    if (code) return code;
    rt_tokenizer_literal(&t.tokenizer, NULL, o->plain_text ? -1 : 0);
    make_room(&t, 256);
    t.text = grown(NULL, t.room = 1024);
    if (o->json) put(&t, "{\"texts\":[", 10);
    for (int i = 0; i < o->word_count; i++) {
        if (strcmp(o->words[i], "-") == 0) take_lines(&t);
        else take_text(&t, o->words[i], strlen(o->words[i]));
    }
    if (!o->word_count) take_lines(&t);
    if (o->json) put(&t, "\n]}\n", 4);
    free(t.out.ids);
    free(t.out.types);
    free(t.out.spans);
    free(t.out.characters);
    free(t.scratch);
    free(t.text);
    return t.code;
}

Exit command_tokenize(const Options *o)
{
    Arena *a = arena_new();
    Diag *d = diag_new(a);
    TokenizerBlob blob;
    Exit code = EXIT_DONE;
    const bool good = tokenizer_import(a, d, (Loc){ 0 }, o->spec, &blob);
    diag_print(d, stderr, diag_colours(2));
    if (good && o->verbose) fprintf(stderr, "%s: %zu bytes of tables\n", o->spec, blob.size);
    code = good ? tokenize(o, &blob) : diag_exit(d);
    arena_free(a);
    return code;
}
