/* test_graph.c: graph_check finds a fault of each kind. Every operation has a row in the tables and a
 * shape rule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fields.h"
#include "front.h"
#include "graph.h"

typedef struct Made { Arena *arena; Diag *diag; Model *model; Graph *graph; } Made;

static Made make(const char *path)
{
    Made o = { .arena = arena_new() };
    int n;
    const OpName *ops = graph_builder_ops(&n);
    o.diag = diag_new(o.arena);
    o.model = model_read(o.arena, o.diag, path, ops, n, graph_value_shape);
    if (o.model) o.graph = graph_build(o.arena, o.diag, o.model, 8);
    diag_print(o.diag, stderr, false);
    assert_non_null(o.graph);
    return o;
}

static void discard(Made *o)
{
    model_close(o->model);
    arena_free(o->arena);
}

/* Memory that graph_check holds when it dies is not a leak; the leak sanitizer's report must not
 * mix with graph_check's message. */
#ifdef __SANITIZE_ADDRESS__
void __lsan_disable(void);
#else
static void __lsan_disable(void) {}
#endif

/* Check that graph_check dies on this broken graph, with a message that contains `words`. Discards
 * the graph. */
static void dies(Made *o, const char *words)
{
    char said[1024];
    size_t n = 0;
    int ends[2], status;
    fflush(NULL);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        __lsan_disable();
        graph_check(o->graph);
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t got; n + 1 < sizeof said && (got = read(ends[0], said + n, sizeof said - 1 - n)) > 0;) n += (size_t)got;
    said[n] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_OUR_BUG || !strstr(said, words))
        fail_msg("expected \"%s\"; graph_check said: %s", words, said);
    discard(o);
}

static Block *block_named(Graph *g, const char *name)
{
    for (int i = 0; i < g->block_count; i++)
        if (strcmp(g->blocks[i]->name, name) == 0) return g->blocks[i];
    fail_msg("no block %s", name);
    return NULL;
}

static void a_whole_graph_passes(void **state)
{
    (void)state;
    static const char *const specs[] = { "specs/dates.lua", "specs/self_attention.lua", "tests/specs/different_layers.lua", "tests/specs/deep.lua",
                                         "tests/specs/two_attentions.lua" };
    for (int i = 0; i < 5; i++) {
        Made o = make(specs[i]);
        graph_check(o.graph);
        discard(&o);
    }
}

static void use_before_making_is_found(void **state)
{
    (void)state;
    Made o = make("tests/goldens/awkward.lua");
    Block *b = block_named(o.graph, "encoder_layer");
    Node *first = b->nodes[0];
    b->nodes[0] = b->nodes[1];
    b->nodes[1] = first;
    dies(&o, "before it is made");
}

static void two_of_one_name_are_found(void **state)
{
    (void)state;
    Made o = make("tests/goldens/awkward.lua");
    Block *b = block_named(o.graph, "encoder_layer");
    b->nodes[2]->out[0]->name = arena_text(o.arena, b->nodes[1]->out[0]->name);
    dies(&o, "two tensors are called encoder.{}.self_attn.q");
    o = make("specs/self_attention.lua");
    o.graph->tensors[1]->name = arena_text(o.arena, o.graph->tensors[0]->name);
    dies(&o, "two tensors are called");
}

static void a_run_outside_its_layers_is_found(void **state)
{
    (void)state;
    Made o = make("tests/goldens/awkward.lua");
    o.graph->programs[0].runs[1].count++;
    dies(&o, "run 1 of encoder_layer is outside its layers");
}

static void nothing_passed_is_found(void **state)
{
    (void)state;
    Made o = make("tests/goldens/awkward.lua");
    Program *p = &o.graph->programs[0];
    p->runs++;
    p->count--;
    dies(&o, "nothing is passed to encoder_layer");
}

static void another_width_is_found(void **state)
{
    (void)state;
    Made o = make("tests/goldens/awkward.lua");
    block_named(o.graph, "encoder_embedding")->carry_out->dim[1].bound++;
    dies(&o, "of another width");
}

static void an_unfinished_result_is_found(void **state)
{
    (void)state;
    Made o = make("tests/goldens/awkward.lua");
    block_named(o.graph, "encoder_layer")->nodes[1]->out[0]->rank = 0;
    dies(&o, "is unfinished");
}

static void an_input_too_many_is_found(void **state)
{
    (void)state;
    Made o = make("tests/goldens/awkward.lua");
    Block *b = block_named(o.graph, "encoder_layer");
    b->nodes[1]->in[NODE_INPUTS - 1] = b->nodes[0]->out[0];
    dies(&o, "has too many inputs");
}

static void an_input_without_a_shape_is_found(void **state)
{
    (void)state;
    Made o = make("tests/goldens/awkward.lua");
    block_named(o.graph, "encoder_layer")->carry_in->rank = 0;
    dies(&o, "has no shape");
}

static void a_result_never_made_is_found(void **state)
{
    (void)state;
    Made o = make("tests/goldens/awkward.lua");
    block_named(o.graph, "encoder_layer")->carry_out = block_named(o.graph, "decoder_layer")->carry_out;
    dies(&o, "is never made");
}

/* Every row of ops.def is complete, and every operation is in a graph that can be built, so it has
 * a shape rule. */
static void every_operation_has_a_row_and_a_rule(void **state)
{
    (void)state;
    bool seen[OP_KINDS] = { false };
    static const char *const specs[] = { "specs/dates.lua", "tests/specs/two_attentions.lua", "tests/specs/modern_decoder.lua",
                                        "tests/goldens/like_gemma2.lua", "tests/goldens/head_dense.lua", "tests/ops/leaky.lua" };
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        Made o = make(specs[s]);
        for (int i = 0; i < o.graph->block_count; i++)
            for (int j = 0; j < o.graph->blocks[i]->count; j++) seen[o.graph->blocks[i]->nodes[j]->op] = true;
        discard(&o);
    }
    for (int i = 0; i < OP_KINDS; i++) {
        const OpRow *row = &op_rows[i];
        assert_true(row->name && row->signature && row->doc);
        assert_in_range(row->inputs, 1, NODE_INPUTS);
        assert_in_range(row->results, 1, 3);
        assert_true(row->in_place >= -1 && row->in_place < row->inputs);
        assert_int_equal(strncmp(row->signature, row->name, strlen(row->name)), 0);
        if (!seen[i]) fail_msg("operation %s is in no graph", row->name);
    }
}

static void counts_have_names(void **state)
{
    (void)state;
    for (int c = COUNT_CONSTANT; c <= COUNT_TARGET; c++) assert_non_null(count_name((Count)c));
}

static void layers_are_named_by_number(void **state)
{
    (void)state;
    Made o = make("tests/specs/different_layers.lua");
    const Block *b = block_named(o.graph, "encoder_layer_3");
    assert_int_equal(b->layers, 2);
    assert_int_equal(b->layer[0], 3);
    assert_string_equal(tensor_layer_name(o.arena, b->nodes[0]->out[0], b->layer[1]), "encoder.4.self_attn.q");
    discard(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_graph_passes),
        cmocka_unit_test(use_before_making_is_found),
        cmocka_unit_test(two_of_one_name_are_found),
        cmocka_unit_test(a_run_outside_its_layers_is_found),
        cmocka_unit_test(nothing_passed_is_found),
        cmocka_unit_test(another_width_is_found),
        cmocka_unit_test(an_unfinished_result_is_found),
        cmocka_unit_test(an_input_too_many_is_found),
        cmocka_unit_test(an_input_without_a_shape_is_found),
        cmocka_unit_test(a_result_never_made_is_found),
        cmocka_unit_test(every_operation_has_a_row_and_a_rule),
        cmocka_unit_test(counts_have_names),
        cmocka_unit_test(layers_are_named_by_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
