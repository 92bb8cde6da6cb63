/* test_plan.c: plan_check finds each kind of fault. Also tables, costs counted by hand, and loops
 * over many layers in emitted C. */
#include "plan_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emit.h"
#include "pack.h"
#include "weights.h"

/* ---- the verifier finds faults --------------------------------------------------------------- */

static void check(void *p) { plan_check(p); }

static Plan *awkward(Planned *o)
{
    *o = planned_open("tests/goldens/awkward.lua");
    Plan *p = planned_make(o, TARGET_PANELS, true, 2);
    plan_check(p);
    return p;
}

static PlanBlock *block_named(const Plan *p, const char *name)
{
    for (int i = 0; i < p->block_count; i++)
        if (strcmp(p->blocks[i]->block->name, name) == 0) return p->blocks[i];
    fail_msg("no block %s", name);
    return NULL;
}

static Buffer *buffer_named(const PlanBlock *b, const char *name)
{
    for (int i = 0; i < b->buffer_count; i++)
        if (strcmp(b->buffers[i]->name, name) == 0) return b->buffers[i];
    fail_msg("no buffer %s", name);
    return NULL;
}

static void overlapping_buffers_of_a_block_are_found(void **state)
{
    (void)state;
    Planned o;
    Plan *p = awkward(&o);
    PlanBlock *b = block_named(p, "decoder_layer");
    buffer_named(b, "self_q")->offset = buffer_named(b, "self_k")->offset;
    dies(check, p, "overlap");
    planned_close(&o);
}

static void a_buffer_over_one_that_outlives_its_block_is_found(void **state)
{
    (void)state;
    Planned o;
    Plan *p = awkward(&o);
    buffer_named(block_named(p, "encoder_layer"), "norm_0")->offset = plan_buffer(p, "encoder_x")->offset;
    dies(check, p, "norm_0 and encoder_x overlap");
    planned_close(&o);
}

static void overlapping_caches_are_found(void **state)
{
    (void)state;
    Planned o;
    Plan *p = awkward(&o);
    plan_buffer(p, "decoder_layer_self_k_cache")->layer_stride += 64;
    dies(check, p, "overlap");
    planned_close(&o);
}

static void a_buffer_outside_the_scratch_is_found(void **state)
{
    (void)state;
    Planned o;
    Plan *p = awkward(&o);
    buffer_named(block_named(p, "decoder_layer"), "ffn")->offset = pad64(p->scratch_bytes);
    dies(check, p, "ffn ends at");
    planned_close(&o);
}

/* With too little scratch, threads would overwrite each other's scores. */
static void scratch_of_too_few_rows_is_found(void **state)
{
    static const struct { const char *spec; int64_t rows; } graphs[] = {
        { "tests/masks/alibi.lua", 14 }, { "tests/masks/by_head.lua", 5 }, { "tests/masks/one.lua", 1 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
        Planned o = planned_open(graphs[i].spec);
        Plan *p = planned_make(&o, TARGET_PANELS, false, 1);
        plan_check(p);
        PlanOp *op = p->blocks[0]->ops;
        while (op->kernel != KERNEL_ATTENTION) op++;
        assert_int_equal(op->scratch->rows, graphs[i].rows);
        op->scratch->rows--;
        dies(check, p, "no room for the scores");
        planned_close(&o);
    }
}

/* int8 and int4 linears round the rows of a thread into scratch that no other thread uses. */
static void scratch_of_too_few_rounded_rows_is_found(void **state)
{
    static const char *const dtypes[] = { "int8", "int4" };
    (void)state;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        char spec[512];
        snprintf(spec, sizeof spec, "return xf.model { name = \"narrow\", kind = \"encoder-decoder\", d_model = 64, d_ff = 256, heads = 4, "
                 "layers = 2, source_vocab = 9, target_vocab = 9, max_source = 80, max_target = 12, "
                 "weights = \"random\", dtype = \"%s\" }", dtypes[i]);
        Planned o = planned_open(spec);
        Plan *p = planned_make(&o, TARGET_PANELS, false, 1);
        plan_check(p);
        PlanOp *many = block_named(p, "encoder_layer")->ops, *one = block_named(p, "decoder_layer")->ops;
        while (!plan_op_rounds(many)) many++;
        while (!plan_op_rounds(one)) one++;
        assert_int_equal(many->scratch->heads, 1);          /* 80 rows, divided among 16 threads */
        assert_int_equal(many->scratch->rows, 80);
        assert_int_equal(one->scratch->heads, 16);          /* one row per thread */
        assert_int_equal(one->scratch->rows, 1);
        many->scratch->rows--;
        dies(check, p, "no room for 80 rounded rows");
        many->scratch->rows++;
        one->scratch->heads--;
        dies(check, p, "no room for 1 rounded rows");
        one->scratch->heads++;
        one->scratch = NULL;
        dies(check, p, "no room for rounded rows");
        planned_close(&o);
    }
}

/* The lists of a call overlap neither each other nor the buffers of blocks. */
static void a_list_over_a_buffer_is_found(void **state)
{
    (void)state;
    Planned o = planned_open("specs/dates.lua");
    Plan *p = planned_make(&o, TARGET_PANELS, false, 1);
    plan_check(p);
    assert_int_equal(p->list_count, 3);
    assert_string_equal(p->lists[0].name, "groups");
    assert_ptr_equal(plan_list(p, "text_ids"), &p->lists[1]);
    assert_ptr_equal(plan_list(p, "text_work"), &p->lists[2]);
    assert_null(plan_list(p, "none"));
    p->lists[2].count += 64;
    dies(check, p, "lists end past the end of the scratch");
    p->lists[2].count -= 64;
    p->lists[0].offset -= 64;
    dies(check, p, "groups overlaps what comes before it");
    planned_close(&o);
}

static void a_cache_outside_its_slot_is_found(void **state)
{
    (void)state;
    Planned o;
    Plan *p = awkward(&o);
    p->slot_bytes -= 64;
    dies(check, p, "ends at");
    planned_close(&o);
}

static void a_state_too_small_is_found(void **state)
{
    (void)state;
    Planned o;
    Plan *p = awkward(&o);
    p->state_bytes -= 64;
    dies(check, p, "lies outside the state");
    planned_close(&o);
}

static PlanOp *joined_op(const PlanBlock *b, Kernel kernel)
{
    for (int i = 0; i < b->op_count; i++)
        if (b->ops[i].kernel == kernel && b->ops[i].joined_count > 1) return &b->ops[i];
    fail_msg("no joined linear in %s", b->block->name);
    return NULL;
}

static void views_that_share_a_column_are_found(void **state)
{
    (void)state;
    Planned o = planned_open("tests/goldens/awkward.lua");
    Plan *p = planned_make(&o, TARGET_PANELS, false, 2);
    plan_check(p);
    PlanBlock *b = block_named(p, "encoder_layer");
    assert_int_equal(b->view_count, 3);
    const int64_t column = b->views[2]->column;
    b->views[2]->column -= 16;
    dies(check, p, "overlap");
    b->views[2]->column = column + 16;
    dies(check, p, "self_v ends past the end of self_qkv");
    planned_close(&o);
}

static void joined_weights_that_lie_apart_are_found(void **state)
{
    (void)state;
    Planned o = planned_open("tests/specs/modern_decoder.lua");
    Plan *p = planned_make(&o, TARGET_PANELS, false, 1);
    plan_check(p);
    static const Kernel kernels[] = { KERNEL_LINEAR, KERNEL_LINEAR_GATE };
    for (int i = 0; i < 2; i++) {
        PlanOp *op = joined_op(block_named(p, "decoder_layer"), kernels[i]);
        Packed *second = op->joined[1];
        op->joined[1] = op->joined[0];
        dies(check, p, "does not directly follow");
        op->joined[1] = second;
    }
    plan_check(p);
    planned_close(&o);
}

/* Taps keep linears from being joined; the packed file is the same with and without taps. */
static void taps_change_no_weights(void **state)
{
    (void)state;
    Planned o = planned_open("tests/specs/modern_decoder.lua");
    Plan *p = planned_make(&o, TARGET_PANELS, false, 1), *tapped = planned_make(&o, TARGET_PANELS, true, 1);
    assert_int_equal(p->packed_count, tapped->packed_count);
    for (int i = 0; i < p->packed_count; i++) {
        assert_string_equal(p->packed[i]->name ? p->packed[i]->name : "", tapped->packed[i]->name ? tapped->packed[i]->name : "");
        assert_int_equal(p->packed[i]->offset, tapped->packed[i]->offset);
    }
    planned_close(&o);
}

static void a_misaligned_buffer_is_found(void **state)
{
    (void)state;
    Planned o;
    Plan *p = awkward(&o);
    buffer_named(block_named(p, "encoder_layer"), "self_v")->offset += 4;
    dies(check, p, "self_v is not aligned");
    planned_close(&o);
}

static void an_unused_buffer_is_found(void **state)
{
    (void)state;
    Planned o;
    Plan *p = awkward(&o);
    buffer_named(block_named(p, "encoder_layer"), "self_v")->first_phase = -1;
    dies(check, p, "self_v of encoder_layer is never used");
    planned_close(&o);
}

static void misplaced_weights_are_found(void **state)
{
    (void)state;
    Planned o;
    Plan *p = awkward(&o);
    size_t offset = p->packed[3]->offset;
    p->packed[3]->offset = offset + 4;
    dies(check, p, "is not aligned");
    p->packed[3]->offset = pad64(p->weights_bytes);
    dies(check, p, "lies outside the weights");
    p->packed[3]->offset = offset;
    plan_check(p);
    planned_close(&o);
}

static void whole_pages_get_a_wider_stride(void **state)
{
    (void)state;
    Planned o = planned_open("return xf.model { name = \"wide\", kind = \"encoder-decoder\", layers = 1, heads = 8, d_model = 1024, d_ff = 2048,"
                             "max_source = 5, max_target = 4, source_vocab = 5, target_vocab = 5, weights = \"random\" }");
    Plan *p = planned_make(&o, TARGET_PANELS, false, 1);
    assert_int_equal(plan_buffer(p, "encoder_x")->stride, 1040);
    assert_int_equal(plan_buffer(p, "decoder_x")->stride, 1024);        /* a single row cannot conflict */
    assert_int_equal(buffer_named(block_named(p, "encoder_layer"), "ffn_hidden")->stride, 2064);
    planned_close(&o);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void formats_are_all_described(void **state)
{
    (void)state;
    for (int i = 0; i < FORMATS; i++) {
        assert_non_null(format_rows[i].name);
        assert_non_null(format_rows[i].dtype);
        assert_non_null(format_rows[i].doc);
    }
}

static void mark_kernels(const Plan *p, bool *kernels, bool *ops)
{
    for (int i = 0; i < p->block_count; i++)
        for (int j = 0; j < p->blocks[i]->op_count; j++) {
            const PlanOp *op = &p->blocks[i]->ops[j];
            assert_in_range(op->kernel, 0, KERNELS - 1);
            kernels[op->kernel] = true;
            ops[op->node->op] = true;
        }
}

/* Every operation and every kernel is in one of the plans of these specs. The plans with taps are
 * also emitted as C. */
static void every_operation_and_kernel_is_planned_and_emitted(void **state)
{
    (void)state;
    static const char *const specs[] = { "tests/goldens/awkward.lua", "tests/specs/two_attentions.lua", "tests/specs/modern_decoder.lua",
                                        "tests/goldens/like_gemma2.lua", "tests/specs/windows.lua",
                                        "tests/goldens/head_dense.lua", "tests/ops/leaky.lua" };
    bool kernels[KERNELS] = { false }, ops[OP_KINDS] = { false };
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        Planned o = planned_open(specs[i]);
        Plan *p = planned_make(&o, TARGET_PANELS, true, 1);
        mark_kernels(p, kernels, ops);
        int n;
        EmittedFile *files = emit_files(o.arena, p, "0123456789abcdef", 4096, (EmitForm){ .weights = WEIGHTS_EMBED }, &n);
        int kernel_files = 0;
        for (int j = 0; j < n; j++) {
            assert_true(files[j].text.size > 0);
            kernel_files += strncmp(files[j].name, "runtime/", 8) == 0;
        }
        assert_int_equal(n - kernel_files, 7 + o.model->has_decoder + (o.model->source && o.model->target));
        assert_true(kernel_files >= 10);
        mark_kernels(planned_make(&o, TARGET_PANELS, false, 1), kernels, ops);
        mark_kernels(planned_make(&o, TARGET_ROW_MAJOR, false, 1), kernels, ops);
        planned_close(&o);
    }
    for (int i = 0; i < KERNELS; i++)
        if (!kernels[i]) fail_msg("kernel %d is in no plan", i);
    for (int i = 0; i < OP_KINDS; i++)
        if (!ops[i]) fail_msg("operation %s is in no plan", op_rows[i].name);
}

/* ---- costs, counted by hand ------------------------------------------------------------------ */

static const char tiny[] =
    "return xf.model { name = \"tiny\", kind = \"encoder-decoder\", layers = 1, heads = 1, d_model = 4, d_ff = 8,"
    "max_source = 3, max_target = 2, source_vocab = 5, target_vocab = 6, weights = \"random\" }";

/* FLOPs of a row: embedding 4 + 4; norms 8 * 4 each; linears 2 in out + out; relu 8; attention 2
 * (d_k + d_v) per key; sums 4. */
static void costs_are_those_counted_by_hand(void **state)
{
    (void)state;
    Planned o = planned_open(tiny);
    Plan *p = planned_make(&o, TARGET_PANELS, false, 1);
    const double square = 2 * 4 * 4 + 4, up = 2 * 4 * 8 + 8 + 8, down = 2 * 8 * 4 + 4, norm = 32, key = 16, sum = 4, embedding = 8;
    const double encoder = embedding + 2 * norm + 4 * square + 3 * key + 2 * sum + up + down + norm + 2 * square;
    Cost c = plan_cost(p, PROGRAM_ENCODE, 3, 3, 3);
    assert_true(c.flops == 3 * encoder && encoder == 524);
    /* panels of 16 x (4 + 1) and 16 x (8 + 1) floats, norms of 2 x 16, table rows of 16 */
    const double panels = 320, wide = 576, vectors = 128, row = 64;
    assert_true(c.weight_bytes == 3 * 2 * row + 2 * vectors + 4 * panels + panels + wide + vectors + 2 * panels);

    const double decoder = embedding + 3 * norm + 6 * square + 2 * key + 3 * key + 3 * sum + up + down + norm + (2 * 4 * 6 + 6);
    c = plan_cost(p, PROGRAM_STEP, 1, 2, 3);
    assert_true(c.flops == decoder + 12 * 6);
    assert_true(c.weight_bytes == 2 * row + 3 * vectors + 6 * panels + panels + wide + vectors + panels);
    assert_true(plan_cost(p, PROGRAM_NEXT, 1, 2, 3).flops == decoder + 6);
    assert_true(plan_cost(p, PROGRAM_RUN, 1, 2, 3).flops == 0);
    planned_close(&o);
}

/* Prefill ends once the last layer has stored its keys and values; with taps it runs all of that
 * layer. */
static void prefill_leaves_the_last_layer(void **state)
{
    (void)state;
    const double square = 2 * 4 * 4 + 4, up = 2 * 4 * 8 + 8 + 8, down = 2 * 8 * 4 + 4, norm = 32, key = 16, sum = 4, embedding = 8;
    const double panels = 320, vectors = 128, row = 64;
    Planned o = planned_open(tiny);
    Plan *p = planned_make(&o, TARGET_PANELS, false, 1);
    const Cost c = plan_cost(p, PROGRAM_PREFILL, 2, 2, 3);
    assert_true(c.flops == 2 * (embedding + norm + 3 * square));
    assert_true(c.weight_bytes == 2 * 2 * row + vectors + 3 * panels);
    planned_close(&o);
    o = planned_open(tiny);
    p = planned_make(&o, TARGET_PANELS, true, 1);
    assert_true(plan_cost(p, PROGRAM_PREFILL, 2, 2, 3).flops ==
                2 * (embedding + 3 * norm + 6 * square + 2 * key + 3 * key + 3 * sum + up + down));
    planned_close(&o);
}

/* ---- different layers, many layers ----------------------------------------------------------- */

static int blocks_beginning(const Plan *p, const char *stem)
{
    int n = 0;
    for (int i = 0; i < p->block_count; i++) n += strncmp(p->blocks[i]->block->name, stem, strlen(stem)) == 0;
    return n;
}

static void layers_that_differ_are_blocks_of_their_own(void **state)
{
    (void)state;
    Planned o = planned_open("tests/specs/different_layers.lua");
    Plan *p = planned_make(&o, TARGET_PANELS, true, 2);
    assert_int_equal(blocks_beginning(p, "encoder_layer"), 3);          /* d_ff 40 40, 17, 40 40 */
    assert_int_equal(blocks_beginning(p, "decoder_layer"), 6);          /* heads 3, 2, 3; each for one row and for many */
    assert_int_equal(blocks_beginning(p, "decoder_memory"), 3);
    planned_close(&o);
    o = planned_open("tests/goldens/awkward.lua");
    p = planned_make(&o, TARGET_PANELS, true, 2);
    assert_int_equal(blocks_beginning(p, "encoder_layer"), 1);
    planned_close(&o);
}

/* Each layer's taps and weights have unique names, and the packed file can be opened. */
static void layers_that_differ_have_names_of_their_own(void **state)
{
    (void)state;
    Planned o = planned_open("tests/specs/different_layers.lua");
    Plan *p = planned_make(&o, TARGET_PANELS, true, 1);
    for (int i = 0; i < p->tap_count; i++)
        for (int j = 0; j < i; j++) assert_string_not_equal(p->taps[i].name, p->taps[j].name);
    char folder[] = "/tmp/xformc-pack-XXXXXX";
    assert_non_null(mkdtemp(folder));
    const char *path = file_join(o.arena, folder, "packed.safetensors");
    Pack pack = pack_layout(o.arena, p);
    assert_true(pack_write(o.arena, o.diag, &pack, path));
    TensorFile *f = safetensors_open(o.arena, o.diag, (Loc){ 0 }, path);
    diag_print(o.diag, stderr, false);
    assert_non_null(f);
    assert_non_null(tensor_file_find(f, "encoder.2.ffn.up.weight"));
    assert_non_null(tensor_file_find(f, "encoder.4.ffn.up.weight"));
    assert_null(tensor_file_find(f, "encoder.5.ffn.up.weight"));
    assert_int_equal(tensor_file_find(f, "encoder.1.ffn.up.weight")->shape[0], 3);
    assert_int_equal(tensor_file_find(f, "encoder.2.ffn.up.weight")->shape[0], 2);
    tensor_file_close(f);
    unlink(path);
    rmdir(folder);
    planned_close(&o);
}

/* The text of the emitted file `name`. */
static const char *file_of(const Planned *o, const char *name)
{
    int n, i = 0;
    const EmitForm form = { .weights = WEIGHTS_EMBED };
    const EmittedFile *files = emit_files(o->arena, planned_make(o, TARGET_PANELS, false, 1), "0123456789abcdef", 4096, form, &n);
    while (i < n && strcmp(files[i].name, name) != 0) i++;
    if (i == n) fail_msg("%s is not emitted", name);
    return files[i].text.data;
}

/* NAME.c */
static const char *text_of(const Planned *o) { return file_of(o, arena_format(o->arena, "%s.c", o->model->name)); }

static void more_than_sixteen_layers_are_a_loop(void **state)
{
    (void)state;
    Planned o = planned_open("tests/specs/deep.lua");
    const char *text = text_of(&o);
    assert_non_null(strstr(text, "for (int layer = 0; layer < 17; layer++) encoder_layer(j, layer, thread, threads);"));
    assert_non_null(strstr(text, "for (int layer = 0; layer < 17; layer++) decoder_layer(j, layer, thread, threads);"));
    planned_close(&o);
    o = planned_open("tests/goldens/awkward.lua");
    text = text_of(&o);
    assert_null(strstr(text, "for (int layer"));
    assert_non_null(strstr(text, "encoder_layer(j, 2, thread, threads);"));
    planned_close(&o);
}

/* Not every C compiler accepts a type that is larger than INT_MAX bytes. */
static void a_block_past_two_gigabytes_has_pointers(void **state)
{
    (void)state;
    Planned o = planned_open("return xf.graph(\"big\", function(g) g.output(\"z\", g.matmul(g.matmul(g.input(\"x\", { 2, 2048 }), "
                             "g.param(\"w\", { 2048, 300000 })), g.param(\"v\", { 300000, 16 }))) end)");
    const char *text = text_of(&o);
    assert_non_null(strstr(text, "struct graph {\n    const float (*w)[2048][16];  "));
    assert_non_null(strstr(text, "\n    const float (*v)[300000][16];  "));
    assert_null(strstr(text, "sizeof(struct graph)"));
    assert_non_null(strstr(text, "    const struct graph *const w = &(const struct graph){\n"
                                 "        (const float (*)[2048][16])(const void *)(j->weights + W_GRAPH + 0),\n"
                                 "        (const float (*)[300000][16])(const void *)(j->weights + W_GRAPH + 2457600000),\n"
                                 "    };\n"));
    planned_close(&o);
}

/* A 32-bit machine cannot map more than 2^31 - 1 bytes: compiling a model with larger weights for
 * it ends with an #error. */
static void weights_past_two_gigabytes_need_64_bits(void **state)
{
    (void)state;
    static const char spec[] = "return xf.graph(\"g\", function(g) g.output(\"z\", g.matmul(g.input(\"x\", { 2, %d }), "
                               "g.param(\"w\", { %d, 65536 }))) end)";
    static const int widths[] = { 8160, 8192 };     /* 2,139,095,040 bytes, and 2^31, plus the header */
    for (int i = 0; i < 2; i++) {
        Arena *a = arena_new();
        Planned o = planned_open(arena_format(a, spec, widths[i], widths[i]));
        const char *found = strstr(file_of(&o, "g.h"), "#if __SIZEOF_POINTER__ == 4\n"
                                   "#error \"g needs a 64-bit machine: its weights take 2147487744 bytes\"\n#endif\n");
        assert_true((found != NULL) == (i == 1));
        planned_close(&o);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlapping_buffers_of_a_block_are_found),
        cmocka_unit_test(a_buffer_over_one_that_outlives_its_block_is_found),
        cmocka_unit_test(overlapping_caches_are_found),
        cmocka_unit_test(a_buffer_outside_the_scratch_is_found),
        cmocka_unit_test(scratch_of_too_few_rows_is_found),
        cmocka_unit_test(scratch_of_too_few_rounded_rows_is_found),
        cmocka_unit_test(a_list_over_a_buffer_is_found),
        cmocka_unit_test(a_cache_outside_its_slot_is_found),
        cmocka_unit_test(a_state_too_small_is_found),
        cmocka_unit_test(a_misaligned_buffer_is_found),
        cmocka_unit_test(views_that_share_a_column_are_found),
        cmocka_unit_test(joined_weights_that_lie_apart_are_found),
        cmocka_unit_test(taps_change_no_weights),
        cmocka_unit_test(an_unused_buffer_is_found),
        cmocka_unit_test(misplaced_weights_are_found),
        cmocka_unit_test(whole_pages_get_a_wider_stride),
        cmocka_unit_test(formats_are_all_described),
        cmocka_unit_test(every_operation_and_kernel_is_planned_and_emitted),
        cmocka_unit_test(costs_are_those_counted_by_hand),
        cmocka_unit_test(prefill_leaves_the_last_layer),
        cmocka_unit_test(layers_that_differ_are_blocks_of_their_own),
        cmocka_unit_test(layers_that_differ_have_names_of_their_own),
        cmocka_unit_test(more_than_sixteen_layers_are_a_loop),
        cmocka_unit_test(a_block_past_two_gigabytes_has_pointers),
        cmocka_unit_test(weights_past_two_gigabytes_need_64_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
