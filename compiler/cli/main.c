/* main.c: the command line: which command, which options, and help about both. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "command.h"
#include "emit_kind.h"
#include "isa.h"
#include "option_values.h"
#include "repl_command.h"

typedef enum OptionKind {
#define OPTION(id, letter, name, argument, doc) OPTION_##id,
#define SETTING OPTION
#include "options.def"
#undef SETTING
#undef OPTION
    OPTIONS
} OptionKind;

/* Sets of options, of which there may be 64; the settings of generation are one. */
enum {
#define OPTION(id, letter, name, argument, doc) BIT_##id,
#define SETTING(id, letter, name, argument, doc)
#include "options.def"
    BIT_GENERATION, BITS
};
_Static_assert(BITS <= 64, "a set of options has a bit for each");
enum {
#undef OPTION
#define OPTION(id, letter, name, argument, doc) SET_##id = UINT64_C(1) << BIT_##id,
#include "options.def"
#undef SETTING
#undef OPTION
    SET_GENERATION = UINT64_C(1) << BIT_GENERATION,
    SET_ALL = SET_HELP | SET_VERSION,               /* what every command reads */
    /* What shapes plan and text. */
    SET_MODEL = SET_ALLOW_C | SET_FROM | SET_TOKENIZER | SET_MAX_LEN | SET_DTYPE | SET_KV_DTYPE |
                SET_KERNELS | SET_SLOTS | SET_LANES | SET_UNROLL | SET_UNROLL_LAYERS | SET_ISA | SET_DUMP,
    SET_EMIT = SET_ALL | SET_MODEL | SET_OUTPUT | SET_WEIGHTS | SET_TUNE | SET_TAPS | SET_QUIET,
    SET_NATIVE = SET_CC,
    SET_OF_NATIVE = SET_CC | SET_KERNELS | SET_UNROLL,      /* of no meaning to the engine jit */
    SET_OF_CHAT = SET_SYSTEM | SET_DATE | SET_TURNS,
    SET_TEXTS = SET_PROMPT | SET_FILE | SET_STOP | SET_STREAM | SET_CHAT | SET_OF_CHAT
};

typedef struct OptionRow { int letter; const char *name, *argument, *doc; uint64_t set; } OptionRow;
static const OptionRow option_rows[] = {
#define OPTION(id, letter, name, argument, doc) { letter, name, argument, doc, SET_##id },
#define SETTING(id, letter, name, argument, doc) { letter, name, argument, doc, SET_GENERATION },
#include "options.def"
#undef SETTING
#undef OPTION
};

/* The words of a command. */
typedef enum Words { WORDS_NONE, WORDS_MAYBE_SPEC, WORDS_SPEC, WORDS_SPEC_AND_TEXTS } Words;

typedef struct CommandRow {
    const char *name;
    CommandRun *run;
    uint64_t options;               /* the set that it reads; others are refused */
    Words words;                    /* what it takes besides options */
    const char *usage, *doc, *examples;
    const char *engine;             /* when --engine is not given; NULL: all */
} CommandRow;
static const CommandRow commands[] = {
    { "compile", command_compile, SET_EMIT, WORDS_SPEC, "SPEC [-o DIR]", "Write C for a spec into a folder",
      "  xformc compile specs/dates.lua -o generated/dates\n", NULL },
    { "build", command_build, SET_EMIT | SET_NATIVE, WORDS_SPEC, "SPEC [-o DIR]", "Write C for a spec into a folder and build it with make",
      "  xformc build specs/dates.lua -o generated/dates\n"
      "  xformc build specs/dates.lua --isa portable --cc clang\n", NULL },
    { "pack", command_pack, SET_ALL | SET_MODEL | SET_OUTPUT | SET_TAPS | SET_QUIET, WORDS_SPEC,
      "SPEC [--from FILE] [-o FILE]",
      "Write the packed weights of a spec, for a program built from it",
      "  xformc pack specs/dates.lua --from tuned.safetensors -o dates.safetensors\n"
      "  dates/dates --weights dates.safetensors \"3rd of May 2019\"\n", NULL },
    { "run", command_run, SET_ALL | SET_MODEL | SET_NATIVE | SET_ENGINE | SET_THREADS | SET_TUNE | SET_INPUT | SET_GENERATION | SET_TEXTS | SET_IDS |
          SET_RAW | SET_JSON | SET_VERBOSE, WORDS_SPEC_AND_TEXTS, "SPEC [TEXT...]",
      "Answer texts, or the lines of stdin (-), ids where there is no tokenizer; an encoder by a vector or a label; an xf.graph by every tensor",
      "  xformc run specs/dates.lua \"3rd of May 2019\"\n"
      "  xformc run specs/dates.lua --json < texts\n"
      "  xformc run specs/dates.lua --beam 4 -v \"3rd of May 2019\"\n"
      "  xformc run stories260K.bin -n 20 1\n"
      "  xformc run Qwen2.5-0.5B-Instruct --chat\n"
      "  xformc run all-MiniLM-L6-v2 similar \"the moon\" \"a planet\"\n"
      "  xformc run specs/encoder.lua --raw \"1 2 3\" > hidden.f32\n"
      "  xformc run specs/self_attention.lua\n", "jit" },
    { "verify", command_verify, SET_ALL | SET_MODEL | SET_NATIVE | SET_ENGINE | SET_THREADS | SET_TUNE | SET_AGAINST | SET_TASK | SET_PERPLEXITY |
      SET_JSON | SET_VERBOSE, WORDS_SPEC,
      "SPEC [--against FILE]", "Compare engines with each other, or with your own reference",
      "  xformc verify specs/dates.lua\n"
      "  xformc verify specs/dates.lua --engine jit\n"
      "  xformc verify specs/dates.lua --dtype int8 --task specs/dates/heldout.tsv\n"
      "  xformc verify specs/dates.lua --against mine.safetensors -v\n", NULL },
    { "info", command_info, SET_ALL | SET_MODEL | SET_NATIVE | SET_POSITION | SET_TARGET | SET_MAX_RAM | SET_MAX_FLASH | SET_CODE | SET_MEMORY |
          SET_GRAPH | SET_LUA | SET_FAMILIES | SET_JSON | SET_QUIET | SET_VERBOSE | SET_TAPS, WORDS_SPEC, "SPEC [--json]",
      "What a model takes and costs, before it runs; pictures of it",
      "  xformc info specs/base.lua\n"
      "  xformc info specs/dates.lua --memory memory.svg --graph graph.svg\n"
      "  xformc info specs/dates.lua --max-ram 256K\n"
      "  xformc info --families\n", NULL },
    { "attention", command_attention, SET_ALL | SET_MODEL | SET_NATIVE | SET_ENGINE | SET_INPUT | SET_OUTPUT | SET_KIND | SET_LAYER | SET_HEAD |
          SET_COLOR | SET_GENERATION | SET_QUIET | SET_VERBOSE, WORDS_SPEC_AND_TEXTS, "SPEC TEXT [-o FILE.svg]",
      "Draw where every head looks, in the terminal or as SVG; of a decoder at the prompt, and with -n N at N generated tokens",
      "  xformc attention specs/dates.lua \"3rd of May 2019\"\n"
      "  xformc attention specs/dates.lua \"3rd of May 2019\" -o attention.svg\n"
      "  xformc attention specs/sums.lua \"12+34=\" -n 8 --layer 0\n", "jit" },
    { "bench", command_bench, SET_ALL | SET_MODEL | SET_NATIVE | SET_ENGINE | SET_THREADS | SET_TUNE | SET_OUTPUT | SET_REPETITIONS |
          SET_SECONDS | SET_FORMAT | SET_REPORT | SET_JSON | SET_QUIET | SET_VERBOSE, WORDS_SPEC,
      "SPEC [-r N] [-t LIST] [-o FILE.svg] [--report FILE.html]",
      "How fast every engine runs it, and how near to the machine's limit",
      "  xformc bench specs/dates.lua -r 3 -t 1\n"
      "  xformc bench specs/dates.lua --report dates.html\n", NULL },
    { "tune", command_tune, SET_ALL | SET_ALLOW_C | SET_FROM | SET_TOKENIZER | SET_MAX_LEN |
          SET_DTYPE | SET_SLOTS | SET_LANES | SET_ISA | SET_THREADS | SET_OUTPUT | SET_REPETITIONS |
          SET_SECONDS | SET_QUIET, WORDS_SPEC, "SPEC [-r N] [-t LIST] [-o FILE]",
      "Measure the choices that change only speed, and keep them in a file for --tune",
      "  xformc tune specs/dates.lua -o dates.tune.lua\n"
      "  xformc build specs/dates.lua --tune dates.tune.lua\n", NULL },
    { "repl", command_repl, SET_ALL | SET_ALLOW_C | SET_FROM | SET_VERBOSE, WORDS_MAYBE_SPEC,
      "[SPEC]",
      "A prompt: compile models, change them, look into them, in Lua",
      "  xformc repl specs/dates.lua\n"
      "  xformc repl < script.lua\n", NULL },
    { "lua", command_lua, SET_ALL | SET_ALLOW_C | SET_VERBOSE, WORDS_SPEC_AND_TEXTS, "FILE [WORD...]", "Run a Lua file as the prompt would",
      "  xformc lua experiment.lua\n", NULL },
    { "tokenize", command_tokenize, SET_ALL | SET_DECODE | SET_PIECES | SET_PAIR | SET_NO_SPECIAL | SET_JSON | SET_VERBOSE, WORDS_SPEC_AND_TEXTS,
      "FILE|FOLDER [TEXT...]", "Texts, or the lines of stdin (-), into the ids of a tokenizer's files, and back",
      "  xformc tokenize tokenizer.json \"Hello, world\"\n"
      "  xformc tokenize tokenizer.json --pieces \"Hello, world\"\n"
      "  xformc tokenize tokenizer.model --decode \"15043 29892 3186\"\n", NULL },
    { "cache", command_cache, SET_ALL | SET_CLEAR | SET_JSON, WORDS_NONE, "[--clear]",
      "List the compiled models that are kept, in ~/.cache/xformc: name, size, time since last used",
      "  xformc cache\n"
      "  xformc cache --clear\n"
      "  XFORMC_CACHE=off xformc run specs/dates.lua --engine native \"3rd of May 2019\"\n", NULL },
    { "ops", command_ops, SET_ALL, WORDS_NONE, "", "List the operations of a graph", "  xformc ops\n", NULL },
    { "fields", command_fields, SET_ALL, WORDS_NONE, "", "List the fields of a spec", "  xformc fields\n", NULL },
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static const CommandRow *command_named(const char *word)
{
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, word) == 0) return &commands[i];
    return NULL;
}

/* ---- help ------------------------------------------------------------------------------------------------------- */

static void print_options(uint64_t set, FILE *to)
{
    fputs("\nOptions:\n", to);
    for (int i = 0; i < OPTIONS; i++) {
        const OptionRow *o = &option_rows[i];
        char letter[8] = "    ", name[40];
        if (!(set & o->set)) continue;
        if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
        snprintf(name, sizeof name, "--%s%s%s", o->name, o->argument ? "=" : "", o->argument ? o->argument : "");
        fprintf(to, "  %s%-21s %s\n", letter, name, o->doc);
    }
}

static void print_codes(FILE *to)
{
    fputs("\nExit codes: 0 done, 1 a comparison failed, 2 usage, 65 bad data, 66 no such input, 69 a tool or feature is\n"
          "missing, 70 our bug, 74 input or output failed, 130 interrupted, 141 nobody reads the output.\n", to);
}

static void print_help(FILE *to)
{
    fputs("Examples:\n"
          "  xformc build specs/dates.lua -o generated/dates    a spec into one program\n"
          "  xformc run specs/dates.lua \"3rd of May 2019\"       answer a text\n"
          "  xformc run specs/self_attention.lua                every number of a small attention\n"
          "  xformc attention specs/dates.lua \"3rd of May 2019\" where every head looks\n"
          "  xformc verify specs/dates.lua                      every engine against every other\n"
          "\nA compiler that turns a Transformer into C: a spec in Lua and its weights into one program.\n"
          "\nUsage: xformc COMMAND [SPEC] [OPTION...]\n\nCommands:\n", to);
    for (int i = 0; i < COMMANDS; i++) fprintf(to, "  %-9s %-34s %s\n", commands[i].name, commands[i].usage, commands[i].doc);
    print_options(~0ull, to);
    fputs("\n'xformc COMMAND --help' shows the options of a command.\n", to);
    print_codes(to);
}

static const char distances[] =
    "\nThe distance of two tensors is max|a - b| / max|b|. It may be 1e-5, or 1e-4 for logits of models over 12\n"
    "layers. Where it is more because sums cancel, the operation is compared alone, on equal inputs, and the\n"
    "difference is divided by what went into the sum. Such a row says how far it is \"end to end\".\n";

static void print_command_help(const CommandRow *c, FILE *to)
{
    fprintf(to, "Examples:\n%s\n%s.\n\nUsage: xformc %s%s%s [OPTION...]\n", c->examples, c->doc, c->name, *c->usage ? " " : "", c->usage);
    if (c->run == command_verify) fputs(distances, to);
    print_options(c->options, to);
    print_codes(to);
}

/* ---- telling ---------------------------------------------------------------------------------------------------- */

/* `c` NULL: before it is known which command. */
static Exit usage(const CommandRow *c)
{
    fprintf(stderr, "xformc: try 'xformc %s%s--help'\n", c ? c->name : "", c ? " " : "");
    return EXIT_USAGE;
}

static Exit unknown_command(const char *word)
{
    const char *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++) names[i] = commands[i].name;
    const char *near = diag_nearest(word, names, COMMANDS);
    if (near) tell("there is no command '%s'; did you mean '%s'?", word, near);
    else tell("there is no command '%s'", word);
    return usage(NULL);
}

static Exit unknown_option(const CommandRow *c, const char *word)
{
    const char *names[OPTIONS];
    int n = (int)strcspn(word, "=");
    char name[64];
    for (int i = 0; i < OPTIONS; i++) names[i] = option_rows[i].name;
    snprintf(name, sizeof name, "%.*s", n - 2, word + 2);
    const char *near = diag_nearest(name, names, OPTIONS);
    if (near) tell("there is no option %.*s; did you mean '--%s'?", n, word, near);
    else tell("there is no option %.*s", n, word);
    return usage(c);
}

/* ---- values of options ------------------------------------------------------------------------------------------ */

typedef struct Line { Choices choices; uint64_t given; const char **inputs, **stops; Prompt *prompts; } Line;

static bool take_option(Line *l, OptionKind kind, const char *value)
{
    static const char *const engines[] = { "native", "jit", "generic" }, *const forms[] = { "embed", "file", "literal" };
    static const char *const kernels[] = { "library", "unrolled" }, *const switches[] = { "on", "off" };
    static const char *const kinds[] = { "encoder", "decoder", "cross" }, *const whens[] = { "auto", "always", "never" };
    static const char *const formats[] = { "md", "json", "jsonl", "csv" };
    Choices *c = &l->choices;
    const char *name = option_rows[kind].name;
    l->given |= option_rows[kind].set;
    switch (kind) {
    case OPTION_HELP:
    case OPTION_VERSION: return true;
    case OPTION_OUTPUT:  return option_text(name, value, &c->folder);
    case OPTION_ENGINE:  c->engine = value; return option_word(name, value, engines, 3);
    case OPTION_CC:      return option_text(name, value, &c->cc);
    case OPTION_ISA:     c->isa = value; return option_isas(name, value);
    case OPTION_THREADS: return option_threads(name, value, c);
    case OPTION_LANES:   return option_whole(name, value, 1, 256, &c->lanes);
    case OPTION_UNROLL:  return option_whole(name, value, 1, 64, &c->unroll);
    case OPTION_UNROLL_LAYERS:
        c->layers = strcmp(value, "off") == 0 ? LAYERS_LOOP : LAYERS_CALLS;
        return option_word(name, value, switches, 2);
    case OPTION_SLOTS:   return option_whole(name, value, 1, 4096, &c->slots);
#define OPTION(id, letter, name, argument, doc)
#define SETTING(id, letter, name, argument, doc) case OPTION_##id:
#include "options.def"
#undef SETTING
#undef OPTION
        return option_setting(name, value, &c->generation);
    case OPTION_PROMPT:  l->prompts[c->prompt_count++] = (Prompt){ value, false }; return true;
    case OPTION_FILE:    l->prompts[c->prompt_count++] = (Prompt){ value, true }; return option_text(name, value, &value);
    case OPTION_STOP:    return option_text(name, value, &l->stops[c->stop_count++]);
    case OPTION_IDS:     c->ids = true; return true;
    case OPTION_TOKENIZER: return option_text(name, value, &c->tokenizer);
    case OPTION_MAX_LEN: return option_whole(name, value, 1, 1048576, &c->max_len);
    case OPTION_WEIGHTS:
        c->weights = value[0] == 'f' ? WEIGHTS_FILE : value[0] == 'l' ? WEIGHTS_LITERAL : WEIGHTS_EMBED;
        return option_word(name, value, forms, 3);
    case OPTION_KERNELS:
        c->kernels = value[0] == 'u' ? KERNELS_UNROLLED : KERNELS_LIBRARY;
        return option_word(name, value, kernels, 2);
    case OPTION_DTYPE: {
        int n;
        const char *const *dtypes = field_words("dtypes", &n);
        c->dtype = value;
        return option_word(name, value, dtypes, n);
    }
    case OPTION_KV_DTYPE: {
        int n;
        const char *const *dtypes = field_words("kv_dtypes", &n);
        c->kv_dtype = value;
        return option_word(name, value, dtypes, n);
    }
    case OPTION_TUNE:    return option_text(name, value, &c->tune);
    case OPTION_TAPS:    c->taps = true; return true;
    case OPTION_ALLOW_C: c->allow_c = true; return true;
    case OPTION_FROM:    return option_text(name, value, &c->from);
    case OPTION_INPUT:   return option_text(name, value, &l->inputs[c->input_count++]);
    case OPTION_AGAINST: return option_text(name, value, &c->against);
    case OPTION_TASK:    return option_text(name, value, &c->task);
    case OPTION_PERPLEXITY: return option_text(name, value, &c->perplexity);
    case OPTION_POSITION: c->info.has_position = true; return option_whole(name, value, 0, 1048575, &c->info.position);
    case OPTION_TARGET:  c->info.target = value; return true;
    case OPTION_MAX_RAM: return option_bytes(name, value, &c->info.max_ram);
    case OPTION_MAX_FLASH: return option_bytes(name, value, &c->info.max_flash);
    case OPTION_CODE:    c->info.code = true; return true;
    case OPTION_MEMORY:  return option_text(name, value, &c->info.memory);
    case OPTION_GRAPH:   return option_text(name, value, &c->info.graph);
    case OPTION_LUA:     c->info.lua = true; return true;
    case OPTION_FAMILIES: c->info.families = true; return true;
    case OPTION_KIND:    c->attention.kind = value; return option_word(name, value, kinds, 3);
    case OPTION_LAYER:   c->attention.has_layer = true; return option_whole(name, value, 0, 1023, &c->attention.layer);
    case OPTION_HEAD:    c->attention.has_head = true; return option_whole(name, value, 0, 4095, &c->attention.head);
    case OPTION_COLOR:   c->attention.colour = value; return option_word(name, value, whens, 3);
    case OPTION_REPETITIONS: return option_whole(name, value, 1, 1000, &c->bench.repetitions);
    case OPTION_SECONDS: return option_seconds(name, value, &c->bench.seconds);
    case OPTION_REPORT:  return option_text(name, value, &c->bench.report);
    case OPTION_FORMAT:  c->bench.format = value; return option_word(name, value, formats, 4);
    case OPTION_DECODE:  c->tokenize.decode = true; return true;
    case OPTION_PIECES:  c->tokenize.pieces = true; return true;
    case OPTION_PAIR:    c->tokenize.pair = value; return true;
    case OPTION_NO_SPECIAL: c->tokenize.no_special = true; return true;
    case OPTION_CLEAR:   c->clear = true; return true;
    case OPTION_CHAT:    c->chat = true; return true;
    case OPTION_SYSTEM:  return option_text(name, value, &c->system);
    case OPTION_DATE:    return option_text(name, value, &c->date);
    case OPTION_TURNS:   c->turns = true; return true;
    case OPTION_STREAM:  c->stream = true; return true;
    case OPTION_RAW:     c->raw = true; return true;
    case OPTION_JSON:    c->json = true; return true;
    case OPTION_DUMP:
        c->dumps = value;
        if (*value && strspn(value, "mgkpc") == strlen(value)) return true;
        tell("--dump %s: expected letters of 'mgkpc'", value);
        return false;
    case OPTION_QUIET:   c->quiet = true; return true;
    case OPTION_VERBOSE: c->verbose = true; return true;
    case OPTIONS: break;
    }
    return false;
}

/* ---- parsing ---------------------------------------------------------------------------------------------------- */

enum { LONG_ONLY = 256 };       /* what getopt_long calls the first option */

static int kind_of(int option)
{
    if (option >= LONG_ONLY) return option - LONG_ONLY;
    for (int i = 0; i < OPTIONS; i++)
        if (option_rows[i].letter == option) return i;
    return -1;
}

/* The command of a line that cannot be read to its end. */
static const CommandRow *named(int argc, char **argv) { return argc > 1 ? command_named(argv[1]) : NULL; }

static const char *article(const char *argument)
{
    if (strcmp(argument, "LETTERS") == 0) return "";
    return strcmp(argument, "N") == 0 || argument[0] == 'X' ? "an " : "a ";
}

/* getopt_long reads bytes; of a letter of several, this is all. It stands in the word that is being read. */
static Exit unknown_letter(int argc, char **argv)
{
    const char *word = optind < argc ? strchr(argv[optind], (char)optopt) : NULL;
    char letter[2] = { (char)optopt, 0 };
    int32_t c;
    int n = word && argv[optind][0] == '-' ? utf8_next(word, strlen(word), &c) : 0;
    if (n) tell("there is no option -%.*s", n, word);
    else tell("there is no option -%s", letter);
    return usage(named(argc, argv));
}

/* Tell what getopt_long stopped at. */
static Exit bad_option(int argc, char **argv, int result)
{
    const int kind = kind_of(optopt);
    const char *word = argv[optind - 1];
    if (result == ':') {
        const OptionRow *o = &option_rows[kind];
        const char *argument = o->argument;
        if (strncmp(word, "--", 2) == 0) tell("--%s needs %s%s", o->name, article(argument), argument);
        else tell("-%c needs %s%s", o->letter, article(argument), argument);
        return usage(named(argc, argv));
    }
    if (optopt >= LONG_ONLY) {
        tell("--%s takes no value", option_rows[kind].name);
        return usage(named(argc, argv));
    }
    return optopt ? unknown_letter(argc, argv) : unknown_option(named(argc, argv), word);
}

/* Returns EXIT_DONE, or the code to end with. */
static Exit parse(Line *l, int argc, char **argv)
{
    struct option longs[OPTIONS + 1] = { { 0 } };
    char shorts[3 * OPTIONS + 2] = ":", *s = shorts + 1;
    for (int i = 0; i < OPTIONS; i++) {
        const OptionRow *o = &option_rows[i];
        longs[i] = (struct option){ o->name, o->argument ? required_argument : no_argument, NULL, LONG_ONLY + i };
        if (o->letter) s += sprintf(s, "%c%s", o->letter, o->argument ? ":" : "");
    }
    opterr = 0;
    for (int r; (r = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        if (r == '?' || r == ':') return bad_option(argc, argv, r);
        if (!take_option(l, (OptionKind)kind_of(r), optarg)) return EXIT_USAGE;
    }
    return EXIT_DONE;
}

/* ---- commands --------------------------------------------------------------------------------------------------- */

/* A command that reads an option, to say whose it is. */
static const char *reader_of(int kind)
{
    for (int i = 0; i < COMMANDS; i++)
        if (commands[i].options & option_rows[kind].set) return commands[i].name;
    return "no command";
}

/* Everything that was given is read: no word, no option is dropped in silence. */
static Exit check_line(const CommandRow *c, const Line *l, char **words, int n)
{
    const int most = c->words == WORDS_SPEC_AND_TEXTS ? n : c->words == WORDS_NONE ? 1 : 2;
    const char *what = strncmp(c->usage, "FILE", 4) == 0 ? "FILE" : "SPEC";
    for (int i = 0; i < OPTIONS; i++) {
        const OptionRow *o = &option_rows[i];
        if (!(l->given & ~c->options & o->set)) continue;
        tell("%s does not take --%s; %s does", c->name, o->set == SET_GENERATION ? l->choices.generation.name[0] : o->name, reader_of(i));
        return usage(c);
    }
    if (c->words >= WORDS_SPEC && n < 2 && !(l->given & SET_FAMILIES)) tell("%s needs a %s", c->name, what);
    else if (c->words != WORDS_NONE && n > 1 && !*words[1]) tell("%s is empty", what);
    else if (n > most) tell("'%s' is one word too many", words[most]);
    else return EXIT_DONE;
    return usage(c);
}

/* A search has a slot for every beam; false after telling. */
static bool settle_beams(Line *l)
{
    Choices *c = &l->choices;
    const int beams = c->generation.beams;
    if (c->slots && c->slots < beams) tell("--slots %d are too few for --beam %d", c->slots, beams);
    else {
        if (!c->slots) c->slots = beams;
        return true;
    }
    return false;
}

static Exit run_command(Line *l, char **words, int n)
{
    const bool asks = n > 0 && strcmp(words[0], "help") == 0, help = asks || l->given & SET_HELP;
    if (asks) words++, n--;
    if (n == 0) {
        print_help(help ? stdout : stderr);
        return help ? EXIT_DONE : EXIT_USAGE;
    }
    const CommandRow *c = command_named(words[0]);
    if (!c) return unknown_command(words[0]);
    if (help) {
        print_command_help(c, stdout);
        return EXIT_DONE;
    }
    Exit e = check_line(c, l, words, n);
    if (e != EXIT_DONE) return e;
    l->choices.spec = n > 1 ? words[1] : NULL;
    l->choices.words = (const char *const *)(words + 2);
    l->choices.word_count = n > 2 ? n - 2 : 0;
    if (!settle_beams(l)) return usage(c);
    if (l->choices.bench.thread_count > 1 && c->run != command_bench && c->run != command_tune) {
        tell("%s takes one number of threads", c->name);
        return usage(c);
    }
    if (!l->choices.engine) l->choices.engine = c->engine && l->given & SET_OF_NATIVE ? "native" : c->engine;
    else if (strcmp(l->choices.engine, "jit") == 0 && l->given & SET_OF_NATIVE) {
        tell("--cc, --kernels and --unroll are choices of native code: the engine jit has a compiler and kernels of its own");
        return usage(c);
    }
    const bool unrolls = l->choices.kernels == KERNELS_UNROLLED || c->run == command_verify || c->run == command_bench;
    if (l->given & SET_UNROLL && !unrolls) {
        tell("--unroll is a choice of --kernels=unrolled");
        return usage(c);
    }
    if (l->choices.tune && l->choices.kernels == KERNELS_UNROLLED) {
        tell("--tune is of --kernels=library: what is measured are its kernels");
        return usage(c);
    }
    if (l->choices.json && l->choices.bench.format && strcmp(l->choices.bench.format, "json") != 0) {
        tell("--json and --format %s are two formats", l->choices.bench.format);
        return usage(c);
    }
    if (l->choices.from && !l->choices.spec) {
        tell("--from gives a SPEC other weights, and there is no SPEC");
        return usage(c);
    }
    if (!l->choices.chat && (l->given & SET_OF_CHAT)) {
        tell("--%s is read with --chat", l->choices.system ? "system" : l->choices.date ? "date" : "turns");
        return usage(c);
    }
    return c->run(&l->choices);
}

/* A file that is opened later must not become the standard input or output of a caller who closed it. */
static void fill_standard_files(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd) die("no /dev/null");
}

static Exit written(void)
{
    const char *fault = file_output_fault();
    if (fault) tell("cannot write to standard output: %s", fault);
    return fault ? EXIT_IO : EXIT_DONE;
}

int main(int argc, char **argv)
{
    Line l = { .inputs = NULL };
    fill_standard_files();
    cleanup_install();
    l.inputs = calloc((size_t)argc + 1, sizeof *l.inputs);
    l.stops = calloc((size_t)argc + 1, sizeof *l.stops);
    l.prompts = calloc((size_t)argc + 1, sizeof *l.prompts);
    if (!l.inputs || !l.stops || !l.prompts) die("no memory");
    l.choices.stops = l.stops;
    l.choices.prompts = l.prompts;
    Exit e = parse(&l, argc, argv);
    l.choices.inputs = l.inputs;
    if (e == EXIT_DONE && (l.given & SET_VERSION)) printf("xformc %s\nMIT licence; what it emits is yours.\n", XFORMC_VERSION);
    else if (e == EXIT_DONE) e = run_command(&l, argv + optind, argc - optind);
    free(l.inputs), free(l.stops), free(l.prompts);
    return e == EXIT_DONE ? written() : e;
}
