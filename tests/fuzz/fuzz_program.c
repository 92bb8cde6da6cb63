/* fuzz_program.c: any bytes as the standard input of a generated program, whose model reverses its
 * input.
 *
 * The first byte chooses the options (--ids, --json) and the kind of model (with or without a
 * tokenizer, with or without an encoder). Each input line gives one output line; with --json, one
 * JSON object. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <getopt.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rt_cli.h"
#include "support_fuzz.h"

enum { LETTERS = 5, START = LETTERS, END, VOCAB, LONGEST = 8, OPTION_IDS = 1, OPTION_JSON = 2, NO_TOKENIZER = 4, ALONE = 8 };

typedef struct Program { rt_team *team; } Program;
typedef struct State { int ids[LONGEST], n, position; float logits[VOCAB]; } State;

static const int32_t table[2 * LETTERS] = { ' ', 4, 'a', 0, 'b', 1, 0xe9, 2, 0x1f600, 3 };
static const int32_t texts[VOCAB] = { 'a', 'b', 0xe9, 0x1f600, ' ', -1, -1 };
static const RtCharacters characters = { table, LETTERS, texts, VOCAB };

static rt_status program_bind(void *m, const void *weights, size_t bytes) { return (void)m, weights && bytes == 1 ? RT_OK : RT_BAD_WEIGHTS; }
static rt_status program_threads(void *m, int n) { return rt_team_resize(&((Program *)m)->team, n); }
static rt_team *program_team(const void *m) { return ((const Program *)m)->team; }
static void program_reset(void *state) { memset(state, 0, sizeof(State)); }

static rt_status program_encode(const void *m, void *state, int slot, const int *ids, int n)
{
    State *s = state;
    (void)m;
    fuzz_expect(slot == 0 && n > 0 && n <= LONGEST);
    for (int i = 0; i < n; i++) fuzz_expect(ids[i] >= 0 && ids[i] < LETTERS);
    memcpy(s->ids, ids, (size_t)n * sizeof *ids);
    s->n = n, s->position = 0;
    return RT_OK;
}

static rt_status program_decode(const void *m, void *state, const rt_token *rows, int n)
{
    State *s = state;
    (void)m;
    for (int i = 0; i < n; i++) {
        fuzz_expect(rows[i].pos == s->position && rows[i].id >= 0 && rows[i].id < VOCAB && s->position < LONGEST + 2);
        s->position++;
    }
    for (int i = 0; i < VOCAB; i++) s->logits[i] = -3;
    s->logits[s->position > s->n ? END : s->ids[s->n - s->position]] = -0.5f;
    return RT_OK;
}

static const float *program_logits(const void *state) { return ((const State *)state)->logits; }

static rt_status program_next(const void *m, void *state, int id, int *next)
{
    State *s = state;
    const rt_token row = { 0, s->position, id };
    const rt_status status = program_decode(m, state, &row, 1);
    *next = s->position > s->n ? END : s->ids[s->n - s->position];
    return status;
}

static rt_status program_clear(void *state, int slot)
{
    fuzz_expect(slot == 0);
    ((State *)state)->position = 0;
    return RT_OK;
}

static rt_status program_tokenize(const void *m, void *s, const char *utf8, int *ids, int room, int *n,
                                  RtTextFault *fault)
{
    (void)m, (void)s;
    return rt_characters_encode(&characters, utf8, ids, room, n, fault);
}

static rt_status program_detokenize(const void *m, const int *ids, int n, char *out, size_t cap, size_t *bytes)
{
    (void)m;
    return rt_characters_decode(&characters, ids, n, out, cap, bytes);
}

static const int end_ids[] = { END };
static const RtGeneration generation = { .ends = end_ids, .end_count = 1, .length_penalty = 1 };

static rt_program program_of(int choice)
{
    rt_program p = {
        .name = "turn", .about = "Turn a word around.", .spec = "turn.lua", .version = "1", .model_bytes = sizeof(Program),
        .state_bytes = sizeof(State), .weights_bytes = 1, .weights = "w", .parameters = 1, .default_threads = 1, .max_threads = 1,
        .max_source = LONGEST, .source_vocab = LETTERS, .max_target = LONGEST + 2, .vocab = VOCAB, .start = START, .slots = 1,
        .generation = &generation,
        .rows = 4, .logits_stride = VOCAB, .bind = program_bind, .threads = program_threads, .team = program_team, .reset = program_reset,
        .encode = program_encode, .decode = program_decode, .logits = program_logits, .next = program_next, .clear = program_clear,
        .tokenize = program_tokenize, .detokenize = program_detokenize,
    };
    if (choice & NO_TOKENIZER) p.tokenize = NULL, p.detokenize = NULL;
    if (choice & ALONE) p.max_source = p.source_vocab = 0;
    return p;
}

/* Standard output goes to this memory file; standard input reads another, with the input bytes. */
static int output = -1;

static void redirect(const uint8_t *data, size_t size)
{
    if (output < 0) {
        output = memfd_create("output", 0);
        fuzz_expect(output >= 0 && dup2(output, STDOUT_FILENO) == STDOUT_FILENO);
    }
    fuzz_expect(freopen(fuzz_file(data, size), "r", stdin) == stdin);
    fuzz_expect(ftruncate(output, 0) == 0 && lseek(output, 0, SEEK_SET) == 0);
}

static size_t lines_in(const uint8_t *data, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < size; i++) n += data[i] == '\n';
    return n + (size && data[size - 1] != '\n');
}

/* Check that each line of `text` is a JSON object with an input. */
static void check_objects(char *text)
{
    for (char *line = text, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        fuzz_expect(end);
        json_t *object = json_loadb(line, (size_t)(end - line), JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
        fuzz_expect(json_is_object(object) && json_object_get(object, "input"));
        json_decref(object);
    }
}

static void check_output(size_t lines, bool json)
{
    fuzz_expect(fflush(stdout) == 0);
    const off_t size = lseek(output, 0, SEEK_END);
    fuzz_expect(size >= 0);
    char *text = malloc((size_t)size + 1);
    fuzz_expect(text && pread(output, text, (size_t)size, 0) == size);
    text[size] = '\0';
    fuzz_expect(strlen(text) == (size_t)size);
    fuzz_expect(lines_in((const uint8_t *)text, (size_t)size) == lines && (!size || text[size - 1] == '\n'));
    if (json) check_objects(text);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size) return 0;
    const int choice = data[0];
    const rt_program p = program_of(choice);
    char name[] = "turn", ids[] = "--ids", json[] = "--json", *argv[4] = { name };
    int argc = 1;
    if (choice & OPTION_IDS) argv[argc++] = ids;
    if (choice & OPTION_JSON) argv[argc++] = json;
    redirect(data + 1, size - 1);
    optind = 0;
    const int code = rt_cli_main(&p, argc, argv);
    fuzz_expect(code == 0 || code == 65);
    check_output(lines_in(data + 1, size - 1), choice & OPTION_JSON);
    return 0;
}
