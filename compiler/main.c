/* main.c: the command line: which command, which options, and help about both. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "emit_kind.h"
#include "folder.h"

typedef struct OptionRow { int letter; const char *name, *argument, *doc; } OptionRow;
typedef enum OptionKind {
    OPTION_HELP, OPTION_VERSION, OPTION_OUTPUT, OPTION_ENGINE, OPTION_CC, OPTION_ISA, OPTION_THREADS, OPTION_SLOTS, OPTION_WEIGHTS,
    OPTION_TAPS, OPTION_INPUT, OPTION_AGAINST, OPTION_JSON, OPTION_DUMP, OPTION_QUIET, OPTION_VERBOSE, OPTIONS
} OptionKind;
static const OptionRow option_rows[] = {
#define OPTION(letter, name, argument, doc) { letter, name, argument, doc },
#include "options.def"
#undef OPTION
};
_Static_assert(sizeof option_rows / sizeof *option_rows == OPTIONS, "options.def and OptionKind differ");

typedef struct CommandRow { const char *name; CommandRun *run; bool needs_spec; const char *usage, *doc; } CommandRow;
static const CommandRow commands[] = {
    { "compile", command_compile, true,  "SPEC [-o DIR]",         "write C for a spec into a folder" },
    { "build",   command_build,   true,  "SPEC [-o DIR]",         "the same, and build the program with make" },
    { "run",     command_run,     true,  "SPEC [TEXT...]",        "answer texts, or the lines of stdin; for an xf.graph print every tensor" },
    { "verify",  command_verify,  true,  "SPEC [--against FILE]", "compare engines with each other, or with your own reference" },
    { "ops",     command_ops,     false, "",                      "list the operations of a graph" },
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_options(FILE *to)
{
    fputs("\nOptions:\n", to);
    for (int i = 0; i < OPTIONS; i++) {
        const OptionRow *o = &option_rows[i];
        char letter[8] = "    ", name[40];
        if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
        snprintf(name, sizeof name, "--%s%s%s", o->name, o->argument ? "=" : "", o->argument ? o->argument : "");
        fprintf(to, "  %s%-18s %s\n", letter, name, o->doc);
    }
    fputs("\nExit codes: 0 done, 1 a comparison failed, 2 usage, 65 bad data, 66 no such input, 69 a tool or feature is\n"
          "missing, 70 our bug, 74 input or output failed, 130 interrupted.\n", to);
}

static void print_help(FILE *to)
{
    fputs("Examples:\n"
          "  xformc build specs/dates.lua -o generated/dates    a spec into one program\n"
          "  xformc run specs/dates.lua \"3rd of May 2019\"       answer a text\n"
          "  xformc run specs/self_attention.lua                every number of a small attention\n"
          "  xformc verify specs/dates.lua                      every engine against every other\n"
          "\nxformc compiles a Transformer to C.\n\nUsage: xformc COMMAND SPEC [OPTION...]\n\nCommands:\n", to);
    for (int i = 0; i < COMMANDS; i++) fprintf(to, "  %-8s %-22s %s\n", commands[i].name, commands[i].usage, commands[i].doc);
    print_options(to);
}

static void print_command_help(const CommandRow *c, FILE *to)
{
    fprintf(to, "Usage: xformc %s %s [OPTION...]\n\n%s\n", c->name, c->usage, c->doc);
    print_options(to);
}

static Exit usage(const char *format, const char *word, const char *near)
{
    fputs("xformc: ", stderr);
    fprintf(stderr, format, word);      /* `format` is one of the literals below */
    if (near) fprintf(stderr, "; did you mean '%s'?", near);
    fputs("\nxformc: try 'xformc --help'\n", stderr);
    return EXIT_USAGE;
}

static const char *nearest_command(const char *word)
{
    const char *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++) names[i] = commands[i].name;
    return diag_nearest(word, names, COMMANDS);
}

static const char *nearest_option(const char *word)
{
    const char *names[OPTIONS];
    char name[64];
    for (int i = 0; i < OPTIONS; i++) names[i] = option_rows[i].name;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    return diag_nearest(name, names, OPTIONS);
}

/* A whole number from `least` to `most`; false after telling. */
static bool whole_number(const char *option, const char *text, int least, int most, int *out)
{
    char *end;
    long n = strtol(text, &end, 10);
    if (*text && !*end && n >= least && n <= most) {
        *out = (int)n;
        return true;
    }
    fprintf(stderr, "xformc: --%s %s: expected a whole number from %d to %d\n", option, text, least, most);
    return false;
}

static bool one_of(const char *option, const char *text, const char *const *words, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(words[i], text) == 0) return true;
    const char *near = diag_nearest(text, words, n);
    fprintf(stderr, "xformc: --%s %s: expected", option, text);
    for (int i = 0; i < n; i++) fprintf(stderr, "%s %s", i ? "," : "", words[i]);
    if (near) fprintf(stderr, "; did you mean '%s'?", near);
    fputs("\n", stderr);
    return false;
}

typedef struct Line { Choices choices; bool help, version; const char **inputs; } Line;

static bool take_option(Line *l, OptionKind kind, const char *value)
{
    static const char *const engines[] = { "native", "generic" }, *const forms[] = { "embed", "file" };
    Choices *c = &l->choices;
    const char *name = option_rows[kind].name;
    int n;
    switch (kind) {
    case OPTION_HELP:    l->help = true; return true;
    case OPTION_VERSION: l->version = true; return true;
    case OPTION_OUTPUT:  c->folder = value; return true;
    case OPTION_ENGINE:  c->engine = value; return one_of(name, value, engines, 2);
    case OPTION_CC:      c->cc = value; return true;
    case OPTION_ISA: {
        const char *const *names = isa_names(&n);
        c->isa = value;
        return one_of(name, value, names, n);
    }
    case OPTION_THREADS: return whole_number(name, value, 1, 16, &c->threads);
    case OPTION_SLOTS:   return whole_number(name, value, 1, 4096, &c->slots);
    case OPTION_WEIGHTS: c->file_weights = strcmp(value, "file") == 0; return one_of(name, value, forms, 2);
    case OPTION_TAPS:    c->taps = true; return true;
    case OPTION_INPUT:   l->inputs[c->input_count++] = value; return true;
    case OPTION_AGAINST: c->against = value; return true;
    case OPTION_JSON:    c->json = true; return true;
    case OPTION_DUMP:
        c->dumps = value;
        if (strspn(value, "mgkpc") == strlen(value)) return true;
        fprintf(stderr, "xformc: --dump %s: expected letters of 'mgkpc'\n", value);
        return false;
    case OPTION_QUIET:   c->quiet = true; return true;
    case OPTION_VERBOSE: c->verbose = true; return true;
    case OPTIONS: break;
    }
    return false;
}

enum { LONG_ONLY = 256 };       /* what getopt_long calls the first option */

/* Tell what getopt_long stopped at. */
static Exit bad_option(char **argv, int result)
{
    const char *word = argv[optind - 1];
    if (result == ':') return usage("option %s needs an argument", word, NULL);
    if (optopt >= LONG_ONLY) return usage("option %s takes no argument", word, NULL);
    if (strncmp(word, "--", 2) == 0) return usage("there is no option %s", word, nearest_option(word + 2));
    char letter[3] = { '-', (char)optopt, 0 };
    return usage("there is no option %s", letter, NULL);
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
        int kind = r - LONG_ONLY;
        if (r == '?' || r == ':') return bad_option(argv, r);
        for (int i = 0; r < LONG_ONLY && i < OPTIONS; i++)
            if (option_rows[i].letter == r) kind = i;
        if (!take_option(l, (OptionKind)kind, optarg)) return EXIT_USAGE;
    }
    return EXIT_DONE;
}

static Exit run_command(Line *l, char **words, int n)
{
    if (n == 0) {
        if (l->help) print_help(stdout);
        else print_help(stderr);
        return l->help ? EXIT_DONE : EXIT_USAGE;
    }
    const CommandRow *c = NULL;
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, words[0]) == 0) c = &commands[i];
    if (!c) return usage("there is no command '%s'", words[0], nearest_command(words[0]));
    if (l->help) {
        print_command_help(c, stdout);
        return EXIT_DONE;
    }
    if (c->needs_spec && n < 2) return usage("%s needs a SPEC", c->name, NULL);
    l->choices.spec = n > 1 ? words[1] : NULL;
    l->choices.words = (const char *const *)(words + 2);
    l->choices.word_count = n > 2 ? n - 2 : 0;
    if (!l->choices.engine) l->choices.engine = "native";
    if (l->choices.word_count && c->run != command_run) return usage("'%s' is one word too many", words[2], NULL);
    return c->run(&l->choices);
}

int main(int argc, char **argv)
{
    Line l = { .inputs = NULL };
    l.inputs = calloc((size_t)argc + 1, sizeof *l.inputs);
    if (!l.inputs) die("no memory");
    Exit e = parse(&l, argc, argv);
    l.choices.inputs = l.inputs;
    if (e == EXIT_DONE && l.version) printf("xformc %s\nMIT licence; what it emits is yours.\n", XFORMC_VERSION);
    else if (e == EXIT_DONE) e = run_command(&l, argv + optind, argc - optind);
    free(l.inputs);
    if ((fflush(stdout) != 0 || ferror(stdout)) && e == EXIT_DONE) {
        perror("xformc: standard output");
        return EXIT_IO;
    }
    return e;
}
