/* repl_answer.c: answer texts at the prompt as `run` does: m("text"), m("first", "second"),
 * m:generate("text", most); and ids: m:generate({ ids }, most). With texts, the last argument may
 * be a table of options, such as { target_language = "fr" }. */
#include "repl.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode.h"

Engine *repl_answering(lua_State *L, ReplModel *m) { return m->probed ? repl_tapped(L, m) : m->engine; }

/* ---- texts ------------------------------------------------------------------------------------------------------- */

/* The text at a stack place; raises if the model is a graph. */
static const char *checked_text(lua_State *L, const ReplModel *m, int index)
{
    if (m->session->model->graph) luaL_error(L, "%s is a graph: run it with m:run{ NAME = values }", m->session->model->name);
    return lua_tostring(L, index);
}

/* True if the option is given; raises if the model cannot use it. */
static bool text_option(lua_State *L, const ReplModel *m, int index, const char *name, bool useful, const char *why)
{
    if (!repl_option(L, index, name)) return false;
    if (!useful) luaL_error(L, "%s: %s %s", name, m->session->model->name, why);
    return true;
}

/* Read the table of options at a stack place (0: none). pair: two texts are given. */
static TextOptions take_options(lua_State *L, const ReplModel *m, int index, const char *function, bool pair)
{
    static const char *const names[2] = { "source_language", "target_language" };
    const Model *model = m->session->model;
    const bool pieces = model->tokenizer_data, translates = pieces && model->has_encoder && model->has_decoder;
    TextOptions o = { .names = names };
    repl_check_options(L, index, function);
    static const char other[] = "is not an encoder-decoder with a subword tokenizer";
    if (text_option(L, m, index, names[0], translates, other)) o.source_language = repl_text_option(L, names[0]);
    if (text_option(L, m, index, names[1], translates, other)) o.target_language = repl_text_option(L, names[1]);
    if (text_option(L, m, index, "plain_text", pieces, "has no tokenizer with special tokens")) {
        if (!lua_isboolean(L, -1)) luaL_error(L, "plain_text: expected true or false, found %s", repl_found(L, -1));
        o.plain = lua_toboolean(L, -1);
    }
    if (text_option(L, m, index, "pair_separator", pieces && model->pairs, "does not read pairs of texts")) {
        if (pair) luaL_error(L, "pair_separator splits one text, but two were given");
        o.separator = repl_text_option(L, "pair_separator");
    }
    return o;
}

/* The text at stack place 2; for a pair, joined with the text at place 3 by a tab, and pushed. */
static const char *question_text(lua_State *L, const ReplModel *m, bool pair)
{
    const Model *model = m->session->model;
    const char *first = checked_text(L, m, 2);
    if (!pair) return first;
    if (!model->pairs) luaL_error(L, "%s takes one text, not a pair", model->name);
    if (lua_type(L, 3) != LUA_TSTRING) luaL_error(L, "the second text of a pair is %s, not a string", repl_described(L, 3));
    if (strchr(first, '\t')) luaL_error(L, "the first text of a pair contains a tab, which separates the two");
    return lua_pushfstring(L, "%s\t%s", first, checked_text(L, m, 3));
}

static void ask(lua_State *L, ReplModel *m, const char *text, TextOptions options, bool answers, int most)
{
    const Model *model = m->session->model;
    const char *const words[] = { text };
    repl_begin_question(m, (Look){ .engine = repl_answering(L, m), .answers = answers, .most = most, .words = words, .word_count = 1,
                                   .text = options });
    engine_reset(m->look.engine);
    int n = 0, *ids = arena_array(m->look.arena, (size_t)look_most_ids(model), sizeof *ids);
    const bool good = look_read(&m->look, ids, &n) && look_answer(&m->look, ids, n);
    m->look.words = NULL;
    m->look.word_count = 0;
    m->look.text = (TextOptions){ 0 };
    repl_check_probes(L);
    if (!good) repl_model_fail(L, m);
    diag_print(m->session->diag, stderr, diag_colours(2));        /* remarks, such as one that the text
                                                             * was cut */
    m->asked = true;
}

void repl_ask_text(lua_State *L, ReplModel *m, bool answers, int most)
{
    ask(L, m, question_text(L, m, false), (TextOptions){ 0 }, answers, most);
}

/* ---- an encoder-only model --------------------------------------------------------------------------------------- */

/* The number of mask ids in the question. */
static int masks_in(const Model *m, const Question *q)
{
    int count = 0;
    for (int i = 0; i < q->n; i++) count += q->source[i] == m->mask_id;
    return count;
}

/* The text that `run` prints, in the arena: labels, or the most likely tokens for each mask. */
static const char *words_of(const Model *model, Arena *a, Cli *cli)
{
    char *words = NULL;
    size_t bytes = 0;
    rt_status status = RT_OK;
    FILE *to = open_memstream(&words, &bytes);
    if (!to) no_memory("an answer");
    cli->places = arena_array(a, (size_t)cli->program->vector_width, sizeof *cli->places);
    if (model->tokenizer_data) cli->tokenizer = rt_cli_text.open(model->tokenizer_data, model->tokenizer_size, &status);
    rt_cli_vector.print(cli, to);
    rt_cli_text.close(cli->tokenizer);
    if (fclose(to) != 0) no_memory("an answer");
    const char *copy = arena_format(a, "%s", words);
    free(words);
    return copy;
}

/* Push the encoder's output as a tensor: one vector, or one per id. */
static void push_numbers(lua_State *L, const ReplModel *m, Arena *a)
{
    const Model *model = m->session->model;
    const Engine *e = m->look.engine;
    const bool head = model_has_head(model), one = model_pools(model);
    const Buffer *b = head ? plan_vector(e->plan) : plan_hidden(e->plan);
    const int64_t shape[] = { one ? 1 : m->look.question.n, head ? model_vector_width(model) : model->d_model };
    float *values = arena_array(a, (size_t)(shape[0] * shape[1]), sizeof *values);
    engine_read(e, b, 0, shape[0], shape[1], values);
    repl_push_tensor(L, b->tensor->name, one ? 1 : 2, one ? shape + 1 : shape, values);
}

/* Push the result of an encoder-only model: labels or tokens as `run` prints them, otherwise a
 * tensor. */
static void push_vectors(lua_State *L, ReplModel *m)
{
    const Model *model = m->session->model;
    const Question *q = &m->look.question;
    const CliOptions options = { 0 };
    Arena *a = repl_scratch(L);
    Cli cli = run_cli(run_program(a, m->look.engine), &options);
    cli.answer.input = q->source, cli.answer.input_count = q->n, cli.answer.first = q->first;
    const rt_status status = cli_encode(&cli);
    repl_check_probes(L);
    repl_check_status(L, status);
    const bool words = model->labels.count || model->mask_id >= 0;
    if (words && !rt_cli_vector.good(&cli)) repl_check_status(L, RT_NOT_FINITE);
    if (!model->labels.count && model->mask_id >= 0 && !masks_in(model, q))
        luaL_error(L, "the text has no mask token (id %d); m:run{ ids } gives the logits of every token", (int)model->mask_id);
    if (words) lua_pushstring(L, words_of(model, a, &cli));
    else push_numbers(L, m, a);
}

int repl_answer(lua_State *L)
{
    ReplModel *m = repl_check_model(L);
    const int top = lua_gettop(L), options = top > 2 && lua_istable(L, top) ? top : 0;
    const bool pair = !lua_isnoneornil(L, 3) && options != 3;
    const TextOptions wanted = take_options(L, m, options, "m", pair);
    ask(L, m, question_text(L, m, pair), wanted, true, 0);
    if (m->session->model->has_decoder) lua_pushstring(L, m->look.question.text);
    else push_vectors(L, m);
    return 1;
}

/* ---- a decoder --------------------------------------------------------------------------------------------------- */

/* m:generate("text", most, options): push the text of the answer. */
static int generate_text(lua_State *L, ReplModel *m, int options, lua_Integer most)
{
    const TextOptions wanted = take_options(L, m, options, "m:generate", false);
    ask(L, m, question_text(L, m, false), wanted, true, (int)most);
    lua_pushstring(L, m->look.question.text);
    return 1;
}

/* m:generate{ ids }, m:generate({ ids }, most), m:generate("text", most): a decoder-only model
 * continues and an encoder-decoder answers, with the model's generation settings. */
static int generate(lua_State *L)
{
    ReplModel *m = repl_check_model(L);
    const Model *model = m->session->model;
    if (!model->has_decoder) return luaL_error(L, "%s has no decoder", model->name);
    const int top = lua_gettop(L), options = top > 2 && lua_istable(L, top) ? top : 0;
    const bool limited = !lua_isnoneornil(L, 3) && options != 3;
    lua_Integer most = limited ? luaL_checkinteger(L, 3) : 0;
    if (most < 1 && limited) return luaL_error(L, "m:generate: expected the maximum number of ids, at least 1");
    if (most > model->max_target) most = model->max_target;
    if (lua_type(L, 2) == LUA_TSTRING) return generate_text(L, m, options, most);
    if (options) return luaL_error(L, "m:generate: options apply to a text, not to ids");
    lua_settop(L, 3);
    Arena *a = repl_scratch(L);
    int n, *ids = repl_read_ids(L, m, a, 2, model->has_encoder ? model->source_vocab : model->target_vocab, look_most_ids(model), &n);
    RtGeneration settings = generation_of(model);
    if (most) settings.max_new = (int)most;
    Engine *e = repl_answering(L, m);
    Decoder *d = decoder_new(a, e, &settings);
    engine_reset(e);
    const rt_status status = decoder_answer(d, ids, n);
    repl_check_probes(L);
    repl_check_status(L, status);
    if (engine_saturated(e)) diag_remark(m->session->diag, (Loc){ 0 }, "%s: " RT_SATURATED, model->name);
    diag_print(m->session->diag, stderr, diag_colours(2));
    const RtBeamResult *r = d->cli.results;
    const int count = r->length - decoder_ended(d, r);
    lua_createtable(L, count, 0);
    for (int i = 0; i < count; i++) {
        lua_pushinteger(L, r->ids[i]);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

void repl_add_answers(lua_State *L)
{
    static const ReplFunction methods[] = {
        { "generate", generate, "question text|numbers, most whole|table?, options table?" }, { NULL, NULL, NULL }
    };
    repl_set_functions(L, "m:", methods);
}
