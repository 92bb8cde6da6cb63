/* test_rows.c: The kernels that work row by row, compared with their definitions: norms,
 * embeddings, positions, element-wise operations, caches, log-softmax, argmax. */
#include "kernel_test.h"

static const int widths[] = { 2, 3, 7, 13, 15, 16, 17, 31, 32, 33, 64, 97, 288 };
static const int vocabularies[] = { 1, 2, 11, 15, 16, 17, 255, 256, 257, 1009 };
enum { ROWS = 5 };

/* ---- norms ----------------------------------------------------------------------------------- */

static void norm_reference(const RtNorm *s, Exact *want, const float *x, const float *gain, const float *bias)
{
    double mean = 0, squares = 0, divisor;
    for (int i = 0; i < s->width && s->kind != RT_NORM_RMS; i++)
        mean += (double)x[i] / s->width;
    for (int i = 0; i < s->width; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    if (s->kind == RT_NORM_ANNOTATED) divisor = sqrt(squares / (s->width - 1)) + s->eps;
    else divisor = sqrt(squares / s->width + s->eps);
    for (int i = 0; i < s->width; i++) {
        want[i].value = gain[i] * (x[i] - mean) / divisor + (bias ? bias[i] : 0);
        want[i].magnitude = fabs(gain[i]) * (fabs(x[i]) + fabs(mean)) / divisor + (bias ? fabs(bias[i]) : 0);
    }
}

static void one_norm(RtNormKind kind, int width)
{
    const int stride = padded16(width) + 16, centred = kind != RT_NORM_RMS;
    const RtNorm shape = { 1, width, stride, stride + 16, kind, 1e-6f };
    Buffer x = random_rows(ROWS, width, stride), y = buffer(ROWS * (size_t)shape.y_stride);
    Buffer w = buffer((size_t)(padded16(width) * (1 + centred)));
    Exact *want = malloc((size_t)(ROWS * width) * sizeof *want);
    memset(w.data, 0, w.n * sizeof(float));
    for (int i = 0; i < width; i++) {
        w.data[i] = random_float();
        if (centred) w.data[padded16(width) + i] = random_float();
        x.data[i] += 100;                                               /* a row far from 0 */
    }
    for (int r = 0; r < ROWS; r++)
        norm_reference(&shape, want + r * width, x.data + r * stride, w.data,
                       centred ? w.data + padded16(width) : NULL);
    rt_norm_f32(&shape, y.data, x.data, w.data, ROWS);
    check_close(y.data, shape.y_stride, want, ROWS, width);
    check_padding(y.data, shape.y_stride, ROWS, width);
    for (int r = 0; r < ROWS; r++) {                                    /* each row alone, in place */
        const RtNorm same = { 1, width, stride, stride, kind, 1e-6f };
        rt_norm_f32(&same, x.data + r * stride, x.data + r * stride, w.data, 1);
        check_same_bits(x.data + r * stride, y.data + r * shape.y_stride, (size_t)padded16(width));
    }
    free(want);
    release(x), release(y), release(w);
}

/* Heads side by side, normalised in place, each as if it were a row of its own. Nothing is written
 * past the row's padding. */
static void norm_heads(RtNormKind kind, int heads, int width)
{
    const int used = heads * width, stride = padded16(used), own = padded16(width), centred = kind != RT_NORM_RMS;
    const RtNorm shape = { heads, width, stride, stride, kind, 1e-6f }, alone = { 1, width, own, own, kind, 1e-6f };
    Buffer x = random_rows(ROWS, used, stride), y = buffer((size_t)own), w = buffer((size_t)(own * (1 + centred)));
    Buffer before = buffer(x.n);
    memcpy(before.data, x.data, x.n * sizeof(float));
    for (size_t i = 0; i < w.n; i++)
        w.data[i] = random_float();
    rt_norm_f32(&shape, x.data, x.data, w.data, ROWS);
    for (int r = 0; r < ROWS; r++)
        for (int h = 0; h < heads; h++) {
            Buffer head = buffer((size_t)own);
            memcpy(head.data, before.data + r * stride + h * width, (size_t)width * sizeof(float));
            rt_norm_f32(&alone, y.data, head.data, w.data, 1);
            check_same_bits(x.data + r * stride + h * width, y.data, (size_t)width);
            release(head);
        }
    check_padding(x.data, stride, ROWS, used);
    release(x), release(y), release(w), release(before);
}

static void norms_of_heads(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(widths); i++)
        for (int heads = 1; heads < 6; heads += 1 + heads / 2) {
            norm_heads(RT_NORM_LAYER, heads, widths[i]);
            norm_heads(RT_NORM_RMS, heads, widths[i]);
        }
}

static void norms(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(widths); i++) {
        one_norm(RT_NORM_ANNOTATED, widths[i]);
        one_norm(RT_NORM_LAYER, widths[i]);
        one_norm(RT_NORM_RMS, widths[i]);
    }
    one_norm(RT_NORM_LAYER, 1);
    one_norm(RT_NORM_RMS, 1);
}

/* ---- embeddings ------------------------------------------------------------------------------ */

static void embeddings(void **state)
{
    static const int ids[ROWS] = { 3, 0, 6, 6, 1 };
    (void)state;
    for (size_t k = 0; k < COUNT(widths); k++) {
        const int width = widths[k], padded = padded16(width), stride = padded + 32;
        const RtEmbed shape = { width, stride, 1.75f };
        Buffer table = random_rows(7, width, padded), x = random_rows(ROWS, width, stride);
        Buffer y = buffer(ROWS * (size_t)stride), z = buffer(ROWS * (size_t)stride);
        rt_embed_f32(&shape, y.data, table.data, ids, ROWS);
        rt_position_f32(&shape, z.data, x.data, table.data, ids, ROWS);
        check_padding(y.data, stride, ROWS, width);
        check_padding(z.data, stride, ROWS, width);
        for (int r = 0; r < ROWS; r++)
            for (int i = 0; i < width; i++) {
                const float t = table.data[ids[r] * padded + i];
                assert_true(y.data[r * stride + i] == 1.75f * t);
                assert_true(fabs(z.data[r * stride + i] - (x.data[r * stride + i] + 1.75 * t)) < 1e-6);
            }
        rt_position_f32(&shape, x.data, x.data, table.data, ids, ROWS);
        for (int r = 0; r < ROWS; r++)
            check_same_bits(x.data + r * stride, z.data + r * stride, (size_t)padded);
        release(table), release(x), release(y), release(z);
    }
}

/* ---- element-wise ---------------------------------------------------------------------------- */

static void check_elements(const RtElement *s, const float *y, const float *a, const float *b)
{
    check_padding(y, s->y_stride, ROWS, s->width);
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < s->width; i++) {
            const float p = a[r * s->a_stride + i];
            assert_true(y[r * s->y_stride + i] == (b ? p + b[r * s->b_stride + i] : p > 0 ? p : 0));
        }
}

static void elements(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(widths); k++) {
        const int width = widths[k], padded = padded16(width), groups = padded / 16;
        const RtElement s = { width, padded, padded + 16, padded + 32, RT_RELU };
        Buffer a = random_rows(ROWS, width, s.a_stride), b = random_rows(ROWS, width, s.b_stride);
        Buffer y = buffer(ROWS * (size_t)s.y_stride);
        for (int cut = 0; cut <= groups; cut++) {
            fill_guard(y.data, y.n);
            rt_add_f32(&s, y.data, a.data, b.data, ROWS, 0, cut);
            for (int i = 16 * cut; i < s.y_stride; i++)
                assert_true(is_guard(y.data + i));
            rt_add_f32(&s, y.data, a.data, b.data, ROWS, cut, groups);
            check_elements(&s, y.data, a.data, b.data);
            fill_guard(y.data, y.n);
            rt_activation_f32(&s, y.data, a.data, ROWS, cut, groups);
            rt_activation_f32(&s, y.data, a.data, ROWS, 0, cut);
            check_elements(&s, y.data, a.data, NULL);
        }
        release(a), release(b), release(y);
    }
}

/* ---- caches ---------------------------------------------------------------------------------- */

static void check_caches(const RtCache *s, const float *k, const float *v, const float *x, const int *positions)
{
    const int padded = padded16(s->width);
    for (int h = 0; h < s->heads; h++)
        for (int j = 0; j < s->capacity; j++) {
            int row = -1;
            for (int r = 0; r < ROWS; r++)
                if (positions[r] == j) row = r;
            for (int i = 0; i < padded; i++) {
                const float *key = k + (h * s->capacity + j / 16 * 16) * s->width + i * 16 + j % 16;
                const float *value = v + (h * padded + i / 16 * 16) * s->capacity + j * 16 + i % 16;
                const float *number = x + row * s->x_stride + h * s->width + i;
                if (row < 0) assert_true(is_guard(value) && (i >= s->width || is_guard(key)));
                else if (i >= s->width) assert_true(*value == 0);
                else assert_true(*key == *number && *value == *number);
            }
        }
}

static void caches(void **state)
{
    static const int positions[ROWS] = { 15, 16, 0, 31, 17 };
    (void)state;
    for (size_t n = 0; n < COUNT(widths); n++) {
        const RtCache s = { 3, widths[n], 48, padded16(3 * widths[n]) + 16 };
        Buffer x = random_rows(ROWS, 3 * s.width, s.x_stride);
        Buffer k = buffer((size_t)(s.heads * s.capacity * s.width));
        Buffer v = buffer((size_t)(s.heads * s.capacity * padded16(s.width)));
        rt_store_k_f32(&s, k.data, x.data, positions, ROWS, 0, 2);
        rt_store_k_f32(&s, k.data, x.data, positions, ROWS, 2, 3);
        rt_store_v_f32(&s, v.data, x.data, positions, 2, 0, 3);
        rt_store_v_f32(&s, v.data, x.data + 2 * s.x_stride, positions + 2, ROWS - 2, 0, 3);
        check_caches(&s, k.data, v.data, x.data, positions);
        release(x), release(k), release(v);
    }
}

/* ---- vocabulary ------------------------------------------------------------------------------ */

static void log_softmax(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(vocabularies); k++) {
        const int size = vocabularies[k], stride = padded16(size) + 16, y_stride = stride + 32;
        const RtVocabulary s = { size, stride, y_stride }, in_place = { size, stride, stride };
        Buffer x = random_rows(ROWS, size, stride), y = buffer(ROWS * (size_t)y_stride);
        Exact *want = malloc((size_t)(ROWS * size) * sizeof *want);
        for (int r = 0; r < ROWS; r++) {
            double max = -INFINITY, sum = 0;
            for (int i = 0; i < size; i++) {
                x.data[r * stride + i] = x.data[r * stride + i] * 20 + (r == 1 ? 500 : r == 2 ? -500 : 0);
                max = fmax(max, x.data[r * stride + i]);
            }
            for (int i = 0; i < size; i++)
                sum += exp(x.data[r * stride + i] - max);
            for (int i = 0; i < size; i++) {
                const double number = x.data[r * stride + i];
                want[r * size + i] = (Exact){ number - max - log(sum), fabs(number) + fabs(max) + log(sum) };
            }
        }
        rt_log_softmax_f32(&s, y.data, x.data, ROWS);
        check_close(y.data, y_stride, want, ROWS, size);
        for (int r = 0; r < ROWS; r++)
            for (int i = size; i < y_stride; i++)
                assert_true(is_guard(y.data + r * y_stride + i));
        rt_log_softmax_f32(&in_place, x.data, x.data, ROWS);
        for (int r = 0; r < ROWS; r++) check_same_bits(x.data + r * stride, y.data + r * y_stride, (size_t)size);
        free(want);
        release(x), release(y);
    }
}

static void argmax(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(vocabularies); k++) {
        const int size = vocabularies[k], stride = padded16(size) + 16;
        const RtVocabulary s = { .size = size, .x_stride = stride };
        for (int n = 0; n < 50; n++) {
            Buffer x = random_rows(ROWS, size, stride);
            int got[ROWS + 2] = { -7, -7, -7, -7, -7, -7, -7 };
            for (int i = 0; i < size; i++) {
                x.data[i] = (float)(random_bits() % 3);              /* many ties: the first wins */
                x.data[stride + i] = -INFINITY;
                x.data[2 * stride + i] = NAN;
            }
            x.data[3 * stride + n % size] = NAN;                        /* one NaN is enough */
            x.data[4 * stride + n % size] = INFINITY;
            rt_argmax_f32(&s, got + 1, x.data, ROWS);
            for (int r = 0; r < ROWS; r++) {
                int first = 0;
                for (int i = 1; i < size; i++)
                    if (x.data[r * stride + i] > x.data[r * stride + first]) first = i;
                if (r >= 2) assert_int_equal(got[1 + r], -1);           /* NaN or infinity */
                else assert_int_equal(got[1 + r], first);
            }
            assert_true(got[0] == -7 && got[ROWS + 1] == -7);
            release(x);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(norms), cmocka_unit_test(norms_of_heads), cmocka_unit_test(embeddings), cmocka_unit_test(elements),
        cmocka_unit_test(caches), cmocka_unit_test(log_softmax), cmocka_unit_test(argmax),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
