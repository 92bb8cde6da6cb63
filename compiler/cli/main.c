/* main.c: run the command that the command line names. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "cache.h"
#include "cleanup.h"
#include "command.h"
#include "option_values.h"

static CommandRun *const runs[COMMANDS] = {
#define COMMAND(name, NAME, words, usage, doc, more, examples) command_##name,
#include "commands.def"
#undef COMMAND
};

static Exit run_command(Options *o, char **words, int n)
{
    if (o->version) return command_version(o);
    if (n == 0 && !o->help) return help_no_words(o);
    o->command = n ? command_named(words[0]) : COMMAND_HELP;
    if (o->command == COMMANDS) return help_no_command(words[0]);
    if (o->help) return help_command(n ? o->command : COMMANDS, o->verbose, stdout), EXIT_DONE;
    if (!options_fit(o, words, n)) return EXIT_USAGE;
    if (o->no_cache) cache_off();
    return runs[o->command](o);
}

/* Fill closed standard descriptors, so that no file opened later becomes standard input, output or
 * error. /dev/null is opened such that reads of 0 and writes to 1 and 2 fail. */
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
    Options o;
    fill_standard_files();
    cleanup_install();
    const Exit e = options_parse(&o, argc, argv) ? run_command(&o, argv + optind, argc - optind) : EXIT_USAGE;
    options_free(&o);
    return e == EXIT_DONE ? written() : e;
}
