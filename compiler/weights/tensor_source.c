/* tensor_source.c: read the numbers of a tensor of any kind as row-major f32, cut rows out of a
 * tensor, and recognise transposes. Data in files is little-endian and may be unaligned; a random
 * number depends only on its place and on the tensor's seed, name and fan. */
#include "weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- stored numbers ------------------------------------------------------------------------------------- */

static float read_element(const unsigned char *p, DType dtype)
{
    uint16_t half;
    float f;
    double d;
    switch (dtype) {
    case DTYPE_F32:  memcpy(&f, p, 4); return f;
    case DTYPE_F16:  memcpy(&half, p, 2); return float_of_half(half);
    case DTYPE_BF16: memcpy(&half, p, 2); return float_of_bf16(half);
    case DTYPE_F64:  memcpy(&d, p, 8); return (float)d;
    default: die("cannot read dtype %s as numbers", dtype_name(dtype));
    }
}

/* n stored numbers: the first is element `at`, counted from `start`, and each of the others is
 * `stride` elements after the one before it. */
typedef struct Run { const unsigned char *start; DType dtype; int64_t at, n, stride; } Run;

static void read_blocks(float *out, const Run *r, const BlockFormat *format)
{
    float block[BLOCK_MOST];
    const int elements = dtype_block(r->dtype);
    const size_t bytes = dtype_bytes(r->dtype);
    int64_t at = r->at, decoded = -1;
    for (int64_t i = 0; i < r->n;) {
        const unsigned char *here = r->start + (size_t)(at / elements) * bytes;
        if (r->stride == 1 && at % elements == 0 && r->n - i >= elements) {
            format->decode(out + i, here);
            i += elements;
            at += elements;
            continue;
        }
        if (decoded != at / elements) format->decode(block, here);
        decoded = at / elements;
        out[i++] = block[at % elements];
        at += r->stride;
    }
}

/* With groups, element e has the factor of group e / t->group. */
static void read_int8(const TensorSource *t, float *out, const Run *r)
{
    const unsigned char *scales = t->group ? t->file->map.data + t->scales : NULL;
    int64_t at = r->at;
    for (int64_t i = 0; i < r->n; i++, at += r->stride) {
        const float factor = t->group ? read_element(scales + at / t->group * 4, DTYPE_F32) : 1;
        out[i] = (float)(int8_t)r->start[at] * factor;
    }
}

static void read_run(const TensorSource *t, float *out, const Run *r)
{
    const int64_t bytes = (int64_t)dtype_bytes(r->dtype); /* signed, like what it multiplies */
    const unsigned char *from = r->start + r->at * bytes;
    const BlockFormat *block = block_format(r->dtype);
    if (block) read_blocks(out, r, block);
    else if (r->dtype == DTYPE_I8) read_int8(t, out, r);
    else if (r->stride == 1 && r->dtype == DTYPE_F32) memcpy(out, from, (size_t)r->n * sizeof *out);
    else if (r->stride == 1 && r->dtype == DTYPE_F16) floats_of_half(out, from, r->n);
    else if (r->stride == 1 && r->dtype == DTYPE_BF16) floats_of_bf16(out, from, r->n);
    else
        for (int64_t i = 0; i < r->n; i++)
            out[i] = read_element(r->start + (r->at + i * r->stride) * bytes, r->dtype);
}

/* Read, in square tiles, a matrix that is stored by columns. If a large one were read row by row,
 * each number would come from a different page. */
static void read_transposed(const TensorSource *t, float *out, const unsigned char *start,
                            DType dtype)
{
    const int64_t *shape = t->shape;
    enum { SIDE = 64 };
    float square[SIDE][SIDE];
    for (int64_t row = 0; row < shape[0]; row += SIDE)
        for (int64_t column = 0; column < shape[1]; column += SIDE) {
            const int64_t rows = shape[0] - row < SIDE ? shape[0] - row : SIDE;
            const int64_t columns = shape[1] - column < SIDE ? shape[1] - column : SIDE;
            for (int64_t c = 0; c < columns; c++) {
                const int64_t at = t->start + row + (column + c) * t->stride[1];
                read_run(t, square[c], &(Run){ start, dtype, at, rows, 1 });
            }
            for (int64_t r = 0; r < rows; r++)
                for (int64_t c = 0; c < columns; c++)
                    out[(row + r) * shape[1] + column + c] = square[c][r];
        }
}

static void read_runs(const TensorSource *t, float *out, const unsigned char *start, DType dtype)
{
    const int rank = t->view_rank ? t->view_rank : t->rank;
    const int64_t *shape = t->view_rank ? t->view_shape : t->shape;
    const int64_t *stride = t->view_rank ? t->view_stride : t->stride;
    const int64_t n = tensor_elements(t), run = rank ? shape[rank - 1] : 1;
    int64_t place[MAX_RANK] = { 0 };
    int64_t before = t->skip ? t->skip / run : 0;
    for (int i = rank - 2; i >= 0 && before; before /= shape[i--]) place[i] = before % shape[i];
    for (int64_t done = 0; done < n; done += run) {
        int64_t at = t->start;
        for (int i = 0; i < rank - 1; i++) at += place[i] * stride[i];
        read_run(t, out + done, &(Run){ start, dtype, at, run, rank ? stride[rank - 1] : 1 });
        for (int i = rank - 2; i >= 0 && ++place[i] == shape[i]; i--) place[i] = 0;
    }
}

/* t->plus is 1 for gains that the file stores as gain - 1, else 0. */
static void read_stored(const TensorSource *t, float *out, const unsigned char *start, DType dtype)
{
    const int64_t n = tensor_elements(t);
    const bool transposed = t->rank == 2 && t->stride[0] == 1 && t->stride[1] != 1;
    if (transposed && !t->view_rank) read_transposed(t, out, start, dtype);
    else read_runs(t, out, start, dtype);
    for (int64_t i = 0; t->plus > 0 && i < n; i++) out[i] += t->plus;
}

/* Add t->added to every row. */
static void add_to_rows(const TensorSource *t, float *out)
{
    const int64_t n = tensor_elements(t), width = t->shape[t->rank - 1];
    float *added = malloc((size_t)width * sizeof *added + 1);
    if (!added) no_memory("%lld numbers of %s", (long long)width, t->name);
    tensor_read(t->added, added);
    for (int64_t i = 0; i < n; i++) out[i] += added[i % width];
    free(added);
}

/* ---- computed numbers ----------------------------------------------------------------------------------- */

/* FNV-1a, 64 bits. */
static uint64_t hash_text(const char *s)
{
    uint64_t h = 0xCBF29CE484222325u;
    for (; *s; s++) h = (h ^ (unsigned char)*s) * 0x100000001B3u;
    return h;
}

/* SplitMix64's mixing function, a bijection: its values at successive multiples of
 * 0x9E3779B97F4A7C15 are pseudorandom. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

/* Uniform in [-bound, bound), 24 random bits each. */
static void read_uniform(const TensorSource *t, float *out, double bound)
{
    int64_t n = tensor_elements(t);
    uint64_t state = (mix(t->seed) ^ hash_text(t->name)) + (uint64_t)t->skip * 0x9E3779B97F4A7C15u;
    for (int64_t i = 0; i < n; i++) {
        state += 0x9E3779B97F4A7C15u;
        double unit = (double)(mix(state) >> 40) / 16777216.0;
        out[i] = (float)((2 * unit - 1) * bound);
    }
}

static void read_constant(const TensorSource *t, float *out)
{
    int64_t n = tensor_elements(t);
    for (int64_t i = 0; i < n; i++) out[i] = t->constant;
}

/* Rates and angles are rounded to f32, as in f32 models; the sine and cosine of such an angle are
 * computed in double and rounded. */
static void read_sinusoid(const TensorSource *t, float *out)
{
    int64_t d = t->shape[1], half = d / 2;
    int64_t divisor = t->divisor == DIVISORS_HALF ? half : half - 1;
    bool turns = t->layout == LAYOUTS_INTERLEAVED;
    for (int64_t j = 0; j < half; j++) {
        float rate = (float)exp((double)j * (-log(10000.0) / (double)divisor));
        for (int64_t p = 0; p < t->shape[0]; p++) {
            float angle = (float)(p + t->first) * rate;
            out[p * d + (turns ? 2 * j : j)] = (float)sin((double)angle);
            out[p * d + (turns ? 2 * j + 1 : half + j)] = (float)cos((double)angle);
        }
    }
}

static void read_rotary(const TensorSource *t, float *out)
{
    int64_t dims = t->shape[1], half = dims / 2;
    for (int64_t p = 0; p < t->shape[0]; p++)
        for (int64_t j = 0; j < half; j++) {
            float angle = (float)p * t->rates[j];
            out[p * dims + j] = (float)cos((double)angle) * t->constant;
            out[p * dims + half + j] = (float)sin((double)angle) * t->constant;
        }
}

/* T5's buckets: one for each small distance; large distances share buckets by their logarithm,
 * computed in f32 as in the original. */
static int64_t distance_bucket(int64_t ahead, bool both_ways, int64_t buckets, int distance)
{
    int64_t first = 0, n = buckets, away = ahead;
    if (both_ways) {
        n /= 2;
        if (ahead > 0) first = n;
        away = ahead < 0 ? -ahead : ahead;
    } else away = ahead < 0 ? -ahead : 0;
    int64_t exact = n / 2;
    if (away < exact) return first + away;
    int64_t far = exact + (int64_t)(logf((float)away / (float)exact) / logf((float)distance / (float)exact) * (float)(n - exact));
    return first + (far < n - 1 ? far : n - 1);
}

static void read_distance(const TensorSource *t, float *out)
{
    int64_t heads = t->shape[0], span = t->shape[1], reach = (span + 1) / 2, buckets = t->table->shape[0];
    float *table = malloc((size_t)(buckets * heads) * sizeof *table);
    if (!table) no_memory("the table of %s", t->name);
    tensor_read(t->table, table);
    for (int64_t i = 0; i < span; i++) {
        int64_t bucket = distance_bucket(i - (reach - 1), t->both_ways, buckets, t->distance);
        for (int64_t h = 0; h < heads; h++) out[h * span + i] = table[bucket * heads + h];
    }
    free(table);
}

void tensor_read(const TensorSource *t, float *out)
{
    switch (t->kind) {
    case SOURCE_FILE:     read_stored(t, out, t->file->map.data + t->offset, t->dtype); break;
    case SOURCE_VALUES:   read_stored(t, out, (const unsigned char *)t->values, DTYPE_F32); break;
    case SOURCE_XAVIER:   read_uniform(t, out, sqrt(6.0 / (double)(t->fan_in + t->fan_out))); break;
    case SOURCE_UNIFORM:  read_uniform(t, out, 1 / sqrt((double)t->fan_in)); break;
    case SOURCE_CONSTANT: read_constant(t, out); break;
    case SOURCE_SINUSOID: read_sinusoid(t, out); break;
    case SOURCE_ROTARY:   read_rotary(t, out); break;
    case SOURCE_DISTANCE: read_distance(t, out); break;
    }
    if (t->added) add_to_rows(t, out);
}

/* A tensor with a view can be cut only if each row consists of whole rows of the view. */
bool tensor_rows(const TensorSource *t, int64_t first, int64_t rows, TensorSource *part)
{
    const int64_t width = t->rank && t->shape[0] ? tensor_elements(t) / t->shape[0] : 0;
    const bool stored = t->kind == SOURCE_FILE || t->kind == SOURCE_VALUES;
    if (!width || (t->view_rank && width % t->view_shape[t->view_rank - 1])) return false;
    if (!stored && t->kind != SOURCE_XAVIER && t->kind != SOURCE_UNIFORM && t->kind != SOURCE_CONSTANT) return false;
    *part = *t;
    part->shape[0] = rows;
    if (stored && !t->view_rank) part->start += first * t->stride[0];
    else part->skip += first * width;
    return true;
}

bool tensor_is_transposed(const TensorSource *view, const TensorSource *parent)
{
    return view != parent && view->rank == 2 && parent->rank == 2 && view->shape[0] == parent->shape[1] && view->shape[1] == parent->shape[0] &&
           view->stride[0] == parent->stride[1] && view->stride[1] == parent->stride[0];
}
