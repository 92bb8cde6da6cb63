/* repl_help.c: what is known of a name at the prompt: a topic, or the lines of one that tell of it. */
#include "repl.h"

#include <string.h>

static const struct { const char *name, *text; } topics[] = {
    { "xf", "xf.spec(\"file.lua\")          a spec: call it with changes, spec{ heads = 8 }\n"
            "                             xf.spec(\"file.lua\", { weights = \"FILE\" }): with other weights, "
            "as by --from\n"
            "xf.model{ … }                a spec, typed in\n"
            "xf.graph(\"name\", function(g) … end)   a graph of operations, typed in; `xformc ops` lists them\n"
            "                             a last argument has options: { weights = \"FILE\", seed =, "
            "dtype =, kv_dtype = }\n"
            "xf.op{ name =, shape = function … end, c = [[ … ]] }   an operation in C, g.NAME in a graph: xformc-spec(5)\n"
            "xf.compile(spec or path)     a model that runs: by the jit, and in native code as soon as that is compiled\n"
            "                             options: { tier = \"jit\" | \"native\", engine = \"jit\" | \"native\" | \"generic\", threads =, slots =,\n"
            "                             isa =, dtype =, kv_dtype =, tune = \"FILE\" of xformc tune, notes = false }: no notes on the spec\n"
            "xf.sweep(spec, { heads = {1, 2, 4} })   every combination compiled and measured: a table, a line for each, which a terminal\n"
            "                             shows as soon as it is measured; Ctrl-C ends it with those that are\n"
            "                             xf.sweep{ heads = {1, 2, 4} }: of the last model; a model in the place of a spec: of its spec\n"
            "                             a last argument has options: { seconds = 0.05 } for each, { file = \"sweep.svg\" } bars of the\n"
            "                             medians, those of xf.compile\n"
            "                             each row has its fields, parameters, state_bytes, compile_ms, best_us, median_us, or error\n"
            "xf.tensor({…}, {rows, columns})         a tensor; nested tables are its shape: xf.tensor{{1, 2}, {3, 4}}\n"
            "xf.load(\"file.safetensors\", \"name\")    one of a file; without a name all of them, by name\n"
            "xf.bars(title, unit, labels, numbers, \"file.svg\")   one bar for each label\n"
            "xf.last()                    the model that was compiled last\n" },
    { "model", "m(\"text\")                    its answer, as `xformc run` prints it: text, labels, tokens for masks; of an encoder\n"
               "                             without these a tensor, one vector or one for each token\n"
               "m(\"first\", \"second\")         of a model that reads pairs of texts\n"
               "                             a last argument has options, for m:generate of a text too: { source_language = \"de\",\n"
               "                             target_language = \"fr\", plain_text = true, pair_separator = \"|\" }, as `run` has them\n"
               "m:run{ ids }                 outputs by name; of an encoder-decoder m:run({ source }, { target }), of a graph\n"
               "                             m:run{ X = {…} }\n"
               "m:reset()                    of a graph with caches, whose runs go on from each other: begin anew\n"
               "m:generate({ ids }, most)    ids, as generation says; of a text, m:generate(\"text\", most), a text\n"
               "m:names()                    every named tensor, in order\n"
               "m:at(\"encoder.0.self_attn.weights\")   one of them, of the last question\n"
               "m:attention(\"text\", \"file.svg\")      where every head looks; without a file in the terminal; { layer =, head =, kind = };\n"
               "                             of a decoder alone at the text, with { n = 20 } at 20 generated tokens too\n"
               "m:verify(\"reference.safetensors\")    against the generic engine with the same weights, or a reference of yours\n"
               "m:probe(\"name\", function(tensor, step) end)   called as it is computed, whenever the model runs: m:at, m:attention and\n"
               "                             m:run look at a question by running it once more; what it returns takes the tensor's place, but for\n"
               "                             scores and weights of an attention, which only the inside of its kernel reads. step counts what\n"
               "                             the decoder is fed, the tokens of a prompt too, from 1; in an encoder it is 0.\n"
               "                             m:probe(\"name\"): no more\n"
               "m:ablate(\"encoder.0.self_attn\", head)         one head, from 0 as in pictures, adds nothing; without, the block\n"
               "m:heads(\"encoder.0.self_attn\")        how many heads it has\n"
               "m:weight(\"name\")  m:set(\"name\", tensor)     a tensor of the weights, in the spec's shape, in this model alone\n"
               "m:weights()                  their names; {0..1} stands for a layer, of which one is named by its number\n"
               "m:code(\"argmax\")  m:edit(\"argmax\", text)         the C of one function; state and weights stay\n"
               "m:restore()                  the spec again: no changes of weights or C, no probes\n"
               "m:time()   m:bench(seconds)  m:close()   m.name   m.parameters\n"
               "m:measure(seconds)           the shortest and the median time of a run, in seconds\n"
               "m.tier                       what it runs in now: jit, native or generic; m:wait() until native code is there\n" },
    { "tensor", "t[i]                         the i-th of the first dimension, from 1\n"
                "t:slice(from, to, dimension) a part of it; t:scaled(factor, from, to, dimension): a copy, that part multiplied\n"
                "t:shape()  #t  t:table()     its sizes, the first, its numbers\n"
                "t:min()  t:max()  t:mean()  t:sum()   of all numbers; t:sum(1): along axis 1, "
                "a tensor without it; -1 is the last axis\n"
                "t:argmax()                   where the first of the largest is: an index for each dimension, from 1; i, j = t:argmax()\n"
                "                             t:argmax(2): the places along axis 2, as a tensor\n"
                "t + u  t - u  t * u  t / u  -t   number by number, of one shape; either may be a number\n"
                "t:distance(u)                max |t - u| / max |u|\n"
                "t == u                       one and the same value of Lua; equal numbers have a distance of 0\n"
                "t[1] = 5                     is an error: a tensor is read only\n"
                "t:save(\"file.safetensors\")  t:save(\"file.npy\")   the ending says which format\n"
              },
    { "g", "g.input(\"X\", {rows, columns}, {…})   what the caller gives, or these numbers\n"
           "g.param(\"W\", {…}, {…})        weights: these numbers, those of the file, or random ones\n"
           "g.attention(q, k, v, mask, bias, { heads =, kv_heads =, scale =, softcap =, causal =, "
           "keys = })   output, weights, scores\n"
           "                             mask [queries, keys]: 1, or 0 where a query may not look; "
           "nil: none\n"
           "                             bias [queries, keys] or [heads, queries, keys]: added to the "
           "scaled scores; -inf hides a key\n"
           "g.name(\"Q\", x)  g.output(\"Z\", x)   a value by its name; a result\n"
           "`xformc ops`                 all operations of a graph: xformc-spec(5)\n" },
    { "spec", "spec{ heads = 8 }            the same with changes; `xformc fields` lists the fields\n" },
};
enum { TOPICS = sizeof topics / sizeof *topics };

const char *repl_topic_name(int i) { return i < TOPICS ? topics[i].name : NULL; }

static const char *topic_called(const char *name)
{
    for (int i = 0; i < TOPICS; i++)
        if (strcmp(topics[i].name, name) == 0) return topics[i].text;
    return NULL;
}

/* The topic of a global value. */
static const char *topic_of(lua_State *L, const char *global)
{
    lua_getglobal(L, global);
    const char *name = repl_tensor_at(L, -1) ? "tensor" : repl_model_at(L, -1) ? "model" : spec_at(L, -1) ? "spec" : NULL;
    lua_pop(L, 1);
    return name ? topic_called(name) : NULL;
}

/* Whether a line tells of .word or :word. */
static bool tells_of(const char *line, size_t n, const char *word)
{
    const size_t length = strlen(word);
    for (size_t i = 1; i + length <= n; i++)
        if (strchr(".:", line[i - 1]) && strncmp(line + i, word, length) == 0 && strchr("({ ", line[i + length])) return true;
    return false;
}

/* The lines that tell of a word, each with those that go on with it; whether there are any. */
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

/* "xf.sweep", "m:probe" or "sweep"; of a name with a head, the topic of that one alone. */
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
    const bool there = !topic && !lua_isnil(L, -1);         /* what xf looks like, no one asks */
    lua_settop(L, 0);
    if (there) repl_chunk(r, "command", words, true);
    if (text) fputs(text, stdout);
    else if (!there && !print_member(L, r->reader.arena, words))
        repl_refuse(r, EXIT_BAD_DATA, "nothing is called '%s'; there is help on xf, model, tensor, g "
                    "and spec", words);
}
