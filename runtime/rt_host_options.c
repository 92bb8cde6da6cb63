/* rt_host_options.c: one table of options feeds the parser, --help and "did you mean". */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rt_host_options.h"
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIN = 256, WEIGHTS, IDS, JSON, INFO, CHECK, SELFTEST, BENCH, BEAM, LENGTH_PENALTY, EARLY_STOPPING, VERSION };

static const struct { const char *name, *argument, *help; int letter; } table[] = {
    { "ids",     NULL,   "read and write ids: whole numbers with blanks between", IDS },
    { "json",    NULL,   "print one JSON object for each line", JSON },
    { "threads", "N",    "use N threads", 't' },
    { "pin",     NULL,   "pin every thread to a processor of its own", PIN },
    { "weights", "FILE", "use the weights in FILE", WEIGHTS },
    { "beam",    "N",    "answer by a search with N beams", BEAM },
    { "length-penalty", "A", "score of a beam: sum of log-probabilities / length^A; 1 without it", LENGTH_PENALTY },
    { "early-stopping", "WORD", "stop at N ended beams: true; when none can gain: false (default), never", EARLY_STOPPING },
    { "info",    NULL,   "show what this program is, and answer nothing", INFO },
    { "check",   NULL,   "compare the weights with their hash", CHECK },
    { "selftest", NULL,  "compute a fixed input and compare with what was packed", SELFTEST },
    { "bench",   NULL,   "measure how fast it computes", BENCH },
    { "repetitions", "N", "repetitions of --bench, without a limit of time", 'r' },
    { "help",    NULL,   "show this help", 'h' },
    { "version", NULL,   "show the version", VERSION },
};
enum { OPTIONS = sizeof table / sizeof table[0], NAME_ROOM = 16 };

/* The keys of --json. */
static void show_keys(const rt_program *p)
{
    puts("\nKeys of --json, for each line:\n"
         "  input       the text\n"
         "  input_ids   the same as ids");
    if (p->max_target)
        puts("  ids         what came out, with the end mark\n"
             "  text        the same as text, null without a tokenizer\n"
             "  score       sum of the log-probabilities of ids\n"
             "  finished    whether the end mark came, or room ran out");
    else puts("  hidden      a list of numbers for each id");
    puts("  error       why there is no answer; then there is only input besides");
}

static void show_help(const rt_program *p)
{
    const char *example = p->example ? p->example : p->ids ? "some text" : "1 2 3";
    const int longest = p->max_source ? p->max_source : p->max_target;
    printf("Examples:\n  %s '%s'\n  %s < texts.txt > answers.txt\n  %s --json < texts.txt\n  %s --selftest\n\n",
           p->name, example, p->name, p->name, p->name);
    printf("Usage: %s [OPTION]... [TEXT]...\n%s\n\n", p->name, p->about);
    printf("Give one line of answer for each TEXT, of at most %d %s. Without TEXT, and for -, answer\n"
           "each line of standard input. A text that cannot be answered gives an empty line.\n\n", longest,
           p->ids ? "characters" : "ids with blanks between");
    for (int i = 0; i < OPTIONS; i++) {
        char left[64];
        const int brief = table[i].letter < 256;
        snprintf(left, sizeof left, "%c%c%s --%s%s%s", brief ? '-' : ' ', brief ? table[i].letter : ' ',
                 brief ? "," : " ", table[i].name, table[i].argument ? " " : "",
                 table[i].argument ? table[i].argument : "");
        printf("  %-26s %s\n", left, table[i].help);
    }
    show_keys(p);
    if (p->default_lanes) printf("\nWithout -t it uses %d threads.\n", p->default_lanes);
    else printf("\nWithout -t it uses as many threads as it may use processors, at most %d.\n", p->lanes_max);
    printf("\nExit status: 0 all answered, 1 the self-test differs, 2 wrong usage, 65 a text was refused or the\n"
           "weights are foreign or corrupt, 66 no weights, 69 no such instruction set, threads, memory or slots,\n"
           "74 reading or writing failed.\n");
}

static int usage_end(const rt_program *p)
{
    fprintf(stderr, "Usage: %s [OPTION]... [TEXT]...\nTry '%s --help' for more information.\n", p->name, p->name);
    return EXIT_USAGE;
}

static int least(int a, int b) { return a < b ? a : b; }

/* Letters to insert, delete or replace to turn a[0..n] into b. b is shorter than NAME_ROOM. */
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
    for (int i = 0; i < OPTIONS; i++) {
        const int d = n < NAME_ROOM ? distance(word + 2, n, table[i].name) : NAME_ROOM;
        if (d < closest) closest = d, nearest = i;
    }
    fprintf(stderr, "%s: unknown option '%.*s'", p->name, (int)n + 2, word);
    if (closest <= 3) fprintf(stderr, "; did you mean '--%s'?", table[nearest].name);
    fputc('\n', stderr);
    return usage_end(p);
}

static int wrong_option(const rt_program *p, int result, const char *word)
{
    int known = -1;
    for (int i = 0; i < OPTIONS; i++)
        if (table[i].letter == optopt) known = i;
    if (optopt == 0) return unknown_long(p, word);
    if (known < 0) fprintf(stderr, "%s: unknown option '-%c'\n", p->name, optopt);
    else fprintf(stderr, "%s: option '--%s' %s\n", p->name, table[known].name,
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
    fprintf(stderr, "%s: %s must be a number of 1 to %d, not '%s'\n", p->name, name, most, optarg);
    return usage_end(p);
}

static int choose(HostOptions *o, HostAction action, const rt_program *p)
{
    const int another = o->action && o->action != action;
    o->action = action;
    if (!another) return 0;
    fprintf(stderr, "%s: of --info, --check, --selftest and --bench one at a time\n", p->name);
    return usage_end(p);
}

/* No word, no option is dropped in silence. */
static int check_options(const HostOptions *o, const rt_program *p, int argc, char **argv)
{
    if (o->action && o->first < argc) fprintf(stderr, "%s: '%s': no text is answered here\n", p->name, argv[o->first]);
    else if (o->action && o->ids) fprintf(stderr, "%s: --ids says how texts are read; none is answered here\n", p->name);
    else if (o->action && o->beams) fprintf(stderr, "%s: --beam says how texts are answered; none is here\n", p->name);
    else if (o->repetitions && o->action != HOST_BENCH) fprintf(stderr, "%s: --repetitions is read by --bench\n", p->name);
    else return 0;
    return usage_end(p);
}

/* More beams than the program has slots for are refused when its state is there. */
static int parse_beams(HostOptions *o, const rt_program *p)
{
    char *end;
    long n;
    errno = 0;
    n = strtol(optarg, &end, 10);
    if (!errno && *optarg && !*end && n >= 1 && n <= RT_BEAM_MOST) {
        o->beams = (int)n;
        return 0;
    }
    fprintf(stderr, "%s: beam must be a number of 1 to %d, not '%s'\n", p->name, RT_BEAM_MOST, optarg);
    return usage_end(p);
}

static int parse_penalty(HostOptions *o, const rt_program *p)
{
    char *end;
    o->length_penalty = strtod(optarg, &end);
    if (*optarg && !*end && o->length_penalty >= -10 && o->length_penalty <= 10) return 0;
    fprintf(stderr, "%s: length-penalty must be a number of -10 to 10, not '%s'\n", p->name, optarg);
    return usage_end(p);
}

static int parse_stopping(HostOptions *o, const rt_program *p)
{
    static const char *const words[] = { "false", "true", "never" };    /* in order of RtBeamStop */
    for (int i = 0; i < 3; i++) {
        if (strcmp(optarg, words[i])) continue;
        o->early_stopping = (RtBeamStop)i;
        return 0;
    }
    fprintf(stderr, "%s: early-stopping must be false, true or never, not '%s'\n", p->name, optarg);
    return usage_end(p);
}

/* The table in the form of getopt_long. */
static void make_options(struct option *longs, char *shorts)
{
    *shorts++ = ':';                                                    /* report a missing argument as ':' */
    for (int i = 0; i < OPTIONS; i++) {
        const struct option one = { table[i].name, table[i].argument ? required_argument : no_argument, NULL,
                                    table[i].letter };
        longs[i] = one;
        if (table[i].letter >= 256) continue;
        *shorts++ = (char)table[i].letter;
        if (table[i].argument) *shorts++ = ':';
    }
    memset(&longs[OPTIONS], 0, sizeof longs[OPTIONS]);
    *shorts = '\0';
}

/* An answer of --help or --version that cannot be written is an error too. */
static int shown(const rt_program *p)
{
    if (!fflush(stdout) && !ferror(stdout)) return -1;
    fprintf(stderr, "%s: cannot write to standard output: %s\n", p->name, strerror(errno));
    return EXIT_IO;
}

int host_options(HostOptions *o, const rt_program *p, int argc, char **argv)
{
    struct option longs[OPTIONS + 1];
    char shorts[2 * OPTIONS + 2];
    int c, code = 0, shaped = 0;
    memset(o, 0, sizeof *o);
    o->length_penalty = 1;
    make_options(longs, shorts);
    opterr = 0;
    while (!code && (c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        switch (c) {
        case 't': code = parse_number(&o->threads, "threads", p->lanes_max, p); break;
        case PIN: o->pin = 1; break;
        case WEIGHTS: o->weights = optarg; break;
        case IDS: o->ids = 1; break;
        case JSON: o->json = 1; break;
        case INFO: code = choose(o, HOST_INFO, p); break;
        case CHECK: code = choose(o, HOST_CHECK, p); break;
        case SELFTEST: code = choose(o, HOST_SELFTEST, p); break;
        case BENCH: code = choose(o, HOST_BENCH, p); break;
        case 'r': code = parse_number(&o->repetitions, "repetitions", 1000, p); break;
        case BEAM: code = parse_beams(o, p); break;
        case LENGTH_PENALTY: shaped = 1, code = parse_penalty(o, p); break;
        case EARLY_STOPPING: shaped = 1, code = parse_stopping(o, p); break;
        case 'h': show_help(p); return shown(p);
        case VERSION: printf("%s (xformc) %s\n", p->name, p->version); return shown(p);
        default: code = wrong_option(p, c, argv[optind - 1]);
        }
    }
    if (!code && shaped && !o->beams) {
        fprintf(stderr, "%s: length-penalty and early-stopping need --beam N\n", p->name);
        code = usage_end(p);
    }
    o->first = optind;
    return code ? code : check_options(o, p, argc, argv);
}
