/* command_help.c: help and version: print the list of commands, the options of one, a completion
 * script or the version. */
#include "command.h"
#include "emit_kind.h"
#include "wrap.h"


static void help_usage(FILE *to)
{
    fputs("xformc turns a Transformer into C: from a Lua spec, a Hugging Face folder or a\n"
          "GGUF file, it makes one program.\n"
          "\n"
          "  xformc build specs/dates.lua -o generated/dates    a program\n"
          "  xformc run specs/dates.lua \"3rd of May 2019\"       an answer\n"
          "  xformc info specs/dates.lua                        its memory and cost\n"
          "  xformc verify specs/dates.lua                      a comparison of all engines\n"
          "  xformc repl specs/dates.lua                        a prompt\n"
          "\n"
          "'xformc help' shows all commands; 'xformc help COMMAND' explains one.\n", to);
}

Exit help_no_words(const Options *o)
{
    for (int i = 0; i < OPTIONS; i++)
        if (o->given[i]) return options_refuse(o, "a command is missing before --%s", option_help((OptionId)i).name);
    help_usage(stderr);
    return EXIT_USAGE;
}

static void help_all(bool in_full, FILE *to)
{
    fputs("Examples:\n"
          "  xformc build specs/dates.lua -o generated/dates\n"
          "  xformc run specs/dates.lua \"3rd of May 2019\"\n"
          "  xformc attention specs/dates.lua \"3rd of May 2019\"\n"
          "  xformc verify specs/dates.lua\n"
          "\nTurn a Transformer into C: make one program from a Lua spec, a Hugging Face\n"
          "folder or a GGUF file.\n"
          "\nUsage: xformc COMMAND [SPEC] [OPTION...]\n\nCommands:\n", to);
    for (int i = 0; i < COMMANDS; i++)
        fprintf(to, "  %-10s %s\n", command_rows[i].name, command_rows[i].doc);
    if (in_full) options_print(COMMANDS, true, to);
    fputs("\n'xformc COMMAND --help' shows the options of a command.\n", to);
}

static void print_codes(FILE *to)
{
    fputs("\n", to);
    wrap_text(to, 0,
              "Exit codes: 0 success; 1 a comparison failed or a limit is exceeded; 2 usage; 65 bad data; 66 no such "
              "input; 69 a tool, a feature or memory is missing; 70 a bug; 74 input or output "
              "failed; 130 interrupted; 141 the output was closed early.");
}

void help_command(Command command, bool in_full, FILE *to)
{
    if (command == COMMANDS) {
        help_all(in_full, to);
        print_codes(to);
        return;
    }
    const CommandRow *c = &command_rows[command];
    fprintf(to, "Examples:\n%s\n%s.\n", c->examples, c->doc);
    if (in_full && *c->more) wrap_text(to, 0, c->more);
    fprintf(to, "\nUsage: xformc %s%s%s [OPTION...]\n", c->name, *c->usage ? " " : "", c->usage);
    options_print(command, in_full, to);
    if (!in_full) fprintf(to, "\n'xformc help %s -v' explains each option in full.\n", c->name);
    print_codes(to);
}

Exit help_no_command(const char *word)
{
    const Options none = { .command = COMMANDS };
    const char *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++) names[i] = command_rows[i].name;
    const char *near = diag_nearest(word, names, COMMANDS);
    if (near) return options_refuse(&none, "unknown command '%s'; did you mean '%s'?", word, near);
    return options_refuse(&none, "unknown command '%s'", word);
}

Exit command_help(const Options *o)
{
    const Command command = o->spec ? command_named(o->spec) : COMMANDS;
    if (o->spec && command == COMMANDS) return help_no_command(o->spec);
    if (o->spec && o->completion)
        return options_refuse(o, "--completion covers all commands; unexpected argument '%s'",
                              o->spec);
    if (o->completion) completion_print(o->completion, stdout);
    else help_command(command, o->verbose, stdout);
    return EXIT_DONE;
}

Exit command_version(const Options *o)
{
    (void)o;
    printf("xformc %s\nMIT licence; what it emits is yours.\n", XFORMC_VERSION);
    return EXIT_DONE;
}
