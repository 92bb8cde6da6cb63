/* completion.c: completion scripts for bash, zsh and fish, from the tables of commands and
 * options. */
#include "command.h"

#include <string.h>

enum { BASH = 1, ZSH, FISH };

/* Write `doc` up to the first semicolon, for use inside '…' in a shell. brackets: escape brackets
 * and backslashes. */
static void put_doc(const char *doc, bool brackets, FILE *to)
{
    for (const char *s = doc; *s && *s != ';'; s++) {
        if (*s == '\'') fputs("'\\''", to);
        else if (brackets && (*s == '[' || *s == ']' || *s == '\\')) fprintf(to, "\\%c", *s);
        else fputc(*s, to);
    }
}

static void put_words(const OptionHelp *h, FILE *to)
{
    for (int i = 0; i < h->word_count; i++) fprintf(to, "%s%s", i ? " " : "", h->words[i]);
}

static void put_commands(FILE *to)
{
    for (int i = 0; i < COMMANDS; i++) fprintf(to, "%s%s", i ? " " : "", command_rows[i].name);
}

/* True if the value is a path, or ends with one, as X=FILE does. */
static bool is_of_file(const OptionHelp *h)
{
    return h->argument && (strstr(h->argument, "FILE") || strcmp(h->argument, "DIR") == 0 || strcmp(h->argument, "PATH") == 0);
}

/* ---- bash ------------------------------------------------------------------------------------------ */

static void bash_values(FILE *to)
{
    fputs("    case $previous in\n", to);
    for (int i = 0; i < OPTIONS; i++) {
        const OptionHelp h = option_help((OptionId)i);
        if (!h.argument) continue;
        fputs("    ", to);
        if (h.letter) fprintf(to, "-%c|", h.letter);
        fprintf(to, "--%s) ", h.name);
        if (h.words) {
            fputs("COMPREPLY=($(compgen -W '", to);
            put_words(&h, to);
            fputs("' -- \"$current\")); ", to);
        } else if (is_of_file(&h)) fputs("COMPREPLY=($(compgen -f -- \"$current\")); ", to);
        fputs("return ;;\n", to);
    }
    fputs("    esac\n", to);
}

static void bash_options(FILE *to)
{
    fputs("    case $command in\n", to);
    for (int c = 0; c < COMMANDS; c++) {
        fprintf(to, "    %s) options='", command_rows[c].name);
        for (int i = 0; i < OPTIONS; i++) {
            const OptionHelp h = option_help((OptionId)i);
            if (h.commands & 1 << c) fprintf(to, "--%s ", h.name);
        }
        fputs("' ;;\n", to);
    }
    fputs("    esac\n", to);
}

static void bash(FILE *to)
{
    fputs("# bash completion for xformc, printed by: xformc help --completion bash\n"
          "_xformc() {\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command='' options='--help --version' word\n"
          "    if [[ $current == = ]]; then current=''; elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
          "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
          "        if [[ -z $command && $word != -* ]]; then command=$word; fi\n"
          "    done\n", to);
    bash_values(to);
    bash_options(to);
    fputs("    if [[ $current == -* ]]; then COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
          "    elif [[ -z $command || $command == help ]]; then COMPREPLY=($(compgen -W '", to);
    put_commands(to);
    fputs("' -- \"$current\"))\n"
          "    else COMPREPLY=($(compgen -f -- \"$current\")); fi\n"
          "}\n"
          "complete -o filenames -F _xformc xformc\n", to);
}

/* ---- zsh ------------------------------------------------------------------------------------------- */

static void zsh_option(const OptionHelp *h, FILE *to)
{
    if (h->letter) fprintf(to, "        '(-%c --%s)'{-%c%s,--%s%s}'[", h->letter, h->name, h->letter, h->argument ? "+" : "", h->name,
                           h->argument ? "=" : "");
    else fprintf(to, "        '--%s%s[", h->name, h->argument ? "=" : "");
    put_doc(h->doc, true, to);
    fputc(']', to);
    if (h->argument) fprintf(to, ":%s:", h->argument);
    if (h->words) {
        fputc('(', to);
        put_words(h, to);
        fputc(')', to);
    } else if (is_of_file(h)) fputs("_files", to);
    fputs("' \\\n", to);
}

static void zsh(FILE *to)
{
    fputs("#compdef xformc\n"
          "# zsh completion for xformc, printed by: xformc help --completion zsh\n"
          "_xformc() {\n"
          "    local -a commands\n"
          "    commands=(\n", to);
    for (int i = 0; i < COMMANDS; i++) {
        fprintf(to, "        '%s:", command_rows[i].name);
        put_doc(command_rows[i].doc, false, to);
        fputs("'\n", to);
    }
    fputs("    )\n"
          "    if (( CURRENT == 2 )) || [[ $words[2] == help ]]; then _describe command commands; return; fi\n"
          "    case $words[2] in\n", to);
    for (int c = 0; c < COMMANDS; c++) {
        fprintf(to, "    %s) _arguments \\\n", command_rows[c].name);
        for (int i = 0; i < OPTIONS; i++) {
            const OptionHelp h = option_help((OptionId)i);
            if (h.commands & 1 << c) zsh_option(&h, to);
        }
        fputs("        '*:file:_files' ;;\n", to);
    }
    fputs("    esac\n"
          "}\n"
          "_xformc \"$@\"\n", to);
}

/* ---- fish ------------------------------------------------------------------------------------------ */

static void fish_option(const OptionHelp *h, FILE *to)
{
    fputs("complete -c xformc -n '__fish_seen_subcommand_from", to);
    for (int c = 0; c < COMMANDS; c++)
        if (h->commands & 1 << c) fprintf(to, " %s", command_rows[c].name);
    fputc('\'', to);
    if (h->letter) fprintf(to, " -s %c", h->letter);
    fprintf(to, " -l %s", h->name);
    if (h->words) {
        fputs(" -x -a '", to);
        put_words(h, to);
        fputc('\'', to);
    } else if (is_of_file(h)) fputs(" -r -F", to);
    else if (h->argument) fputs(" -x", to);
    fputs(" -d '", to);
    put_doc(h->doc, false, to);
    fputs("'\n", to);
}

static void fish(FILE *to)
{
    fputs("# fish completion for xformc, printed by: xformc help --completion fish\n", to);
    for (int i = 0; i < COMMANDS; i++) {
        fprintf(to, "complete -c xformc -f -n __fish_use_subcommand -a %s -d '", command_rows[i].name);
        put_doc(command_rows[i].doc, false, to);
        fputs("'\n", to);
    }
    for (int i = 0; i < OPTIONS; i++) {
        const OptionHelp h = option_help((OptionId)i);
        fish_option(&h, to);
    }
}

void completion_print(int shell, FILE *to) { (shell == BASH ? bash : shell == ZSH ? zsh : fish)(to); }
