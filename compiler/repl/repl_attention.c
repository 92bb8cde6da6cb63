/* repl_attention.c: attention pictures at the prompt: m:attention("text", "file.svg",
 * { kind =, layer =, head =, n =, file = }). */
#include "repl.h"

#include <string.h>

#include "file.h"
#include "svg.h"

/* Read the table of options at `index` (0: none) into *c, and `n` into *most (0: not given).
 * Returns the option `file`, or NULL. */
static const char *take_options(lua_State *L, AttentionOptions *c, int index, int *most)
{
    *c = (AttentionOptions){ .kind = NULL };
    repl_check_options(L, index, "m:attention");
    if (repl_option(L, index, "kind")) c->kind = repl_word_option(L, "kind", repl_option_words("kind"));
    if ((c->has_layer = repl_option(L, index, "layer"))) c->layer = repl_integer_option(L, "layer", 0, 1023);
    if ((c->has_head = repl_option(L, index, "head"))) c->head = repl_integer_option(L, "head", 0, 4095);
    *most = repl_option(L, index, "n") ? repl_integer_option(L, "n", 1, 1048576) : 0;
    return repl_option(L, index, "file") ? repl_text_option(L, "file") : NULL;
}

/* A graph takes no text, so its only string is the output file. */
static const char *file_of_graph(lua_State *L, const ReplModel *m)
{
    const char *text = lua_tostring(L, 2);
    if (lua_type(L, 3) == LUA_TSTRING || !text_ends(text, ".svg"))
        luaL_error(L, "%s is a graph and does not read text; call m:attention() or m:attention(\"file.svg\")", m->session->model->name);
    return text;
}

/* m:attention("text"), or m:attention() for a graph or the last question: draw in the terminal;
 * with "FILE.svg" as the next argument, into that file. Options: kind, layer, head, n, file.
 * Without n, a decoder-only model is fed the text and generates nothing. */
static int attention(lua_State *L)
{
    ReplModel *m = repl_check_model(L);
    const bool graph = m->session->model->graph != NULL, text = lua_type(L, 2) == LUA_TSTRING;
    AttentionOptions wanted;
    int most;
    for (int i = 2; i < lua_gettop(L); i++)
        if (lua_istable(L, i))
            return luaL_error(L, "m:attention: argument %d is a table; options come last", i - 1);
    const char *path = graph && text ? file_of_graph(L, m) : lua_type(L, 3) == LUA_TSTRING ? lua_tostring(L, 3) : NULL;
    const char *file = take_options(L, &wanted, lua_istable(L, lua_gettop(L)) ? lua_gettop(L) : 0, &most);
    if (file) path = file;
    if (most && (!text || !m->session->model->has_decoder))
        luaL_error(L, "n is the number of tokens to generate; it needs a decoder and a text");
    if (text && !graph) repl_ask_text(L, m, most > 0, most);
    repl_traced(L, m);
    Look l = m->look;
    l.arena = repl_scratch(L);
    l.wanted = wanted;
    if (!look_picture(&l)) return repl_model_fail(L, m);
    Arena *a = l.arena;
    if (path) {
        const Text t = picture_svg(a, &l.picture);
        if (!file_replace(a, m->session->diag, path, svg_kind, t.data, t.size)) return repl_model_fail(L, m);
    } else {
        const PictureInk ink = diag_colours(1) ? picture_ground() : PICTURE_SHADES;
        const Text t = picture_blocks(a, &l.picture, 80, ink);
        fwrite(t.data, 1, t.size, stdout);
    }
    return 0;
}

void repl_add_attention(lua_State *L)
{
    static const ReplFunction methods[] = {
        { "attention", attention, "question text|table?, file text|table?, options table?" },
        { NULL, NULL, NULL }
    };
    repl_set_functions(L, "m:", methods);
}
