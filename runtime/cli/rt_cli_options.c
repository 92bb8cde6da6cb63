/* rt_cli_options.c: one table of options feeds the parser, --help and "did you mean". */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rt_cli_parts.h"
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIN = 256, WEIGHTS, IDS, JSON, INFO, CHECK, SELFTEST, BENCH, VERSION, RAW, STOP, STREAM, CHAT, SYSTEM, DATE, TURNS, GENERATION };

static const rt_cli_option table[] = {
    { "prompt",  "TEXT", "Run the model on TEXT; repeatable", 'p', CLI_NEED_NOTHING },
    { "file",    "FILE", "Run the model on the text in FILE; repeatable", 'f', CLI_NEED_NOTHING },
    { "stop",    "TEXT", "Stop string, not printed; repeatable", STOP, CLI_NEED_DECODER },
    { "chat",    NULL,   "Treat each text as a user message", CHAT, CLI_NEED_CHAT },
    { "system",  "TEXT", "System prompt for --chat; may be empty", SYSTEM, CLI_NEED_CHAT },
    { "date",    "TEXT", "Date for the template; default: its own, or today's", DATE, CLI_NEED_CHAT },
    { "turns",   NULL,   "Texts are turns of one conversation, with --chat", TURNS, CLI_NEED_CHAT },
    { "stream",  NULL,   "Print tokens as they are generated", STREAM, CLI_NEED_DECODER },
    { "verbose", NULL,   "Show how long each answer took", 'v', CLI_NEED_DECODER },
    { "max-len", "N",    "Context length; default: the longest possible", 'c', CLI_NEED_NOTHING },
    { "ids",     NULL,   "Use token ids in place of texts", IDS, CLI_NEED_NOTHING },
    { "json",    NULL,   "Print one JSON object for each text", JSON, CLI_NEED_NOTHING },
    { "threads", "N",    "Number of threads", 't', CLI_NEED_NOTHING },
    { "pin",     NULL,   "Pin each thread to a processor", PIN, CLI_NEED_NOTHING },
    { "weights", "FILE", "Use the weights in FILE", WEIGHTS, CLI_NEED_NOTHING },
    { "info",    NULL,   "Describe this program", INFO, CLI_NEED_NOTHING },
    { "check",   NULL,   "Compare the weights with their hash", CHECK, CLI_NEED_NOTHING },
    { "selftest", NULL,  "Run the model on a fixed input and check the result", SELFTEST, CLI_NEED_NOTHING },
    { "bench",   NULL,   "Measure the speed of this program", BENCH, CLI_NEED_NOTHING },
    { "repetitions", "N", "Repetitions of --bench, without a time limit", 'r', CLI_NEED_NOTHING },
    { "help",    NULL,   "Show this help", 'h', CLI_NEED_NOTHING },
    { "version", NULL,   "Show the version", VERSION, CLI_NEED_NOTHING },
};
enum { OWN_OPTIONS = sizeof table / sizeof table[0], MOST_OPTIONS = OWN_OPTIONS + 40, MOST_ALIASES = 8, NAME_ROOM = 24 };

/* All options of the program: the table's, the tokenizer's and, for a decoder, the generation
 * settings; --raw in an encoder-only program. */
typedef struct Option { const char *name, *argument, *help; int letter, value; } Option;
typedef struct Options { Option list[MOST_OPTIONS]; int count; } Options;

static Options options;

static int has_need(const rt_program *p, rt_cli_need need)
{
    switch (need) {
    case CLI_NEED_DECODER: return p->max_target > 0;
    case CLI_NEED_CHAT:    return p->chat != NULL;
    case CLI_NEED_PAIRS:   return p->pairs;
    case CLI_NEED_SOURCE:  return p->max_source && p->max_target;
    case CLI_NEED_NOTHING: break;
    }
    return 1;
}

static void add_options(Options *o, const rt_program *p, const rt_cli_option *rows, int n)
{
    for (int i = 0; i < n; i++)
        if (has_need(p, rows[i].need))
            o->list[o->count++] = (Option){ rows[i].name, rows[i].argument, rows[i].help, rows[i].letter < 256 ? rows[i].letter : 0, rows[i].letter };
}

static void collect_options(const rt_program *p)
{
    Options o = { .count = 0 };
    add_options(&o, p, table, OWN_OPTIONS);
    if (p->texts) add_options(&o, p, p->texts->options, p->texts->option_count);
    for (int i = 0; p->generation && i < rt_generation_option_count && o.count < MOST_OPTIONS - 1; i++) {
        const RtGenerationOption *g = &rt_generation_options[i];
        o.list[o.count++] = (Option){ g->name, g->argument, g->doc, g->letter, g->letter ? g->letter : GENERATION + i };
    }
    if (!p->max_target)
        o.list[o.count++] = (Option){ "raw", NULL, "Write vectors as raw 32-bit floats", 0, RAW };
    options = o;
}

/* The keys of --json. */
static void show_keys(const rt_program *p)
{
    puts("\nKeys of --json, for each text:\n"
         "  input       the text\n"
         "  input_ids   its token ids");
    if (p->max_target)
        puts("  ids         the generated ids, including the end token\n"
             "  answer      the same as text, null without a tokenizer\n"
             "  score       the sum of the log-probabilities of ids\n"
             "  finished    whether the end token was reached\n"
             "  beams       with --beam, best first: answer, ids, score and sum of each");
    else if (p->vectors) p->vectors->show_keys(p);
    puts("  error       why there is no answer; the only other key is then input");
}

static void show_help(const rt_program *p)
{
    const char *example = p->example ? p->example : p->tokenize || p->texts ? "some text" : "1 2 3";
    const int longest = p->max_source ? p->max_source : p->max_target;
    printf("Examples:\n  %s '%s'\n  %s < texts.txt > answers.txt\n  %s --json < texts.txt\n\n",
           p->name, example, p->name, p->name);
    printf("Usage: %s [OPTION]... [TEXT]...\n%s\n\n", p->name, p->about);
    const char *unit = p->texts ? "tokens" : p->tokenize ? "characters" : "ids";
    if (p->texts && !p->max_target)
        printf("Print one line for each TEXT. A TEXT of more than %d %s is truncated.\n", longest, unit);
    else printf("Print the answer to each TEXT (at most %d %s), empty if rejected.\n", longest, unit);
    puts("Without TEXT, -p or -f, and for -, answer each line of standard input.\n");
    if (p->pairs) puts("A tab splits a TEXT into a pair of texts.\n");
    if (p->vectors) p->vectors->show_help(p);
    for (int i = 0; i < options.count; i++) {
        const Option *o = &options.list[i];
        char left[64];
        snprintf(left, sizeof left, "%c%c%s --%s%s%s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
                 o->letter ? "," : " ", o->name, o->argument ? " " : "", o->argument ? o->argument : "");
        printf("  %-26s %s", left, o->help);
        if (o->letter == 't' && p->default_threads) printf("; default: %d", p->default_threads);
        if (o->letter == 't' && !p->default_threads) printf("; default: processors, up to %d", p->max_threads);
        puts("");
    }
    show_keys(p);
    printf("\nExit status: 0 all answered, 1 self-test failed, 2 usage, 65 bad text, weights\n"
           "or settings, 66 no weights or FILE, 69 instructions, processors, threads, slots\n"
           "or memory are missing, 70 a bug, 74 input or output failed, 141 output closed.\n");
}

static int usage_end(const rt_program *p)
{
    fprintf(stderr, "Usage: %s [OPTION]... [TEXT]...\nTry '%s --help' for more information.\n", p->name, p->name);
    return RT_EXIT_USAGE;
}

static int least(int a, int b) { return a < b ? a : b; }

/* The least number of letters to insert, delete or replace to turn a[0..n) into b, which is shorter
 * than NAME_ROOM. */
static int distance(const char *a, size_t n, const char *b)
{
    const int length = (int)strlen(b);
    int row[NAME_ROOM];
    for (int j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 0; i < n; i++) {
        int diagonal = row[0];
        row[0]++;
        for (int j = 1; j <= length; j++) {
            const int replaced = diagonal + (a[i] != b[j - 1]);
            diagonal = row[j];
            row[j] = least(replaced, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[length];
}

static int unknown_long(const rt_program *p, const char *word)
{
    const size_t n = strcspn(word + 2, "=");
    int nearest = 0, closest = NAME_ROOM;
    for (int i = 0; i < options.count; i++) {
        const int d = n < NAME_ROOM ? distance(word + 2, n, options.list[i].name) : NAME_ROOM;
        if (d < closest) closest = d, nearest = i;
    }
    fprintf(stderr, "%s: unknown option '%.*s'", p->name, (int)n + 2, word);
    if (closest <= 3) fprintf(stderr, "; did you mean '--%s'?", options.list[nearest].name);
    fputc('\n', stderr);
    return usage_end(p);
}

static int wrong_option(const rt_program *p, int result, const char *word)
{
    int known = -1;
    for (int i = 0; i < options.count; i++)
        if (options.list[i].value == optopt) known = i;
    if (optopt == 0) return unknown_long(p, word);
    if (known < 0) fprintf(stderr, "%s: unknown option '-%c'\n", p->name, optopt);
    else fprintf(stderr, "%s: option '--%s' %s\n", p->name, options.list[known].name,
                 result == ':' ? "needs an argument" : "takes no argument");
    return usage_end(p);
}

static int parse_number(int *number, const char *name, int most, const rt_program *p)
{
    char *end;
    long n;
    errno = 0;
    n = strtol(optarg, &end, 10);
    if (!errno && *optarg && !*end && n >= 1 && n <= most) {
        *number = (int)n;
        return 0;
    }
    fprintf(stderr, "%s: --%s must be a whole number from 1 to %d, not '%s'\n", p->name, name, most, optarg);
    return usage_end(p);
}

static int some_text(const char *name, const rt_program *p)
{
    if (*optarg) return 0;
    fprintf(stderr, "%s: --%s is empty\n", p->name, name);
    return usage_end(p);
}

static int add_stop(CliOptions *o, const rt_program *p)
{
    const int code = some_text("stop", p);
    if (!code) o->stops[o->generation.stop_count++] = optarg;
    return code;
}

static int add_prompt(CliOptions *o, int file, const rt_program *p)
{
    const int code = file ? some_text("file", p) : 0;
    if (!code) o->prompts[o->prompt_count++] = (CliPrompt){ optarg, file };
    return code;
}

static int choose(CliOptions *o, CliAction action, const rt_program *p)
{
    const int another = o->action && o->action != action;
    o->action = action;
    if (!another) return 0;
    fprintf(stderr, "%s: only one of --info, --check, --selftest and --bench can be given\n", p->name);
    return usage_end(p);
}

/* Reject options and texts that would have no effect, and options that conflict or that the chat
 * template does not support. */
static int check_options(const CliOptions *o, const rt_program *p, int argc, char **argv)
{
    const int own = p->generation ? p->generation->stop_count : 0;
    const char *unread = o->action ? "no text is read" : "inputs are ids here, not text";
    if (o->action && o->prompt_count)
        fprintf(stderr, "%s: '%s': no text is read with --info, --check, --selftest or --bench\n",
                p->name, o->prompts[0].text);
    else if (o->action && o->longest)
        fprintf(stderr, "%s: --max-len has no effect: no text is answered\n", p->name);
    else if (o->action && o->generation.stop_count > own)
        fprintf(stderr, "%s: --stop %s has no effect: no text is answered\n", p->name,
                o->stops[own]);
    else if (o->generation.stop_count > own && (o->ids || (!p->tokenize && !p->texts)))
        fprintf(stderr, "%s: --stop %s: answers are ids here, not text\n", p->name, o->stops[own]);
    else if (p->texts && (o->action || o->ids) && p->texts->asked(o))
        fprintf(stderr, "%s: --%s has no effect: %s\n", p->name, p->texts->asked(o), unread);
    else if (o->chat && (o->action || o->ids))
        fprintf(stderr, "%s: --chat has no effect: %s\n", p->name, unread);
    else if ((o->system || o->date || o->turns) && !o->chat)
        fprintf(stderr, "%s: --%s needs --chat\n", p->name,
                o->system ? "system" : o->date ? "date" : "turns");
    else if (o->system && !p->chat->system[0])
        fprintf(stderr, "%s: --system: the %s chat template has no supported place for a system "
                "prompt\n", p->name, p->chat->name);
    else if (o->date && !p->chat->dated)
        fprintf(stderr, "%s: --date: the %s chat template does not use a date\n", p->name,
                p->chat->name);
    else if (o->turns && !p->chat->past[0])
        fprintf(stderr, "%s: --turns: cannot tell how the %s chat template writes earlier "
                "answers\n", p->name, p->chat->name);
    else if (o->action && o->verbose)
        fprintf(stderr, "%s: --verbose has no effect: no text is answered\n", p->name);
    else if (o->stream && (o->action || o->json))
        fprintf(stderr, "%s: --stream cannot be combined with --json, --info, --check, --selftest "
                "or --bench\n", p->name);
    else if (o->stream && rt_generation_searches(&o->generation))
        fprintf(stderr, "%s: --stream: a beam search has no text until it ends; use --beam 1\n",
                p->name);
    else if (o->action && o->first < argc)
        fprintf(stderr, "%s: '%s': no text is read with --info, --check, --selftest or --bench\n",
                p->name, argv[o->first]);
    else if (o->action && o->ids)
        fprintf(stderr, "%s: --ids has no effect: no text is answered\n", p->name);
    else if (o->action && o->generates)
        fprintf(stderr, "%s: generation options have no effect: no text is answered\n", p->name);
    else if (o->raw && (o->action || o->json))
        fprintf(stderr, "%s: --raw cannot be combined with --json, --info, --check, --selftest or "
                "--bench\n", p->name);
    else if (cli_is_similar(p, argc - o->first, argv + o->first) && (argc - o->first != 3 || o->raw))
        fprintf(stderr, o->raw ? "%s: --raw: \"similar\" prints one number, not a vector\n"
                       : "%s: \"similar\" compares two texts: similar TEXT TEXT\n", p->name);
    else if (o->repetitions && o->action != CLI_BENCH)
        fprintf(stderr, "%s: --repetitions needs --bench\n", p->name);
    else return 0;
    return usage_end(p);
}

/* The generation setting that an option sets; NULL if it sets none. */
static const RtGenerationOption *setting_of(int value)
{
    for (int i = 0; i < rt_generation_option_count; i++) {
        const RtGenerationOption *g = &rt_generation_options[i];
        if (value == (g->letter ? g->letter : GENERATION + i)) return g;
    }
    return NULL;
}

/* Too many beams for the program's slots are rejected later, by cli_decoder_open. */
static int parse_setting(CliOptions *o, const RtGenerationOption *setting, const rt_program *p)
{
    const char *expected = "";
    o->generates = 1;
    if (rt_generation_set(&o->generation, setting->name, optarg, &expected) == 0) return 0;
    fprintf(stderr, "%s: --%s must be %s, not '%s'\n", p->name, setting->name, expected, optarg);
    return usage_end(p);
}

/* 1 if a setting applies only to beam search. */
static int of_beams(const char *name) { return strcmp(name, "length-penalty") == 0 || strcmp(name, "early-stopping") == 0; }

/* Add an alias of a setting; 0 if the program does not have the setting. */
static int add_alias(struct option *to, const RtGenerationAlias *alias)
{
    const char *name = rt_generation_options[alias->option].name;
    for (int i = 0; i < options.count; i++) {
        const struct option one = { alias->name, required_argument, NULL, options.list[i].value };
        if (strcmp(options.list[i].name, name)) continue;
        *to = one;
        return 1;
    }
    return 0;
}

/* Convert the options to the form that getopt_long takes. */
static void make_options(struct option *longs, char *shorts)
{
    int n = options.count;
    /* Report a missing argument as ':'. */
    *shorts++ = ':';
    for (int i = 0; i < options.count; i++) {
        const Option *o = &options.list[i];
        const struct option one = { o->name, o->argument ? required_argument : no_argument, NULL, o->value };
        longs[i] = one;
        if (!o->letter) continue;
        *shorts++ = (char)o->letter;
        if (o->argument) *shorts++ = ':';
    }
    for (int i = 0; i < rt_generation_alias_count && i < MOST_ALIASES; i++) n += add_alias(&longs[n], &rt_generation_aliases[i]);
    memset(&longs[n], 0, sizeof longs[n]);
    *shorts = '\0';
}

/* --help or --version was printed: -1, or an exit code if writing failed. */
static int shown(const rt_program *p)
{
    if (!fflush(stdout) && !ferror(stdout)) return -1;
    fprintf(stderr, "%s: cannot write to standard output: %s\n", p->name, strerror(errno));
    return RT_EXIT_IO;
}

/* Allocate the lists of repeatable options. Returns 0, or an exit code after a message. */
static int begin_options(CliOptions *o, const rt_program *p, int argc)
{
    const int own = p->generation ? p->generation->stop_count : 0;
    const CliOptions none = { .stops = malloc((size_t)(own + argc) * sizeof *o->stops), .prompts = malloc((size_t)argc * sizeof *o->prompts) };
    *o = none;
    if (p->generation) o->generation = *p->generation;
    if (o->stops) for (int i = 0; i < own; i++) o->stops[i] = p->generation->stops[i];
    o->generation.stops = o->stops;
    if (o->stops && o->prompts) return 0;
    fprintf(stderr, "%s: no memory for %d arguments\n", p->name, argc);
    return RT_EXIT_MISSING;
}

void cli_options_free(CliOptions *o) { free(o->stops), free(o->prompts); }

int cli_options(CliOptions *o, const rt_program *p, int argc, char **argv)
{
    struct option longs[MOST_OPTIONS + MOST_ALIASES + 1];
    char shorts[2 * MOST_OPTIONS + 2];
    const int longest = p->max_source > p->max_target ? p->max_source : p->max_target;
    int c, code = begin_options(o, p, argc), shaped = 0;
    collect_options(p);
    make_options(longs, shorts);
    opterr = 0;
    while (!code && (c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        switch (c) {
        case 't': code = parse_number(&o->threads, "threads", p->max_threads, p); break;
        case PIN: o->pin = 1; break;
        case WEIGHTS: code = some_text("weights", p), o->weights = optarg; break;
        case IDS: o->ids = 1; break;
        case JSON: o->json = 1; break;
        case RAW: o->raw = 1; break;
        case INFO: code = choose(o, CLI_INFO, p); break;
        case CHECK: code = choose(o, CLI_CHECK, p); break;
        case SELFTEST: code = choose(o, CLI_SELFTEST, p); break;
        case BENCH: code = choose(o, CLI_BENCH, p); break;
        case 'p': code = add_prompt(o, 0, p); break;
        case 'f': code = add_prompt(o, 1, p); break;
        case 'v': o->verbose = 1; break;
        case CHAT: o->chat = 1; break;
        case SYSTEM: o->system = optarg; break;
        case DATE: code = some_text("date", p), o->date = optarg; break;
        case TURNS: o->turns = 1; break;
        case STREAM: o->stream = 1; break;
        case STOP: code = add_stop(o, p); break;
        case 'c': code = parse_number(&o->longest, "max-len", longest, p); break;
        case 'r': code = parse_number(&o->repetitions, "repetitions", 1000, p); break;
        case 'h': show_help(p); return shown(p);
        case VERSION: printf("%s (xformc) %s\n", p->name, p->version); return shown(p);
        default: {
            if (c >= CLI_SEPARATOR) {
                p->texts->take(o, c, optarg);
                break;
            }
            const RtGenerationOption *setting = c == ':' || c == '?' ? NULL : setting_of(c);
            if (!setting) code = wrong_option(p, c, argv[optind - 1]);
            else code = parse_setting(o, setting, p), shaped |= of_beams(setting->name);
        }
        }
    }
    if (!code && shaped && !rt_generation_searches(&o->generation)) {
        fprintf(stderr, "%s: --length-penalty and --early-stopping need --beam N, with N at least 2\n", p->name);
        code = usage_end(p);
    }
    o->first = optind;
    if (!code) code = check_options(o, p, argc, argv);
    o->turns |= o->chat && p->chat->past[0] && !o->prompt_count && o->first == argc && isatty(STDIN_FILENO);
    return code;
}
