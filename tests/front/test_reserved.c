/* test_reserved.c: Names that C, C++, their compilers, or the emitted code and its Makefile use are
 * reserved; other identifiers may name a model. Also the map of names. */
#include "front_test.h"
#include "model.h"
#include "reserved_names.h"

static void names_of_c_and_of_the_text_are_reserved(void **state)
{
    (void)state;
    static const char *const names[] = {
        "int", "class", "printf", "memcpy", "memset", "strlen", "exp", "expf", "expl", "sqrt", "sqrtf", "tanh", "erf", "puts",
        "fprintf", "fflush", "ferror", "stdin", "stdout", "stderr", "errno", "NULL", "EOF", "BUFSIZ", "NAN", "INFINITY", "size_t",
        "ptrdiff_t", "max_align_t", "int8_t", "uint64_t", "int_fast16_t", "uintptr_t", "INT32_MAX", "UINT64_C", "SIZE_MAX",
        "FLT_EPSILON", "FILE", "float_t", "double_t", "math", "string", "job", "run_body",
        "step_body", "argv", "argc", "graph", "slot", "print", "state", "weights", "example",
        "runtime", "Makefile", "makefile", "clean", "command", "always", "all", "input_X",
        "rt_copy", "xf_a", "W_GRAPH", "panel_64", "norm_f32", "linear_64x64", "scale_96", "scale_96_rows",
        "softcap_8", "pool_16_mean", "window_2x8_4", "ring_keys_2x8_16", "ring_values_2x8_16",
        "relu_96", "gelu_gate_96", "attention_1x3_16", "encoder_layer", "_a", "text", "characters",
        "ids", "run", "m", "rows_of", "run_rows", "argmax", "argmax_rows", "main_chat", "reset",
        "team", "append", "call", "call_tokenize", "clear", "hidden", "logits", "next", "program",
        "rows", "WIN32", "i386", "linux", "mips", "sparc", "sun", "unix",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!name_is_reserved(names[i])) fail_msg("%s is not reserved", names[i]);
}

static void all_other_names_are_free(void **state)
{
    (void)state;
    static const char *const names[] = {
        "dates", "transliteration", "self_attention", "bert_base", "gpt2", "tiny", "q", "integer", "scale", "pool_a", "gelu_gate", "window_",
        "printf_", "expo", "expfl", "linear",
        "linear_", "attention", "encoder", "decoder_small", "Runtime", "CLEAN", "W", "inputs", "int_model",
        "chat", "generation", "ends", "tokenizer", "labels", "vector", "translations", "s", "floats", "slots", "next_position",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (name_is_reserved(names[i])) fail_msg("%s is reserved", names[i]);
}

static void a_map_keeps_what_was_added(void **state)
{
    (void)state;
    enum { MANY = 5000 };
    Arena *a = arena_new();
    NameMap *m = name_map_new(a);
    int *values = arena_array(a, MANY, sizeof *values);
    assert_null(name_map_find(m, "n0"));
    for (int i = 0; i < MANY; i++) name_map_add(m, arena_format(a, "n%d", i), &values[i]);
    for (int i = 0; i < MANY; i++) assert_ptr_equal(name_map_find(m, arena_format(a, "n%d", i)), &values[i]);
    assert_null(name_map_find(m, "n"));
    assert_null(name_map_find(m, ""));
    name_map_add(m, "n7", &values[8]);
    assert_ptr_equal(name_map_find(m, "n7"), &values[8]);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_c_and_of_the_text_are_reserved),
        cmocka_unit_test(all_other_names_are_free),
        cmocka_unit_test(a_map_keeps_what_was_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
