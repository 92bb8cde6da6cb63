/* options.h: the parsed command line, with the values of the options in options.def, and its
 * conversion to the options of sessions, engines and `run`. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "engine_open.h"
#include "run_options.h"
#include "session.h"

typedef enum Command {
#define COMMAND(name, NAME, words, usage, doc, more, examples) COMMAND_##NAME,
#include "commands.def"
#undef COMMAND
    COMMANDS
} Command;

typedef enum OptionId {
#define GROUP(title)
#define OPTION(id, letter, name, argument, kind, commands, doc, more) OPTION_##id,
#include "options.def"
#undef OPTION
    OPTIONS
} OptionId;

enum { OPTION_THREADS_MOST = 16 };
typedef struct TextList { const char **texts; int count; } TextList;

/* 0, NULL and false mean that an option was not given; for an integer that may be 0, -1 does.
 * Strings point into the argument vector. */
typedef struct Options {
    Command command;
    bool given[OPTIONS];
#define FLAG(member) bool member;
#define TEXT(member) const char *member;
#define ANY(member) const char *member;
#define INTEGER(member, least, most) int member;
#define BYTES(member) size_t member;
#define SECONDS(member) double member;
#define WORD(member, ...) int member;
#define FIELD(member, list) const char *member;
#define ISAS(member) const char *member;
#define LETTERS(member, letters) const char *member;
#define THREADS(member) int member[OPTION_THREADS_MOST], member##_count;
#define LIST(member) TextList member;
#define PROMPT(member) Prompt *member; int member##_count;
#define PROMPT_FILE(member)
#define SETTING
#define OPTION(id, letter, name, argument, kind, commands, doc, more) kind
#include "options.def"
#undef OPTION
#undef SETTING
#undef PROMPT_FILE
#undef PROMPT
#undef LIST
#undef THREADS
#undef LETTERS
#undef ISAS
#undef FIELD
#undef WORD
#undef SECONDS
#undef BYTES
#undef INTEGER
#undef ANY
#undef TEXT
#undef FLAG
    GenerationOptions generation;       /* the options of kind SETTING */
    const char *spec;                   /* the first word after the command */
    const char *const *words;  int word_count;      /* the words after the spec */
} Options;
#undef GROUP

/* The words of --weights, --kernels, --unroll-layers and --color. */
enum { WEIGHTS_WORD_EMBED = 1, WEIGHTS_WORD_FILE, WEIGHTS_WORD_LITERAL };
enum { KERNELS_WORD_LIBRARY = 1, KERNELS_WORD_UNROLLED };
enum { UNROLL_LAYERS_WORD_ON = 1, UNROLL_LAYERS_WORD_OFF };
enum { COLOR_WORD_AUTO = 1, COLOR_WORD_ALWAYS, COLOR_WORD_NEVER };
/* A word of an option of kind WORD, such as "md", by its number, counted from 1; NULL for 0. */
const char *option_word_of(OptionId id, int word);

/* Read the options into *o and move the words to argv[optind] and after. False after a message: the
 * program ends with EXIT_USAGE. The caller calls options_free even then. */
bool options_parse(Options *o, int argc, char **argv);
void options_free(Options *o);

/* Check words and options against o->command, and set o->spec and o->words. words[0] is the
 * command's name. False after a message. */
bool options_fit(Options *o, char **words, int n);

/* The options of a session; false after a message about options that conflict. */
bool options_compile(const Options *o, CompileOptions *c);
/* The engine that --engine names; else `usual`, or native if `usual` is not ENGINE_ANY and an
 * option needs native code. False after a message about options that conflict. */
bool options_engine(const Options *o, EngineKind usual, EngineKind *kind);
RunOptions options_run(const Options *o, EngineKind kind);

/* Print a message about the command line and the line "try … --help"; return EXIT_USAGE. */
__attribute__((format(printf, 2, 3))) Exit options_refuse(const Options *o, const char *format, ...);

/* ---- help ----------------------------------------------------------------------------------------- */

/* A row of commands.def. */
typedef enum Words { WORDS_NONE, WORDS_MAYBE_COMMAND, WORDS_MAYBE_SPEC, WORDS_SPEC, WORDS_SPEC_AND_TEXTS } Words;
typedef struct CommandRow {
    const char *name;
    Words words;
    const char *usage;
    const char *doc, *more;         /* as in commands.def */
    const char *examples;
} CommandRow;
extern const CommandRow command_rows[COMMANDS];
/* The command with that name, else COMMANDS. */
Command command_named(const char *word);
/* A row of options.def. words: the values allowed; NULL: not a list of words. commands: bits 1 <<
 * Command. */
typedef struct OptionHelp { int letter; const char *name, *argument, *doc; const char *const *words; int word_count; int commands; } OptionHelp;
OptionHelp option_help(OptionId id);
/* Print the options of a command, or of all for COMMANDS, by group: a line for each common one,
 * then the names of the others. in_full: a line for each, and its `more`. */
void options_print(Command command, bool in_full, FILE *to);

#endif
