/* test_positions.c: Four properties of each position encoding: unique, relative distance visible,
 * extrapolates past the trained length, bounded.
 *
 *               unique               relative distance         extrapolates   bounded
 *   sinusoidal  yes                  p · (p + k) is f(k)       yes            |x| <= 1
 *   learned     yes, by its table    no                        no: an error   by its table
 *   relative    near distances; far  it is the distance        yes            by its table
 *               ones share a bias
 *   rotary      yes                  R_p q · R_{p+k} q is f(k) yes            preserves norms
 *
 * The models are those of tests/goldens, at their trained length of 9 and longer; one case has
 * random weights. */
#include "front.h"
#include "front_test.h"
#include "weights.h"

#include <math.h>

#include "model.h"

enum { TRAINED = 9, LONG = 400, MOST = 1 << 16 };

typedef struct World { Arena *arena; Diag *diag; Model *model; const char *folder, *spec; } World;

/* Read tests/goldens/NAME.lua with its weights and `changes`. The model is NULL after an error. */
static World new_world(const char *name, const char *changes)
{
    World w = { .arena = arena_new() };
    w.diag = diag_new(w.arena);
    w.folder = new_folder(w.arena);
    w.spec = file_join(w.arena, w.folder, "spec.lua");
    size_t size;
    char *text = file_read(w.arena, w.diag, (Loc){ 0 }, arena_format(w.arena, "tests/goldens/%s.lua", name), MOST, &size);
    assert_non_null(text);
    char *begin = strstr(text, "return"), top[4096];
    assert_non_null(begin);
    assert_non_null(getcwd(top, sizeof top));
    const char *spec = arena_format(w.arena, "local trained = %s\nreturn trained { weights = \"%s/tests/goldens/%s.safetensors\" } { %s }\n",
                                    begin + strlen("return"), top, name, changes);
    assert_true(file_write(w.arena, w.diag, w.spec, spec, strlen(spec)));
    w.model = model_read(w.arena, w.diag, w.spec, NULL, 0, NULL);
    return w;
}

static void end_world(World *w)
{
    model_close(w->model);
    remove_file(w->arena, w->folder, "spec.lua");
    remove_folder(w->folder);
    arena_free(w->arena);
}

/* The values of the tensor with this name and shape. */
static const float *table_of(World *w, const char *name, int64_t rows, int64_t columns)
{
    if (!w->model) fail_msg("%s", printed(w->arena, w->diag));
    const TensorSource *t = model_tensor(w->model, name);
    assert_non_null(t);
    assert_int_equal(t->shape[0], rows);
    assert_int_equal(t->shape[1], columns);
    float *values = arena_array(w->arena, (size_t)(rows * columns), sizeof *values);
    tensor_read(t, values);
    return values;
}

static double product(const float *a, const float *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += (double)a[i] * (double)b[i];
    return sum;
}

static double apart(const float *a, const float *b, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs((double)a[i] - (double)b[i]));
    return most;
}

/* The smallest distance between two rows. */
static double nearest_rows(const float *table, int rows, int width)
{
    double least = INFINITY;
    for (int p = 0; p < rows; p++)
        for (int q = p + 1; q < rows; q++) least = fmin(least, apart(table + p * width, table + q * width, width));
    return least;
}

/* The range over p of the dot product of rows p and p + k: 0 if it depends only on k. */
static double spread(const float *table, int rows, int width, int k)
{
    double least = INFINITY, most = -INFINITY;
    for (int p = 0; p + k < rows; p++) {
        const double x = product(table + p * width, table + (p + k) * width, width);
        least = fmin(least, x), most = fmax(most, x);
    }
    return most - least;
}

static void sinusoidal_positions_have_all_four(void **state)
{
    (void)state;
    enum { WIDTH = 10 };
    World trained = new_world("gated", ""), longer = new_world("gated", "max_source = 400");
    const float *short_table = table_of(&trained, "encoder.position.table", TRAINED, WIDTH);
    const float *table = table_of(&longer, "encoder.position.table", LONG, WIDTH);
    assert_true(nearest_rows(table, LONG, WIDTH) > 1e-3);
    for (int k = 1; k < 20; k++) assert_true(spread(table, LONG, WIDTH, k) < 1e-3);
    assert_true(fabs(product(table, table + WIDTH, WIDTH) - product(table, table + 2 * WIDTH, WIDTH)) > 0.1);
    assert_memory_equal(table, short_table, TRAINED * WIDTH * sizeof *table);
    for (int i = 0; i < LONG * WIDTH; i++) assert_true(fabsf(table[i]) <= 1);
    end_world(&trained);
    end_world(&longer);
}

static void learned_positions_end_with_their_table(void **state)
{
    (void)state;
    enum { WIDTH = 10 };
    World trained = new_world("embed_norm_rms_learned", ""), longer = new_world("embed_norm_rms_learned", "max_source = 10");
    const float *table = table_of(&trained, "encoder.position.table", TRAINED, WIDTH);
    assert_true(nearest_rows(table, TRAINED, WIDTH) > 1e-3);
    assert_true(spread(table, TRAINED, WIDTH, 1) > 0.1);                   /* does not show the distance */
    for (int i = 0; i < TRAINED * WIDTH; i++) assert_true(fabsf(table[i]) < 10);
    assert_null(longer.model);
    assert_int_equal(diag_exit(longer.diag), EXIT_BAD_DATA);
    assert_non_null(strstr(printed(longer.arena, longer.diag), "has shape [9, 10], expected [10, 10]"));
    end_world(&trained);
    end_world(&longer);
}

/* The bias of head `h` for a key `ahead` positions after the query. */
static float bias(const float *table, int length, int h, int ahead) { return table[h * (2 * length - 1) + length - 1 + ahead]; }

static void check_relative(const char *changes, int buckets, int distance)
{
    enum { HEADS = 4 };
    Arena *a = arena_new();
    World trained = new_world("grouped_relative", changes);
    World longer = new_world("grouped_relative", arena_format(a, "max_source = %d, %s", LONG, changes));
    const float *near = table_of(&trained, "encoder.relative.bias", HEADS, 2 * TRAINED - 1);
    const float *far = table_of(&longer, "encoder.relative.bias", HEADS, 2 * LONG - 1);
    const float *own = table_of(&longer, "encoder.relative.table", buckets, HEADS);
    for (int h = 0; h < HEADS; h++) {
        for (int i = 1 - TRAINED; i < TRAINED; i++) assert_true(bias(near, TRAINED, h, i) == bias(far, LONG, h, i));
        for (int i = 0; i < buckets / 4; i++)   /* on either side, each near distance has a bias of its own */
            for (int j = 0; j < i; j++) {
                assert_true(bias(far, LONG, h, i) != bias(far, LONG, h, j));
                assert_true(bias(far, LONG, h, -i) != bias(far, LONG, h, -j));
            }
        assert_true(bias(far, LONG, h, 1) != bias(far, LONG, h, -1));
        for (int i = distance; i < LONG; i++) { /* far ones share one, so they are not unique */
            assert_true(bias(far, LONG, h, i) == bias(far, LONG, h, distance));
            assert_true(bias(far, LONG, h, -i) == bias(far, LONG, h, -distance));
        }
        for (int i = 1 - LONG; i < LONG; i++) {
            bool found = false;
            for (int j = 0; j < buckets; j++) found |= own[j * HEADS + h] == bias(far, LONG, h, i);
            assert_true(found);
        }
    }
    end_world(&trained);
    end_world(&longer);
    arena_free(a);
}

static void relative_positions_are_distances(void **state)
{
    (void)state;
    check_relative("", 6, 5);
    check_relative("rel_buckets = 32, rel_distance = 128, weights = \"random\"", 32, 128);
}

/* Rotate a head to a position: pairs (i, i + half), by cosine i and sine i of the table's row. */
static void turn(float *out, const float *x, const float *row, int dims)
{
    const int half = dims / 2;
    for (int i = 0; i < half; i++) {
        out[i] = x[i] * row[i] - x[half + i] * row[half + i];
        out[half + i] = x[half + i] * row[i] + x[i] * row[half + i];
    }
}

static void rotary_positions_have_all_four(void **state)
{
    (void)state;
    enum { DIMS = 4, STEPS = 20 };
    static const float query[DIMS] = { 1, -0.5f, 0.25f, 2 }, key[DIMS] = { 0.5f, 1, -1, 0.75f };
    World trained = new_world("grouped_rotary", ""), longer = new_world("grouped_rotary", "max_source = 400");
    const float *short_table = table_of(&trained, "encoder.rotary.table", TRAINED, DIMS);
    const float *table = table_of(&longer, "encoder.rotary.table", LONG, DIMS);
    assert_memory_equal(table, short_table, TRAINED * DIMS * sizeof *table);
    assert_true(nearest_rows(table, LONG, DIMS) > 1e-3);
    double by_distance[STEPS];
    for (int p = 0; p + STEPS < LONG; p++)
        for (int k = 0; k < STEPS; k++) {
            float q[DIMS], r[DIMS];
            turn(q, query, table + p * DIMS, DIMS);
            turn(r, key, table + (p + k) * DIMS, DIMS);
            const double x = product(q, r, DIMS);
            if (p == 0) by_distance[k] = x;
            assert_true(fabs(x - by_distance[k]) < 1e-3);
            assert_true(fabs(product(q, q, DIMS) - product(query, query, DIMS)) < 1e-4);
        }
    assert_true(fabs(by_distance[1] - by_distance[2]) > 0.1);
    end_world(&trained);
    end_world(&longer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sinusoidal_positions_have_all_four), cmocka_unit_test(learned_positions_end_with_their_table),
        cmocka_unit_test(relative_positions_are_distances), cmocka_unit_test(rotary_positions_have_all_four),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
