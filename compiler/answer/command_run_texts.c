/* command_run_texts.c: `run` for every model but an xf.graph, on texts or ids. It checks the
 * options, then runs the code of generated programs (rt_cli_inputs.c) on an engine. */
#include "command_run_texts.h"

#include <string.h>
#include <unistd.h>

#include "chat.h"
#include "progress.h"
#include "run_program.h"

/* A command-line setting that only a beam search uses; NULL if there is none. */
static const char *beam_setting(const GenerationOptions *c)
{
    for (int i = 0; i < c->count; i++)
        if (!strcmp(c->name[i], "length-penalty") || !strcmp(c->name[i], "early-stopping")) return c->name[i];
    return NULL;
}

/* Append the command line's stop strings to the model's own. */
static void add_stops(Session *s, const RunOptions *o, RtGeneration *g)
{
    const int own = g->stop_count, more = o->stop_count;
    const char **stops = arena_array(s->arena, (size_t)(own + more) + 1, sizeof *stops);
    for (int i = 0; i < own; i++) stops[i] = g->stops[i];
    for (int i = 0; i < more; i++) stops[own + i] = o->stops[i];
    g->stops = stops;
    g->stop_count = own + more;
}

bool command_generation(Session *s, const RunOptions *o, RtGeneration *g)
{
    const GenerationOptions *c = &o->generation;
    const char *expected;
    *g = generation_of(s->model);
    for (int i = 0; i < c->count; i++) rt_generation_set(g, c->name[i], c->value[i], &expected);
    add_stops(s, o, g);
    const char *fault = rt_generation_fault(g), *alone = beam_setting(c);
    if (alone && !rt_generation_searches(g)) {
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--%s needs --beam 2 or more", alone);
        return false;
    }
    if (fault) diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "%s", fault);
    else if (o->stream && rt_generation_searches(g))
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--stream: a beam search has no text until it "
                   "ends; use --beam 1");
    else if (g->beams > session_slots(s))
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--slots %d: too few for %d beams; each beam "
                   "needs a slot", session_slots(s), g->beams);
    else return true;
    return false;
}

/* True if --chat is not given, or the model and the other options allow it; false after an error.
 * */
static bool can_chat(Session *s, const RunOptions *c)
{
    const Model *m = s->model;
    if (!c->chat) return true;
    chat_remark(s->diag, m);
    if (c->ids) diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--chat does not work with --ids");
    else if (!m->has_decoder || m->has_encoder)
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--chat needs a decoder-only model; %s has an encoder", m->name);
    else if (!m->tokenizer_data) diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--chat needs a subword tokenizer; %s has none", m->name);
    else if (m->chat_fault) diag_error(s->diag, EXIT_NO_FEATURE, (Loc){ m->chat_path, 0, 0 }, "%s", m->chat_fault);
    else if (!m->chat)
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--chat: the tokenizer of %s has no chat "
                   "template", m->name);
    else if (c->system && !m->chat->system[0])
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--system: the %s chat template has no "
                   "supported place for a system prompt", m->chat->name);
    else if (c->date && !m->chat->dated)
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--date: the %s chat template does not use a "
                   "date", m->chat->name);
    else if (c->turns && !m->chat->past[0])
        diag_error(s->diag, EXIT_USAGE, (Loc){ m->chat_path, 0, 0 },
                   "--turns: cannot tell how the %s chat template writes earlier answers",
                   m->chat->name);
    else return true;
    return false;
}

/* True if the words begin with "similar", to compare two texts, and the model can do so: it gives
 * one vector per text, without labels. If "similar" is the only word, it is a text. */
static bool is_similar(const Session *s, const RunOptions *c)
{
    const Model *m = s->model;
    return !m->has_decoder && model_pools(m) && !m->labels.count && c->word_count > 1 && !strcmp(c->words[0], "similar");
}

static bool can_answer(Session *s, const RunOptions *c)
{
    const Model *m = s->model;
    if (c->input_count)
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--input %s: only an xf.graph has named inputs, and %s is not one", c->inputs[0], m->name);
    else if (c->stop_count && (c->ids || !run_has_texts(m) || !m->has_decoder))
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--stop %s: %s", c->stops[0], m->has_decoder ? "answers are ids here, not text" :
                   arena_format(s->arena, "%s has no decoder and generates nothing", m->name));
    else if (!m->has_decoder && c->generation.count)
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--%s: %s has no decoder and generates nothing", c->generation.name[0], m->name);
    else if (c->plain_text && (c->ids || !m->tokenizer_data))
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--plain-text: %s", c->ids || !run_has_texts(m) ? "inputs are ids here, not text" :
                   "a text has no special tokens here, only characters");
    else if (c->separator && (c->ids || !m->pairs || !m->tokenizer_data))
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--pair-separator: %s", c->ids && m->pairs ? "pairs of ids are always split at a tab" :
                   arena_format(s->arena, "%s does not read pairs of texts", m->name));
    else if (c->stream && !m->has_decoder)
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--stream: %s has no decoder and generates nothing", m->name);
    else if (c->stream && c->json)
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--stream and --json cannot be combined");
    else if (c->raw && m->has_decoder)
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--raw: %s generates %s; only an encoder-only "
                   "model gives vectors", m->name, c->ids || !run_has_texts(m) ? "ids" : "text");
    else if (is_similar(s, c) && (c->word_count != 3 || c->prompt_count))
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "\"similar\" compares two texts: similar TEXT TEXT");
    else if (is_similar(s, c) && c->raw) diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--raw: \"similar\" prints one number, not a vector");
    else if ((c->source_language || c->target_language) && (c->ids || !m->tokenizer_data || !m->has_encoder || !m->has_decoder))
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--%s-language %s", c->source_language ? "source" : "target",
                   c->ids ? "does not work with --ids" : "needs an encoder-decoder with a subword tokenizer");
    else if (c->raw && c->json)
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--raw and --json cannot be combined");
    else return true;
    return false;
}

/* True if the texts are turns of one conversation: with --turns, or if a chat is typed at a
 * terminal and its template can write earlier answers. */
static bool goes_on(const Session *s, const RunOptions *c)
{
    return c->turns || (c->chat && s->model->chat->past[0] && !c->word_count && !c->prompt_count && isatty(STDIN_FILENO));
}

/* The options in the form that generated programs use. The prompts live in the session's arena. */
static CliOptions options_of(Session *s, const RunOptions *c, const RtGeneration *g)
{
    CliPrompt *prompts = arena_array(s->arena, (size_t)c->prompt_count + 1, sizeof *prompts);
    for (int i = 0; i < c->prompt_count; i++) prompts[i] = (CliPrompt){ c->prompts[i].text, c->prompts[i].file };
    return (CliOptions){ .ids = c->ids, .json = c->json, .raw = c->raw, .stream = c->stream, .chat = c->chat, .system = c->system,
                          .date = c->date, .source_language = c->source_language, .target_language = c->target_language,
                          .plain_text = c->plain_text, .separator = c->separator,
                          .turns = goes_on(s, c), .verbose = c->verbose && s->model->has_decoder,
                          .scores = c->verbose, .generation = *g, .prompts = prompts, .prompt_count = c->prompt_count };
}

static int answer_texts(Session *s, const RunOptions *asked, RunProgram *r, const CliOptions *o)
{
    const int n = asked->word_count;
    char **words = arena_array(s->arena, (size_t)n + 1, sizeof *words);
    Cli cli = run_cli(r, o);
    for (int i = 0; i < n; i++) words[i] = arena_format(s->arena, "%s", asked->words[i]);
    int code = cli_texts_open(&cli);
    cli.flush = 1;                 /* the reader may close the pipe before the last answer */
    if (!code) code = cli_texts(&cli, n, words);
    cli_texts_close(&cli);
    return code;
}

Exit run_texts(Session *s, const RunOptions *o)
{
    RtGeneration settings = { 0 };
    const bool ready = can_answer(s, o) && can_chat(s, o) && (!s->model->has_decoder || command_generation(s, o, &settings));
    Engine *e = ready ? session_engine(s, o->engine, false) : NULL;
    progress_end();
    if (!e) return EXIT_DONE;       /* reported to s->diag */
    const CliOptions options = options_of(s, o, &settings);
    const int code = answer_texts(s, o, run_program(s->arena, e), &options);
    engine_close(e);
    return (Exit)code;
}
