/* command_help.c: help and version: what there is, and the options of a command. */
#include "command.h"
#include "emit_kind.h"


static void help_usage(FILE *to)
{
    fputs("xformc turns a Transformer into C: a spec in Lua, a Hugging Face folder or a GGUF file\n"
          "into one program.\n"
          "\n"
          "  xformc build specs/dates.lua -o generated/dates    a program\n"
          "  xformc run specs/dates.lua \"3rd of May 2019\"       an answer\n"
          "  xformc info specs/dates.lua                        what it takes and costs\n"
          "  xformc verify specs/dates.lua                      every engine against every other\n"
          "  xformc repl specs/dates.lua                        a prompt\n"
          "\n"
          "'xformc help' shows all commands, 'xformc help COMMAND' the options of one.\n", to);
}

Exit help_no_words(const Options *o)
{
    for (int i = 0; i < OPTIONS; i++)
        if (o->given[i]) return options_refuse(o, "a command is missing before --%s", option_help((OptionId)i).name);
    help_usage(stderr);
    return EXIT_USAGE;
}

static void print_codes(FILE *to)
{
    fputs("\nExit codes: 0 done, 1 a comparison failed, 2 usage, 65 bad data, 66 no such input, 69 a tool, a feature\n"
          "or memory is missing, 70 our bug, 74 input or output failed, 130 interrupted, 141 nobody reads the output.\n", to);
}

static void help_all(FILE *to)
{
    fputs("Examples:\n"
          "  xformc build specs/dates.lua -o generated/dates    a spec into one program\n"
          "  xformc run specs/dates.lua \"3rd of May 2019\"       answer a text\n"
          "  xformc run specs/self_attention.lua                every number of a small attention\n"
          "  xformc attention specs/dates.lua \"3rd of May 2019\" where every head looks\n"
          "  xformc verify specs/dates.lua                      every engine against every other\n"
          "\nA compiler that turns a Transformer into C: a spec in Lua and its weights into one program.\n"
          "\nUsage: xformc COMMAND [SPEC] [OPTION...]\n\nCommands:\n", to);
    for (int i = 0; i < COMMANDS; i++) {
        const CommandRow *c = &command_rows[i];
        fprintf(to, "  %-9s %-34s %s\n", c->name, c->usage, c->doc);
    }
    options_print(COMMANDS, to);
    fputs("\n'xformc COMMAND --help' shows the options of a command.\n", to);
    print_codes(to);
}

static const char distances[] =
    "\nThe distance of two tensors is max|a - b| / max|b|. It may be 1e-5, or 1e-4 for logits of models over 12\n"
    "layers. Where it is more because sums cancel, the operation is compared alone, on equal inputs, and the\n"
    "difference is divided by what went into the sum. Such a row says how far it is \"end to end\".\n";

void help_command(Command command, FILE *to)
{
    if (command == COMMANDS) {
        help_all(to);
        return;
    }
    const CommandRow *c = &command_rows[command];
    fprintf(to, "Examples:\n%s\n%s.\n\nUsage: xformc %s%s%s [OPTION...]\n", c->examples, c->doc, c->name, *c->usage ? " " : "", c->usage);
    if (command == COMMAND_VERIFY) fputs(distances, to);
    options_print(command, to);
    print_codes(to);
}

Exit help_no_command(const char *word)
{
    const Options none = { .command = COMMANDS };
    const char *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++) names[i] = command_rows[i].name;
    const char *near = diag_nearest(word, names, COMMANDS);
    if (near) return options_refuse(&none, "there is no command '%s'; did you mean '%s'?", word, near);
    return options_refuse(&none, "there is no command '%s'", word);
}

Exit command_help(const Options *o)
{
    const Command command = o->spec ? command_named(o->spec) : COMMANDS;
    if (o->spec && command == COMMANDS) return help_no_command(o->spec);
    if (o->spec && o->completion) return options_refuse(o, "--completion is of all commands; '%s' is one word too many", o->spec);
    if (o->completion) completion_print(o->completion, stdout);
    else help_command(command, stdout);
    return EXIT_DONE;
}

Exit command_version(const Options *o)
{
    (void)o;
    printf("xformc %s\nMIT licence; what it emits is yours.\n", XFORMC_VERSION);
    return EXIT_DONE;
}
