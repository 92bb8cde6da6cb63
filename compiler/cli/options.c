/* options.c: parse the command line, with getopt_long and the table of options. */
#include "options.h"

#include <getopt.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "emit_kind.h"
#include "isa.h"
#include "option_values.h"
#include "text.h"
#include "wrap.h"

/* ---- the tables ------------------------------------------------------------------------------------------------ */

/* Sets of commands. */
enum {
#define COMMAND(name, NAME, words, usage, doc, more, examples) NAME = 1 << COMMAND_##NAME,
#include "commands.def"
#undef COMMAND
    EVERY = (1 << COMMANDS) - 1,
    EMITS = COMPILE | BUILD,
    MODEL = EMITS | PACK | RUN | VERIFY | INFO | ATTENTION | BENCH,  /* commands that take a spec, except tune and repl */
    LISTS_THREADS = BENCH | TUNE,
    SELDOM = 1 << 30
};
_Static_assert(COMMANDS < 30, "a set of commands is an int, with a bit to spare");

const CommandRow command_rows[COMMANDS] = {
#define COMMAND(name, NAME, words, usage, doc, more, examples) { #name, words, usage, doc, more, examples },
#include "commands.def"
#undef COMMAND
};

/* How to read a value; at: offset of the member of Options. */
typedef struct OptionKind OptionKind;
typedef bool OptionRead(Options *o, const char *name, const char *value, const OptionKind *kind);
struct OptionKind { OptionRead *read; size_t at; int least, most; const char *const *words; };

static OptionRead read_flag, read_text, read_any, read_integer, read_bytes, read_seconds, read_word, read_field, read_isas,
    read_letters, read_threads, read_list, read_prompt, read_prompt_file, read_setting;

typedef struct OptionRow {
    int letter;
    const char *name, *argument, *doc, *more;
    OptionKind kind;
    int commands;
} OptionRow;
static const OptionRow option_rows[OPTIONS] = {
#define AT(member) offsetof(Options, member)
#define FLAG(member) { read_flag, AT(member), 0, 0, NULL }
#define TEXT(member) { read_text, AT(member), 0, 0, NULL }
#define ANY(member) { read_any, AT(member), 0, 0, NULL }
#define INTEGER(member, least, most) { read_integer, AT(member), least, most, NULL }
#define BYTES(member) { read_bytes, AT(member), 0, 0, NULL }
#define SECONDS(member) { read_seconds, AT(member), 0, 0, NULL }
#define WORD(member, ...) { read_word, AT(member), 0, 0, (const char *const[]){ __VA_ARGS__, NULL } }
#define FIELD(member, list) { read_field, AT(member), 0, 0, (const char *const[]){ list, NULL } }
#define ISAS(member) { read_isas, AT(member), 0, 0, NULL }
#define LETTERS(member, letters) { read_letters, AT(member), 0, 0, (const char *const[]){ letters, NULL } }
#define THREADS(member) { read_threads, AT(member), 0, 0, NULL }
#define LIST(member) { read_list, AT(member), 0, 0, NULL }
#define PROMPT(member) { read_prompt, AT(member), 0, 0, NULL }
#define PROMPT_FILE(member) { read_prompt_file, AT(member), 0, 0, NULL }
#define SETTING { read_setting, 0, 0, 0, NULL }
#define GROUP(title)
#define OPTION(id, letter, name, argument, kind, commands, doc, more) { letter, name, argument, doc, more, kind, commands },
#include "options.def"
#undef OPTION
#undef GROUP
#undef LIST
};

static const struct { const char *name; OptionId option; } aliases[] = {
#define GROUP(title)
#define OPTION(id, letter, name, argument, kind, commands, doc, more)
#define ALIAS(name, id) { name, OPTION_##id },
#include "options.def"
#undef OPTION
#undef GROUP
};
enum { ALIASES = sizeof aliases / sizeof *aliases };

/* ---- messages -------------------------------------------------------------------------------------------------- */

static const char *name_of(Command c) { return c < COMMANDS ? command_rows[c].name : ""; }

static bool usage(Command c)
{
    fprintf(stderr, "xformc: try 'xformc %s%s--help'\n", name_of(c), c < COMMANDS ? " " : "");
    return false;
}

Exit options_refuse(const Options *o, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tell_arguments(format, args);
    va_end(args);
    usage(o->command);
    return EXIT_USAGE;
}

/* ---- values: each returns false after a message ---------------------------------------------------------------- */

#define MEMBER(type) ((type *)(void *)((char *)o + kind->at))

static bool read_flag(Options *o, const char *name, const char *value, const OptionKind *kind)
{
    (void)name, (void)value;
    return *MEMBER(bool) = true;
}

static bool read_text(Options *o, const char *name, const char *value, const OptionKind *kind)
{
    return option_text(name, value, MEMBER(const char *));
}

static bool read_any(Options *o, const char *name, const char *value, const OptionKind *kind)
{
    (void)name;
    *MEMBER(const char *) = value;
    return true;
}

static bool read_integer(Options *o, const char *name, const char *value, const OptionKind *kind)
{
    return option_integer(name, value, kind->least, kind->most, MEMBER(int));
}

static bool read_bytes(Options *o, const char *name, const char *value, const OptionKind *kind)
{
    return option_bytes(name, value, MEMBER(size_t));
}

static bool read_seconds(Options *o, const char *name, const char *value, const OptionKind *kind)
{
    return option_seconds(name, value, MEMBER(double));
}

static bool read_word(Options *o, const char *name, const char *value, const OptionKind *kind)
{
    int n = 0, *word = MEMBER(int);
    while (kind->words[n]) n++;
    for (*word = n; *word && strcmp(kind->words[*word - 1], value); --*word) {}
    return option_word(name, value, kind->words, n);
}

static bool read_field(Options *o, const char *name, const char *value, const OptionKind *kind)
{
    int n;
    const char *const *words = field_words(kind->words[0], &n);
    *MEMBER(const char *) = value;
    return option_word(name, value, words, n);
}

static bool read_isas(Options *o, const char *name, const char *value, const OptionKind *kind)
{
    *MEMBER(const char *) = value;
    return option_isas(name, value);
}

static bool read_letters(Options *o, const char *name, const char *value, const OptionKind *kind)
{
    *MEMBER(const char *) = value;
    if (*value && strspn(value, kind->words[0]) == strlen(value)) return true;
    tell("--%s %s: expected letters from '%s'", name, value, kind->words[0]);
    return false;
}

static bool read_threads(Options *o, const char *name, const char *value, const OptionKind *kind)
{
    (void)kind;
    return option_threads(name, value, o->threads, OPTION_THREADS_MOST, &o->threads_count);
}

/* begin() made room for all arguments. */
static bool read_list(Options *o, const char *name, const char *value, const OptionKind *kind)
{
    TextList *list = MEMBER(TextList);
    return option_text(name, value, &list->texts[list->count++]);
}

static bool read_prompt(Options *o, const char *name, const char *value, const OptionKind *kind)
{
    (void)name, (void)kind;
    o->prompts[o->prompts_count++] = (Prompt){ value, false };
    return true;
}

static bool read_prompt_file(Options *o, const char *name, const char *value, const OptionKind *kind)
{
    (void)kind;
    o->prompts[o->prompts_count++] = (Prompt){ value, true };
    return option_text(name, value, &value);
}

static bool read_setting(Options *o, const char *name, const char *value, const OptionKind *kind)
{
    (void)kind;
    return option_setting(name, value, &o->generation);
}

const char *option_word_of(OptionId id, int word) { return word ? option_rows[id].kind.words[word - 1] : NULL; }

/* ---- parsing --------------------------------------------------------------------------------------------------- */

enum { LONG_ONLY = 256 };       /* the value of the first long option in getopt_long */

static int row_of(int option)
{
    if (option >= LONG_ONLY) return option - LONG_ONLY;
    for (int i = 0; i < OPTIONS; i++)
        if (option_rows[i].letter == option) return i;
    return -1;
}

Command command_named(const char *word)
{
    int i = 0;
    while (i < COMMANDS && strcmp(command_rows[i].name, word)) i++;
    return (Command)i;
}

/* The command to name in a message if parsing fails. */
static Command named(int argc, char **argv) { return argc > 1 ? command_named(argv[1]) : COMMANDS; }

static bool begins(OptionId id, Command c, const char *name)
{
    const OptionRow *row = &option_rows[id];
    return *name && (c == COMMANDS || row->commands & 1 << c) && strncmp(row->name, name, strlen(name)) == 0;
}

/* "--slots, --stop or --stream": the options of a command, or of all for COMMANDS, that begin with
 * `name`. NULL for fewer than two. The caller frees the text. */
static char *options_that_begin(Command c, const char *name)
{
    enum { MOST = 80 };             /* the most bytes of a name, its dashes and a separator */
    char *list = malloc(OPTIONS * MOST), *end = list;
    int left = 0, found = 0;
    if (!list) no_memory("a message");
    for (int i = 0; i < OPTIONS; i++) left += begins(i, c, name);
    for (int i = 0; i < OPTIONS; i++) {
        if (!begins(i, c, name)) continue;
        left--, found++;
        end += snprintf(end, MOST, "--%s%s", option_rows[i].name, left > 1 ? ", " : left ? " or " : "");
    }
    if (found > 1) return list;
    free(list);
    return NULL;
}

static bool unknown_option(Command c, const char *word)
{
    const char *names[OPTIONS];
    int n = (int)strcspn(word, "=");
    char name[64];
    for (int i = 0; i < OPTIONS; i++) names[i] = option_rows[i].name;
    snprintf(name, sizeof name, "%.*s", n - 2, word + 2);
    const char *near = diag_nearest(name, names, OPTIONS);
    char *list = options_that_begin(c, name);
    if (list) tell("%.*s may be %s", n, word, list);
    else if (near) tell("unknown option %.*s; did you mean '--%s'?", n, word, near);
    else tell("unknown option %.*s", n, word);
    free(list);
    return usage(c);
}

static const char *article(const char *argument)
{
    if (strcmp(argument, "LETTERS") == 0) return "";
    return argument[0] == 'X' || (strchr("ANS", argument[0]) && !argument[1]) ? "an " : "a ";
}

/* getopt_long reads bytes: find the whole UTF-8 character in the word being parsed. */
static bool unknown_letter(int argc, char **argv)
{
    const char *word = optind < argc ? strchr(argv[optind], (char)optopt) : NULL;
    char letter[2] = { (char)optopt, 0 };
    int32_t c;
    int n = word && argv[optind][0] == '-' ? utf8_next(word, strlen(word), &c) : 0;
    if (n) tell("unknown option -%.*s", n, word);
    else tell("unknown option -%s", letter);
    return usage(named(argc, argv));
}

/* Report what getopt_long stopped at. */
static bool bad_option(int argc, char **argv, int result)
{
    const int row = row_of(optopt);
    const char *word = argv[optind - 1];
    if (result == ':') {
        const OptionRow *o = &option_rows[row];
        const char *argument = o->argument;
        if (strncmp(word, "--", 2) == 0) tell("--%s needs %s%s", o->name, article(argument), argument);
        else tell("-%c needs %s%s", o->letter, article(argument), argument);
        return usage(named(argc, argv));
    }
    if (optopt >= LONG_ONLY) {
        tell("--%s takes no value", option_rows[row].name);
        return usage(named(argc, argv));
    }
    return optopt ? unknown_letter(argc, argv) : unknown_option(named(argc, argv), word);
}

static void begin(Options *o, int argc)
{
    const size_t room = (size_t)argc + 1;
    *o = (Options){ .command = COMMANDS };
    for (int i = 0; i < OPTIONS; i++) {
        const OptionKind *kind = &option_rows[i].kind;
        if (kind->read == read_integer && kind->least == 0) *MEMBER(int) = -1;
        if (kind->read == read_list && !(MEMBER(TextList)->texts = calloc(room, sizeof(char *)))) no_memory("%zu words", room);
    }
    if (!(o->prompts = calloc(room, sizeof *o->prompts))) no_memory("%zu words", room);
}

void options_free(Options *o)
{
    for (int i = 0; i < OPTIONS; i++) {
        const OptionKind *kind = &option_rows[i].kind;
        if (kind->read == read_list) free(MEMBER(TextList)->texts);
    }
    free(o->prompts);
}

bool options_parse(Options *o, int argc, char **argv)
{
    struct option longs[OPTIONS + ALIASES + 1] = { { 0 } };
    char shorts[3 * OPTIONS + 2] = ":", *s = shorts + 1;
    for (int i = 0; i < OPTIONS; i++) {
        const OptionRow *row = &option_rows[i];
        longs[i] = (struct option){ row->name, row->argument ? required_argument : no_argument, NULL, LONG_ONLY + i };
        if (row->letter) s += sprintf(s, "%c%s", row->letter, row->argument ? ":" : "");
    }
    for (int i = 0; i < ALIASES; i++) {
        longs[OPTIONS + i] = longs[aliases[i].option];
        longs[OPTIONS + i].name = aliases[i].name;
    }
    begin(o, argc);
    opterr = 0;
    for (int r; (r = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        if (r == '?' || r == ':') return bad_option(argc, argv, r);
        const int row = row_of(r);
        o->given[row] = true;
        if (!option_rows[row].kind.read(o, option_rows[row].name, optarg, &option_rows[row].kind)) return false;
    }
    return true;
}

/* ---- conflicts ------------------------------------------------------------------------------------------------- */

/* The commands that take an option: "info does", "compile, build and pack do". */
static const char *readers_of(Arena *a, const OptionRow *row)
{
    const char *list = "", *last = NULL;
    int n = 0;
    for (int i = 0; i < COMMANDS; i++) {
        if (!(row->commands & 1 << i)) continue;
        if (last) list = arena_format(a, "%s%s%s", list, n > 1 ? ", " : "", last);
        last = command_rows[i].name;
        n++;
    }
    return n == 1 ? arena_format(a, "%s does", last) : arena_format(a, "%s and %s do", list, last);
}

static bool refuse_foreign(const Options *o, const OptionRow *row)
{
    Arena *a = arena_new();
    options_refuse(o, "%s does not take --%s; %s", command_rows[o->command].name, row->name, readers_of(a, row));
    arena_free(a);
    return false;
}

static int most_words(const CommandRow *c, int n)
{
    return c->words == WORDS_SPEC_AND_TEXTS ? n : c->words == WORDS_NONE ? 1 : 2;
}

bool options_fit(Options *o, char **words, int n)
{
    const CommandRow *c = &command_rows[o->command];
    const int most = most_words(c, n);
    const char *what = strncmp(c->usage, "FILE", 4) == 0 ? "FILE" : "SPEC";
    for (int i = 0; i < OPTIONS; i++) {
        const OptionRow *row = &option_rows[i];
        if (!o->given[i] || row->commands & 1 << o->command) continue;
        return refuse_foreign(o, row);
    }
    if (c->words >= WORDS_SPEC && n < 2 && !o->families) return options_refuse(o, "%s needs a %s", c->name, what), false;
    if (c->words > WORDS_MAYBE_COMMAND && n > 1 && !*words[1]) return options_refuse(o, "%s is empty", what), false;
    if (n > most) return options_refuse(o, "unexpected argument '%s'", words[most]), false;
    if (o->threads_count > 1 && !(LISTS_THREADS & 1 << o->command))
        return options_refuse(o, "%s takes one number of threads", c->name), false;
    if (o->from && n < 2)
        return options_refuse(o, "--from replaces the weights of a SPEC, but no SPEC was given"),
               false;
    o->spec = n > 1 ? words[1] : NULL;
    o->words = (const char *const *)(words + 2);
    o->word_count = n > 2 ? n - 2 : 0;
    return true;
}

static EmitForm emit_form_of(const Options *o)
{
    const LayersForm layers = o->unroll_layers == UNROLL_LAYERS_WORD_ON ? LAYERS_CALLS
                            : o->unroll_layers == UNROLL_LAYERS_WORD_OFF ? LAYERS_LOOP : LAYERS_BY_SPEC;
    const WeightsForm weights = o->weights == WEIGHTS_WORD_FILE ? WEIGHTS_FILE
                              : o->weights == WEIGHTS_WORD_LITERAL ? WEIGHTS_LITERAL : WEIGHTS_EMBED;
    return (EmitForm){ .weights = weights,
                       .kernels = o->kernels == KERNELS_WORD_UNROLLED ? KERNELS_UNROLLED : KERNELS_LIBRARY,
                       .layers = layers, .unroll = o->unroll, .isa = o->isa };
}

/* --unroll needs --kernels unrolled, or a command that also runs that form. */
static bool unrolls(const Options *o)
{
    return o->kernels == KERNELS_WORD_UNROLLED || o->command == COMMAND_VERIFY || o->command == COMMAND_BENCH;
}

bool options_compile(const Options *o, CompileOptions *c)
{
    const int beams = o->generation.beams;
    *c = (CompileOptions){ .spec = o->spec, .from = o->from, .tokenizer = o->tokenizer, .name = o->name, .allow_c = o->allow_c, .max_len = o->max_len,
                           .dtype = o->dtype, .kv_dtype = o->kv_dtype, .form = emit_form_of(o), .tune = o->tune,
                           .slots = o->slots ? o->slots : beams, .max_threads = o->max_threads, .threads = o->threads[0], .taps = o->taps,
                           .cc = o->cc, .dumps = o->dump };
    if (o->slots && o->slots < beams)
        options_refuse(o, "--slots %d: too few for --beam %d; each beam needs a slot", o->slots,
                       beams);
    else if (o->unroll && !unrolls(o)) options_refuse(o, "--unroll needs --kernels=unrolled");
    else if (o->tune && o->kernels == KERNELS_WORD_UNROLLED)
        options_refuse(o, "--tune needs --kernels=library: the file has settings for those "
                       "kernels");
    else return true;
    return false;
}

bool options_engine(const Options *o, EngineKind usual, EngineKind *kind)
{
    const bool of_native = o->cc || o->kernels || o->unroll;
    *kind = o->engine ? (EngineKind)o->engine : usual && of_native ? ENGINE_NATIVE : usual;
    if (!of_native || (o->engine != ENGINE_JIT && o->engine != ENGINE_GENERIC)) return true;
    options_refuse(o, "--cc, --kernels and --unroll need native code: %s",
                   o->engine == ENGINE_JIT ? "the jit engine has its own compiler and kernels" : "the generic engine compiles nothing");
    return false;
}

RunOptions options_run(const Options *o, EngineKind kind)
{
    return (RunOptions){ .engine = kind, .ids = o->ids, .stream = o->stream, .chat = o->chat, .turns = o->turns, .raw = o->raw,
                         .json = o->json, .verbose = o->verbose, .plain_text = o->plain_text, .separator = o->separator,
                         .system = o->system, .date = o->date, .generation = o->generation,
                         .source_language = o->source_language, .target_language = o->target_language,
                         .prompts = o->prompts, .prompt_count = o->prompts_count, .stops = o->stops.texts, .stop_count = o->stops.count,
                         .inputs = o->inputs.texts, .input_count = o->inputs.count, .words = o->words, .word_count = o->word_count };
}

OptionHelp option_help(OptionId id)
{
    const OptionRow *row = &option_rows[id];
    const OptionKind *kind = &row->kind;
    OptionHelp help = { row->letter, row->name, row->argument, row->doc, NULL, 0, row->commands & ~SELDOM };
    if (kind->read == read_field) help.words = field_words(kind->words[0], &help.word_count);
    if (kind->read == read_word)
        for (help.words = kind->words; help.words[help.word_count]; help.word_count++) {}
    return help;
}

/* ---- help ------------------------------------------------------------------------------------------------------ */

static void print_option(const OptionRow *o, bool in_full, FILE *to)
{
    char letter[8] = "    ", name[40];
    if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(name, sizeof name, "--%s%s%s", o->name, o->argument ? "=" : "", o->argument ? o->argument : "");
    fprintf(to, "  %s%-22s %s\n", letter, name, o->doc);
    if (in_full && *o->more) wrap_text(to, 29, o->more);
}

static bool is_of(const OptionRow *o, Command command)
{
    return command == COMMANDS || o->commands & 1 << command;
}

void options_print(Command command, bool in_full, FILE *to)
{
    static const struct { const char *title; int option; } rows[] = {
#define GROUP(title) { title, -1 },
#define OPTION(id, letter, name, argument, kind, commands, doc, more) { NULL, OPTION_##id },
#include "options.def"
#undef OPTION
#undef GROUP
    };
    const char *title = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].title) title = rows[i].title;
        else if (is_of(&option_rows[rows[i].option], command)) {
            const OptionRow *o = &option_rows[rows[i].option];
            if (!in_full && o->commands & SELDOM) continue;
            if (title) fprintf(to, "\n%s:\n", title);
            title = NULL;
            print_option(o, in_full, to);
        }
    }
    Wrap seldom = { to, 2, 0 };
    for (int i = 0; i < OPTIONS && !in_full; i++) {
        const OptionRow *o = &option_rows[i];
        if (!(o->commands & SELDOM) || !is_of(o, command)) continue;
        if (!seldom.column) fputs("\nSeldom needed:\n", to);
        char name[40];
        snprintf(name, sizeof name, "--%s", o->name);
        wrap_words(&seldom, name);
    }
    if (seldom.column) fputc('\n', to);
}
