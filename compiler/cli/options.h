/* options.h: the command line as values: one member for each row of options.def, and what those of
 * the compiler and the prompt make of them. */
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

/* 0, NULL and false mean: not given; -1 of a whole number that may be 0. The lists point into the argument vector. */
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
    GenerationOptions generation;       /* the settings */
    const char *spec;                   /* the first word behind the command */
    const char *const *words;  int word_count;      /* the others */
} Options;
#undef GROUP

/* The words of --weights, --kernels and --format. */
enum { WEIGHTS_WORD_EMBED = 1, WEIGHTS_WORD_FILE, WEIGHTS_WORD_LITERAL };
enum { KERNELS_WORD_LIBRARY = 1, KERNELS_WORD_UNROLLED };
enum { UNROLL_LAYERS_WORD_ON = 1, UNROLL_LAYERS_WORD_OFF };
enum { COLOR_WORD_AUTO = 1, COLOR_WORD_ALWAYS, COLOR_WORD_NEVER };
/* "md": a word of an option of kind WORD, from 1. NULL of 0. */
const char *option_word_of(OptionId id, int word);

/* Read the command line into *o, whose lists the caller frees with options_free. False after a message: then the program
 * ends with EXIT_USAGE. argc counts what getopt_long has moved behind the options: words[0] is the command's. */
bool options_parse(Options *o, int argc, char **argv);
void options_free(Options *o);

/* The same about o->command: whether its words and options fit it; false after a message. */
bool options_fit(Options *o, char **words, int n);

/* What a command asks of the session; false after a message about two options that do not go together. */
bool options_compile(const Options *o, CompileOptions *c);
/* The engine of --engine, else `usual`, in whose place native code runs where options of it are given. Likewise. */
bool options_engine(const Options *o, EngineKind usual, EngineKind *kind);
RunOptions options_run(const Options *o, EngineKind kind);

/* A message about the command line and the line "try … --help"; EXIT_USAGE. */
__attribute__((format(printf, 2, 3))) Exit options_refuse(const Options *o, const char *format, ...);

/* ---- help ----------------------------------------------------------------------------------------- */

/* A row of commands.def. */
typedef enum Words { WORDS_NONE, WORDS_MAYBE_COMMAND, WORDS_MAYBE_SPEC, WORDS_SPEC, WORDS_SPEC_AND_TEXTS } Words;
typedef struct CommandRow {
    const char *name;
    Words words;
    const char *usage;
    const char *doc, *more;         /* a line of at most 66 columns, and sentences behind it */
    const char *examples;
} CommandRow;
extern const CommandRow command_rows[COMMANDS];
/* COMMANDS where there is none of that name. */
Command command_named(const char *word);
/* A row of options.def; words: NULL where any value does. commands: bits 1 << Command. */
typedef struct OptionHelp { int letter; const char *name, *argument, *doc; const char *const *words; int word_count; int commands; } OptionHelp;
OptionHelp option_help(OptionId id);
/* The options of a command by groups, the usual ones with a line each, the names of the others behind
 * them; COMMANDS: of all commands. in_full: all with a line, and what is more to say. */
void options_print(Command command, bool in_full, FILE *to);

#endif
