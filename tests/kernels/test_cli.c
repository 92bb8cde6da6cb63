/* test_cli.c: The command line of a generated program, with a model that reverses a text: lines,
 * arguments, ids, JSON with any bytes, options, beams, weights files, a full disk, a closed pipe.
 * Also a decoder alone and an encoder alone. Each case runs rt_cli_main in a child process and
 * checks both outputs and the exit code. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "kernel_test.h"
#include "rt_cli.h"
#include "rt_weights.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the model: letters a..z and é, start and end; its weights: the eight bytes "reversed" --- */

enum { LETTERS = 27, START = LETTERS, END, VOCAB, LONGEST = 8 };
typedef struct Model { const char *weights; rt_team *team; } Model;
typedef struct State { int ready, ids[LONGEST], n, position; float logits[VOCAB]; } State;

static const char embedded[] = "reversed";
static int32_t table[LETTERS * 2], texts[VOCAB];
static const RtCharacters characters = { table, LETTERS, texts, VOCAB };

static rt_status model_bind(void *model, const void *weights, size_t bytes)
{
    if (bytes != 8 || memcmp(weights, embedded, 8)) return RT_BAD_WEIGHTS;
    ((Model *)model)->weights = weights;
    return RT_OK;
}

static rt_status model_threads(void *model, int n) { return rt_team_resize(&((Model *)model)->team, n); }
static rt_team *model_team(const void *model) { return ((const Model *)model)->team; }
static void model_reset(void *state) { memset(state, 0, sizeof(State)), ((State *)state)->ready = 1; }

static rt_status model_encode(const void *model, void *state, int slot, const int *ids, int n)
{
    State *s = state;
    if (slot || !s->ready || !((const Model *)model)->weights || n < 1 || n > LONGEST) return RT_ORDER;
    memcpy(s->ids, ids, (size_t)n * sizeof *ids);
    s->n = n, s->position = 0;
    return RT_OK;
}

/* The right id has logit -0.5, and every other id has -3. */
static rt_status model_decode(const void *model, void *state, const rt_token *rows, int n)
{
    State *s = state;
    (void)model;
    if (n != 1 || rows->pos != s->position || rows->id != (s->position ? s->ids[s->n - s->position] : START)) return RT_ORDER;
    s->position++;
    for (int i = 0; i < VOCAB; i++) s->logits[i] = -3;
    s->logits[s->position > s->n ? END : s->ids[s->n - s->position]] = -0.5f;
    return RT_OK;
}

static const float *model_logits(const void *state) { return ((const State *)state)->logits; }

static rt_status model_next(const void *model, void *state, int id, int *next)
{
    State *s = state;
    const rt_token row = { 0, s->position, id };
    const rt_status status = model_decode(model, state, &row, 1);
    *next = s->position > s->n ? END : s->ids[s->n - s->position];
    return status;
}

static rt_status model_clear(void *state, int slot)
{
    (void)slot;
    ((State *)state)->position = 0;
    return RT_OK;
}

static rt_status model_tokenize(const void *model, void *state, const char *utf8, int *ids, int room, int *n,
                                RtTextFault *fault)
{
    (void)model, (void)state;
    return rt_characters_encode(&characters, utf8, ids, room, n, fault);
}

static rt_status model_detokenize(const void *model, const int *ids, int n, char *out, size_t cap, size_t *bytes)
{
    (void)model;
    return rt_characters_decode(&characters, ids, n, out, cap, bytes);
}

static const int end_ids[] = { END };
static const RtGeneration generation = { .ends = end_ids, .end_count = 1, .length_penalty = 1 };
static const rt_program program = {
    .name = "reverse", .about = "Turn a word around.", .spec = "reverse.lua", .example = "abc", .version = "1.2.3", .isa = 0,
    .model_bytes = sizeof(Model), .state_bytes = sizeof(State), .weights_bytes = 8, .weights = embedded,
    .weights_file = "reverse.weights", .parameters = 3, .dtype = "int8", .default_threads = 0, .max_threads = 4, .max_source = LONGEST,
    .source_vocab = LETTERS, .max_target = LONGEST + 2, .vocab = VOCAB, .start = START, .slots = 1,
    .generation = &generation, .rows = 1, .logits_stride = VOCAB,
    .bind = model_bind, .threads = model_threads, .team = model_team, .reset = model_reset, .encode = model_encode,
    .decode = model_decode, .logits = model_logits, .next = model_next, .clear = model_clear,
    .tokenize = model_tokenize, .detokenize = model_detokenize,
};

static int set_up(void **state)
{
    (void)state;
    for (int i = 0; i < LETTERS; i++) {
        texts[i] = i < 26 ? 'a' + i : 0xe9;
        table[2 * i] = texts[i], table[2 * i + 1] = i;
    }
    texts[START] = texts[END] = -1;
    return 0;
}

/* ---- running it ------------------------------------------------------------------------------ */

enum { TEXT_ROOM = 8192, ARGUMENTS = 8 };
typedef struct Result { int code; char out[TEXT_ROOM], err[TEXT_ROOM]; } Result;
static Result result;

static void read_back(int fd, char *text)
{
    const ssize_t n = pread(fd, text, TEXT_ROOM - 1, 0);
    assert_true(n >= 0);
    text[n] = '\0';
    close(fd);
}

static int scratch_file(const void *text, size_t bytes)
{
    char name[] = "/tmp/test_host_XXXXXX";
    const int fd = mkstemp(name);
    assert_true(fd >= 0);
    unlink(name);
    assert_int_equal(write(fd, text, bytes), bytes);
    lseek(fd, 0, SEEK_SET);
    return fd;
}

/* Run `p` with up to ARGUMENTS words, `input` as standard input, and out_fd as standard output,
 * unless it is -1. Sets `result`, without the output to out_fd. */
static void run(const rt_program *p, const char *const *words, const void *input, size_t bytes, int out_fd)
{
    char *argv[ARGUMENTS + 2] = { (char *)(uintptr_t)p->name };
    const int in = scratch_file(input, bytes), out = scratch_file("", 0), err = scratch_file("", 0);
    int argc = 1, status;
    pid_t child;
    for (; words[argc - 1]; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(PATIENCE);
        dup2(in, 0), dup2(out_fd < 0 ? out : out_fd, 1), dup2(err, 2);
        status = rt_cli_main(p, argc, argv);
        fflush(NULL);
        _exit(status);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) || WIFSIGNALED(status));
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); /* as in a shell */
    close(in);
    read_back(out, result.out), read_back(err, result.err);
}

#define WORDS(...) ((const char *const[ARGUMENTS + 1]){ __VA_ARGS__ })

static void check(int code, const char *out, const char *err)
{
    if (result.code != code || strcmp(result.out, out) || !strstr(result.err, err) || (!*err && *result.err))
        fail_msg("exit %d\n%s--- expected %d\n%s%s\n", result.code, result.out, code, result.err, err);
}

static void lines(const char *input, int code, const char *out, const char *err)
{
    run(&program, WORDS(NULL), input, strlen(input), -1);
    check(code, out, err);
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void good_lines(void **state)
{
    (void)state;
    lines("abc\nxy\n", 0, "cba\nyx\n", "");
    lines("abc\nxy", 0, "cba\nyx\n", "");
    lines("abc\r\nxy\r\n", 0, "cba\nyx\n", "");
    lines("\xc3\xa9z\n", 0, "z\xc3\xa9\n", "");
    lines("", 0, "", "");
}

static void bad_lines(void **state)
{
    static char many[100002];
    (void)state;
    lines("ab\n\ncd\n", 65, "ba\n\ndc\n", "reverse: line 2: empty; 1 to 8 characters fit\n");
    lines("ab\na\xc3\xa9" "c\xc3\xa8\nb\n", 65, "ba\n\nb\n",
          "reverse: line 2: '\xc3\xa8' (U+00E8) at character 4 is not in the vocabulary\n");
    lines("a\tb\n", 65, "\n", "reverse: line 1: U+0009 at character 2 is not in the vocabulary\n");
    lines("\xc3\xa9" "a\xff\n", 65, "\n", "reverse: line 1: not valid UTF-8 at byte 4\n");
    lines("abcdefgh\nabcdefghi\n", 65, "hgfedcba\n\n", "reverse: line 2: 9 characters, but at most 8 fit\n");
    memset(many, 'a', 100000), many[100000] = '\n';
    lines(many, 65, "\n", "reverse: line 1: 100000 characters, but at most 8 fit\n");
    run(&program, WORDS(NULL), "a\0b\nc\n", 6, -1);
    check(65, "\nc\n", "reverse: line 1: a NUL at byte 2\n");
}

static void arguments(void **state)
{
    (void)state;
    run(&program, WORDS("abc", "", "xy"), "", 0, -1);
    check(65, "cba\n\nyx\n", "reverse: argument 2: empty");
    run(&program, WORDS("ab", "-", "cd"), "xy\n", 3, -1);
    check(0, "ba\nyx\ndc\n", "");
    run(&program, WORDS("--", "-t"), "", 0, -1);
    check(65, "\n", "argument 1: '-' (U+002D) at character 1");
}

/* ---- ids and JSON ---------------------------------------------------------------------------- */

static void words(int code, const char *out, const char *err, const char *const *w)
{
    run(&program, w, "", 0, -1);
    check(code, out, err);
}

static void ids(void **state)
{
    (void)state;
    words(0, "2 1 0 28\n25 28\n", "", WORDS("--ids", "0 1 2", " 25,"));
    words(65, "\n", "reverse: argument 1: id 27 at position 2 is not in the vocabulary, 0 to 26\n", WORDS("--ids", "3 27"));
    words(65, "\n", "reverse: argument 1: expected a whole number from 0 to 26 at byte 3\n", WORDS("--ids", "3 a"));
    words(65, "\n", "reverse: argument 1: expected a whole number from 0 to 26 at byte 1\n", WORDS("--ids", "--", "-1"));
    words(65, "\n", "reverse: argument 1: expected a whole number from 0 to 26 at byte 1\n", WORDS("--ids", "99999999999"));
    words(65, "\n", "reverse: argument 1: empty; 1 to 8 ids fit\n", WORDS("--ids", " "));
    words(65, "\n", "reverse: argument 1: 9 ids, but at most 8 fit\n", WORDS("--ids", "1 2 3 4 5 6 7 8 9"));
}

/* The right id has probability 1 / (1 + 28 exp(-2.5)) at each step. */
static void json(void **state)
{
    static const char end[] = ",\"finished\":true}\n";
    char expected[512];
    (void)state;
    snprintf(expected, sizeof expected,
             "{\"input\":\"ab\",\"input_ids\":[0,1],\"ids\":[1,0,28],\"answer\":\"ba\",\"score\":%.9g%s", -3 * log(1 + 28 * exp(-2.5)), end);
    words(0, expected, "", WORDS("--json", "ab"));
    snprintf(expected, sizeof expected,
             "{\"input\":\"0, 26\",\"input_ids\":[0,26],\"ids\":[26,0,28],\"answer\":\"\xc3\xa9" "a\",\"score\":%.9g%s",
             -3 * log(1 + 28 * exp(-2.5)), end);
    words(0, expected, "", WORDS("--json", "--ids", "0, 26"));
    words(65, "{\"input\":\"\",\"error\":\"empty; 1 to 8 characters fit\"}\n", "", WORDS("--json", ""));
    words(65, "{\"input\":\"a\\\"\\\\/\",\"error\":\"'\\\"' (U+0022) at character 2 is not in the vocabulary\"}\n", "",
          WORDS("--json", "a\"\\/"));
}

/* Control and format characters, and invalid UTF-8: the JSON stays valid and does nothing to a
 * terminal. */
static void json_bytes(void **state)
{
    static const struct { const char *bytes; size_t n; const char *escaped; } cases[] = {
        { "\0\1\t\x1f", 4, "\\u0000\\u0001\\u0009\\u001f" }, { "\x7f\xc2\x80\xc2\x9f", 5, "\\u007f\\u0080\\u009f" },
        { "\x80", 1, "\\ufffd" }, { "\xff\xfe", 2, "\\ufffd\\ufffd" }, { "\xc3", 1, "\\ufffd" }, { "\xe2\x82z", 3, "\\ufffd\\ufffdz" },
        { "\xc0\x81", 2, "\\ufffd\\ufffd" }, { "\xed\xa0\x80", 3, "\\ufffd\\ufffd\\ufffd" },
        { "\xf4\x90\x80\x80", 4, "\\ufffd\\ufffd\\ufffd\\ufffd" },
        { "\xe2\x80\xae\xef\xbb\xbf", 6, "\\u202e\\ufeff" }, { "\xf0\x9f\x98\x80", 4, "\xf0\x9f\x98\x80" }, { "'/<\xc3\xa9", 5, "'/<\xc3\xa9" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char line[16], expected[64];
        memcpy(line, cases[i].bytes, cases[i].n);
        line[cases[i].n] = '\n';
        run(&program, WORDS("--json"), line, cases[i].n + 1, -1);
        snprintf(expected, sizeof expected, "{\"input\":\"%s\",\"error\":\"", cases[i].escaped);
        if (strncmp(result.out, expected, strlen(expected)) || result.code != 65) fail_msg("case %zu: %s expected %s", i, result.out, expected);
    }
}

/* Programs with only a decoder or only an encoder have different calls and JSON keys. This decoder
 * counts: the next id is the last one plus 1. */
static rt_status count_decode(const void *model, void *state, const rt_token *rows, int n)
{
    State *s = state;
    (void)model;
    for (int i = 0; i < n; i++)
        if (rows[i].pos != s->position++) return RT_ORDER;
    for (int i = 0; i < VOCAB; i++) s->logits[i] = i == (rows[n - 1].id + 1) % VOCAB ? 0 : -100;
    return RT_OK;
}

static rt_status count_next(const void *model, void *state, int id, int *next)
{
    const rt_token row = { 0, ((State *)state)->position, id };
    *next = (id + 1) % VOCAB;
    return count_decode(model, state, &row, 1);
}

static void decoder_alone(void **state)
{
    rt_program p = program;
    (void)state;
    p.max_source = 0, p.encode = NULL, p.tokenize = NULL, p.detokenize = NULL, p.rows = 3, p.decode = count_decode, p.next = count_next;
    run(&p, WORDS("1 2 3 4 5", "25 26", "0"), "", 0, -1);
    check(0, "6 7 8 9 10 11\n27 28\n1 2 3 4 5 6 7 8 9 10\n", "");
    run(&p, WORDS("--json", "26"), "", 0, -1);
    check(0, "{\"input\":\"26\",\"input_ids\":[26],\"ids\":[27,28],\"answer\":null,\"score\":0,\"finished\":true}\n", "");
    run(&p, WORDS("29"), "", 0, -1);
    check(65, "\n", "id 29 at position 1 is not in the vocabulary, 0 to 28");
}

static rt_status note_ids(const void *model, void *state, int slot, const int *ids, int n)
{
    (void)model, (void)slot;
    for (int i = 0; i < n; i++) ((State *)state)->logits[3 * i] = (float)ids[i] / 2, ((State *)state)->logits[3 * i + 1] = -1;
    return RT_OK;
}

static void encoder_alone(void **state)
{
    rt_program p = program;
    (void)state;
    p.max_target = p.vocab = 0, p.encode = note_ids, p.tokenize = NULL, p.detokenize = NULL;
    p.width = 2, p.hidden_stride = 3, p.hidden = model_logits, p.vectors = &rt_cli_vector;
    run(&p, WORDS("3 4"), "", 0, -1);
    check(0, "1.5 -1 2 -1\n", "");
    run(&p, WORDS("--json", "3 4", "x"), "", 0, -1);
    check(65, "{\"input\":\"3 4\",\"input_ids\":[3,4],\"hidden\":[[1.5,-1],[2,-1]]}\n"
              "{\"input\":\"x\",\"error\":\"the model has no tokenizer: pass token ids, such as 1 2 3; expected one at byte 1\"}\n", "");
}

/* ---- options --------------------------------------------------------------------------------- */

static void options(void **state)
{
    static const char *const threads[][3] = { { "-t", "2" }, { "-t3" }, { "--threads=4" }, { "--threads", "1" } };
    (void)state;
    for (size_t i = 0; i < COUNT(threads); i++) {
        run(&program, WORDS("ab", threads[i][0], threads[i][1]), "", 0, -1);
        check(0, "ba\n", "");
    }
    run(&program, WORDS("-t", "1", "--pin", "ab"), "", 0, -1);
    check(0, "ba\n", "");
    run(&program, WORDS("--version"), "", 0, -1);
    check(0, "reverse (xformc) 1.2.3\n", "");
    run(&program, WORDS("-h"), "", 0, -1);
    assert_true(result.code == 0 && !strncmp(result.out, "Examples:\n  reverse 'abc'\n", 26));
    assert_non_null(strstr(result.out, "  -t, --threads N            Number of threads"));
    assert_non_null(strstr(result.out, "      --weights FILE         Use"));
}

static void wrong_options(void **state)
{
    static const struct { const char *word, *message; } wrong[] = {
        { "--thread5", "unknown option '--thread5'; did you mean '--threads'?" },
        { "--wieghts=x", "unknown option '--wieghts'; did you mean '--weights'?" },
        { "--incomprehensible-words", "unknown option '--incomprehensible-words'\n" },
        { "-x", "unknown option '-x'" },
        { "--pin=3", "option '--pin' takes no argument" }, { "-t", "option '--threads' needs an argument" },
        { "--weights", "option '--weights' needs an argument" },
        { "-t0", "--threads must be a whole number from 1 to 4, not '0'" },
        { "-t5", "not '5'" }, { "-t2x", "not '2x'" }, { "--threads=", "not ''" }, { "-t-1", "not '-1'" },
        { "-t99999999999999999999", "--threads must be" }, { "-r0", "--repetitions must be a whole number from 1 to 1000, not '0'" },
        { "-r3", "--repetitions needs --bench" },
        { "--beam=0", "--beam must be a whole number from 1 to 128, not '0'" }, { "--beam=129", "not '129'" }, { "--beam=2x", "not '2x'" },
        { "--length-penalty=1e9", "--length-penalty must be a number from -10 to 10, not '1e9'" },
        { "--length-penalty=x", "not 'x'" }, { "--length-penalty=1", "need --beam N, with N at least 2" },
        { "--early-stopping=yes", "--early-stopping must be false, true or never, not 'yes'" },
        { "--early-stopping=true", "need --beam N, with N at least 2" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        run(&program, WORDS(wrong[i].word), "ab\n", 3, -1);
        check(2, "", wrong[i].message);
        assert_non_null(strstr(result.err, "Try 'reverse --help'"));
    }
}

static void begins_with(const char *expected)
{
    if (result.code || *result.err || strncmp(result.out, expected, strlen(expected))) fail_msg("exit %d\n%s%s", result.code, result.out, result.err);
}

static void actions(void **state)
{
    rt_program p = program;
    (void)state;
    words(2, "", "only one of --info, --check, --selftest and --bench can be given", WORDS("--info", "--check"));
    words(2, "", "'ab': no text is read with --info", WORDS("--info", "ab"));
    words(2, "", "--ids has no effect", WORDS("--selftest", "--ids"));
    words(65, "", "the embedded weights: packed without the values that this check needs", WORDS("--check"));
    words(65, "", "the embedded weights: packed without the values that this check needs", WORDS("--selftest"));
    run(&p, WORDS("--info", "--json", "-t2"), "", 0, -1);
    begins_with("{\"name\":\"reverse\",\"about\":\"Turn a word around.\",\"spec\":\"reverse.lua\",\"version\":\"1.2.3\",\"max_source\":8,"
             "\"source_vocab\":27,\"max_target\":10,\"vocab\":29,\"slots\":1,"
             "\"parameters\":3,\"weights_place\":\"in the program\",\"weights_bytes\":8,\"dtype\":\"int8\",");
    assert_non_null(strstr(result.out, ",\"isa\":\"portable\",\"processor_isa\":\""));
    assert_non_null(strstr(result.out, "\",\"threads\":2,\"threads_max\":4}\n"));
}

/* With one slot, --beam 1 is greedy and more beams are an error. Without a decoder there is no such
 * option. */
static void beams(void **state)
{
    rt_program none = program;
    (void)state;
    none.generation = NULL;
    words(0, "ba\n", "", WORDS("--beam", "1", "ab"));
    words(69, "", "reverse: --beam 4: a state of this program holds 1 sequence; build it with --slots 4\n", WORDS("--beam=4", "ab"));
    words(2, "", "generation options have no effect", WORDS("--beam=1", "--info"));
    run(&none, WORDS("--beam=1", "ab"), "", 0, -1);
    assert_true(result.code == 2 && strstr(result.err, "reverse: unknown option '--beam'"));
}

static void instruction_sets(void **state)
{
    rt_program p = program;
    (void)state;
    p.isa = rt_isa_missing(RT_ISA_NEON | RT_ISA_AVX512);
    run(&p, WORDS("--nonsense"), "", 0, -1);
    assert_true(result.code == 69 && strstr(result.err, "which this processor lacks; rebuild with --isa portable\n"));
}

/* ---- weights --------------------------------------------------------------------------------- */

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void weights(void **state)
{
    char folder[] = "/tmp/test_host_XXXXXX", path[64];
    rt_program p = program;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/w", folder);
    p.weights = NULL, p.weights_file = "no such reverse.weights";
    run(&p, WORDS("ab"), "", 0, -1);                             /* looked for next to this program */
    check(66, "", "no such reverse.weights: No such file or directory\nreverse: pass them with --weights FILE");
    for (int own = 0; own < 2; own++) {                                 /* the option overrides embedded weights too */
        if (own) p.weights = embedded;
        write_file(path, "reversed");
        run(&p, WORDS("--weights", path, "ab"), "", 0, -1);
        check(0, "ba\n", "");
        write_file(path, "revolved");
        run(&p, WORDS("--weights", path, "ab"), "", 0, -1);
        check(65, "", "/w: not the weights that this model was compiled for");
        write_file(path, "");
        run(&p, WORDS("--weights", path, "ab"), "", 0, -1);
        check(65, "", "expected 8 bytes, found 0");
        run(&p, WORDS("--weights", folder, "ab"), "", 0, -1);
        check(74, "", "Is a directory");
    }
    unlink(path), rmdir(folder);
}

/* Bind 5 MiB of weights that begin with 'r' and end with 'd', and report it; the second time,
 * accept only an address at which a large page begins. */
enum { LARGE = 5 << 20, LARGE_PAGE = 2 << 20 };
static rt_status large_bind(void *model, const void *weights, size_t bytes)
{
    Model *m = model;
    const char *w = weights;
    if (bytes != LARGE || w[0] != 'r' || w[LARGE - 1] != 'd' || (m->weights && (uintptr_t)w % LARGE_PAGE)) return RT_BAD_WEIGHTS;
    fputs(m->weights ? "bound again\n" : "bound\n", stderr);
    m->weights = weights;
    return RT_OK;
}

/* A text of three letters takes an encoding and four steps, so the 32nd call that reads the weights
 * is in the seventh text. */
static void weights_are_copied_later(void **state)
{
    enum { TEXTS = 7 };
    char path[] = "/tmp/test_host_XXXXXX", fifo[64];
    static char data[LARGE], input[4 * TEXTS + 1], answers[4 * TEXTS + 1];
    const int fd = mkstemp(path);
    rt_program p = program;
    (void)state;
    data[0] = 'r', data[LARGE - 1] = 'd';
    assert_int_equal(write(fd, data, LARGE), LARGE);
    close(fd);
    for (int i = 0; i < TEXTS; i++) memcpy(input + 4 * i, "abc\n", 4), memcpy(answers + 4 * i, "cba\n", 4);
    p.bind = large_bind, p.weights = NULL, p.weights_bytes = LARGE;
    run(&p, WORDS("--weights", path, "-t1"), input, 4 * (TEXTS - 1), -1);
    assert_true(result.code == 0 && strcmp(result.err, "bound\n") == 0);
    run(&p, WORDS("--weights", path, "-t1"), input, 4 * TEXTS, -1);
    assert_true(result.code == 0 && strcmp(result.err, "bound\nbound again\n") == 0 && strcmp(result.out, answers) == 0);
    snprintf(fifo, sizeof fifo, "%s.fifo", path);           /* weights from a pipe are not copied */
    assert_int_equal(mkfifo(fifo, 0600), 0);
    if (fork() == 0) {
        const int end = open(fifo, O_WRONLY);
        _exit(write(end, data, LARGE) != LARGE);
    }
    run(&p, WORDS("--weights", fifo, "-t1"), input, 4 * TEXTS, -1);
    assert_true(result.code == 0 && strcmp(result.err, "bound\n") == 0 && strcmp(result.out, answers) == 0);
    wait(NULL);
    unlink(path), unlink(fifo);
}

/* ---- outputs that fail ----------------------------------------------------------------------- */

static void full_disk(void **state)
{
    const int full = open("/dev/full", O_WRONLY);
    (void)state;
    if (full < 0) skip();
    run(&program, WORDS(NULL), "ab\ncd\n", 6, full);
    check(74, "", "reverse: cannot write to standard output: No space left on device\n");
    run(&program, WORDS("--help"), "", 0, full);
    check(74, "", "cannot write to standard output");
    close(full);
}

static void closed_pipe(void **state)
{
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    run(&program, WORDS("ab", "cd"), "", 0, ends[1]);
    check(128 + SIGPIPE, "", "");
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_lines), cmocka_unit_test(bad_lines), cmocka_unit_test(arguments),
        cmocka_unit_test(ids), cmocka_unit_test(json), cmocka_unit_test(json_bytes), cmocka_unit_test(decoder_alone),
        cmocka_unit_test(encoder_alone), cmocka_unit_test(options), cmocka_unit_test(actions),
        cmocka_unit_test(wrong_options), cmocka_unit_test(beams), cmocka_unit_test(instruction_sets), cmocka_unit_test(weights),
        cmocka_unit_test(weights_are_copied_later),
        cmocka_unit_test(full_disk), cmocka_unit_test(closed_pipe),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
