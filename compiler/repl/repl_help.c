/* repl_help.c: help on a name at the prompt: a topic, or the lines of a topic that describe it. */
#include "repl.h"

#include <string.h>

static const struct { const char *name, *text; } topics[] = {
    { "xf",
        "xf.spec(\"file.lua\")   xf.spec(\"file.lua\", { weights = \"FILE\" })\n"
        "    Read a spec. spec{ heads = 8 } is a copy with that field changed.\n"
        "xf.model{ … }\n"
        "    A spec typed at the prompt. `xformc fields` lists the fields.\n"
        "xf.graph(\"name\", function(g) … end, options)\n"
        "    A graph typed at the prompt. `xformc ops` lists the operations.\n"
        "    Options: { weights = \"FILE\", seed =, dtype =, kv_dtype = }\n"
        "xf.op{ name =, shape = function … end, c = [[ … ]] }\n"
        "    Define an operation in C. Graphs call it as g.NAME; see xformc-spec(5).\n"
        "xf.compile(spec, options)\n"
        "    Compile a model. It runs on the jit at once, and in native code when that\n"
        "    is ready. The spec may be a path.\n"
        "    Options: { tier = \"jit\" or \"native\", engine = \"jit\", \"native\" or\n"
        "    \"generic\", threads =, slots =, isa =, dtype =, kv_dtype =,\n"
        "    tune = \"FILE\" from xformc tune, notes = false to hide notes on the spec }\n"
        "xf.sweep(spec, { heads = {1, 2, 4} }, options)   xf.sweep{ heads = {1, 2, 4} }\n"
        "    Compile and measure every combination. The result is a table with a row\n"
        "    for each: its fields, parameters, state_bytes, compile_ms, best_us,\n"
        "    median_us, or error. A terminal shows each row as it is measured; Ctrl-C\n"
        "    stops and keeps the rows so far. Instead of a spec, you can pass a model;\n"
        "    without either, the last model is used.\n"
        "    Options: { seconds = 0.05 } for each row, { file = \"sweep.svg\" } to draw\n"
        "    the medians as bars, and the options of xf.compile\n"
        "xf.tensor({…}, {rows, columns})   xf.tensor{{1, 2}, {3, 4}}\n"
        "    A tensor. Without sizes, nested tables determine its shape.\n"
        "xf.load(\"file.safetensors\", \"name\")\n"
        "    Load a tensor from a file; without a name, load all tensors of\n"
        "    floating-point numbers or I8 into a table by name\n"
        "xf.bars(title, unit, labels, numbers, \"file.svg\")\n"
        "    Draw a chart with a bar for each label\n"
        "xf.last()\n"
        "    The last compiled of the models that are still open\n" },
    { "model",
        "m(\"text\")   m(\"first\", \"second\")   m(\"text\", options)\n"
        "    The answer, as `xformc run` prints it: text, labels, or tokens for masks.\n"
        "    Other encoders return a tensor: one vector, or one per token.\n"
        "    Two texts are a pair, for models that read pairs.\n"
        "    Options: { source_language = \"de\", target_language = \"fr\",\n"
        "    plain_text = true, pair_separator = \"|\" }\n"
        "m:run{ ids }   m:run({ source }, { target })   m:run{ X = {…} }\n"
        "    Run a model on ids, an encoder-decoder on a source and a target, or a graph\n"
        "    on its inputs; return the outputs by name\n"
        "m:reset()\n"
        "    Reset a graph's inputs and caches to start a new sequence\n"
        "m:generate({ ids }, most)   m:generate(\"text\", most, options)\n"
        "    Generate ids from ids, or a text from a text; most is the limit in tokens\n"
        "m:names()\n"
        "    The names of all tensors, in order\n"
        "m:at(\"encoder.0.self_attn.weights\")\n"
        "    A tensor from the last call, or from the last run of a graph\n"
        "m:attention(\"text\", \"file.svg\", { layer =, head =, kind = })\n"
        "    Show which tokens each head attends to; without a file, in the terminal.\n"
        "    A decoder-only model shows the text and, with { n = 20 }, up to 20\n"
        "    generated tokens.\n"
        "m:verify()   m:verify(\"reference.safetensors\")\n"
        "    Compare with the generic engine on the same weights, or with a reference\n"
        "m:probe(\"name\", function(tensor, step) end)   m:probe(\"name\")\n"
        "    Call the function whenever the tensor is computed; without a function,\n"
        "    remove the probe. A value that it returns replaces the tensor. The scores\n"
        "    and weights of an attention cannot be replaced. step is the number of\n"
        "    tokens that a decoder has read, including the prompt and this one; in an\n"
        "    encoder it is 0.\n"
        "    m:at, m:attention and m:run run the model once more, with the probe.\n"
        "m:ablate(\"encoder.0.self_attn\", head)\n"
        "    Zero a head, counted from 0; without a head, the whole block\n"
        "m:heads(\"encoder.0.self_attn\")\n"
        "    The number of heads of the attention\n"
        "m:weight(\"name\")   m:set(\"name\", tensor)\n"
        "    Read or replace weights, in the spec's shape; only this model changes\n"
        "m:weights()\n"
        "    The names of all weights. {0..1} stands for layers 0 and 1.\n"
        "m:code(\"argmax\")   m:edit(\"argmax\", text)\n"
        "    Read or replace the C of one function. State and weights are kept.\n"
        "m:restore()\n"
        "    Undo all changes of weights and C, and remove all probes\n"
        "m:time()   m:bench(seconds)   m:close()   m.name   m.parameters\n"
        "m:measure(seconds)\n"
        "    The shortest and the median time of a run, in seconds\n"
        "m.tier   m:wait()\n"
        "    What runs the model now: jit, native or generic; wait for native code\n" },
    { "tensor",
        "t[i]\n"
        "    Entry i of the first dimension, counted from 1. Tensors are read-only.\n"
        "t:slice(from, to, dimension)\n"
        "    The entries from..to of a dimension\n"
        "t:scaled(factor, from, to, dimension)\n"
        "    A copy with these entries multiplied by the factor\n"
        "t:shape()   #t   t:table()\n"
        "    All sizes; the first size; all numbers as one list\n"
        "t:min()   t:max()   t:mean()   t:sum()   t:sum(1)\n"
        "    Over all numbers, or along an axis, which is removed; -1 is the last axis\n"
        "t:argmax()   t:argmax(2)\n"
        "    The indices of the largest number, counted from 1: i, j = t:argmax().\n"
        "    Along an axis: a tensor of indices. Among equal numbers, the first wins.\n"
        "t + u   t - u   t * u   t / u   -t\n"
        "    Elementwise, on tensors of the same shape; either side may be a number\n"
        "t:distance(u)\n"
        "    max |t - u| / max |u|\n"
        "t == u\n"
        "    True if both are the same Lua object. To compare the numbers, use\n"
        "    t:distance(u) == 0.\n"
        "t:save(\"file.safetensors\")   t:save(\"file.npy\")\n"
        "    The file name's extension selects the format.\n" },
    { "g",
        "g.input(\"X\", {rows, columns}, {…})\n"
        "    An input; the numbers are its default value\n"
        "g.param(\"W\", {…}, {…})\n"
        "    Weights: these numbers, else those in the weights file, else random ones\n"
        "g.attention(q, k, v, mask, bias, options)\n"
        "    Output, weights, scores.\n"
        "    Options: { heads =, kv_heads =, scale =, softcap =, causal =, keys = }\n"
        "    mask [queries, keys]: 1, or 0 where a query may not attend; nil: none\n"
        "    bias [queries, keys] or [heads, queries, keys]: added to the scaled\n"
        "    scores; -inf hides a key\n"
        "g.name(\"Q\", x)   g.output(\"Z\", x)\n"
        "    Name a value; make it an output\n"
        "`xformc ops`\n"
        "    List all operations of a graph; see xformc-spec(5)\n" },
    { "spec",
        "spec{ heads = 8 }\n"
        "    The same spec with changes; `xformc fields` lists the fields\n" },
};
enum { TOPICS = sizeof topics / sizeof *topics };

const char *repl_topic_name(int i) { return i < TOPICS ? topics[i].name : NULL; }

static const char *topic_called(const char *name)
{
    for (int i = 0; i < TOPICS; i++)
        if (strcmp(topics[i].name, name) == 0) return topics[i].text;
    return NULL;
}

/* The topic for the value of a global; NULL if there is none. */
static const char *topic_of(lua_State *L, const char *global)
{
    lua_getglobal(L, global);
    const char *name = repl_tensor_at(L, -1) ? "tensor" : repl_model_at(L, -1) ? "model" : spec_at(L, -1) ? "spec" : NULL;
    lua_pop(L, 1);
    return name ? topic_called(name) : NULL;
}

/* True if a line describes .word or :word. */
static bool tells_of(const char *line, size_t n, const char *word)
{
    const size_t length = strlen(word);
    for (size_t i = 1; i + length <= n; i++)
        if (strchr(".:", line[i - 1]) && strncmp(line + i, word, length) == 0 && strchr("({ \n", line[i + length])) return true;
    return false;
}

/* Print the lines that describe a word, each with the indented lines below it. False if there are
 * none. */
static bool print_lines(const char *text, const char *word)
{
    bool found = false, goes_on = false;
    for (const char *end; *text; text = end + 1) {
        end = strchr(text, '\n');
        goes_on = *text == ' ' ? goes_on : tells_of(text, (size_t)(end - text), word);
        if (goes_on) printf("%.*s\n", (int)(end - text), text);
        found |= goes_on;
    }
    return found;
}

/* Print help on "xf.sweep", "m:probe" or "sweep"; a prefix limits the search to its topic. */
static bool print_member(lua_State *L, Arena *a, const char *words)
{
    const char *sign = strpbrk(words, ".:"), *word = sign ? sign + 1 : words;
    const char *head = sign ? arena_copy(a, words, (size_t)(sign - words)) : NULL;
    const char *text = !head ? NULL : topic_called(head) ? topic_called(head) : topic_of(L, head);
    if (head && !text) text = strcmp(head, "m") == 0 ? topic_called("model") : strcmp(head, "t") == 0 ? topic_called("tensor") : NULL;
    if (!*word) return false;
    if (text) return print_lines(text, word);
    bool found = false;
    for (int i = 0; i < TOPICS && !head; i++) found |= print_lines(topics[i].text, word);
    return found;
}

void repl_help(Repl *r, const char *words)
{
    lua_State *L = r->L;
    const char *topic = topic_called(words), *text = topic ? topic : topic_of(L, words);
    lua_getglobal(L, words);
    const bool there = !topic && !lua_isnil(L, -1);         /* a topic's own value is not shown */
    lua_settop(L, 0);
    if (there) repl_chunk(r, "command", words, true);
    if (text) fputs(text, stdout);
    else if (!there && !print_member(L, r->reader.arena, words))
        repl_refuse(r, EXIT_BAD_DATA, "no help on '%s'; topics are xf, model, tensor, g and spec",
                    words);
}
