/* test_verify.c: verify.c on the generic engine: what it compares, prints and rejects. */
#include "engine_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verify.h"

/* The output, messages and exit code of verify. */
typedef struct Found { char *out, *told; Exit exit; } Found;

static Found verify(Opened *o, const char *against, bool json)
{
    const VerifyEngine engine = { o->tapped, o->plain, 0 };
    const VerifyOptions options = { .against = against, .seed = 1, .threads = 2, .all = true, .json = json };
    Found f = { 0 };
    size_t size;
    FILE *out = open_memstream(&f.out, &size), *told = open_memstream(&f.told, &size);
    f.exit = verify_run(o->arena, o->diag, o->model, &engine, 1, &options, out);
    diag_print(o->diag, told, false);
    fclose(out);
    fclose(told);
    return f;
}

static void remove_reference(char *path)
{
    unlink(path);
    *strrchr(path, '/') = 0;
    rmdir(path);
}

static void found_free(Found *f)
{
    free(f->out);
    free(f->told);
}

static void wants(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("no \"%s\" in:\n%s", part, text);
}

static void references_agree(void **state)
{
    (void)state;
    for (int i = 0; golden_names[i]; i++) {
        Opened o = open_golden(golden_names[i]);
        Found f = verify(&o, golden_reference(o.arena, golden_names[i]), false);
        assert_string_equal(f.told, "");
        assert_int_equal(f.exit, EXIT_DONE);
        wants(f.out, "all within tolerance");
        wants(f.out, "greedy ");
        wants(f.out, "decoder.0.cross_attn.k ");
        found_free(&f);
        close_spec(&o);
    }
}

static void engines_agree_on_random_inputs(void **state)
{
    (void)state;
    static const char *const specs[] = { "tests/goldens/dv_ne_dk.lua", "tests/engines/worked_example.lua", "tests/engines/operations.lua" };
    for (int i = 0; i < 3; i++) {
        Opened o = open_spec(specs[i]);
        Found f = verify(&o, NULL, false);
        assert_string_equal(f.told, "");
        assert_int_equal(f.exit, EXIT_DONE);
        wants(f.out, "generic, 2 threads");
        found_free(&f);
        close_spec(&o);
    }
}

/* Two goldens with the same sizes and different weights and norms: the tensor named is the first in
 * execution order that differs, not the worst. */
static void the_first_that_departs_is_named(void **state)
{
    (void)state;
    Opened o = open_golden("post_layer");
    Found f = verify(&o, golden_reference(o.arena, "pre_annotated"), false);
    assert_int_equal(f.exit, EXIT_DIFFERS);
    wants(f.out, "DIFFERS");
    wants(f.out, "verify: first difference: encoder.0.");
    wants(f.out, "(generic against pre_annotated.ref.safetensors): ");
    wants(f.told, "the model does not have 2 of the file's tensors: decoder.norm (did you mean decoder.0.norm.0?), encoder.norm");
    found_free(&f);
    close_spec(&o);
}

static void another_shape_is_an_error(void **state)
{
    (void)state;
    Opened o = open_golden("one_head");
    Found f = verify(&o, golden_reference(o.arena, "dv_ne_dk"), false);
    assert_int_equal(f.exit, EXIT_BAD_DATA);
    assert_string_equal(f.out, "");
    wants(f.told, "dv_ne_dk.ref.safetensors: error: \"encoder.0.norm.0\" is [7, 24], but the model's is [7, 16]");
    found_free(&f);
    close_spec(&o);
}

static void a_file_without_ids_is_an_error(void **state)
{
    (void)state;
    Opened o = open_golden("one_head");
    Found f = verify(&o, "tests/goldens/one_head.safetensors", false);
    assert_int_equal(f.exit, EXIT_BAD_DATA);
    wants(f.told, "the file has no tensor \"source\"");
    found_free(&f);
    close_spec(&o);
}

static void an_absent_file_is_an_error(void **state)
{
    (void)state;
    Opened o = open_golden("one_head");
    Found f = verify(&o, "tests/goldens/absent.safetensors", false);
    assert_int_equal(f.exit, EXIT_NO_INPUT);
    wants(f.told, "absent.safetensors");
    found_free(&f);
    close_spec(&o);
}

/* Write a file of F32 tensors X [3, 4], all `x`, and Q [3, 3], all `q`, in a new folder; returns
 * its path. */
static char *write_reference(Opened *o, float x, float q)
{
    static const char header[] = "{\"X\":{\"dtype\":\"F32\",\"shape\":[3,4],\"data_offsets\":[0,48]},"
                                 "\"Q\":{\"dtype\":\"F32\",\"shape\":[3,3],\"data_offsets\":[48,84]}}";
    unsigned char file[8 + sizeof header - 1 + 84] = { sizeof header - 1 };
    char *folder = arena_text(o->arena, "/tmp/xformc-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    memcpy(file + 8, header, sizeof header - 1);
    for (size_t i = 0; i < 21; i++) memcpy(file + sizeof file - 84 + 4 * i, i < 12 ? &x : &q, sizeof(float));
    char *path = arena_format(o->arena, "%s/ref.safetensors", folder);
    assert_true(file_write(o->arena, o->diag, path, file, sizeof file));
    return path;
}

/* Inputs in a reference are fed to the graph: if X is all ones, Q is all twos. */
static void a_graph_is_fed_its_reference(void **state)
{
    (void)state;
    Opened o = open_spec("tests/engines/worked_example.lua");
    char *path = write_reference(&o, 1, 2);
    Found f = verify(&o, path, false);
    assert_int_equal(f.exit, EXIT_DONE);
    found_free(&f);
    remove_reference(path);
    path = write_reference(&o, 1, 3);
    f = verify(&o, path, false);
    assert_int_equal(f.exit, EXIT_DIFFERS);
    wants(f.out, "verify: first difference: Q (generic against ref.safetensors): 3.3e-01 > 1e-05");
    found_free(&f);
    remove_reference(path);
    close_spec(&o);
}

static void json_is_one_object(void **state)
{
    (void)state;
    Opened o = open_golden("one_layer");
    Found f = verify(&o, golden_reference(o.arena, "one_layer"), true);
    assert_int_equal(f.exit, EXIT_DONE);
    assert_int_equal(strncmp(f.out, "{\"engines\": [\"generic\"],\n \"rows\": [\n  {\"name\": \"encoder.0.norm.0\", \"engine\": \"generic\", "
                                    "\"against\": \"one_layer.ref.safetensors\", \"distance\": ", 110), 0);
    assert_string_equal(f.out + strlen(f.out) - 4, "}]}\n");
    found_free(&f);
    close_spec(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references_agree),
        cmocka_unit_test(engines_agree_on_random_inputs),
        cmocka_unit_test(the_first_that_departs_is_named),
        cmocka_unit_test(another_shape_is_an_error),
        cmocka_unit_test(a_file_without_ids_is_an_error),
        cmocka_unit_test(an_absent_file_is_an_error),
        cmocka_unit_test(a_graph_is_fed_its_reference),
        cmocka_unit_test(json_is_one_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
