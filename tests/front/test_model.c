/* test_model.c: The words of fields.def match the enums of model.h, and its fields are consistent
 * and listed by the help. Also the parameters of the base model, a spec after a bad one, which
 * dtype pattern applies, and conversion of reals to integers. */
#include "front.h"
#include "front_test.h"
#include "integer.h"

#include <math.h>

#include "fields.h"

static void assert_word(const char *list, int index, const char *word)
{
    int n;
    const char *const *words = field_words(list, &n);
    assert_in_range(index, 0, n - 1);
    assert_string_equal(words[index], word);
}

static void words_have_the_numbers_of_their_enums(void **state)
{
    (void)state;
    assert_word("kinds", KIND_ENCODER_DECODER, "encoder-decoder");
    assert_word("norms", NORMS_ANNOTATED, "annotated");
    assert_word("norms", NORMS_LAYER, "layer");
    assert_word("norm_places", NORM_PLACES_PRE, "pre");
    assert_word("norm_places", NORM_PLACES_POST, "post");
    assert_word("positions", POSITIONS_NONE, "none");
    assert_word("positions", POSITIONS_SINUSOIDAL, "sinusoidal");
    assert_word("positions", POSITIONS_LEARNED_RELATIVE, "learned+relative");
    assert_word("layouts", LAYOUTS_INTERLEAVED, "interleaved");
    assert_word("layouts", LAYOUTS_HALVES, "halves");
    assert_word("divisors", DIVISORS_HALF, "d/2");
    assert_word("divisors", DIVISORS_HALF_LESS_1, "d/2-1");
    assert_word("projections", PROJECTIONS_FIRST, "first");
    assert_word("dtypes", DTYPES_F32, "f32");
    assert_word("dtypes", DTYPES_PANELS_BF16, "bf16");
    assert_word("dtypes", DTYPES_FILE, "file");
    assert_word("dtypes", DTYPES_PANELS_INT8, "int8");
    assert_word("dtypes", DTYPES_PANELS_INT4, "int4");
    assert_word("kv_dtypes", KV_DTYPES_F32, "f32");
    assert_word("kv_dtypes", KV_DTYPES_F16, "f16");
    assert_word("kv_dtypes", KV_DTYPES_INT8, "int8");
    assert_word("tokenizers", TOKENIZERS_NONE, "none");
    assert_word("tokenizers", TOKENIZERS_CHARACTERS, "characters");
    assert_word("activations", 1, "relu");
}

static void fields_are_consistent(void **state)
{
    (void)state;
    for (int i = 0; i < FIELD_COUNT; i++) {
        const Field *f = &fields[i];
        assert_ptr_equal(field_find(f->name), f);
        assert_true(*f->doc);
        if (f->type == TYPE_WORD) assert_true(f->has_default && f->preset >= 0 && f->preset < f->word_count);
        if (f->has_default && (f->type == TYPE_INT || f->type == TYPE_REAL))
            assert_true(f->preset >= f->least && f->preset <= f->most);
    }
}

/* Replace each run of spaces and newlines with one space; drop leading ones. */
static void join_lines(char *text)
{
    char *to = text;
    for (const char *s = text; *s; s++)
        if (*s != ' ' && *s != '\n') *to++ = *s;
        else if (to > text && to[-1] != ' ') *to++ = ' ';
    *to = '\0';
}

static void help_lists_every_field(void **state)
{
    (void)state;
    Arena *a = arena_new();
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    fields_print(to);
    fclose(to);
    for (int i = 0; i < FIELD_COUNT; i++) assert_non_null(strstr(text, fields[i].name));
    join_lines(text);
    assert_non_null(strstr(text, "\"annotated\" | \"layer\""));
    free(text);
    arena_free(a);
}

static Model *model_of(Arena *a, Diag *d, const char *spec)
{
    const char *folder = new_folder(a), *path = file_join(a, folder, "m.lua");
    assert_true(file_write(a, d, path, spec, strlen(spec)));
    Model *m = model_read(a, d, path, NULL, 0, NULL);
    remove_file(a, folder, "m.lua");
    remove_folder(folder);
    return m;
}

/* The documented base model: 6 layers, d_model 512, d_ff 2048, 8 heads, vocabularies of 11. */
static void the_base_model_has_its_parameters(void **state)
{
    (void)state;
    Arena *a = arena_new();
    Diag *d = diag_new(a);
    Model *m = model_of(a, d, "return xf.model { name = \"base\", source_vocab = 11, target_vocab = 11, weights = \"random\" }");
    assert_non_null(m);
    int64_t parameters = 0;
    for (int i = 0; i < m->tensor_count; i++)
        if (m->tensors[i].kind != SOURCE_SINUSOID) parameters += tensor_elements(&m->tensors[i]);
    assert_int_equal(parameters, 44157451);
    const TensorSource *t = model_tensor(m, "decoder.5.cross_attn.out.weight");
    assert_non_null(t);
    assert_int_equal(t->shape[0], 512);
    assert_null(model_tensor(m, "decoder.6.cross_attn.out.weight"));
    assert_int_equal(m->encoder.layer[5].head_dim, 64);
    model_close(m);
    model_close(NULL);
    arena_free(a);
}

static void an_earlier_error_is_no_fault_of_the_next_spec(void **state)
{
    (void)state;
    Arena *a = arena_new();
    Diag *d = diag_new(a);
    assert_null(model_of(a, d, "return 1"));
    Model *m = model_of(a, d, "return xf.model { name = \"tiny\", layers = 1, source_vocab = 3, target_vocab = 3, weights = \"random\" }");
    assert_non_null(m);
    model_close(m);
    arena_free(a);
}

static bool matches(const char *pattern, const char *name)
{
    const DtypeRule r = { .pattern = pattern };
    return dtype_rule_matches(&r, name);
}

/* A pattern matches a name, or its beginning up to a dot; * matches any characters. */
static void patterns_of_dtypes(void **state)
{
    (void)state;
    assert_true(matches("output", "output.weight") && matches("output.weight", "output.weight") && matches("*", "output.weight"));
    assert_true(matches("decoder.*.ffn", "decoder.10.ffn.up.weight") && matches("decoder.*.ffn.*", "decoder.1.ffn.up.weight"));
    assert_true(matches("*.ffn", "decoder.1.ffn.down.weight") && matches("*ffn*weight", "encoder.0.ffn.up.weight") && matches("**k", "a.kk.k"));
    assert_false(matches("out", "output.weight") || matches("decoder.1", "decoder.10.ffn.up.weight") || matches("ffn", "decoder.1.ffn.up.weight"));
    assert_false(matches("", "output.weight") || matches("output.weight.", "output.weight") || matches("*.gate", "decoder.1.ffn.up.weight"));
    assert_false(matches("output.weight.more", "output.weight") || matches("*x", "output.weight"));
}

/* The most specific pattern wins; an equally specific one with a different dtype is reported. In
 * models less than 256 wide, int4 without a pattern means int8, except for up and gate matrices of
 * feed-forwards. */
static void the_closest_pattern_holds(void **state)
{
    const DtypeRule rules[] = { { .pattern = "*.ffn", .word = DTYPES_PANELS_INT4 }, { .pattern = "decoder.1.ffn", .word = DTYPES_PANELS_BF16 },
                                { .pattern = "**.ffn*", .word = DTYPES_PANELS_INT4 }, { .pattern = "*.out", .word = DTYPES_F32 } };
    const Model m = { .dtype = DTYPES_PANELS_INT4, .dtype_rules = rules, .dtype_rule_count = 4 },
                plain = { .dtype = DTYPES_PANELS_INT4, .d_model = 255 },
                wide = { .dtype = DTYPES_PANELS_INT4, .d_model = 256 };
    const DtypeRule *other;
    (void)state;
    assert_int_equal(model_dtype_of(&m, "decoder.0.ffn.up.weight"), DTYPES_PANELS_INT4);
    assert_int_equal(model_dtype_of(&m, "decoder.1.ffn.up.weight"), DTYPES_PANELS_BF16);
    assert_int_equal(model_dtype_of(&m, "decoder.1.self_attn.out.weight"), DTYPES_F32);
    assert_int_equal(model_dtype_of(&m, "decoder.1.self_attn.q.weight"), DTYPES_PANELS_INT8);
    assert_int_equal(model_dtype_of(&plain, "decoder.1.ffn.up.weight"), DTYPES_PANELS_INT4);
    assert_int_equal(model_dtype_of(&plain, "decoder.1.ffn.down.weight"), DTYPES_PANELS_INT8);
    assert_int_equal(model_dtype_of(&plain, "output.weight"), DTYPES_PANELS_INT8);
    assert_int_equal(model_dtype_of(&wide, "decoder.1.ffn.down.weight"), DTYPES_PANELS_INT4);
    assert_int_equal(model_dtype_of(&wide, "output.weight"), DTYPES_PANELS_INT4);
    assert_ptr_equal(model_dtype_rule(&m, "decoder.0.ffn.up.weight", &other), &rules[0]);
    assert_null(other);
    assert_null(model_dtype_rule(&m, "output.weight", &other));
    assert_ptr_equal(model_dtype_rule(&m, "decoder.ffn.out.weight", &other), &rules[0]);
    assert_ptr_equal(other, &rules[3]);
}

/* integer_of saturates and maps NaN to 0: in C, converting a value out of range is undefined. */
static void numbers_have_a_whole_part(void **state)
{
    (void)state;
    static const double past[] = { 0x1p63, 1e300, INFINITY };
    for (int i = 0; i < 3; i++) assert_true(integer_of(past[i]) == INT64_MAX);
    for (int i = 0; i < 3; i++) assert_true(integer_of(-past[i]) == INT64_MIN);
    assert_true(integer_of(2.9) == 2 && integer_of(-2.9) == -2 && integer_of(0) == 0);
    assert_true(integer_of(0x1p62) == INT64_C(1) << 62);
    assert_true(integer_of(NAN) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_a_whole_part),
        cmocka_unit_test(words_have_the_numbers_of_their_enums), cmocka_unit_test(fields_are_consistent),
        cmocka_unit_test(help_lists_every_field), cmocka_unit_test(the_base_model_has_its_parameters),
        cmocka_unit_test(patterns_of_dtypes), cmocka_unit_test(the_closest_pattern_holds),
        cmocka_unit_test(an_earlier_error_is_no_fault_of_the_next_spec),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
