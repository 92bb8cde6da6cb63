/* emit_unrolled_sum.c: sums of products in plain C, with several terms per iteration of their
 * loops. */
#include "emit_unrolled.h"

int unrolled_terms(const Emit *e)
{
    const int spec = (int)e->model->unroll_factor;
    return e->form.unroll ? e->form.unroll : spec ? spec : 4;
}

const char *unrolled_number(Emit *e, int dtype, const char *index)
{
    return arena_format(e->arena, dtype == KV_DTYPES_F16 ? "rt_plain_of_f16(a[%s])" : "a[%s]", index);
}

const char *unrolled_row_number(Emit *e, int dtype, int64_t i)
{
    return unrolled_number(e, dtype, arena_format(e->arena, "%lld + c", (long long)(16 * i)));
}

const char *unrolled_sum(Emit *e, const char *sum, const char *of, int64_t terms, int dtype)
{
    const int unroll = unrolled_terms(e);
    const int64_t whole = terms / unroll * unroll;
    Text t = text_new(e->arena);
    if (whole) {
        text_printf(&t, "for (int i = 0; i < %lld; i += %d, a += %d)\n    for (int c = 0; c < 16; c++) {\n", (long long)whole, unroll, 16 * unroll);
        for (int u = 0; u < unroll; u++) text_printf(&t, "        %s[c] += %s * %s[i + %d];\n", sum, unrolled_row_number(e, dtype, u), of, u);
        text_add(&t, "    }\n");
    }
    for (int64_t i = whole; i < terms; i++)
        text_printf(&t, "for (int c = 0; c < 16; c++) %s[c] += %s * %s[%lld];\n", sum, unrolled_row_number(e, dtype, i - whole), of, (long long)i);
    return t.data;
}
