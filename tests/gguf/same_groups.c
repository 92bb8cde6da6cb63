/* same_groups.c: check that the packed weights of a GGUF file's model hold its Q8_0 and Q4_0 groups
 * unchanged: every factor and every number, decoded here independently.
 * usage: same_groups FILE.gguf      prints how many groups of 8 and 4 bits there are and how many
 * differ; exits with 1 if one does, with 2 if the file cannot be read */
#include <stdio.h>
#include <string.h>

#include "pack.h"
#include "rt.h"
#include "session.h"

enum { GROUP = 32 };

/* Number i of a block. A block is an f16 and 32 bytes, or an f16 and 16 bytes, whose low nibbles
 * are the first 16 numbers. */
static int in_file(const unsigned char *block, int bits, int i)
{
    return bits == 8 ? (int8_t)block[2 + i] : (i < 16 ? block[2 + i] & 15 : block[2 + i - 16] >> 4) - 8;
}

/* Number i of output `lane` in a group of a panel. For each of 16 outputs in turn, the group has
 * four bytes: for the next four inputs, or for the next eight, the first four in the low
 * nibbles. */
static int in_panel(const unsigned char *data, int bits, int lane, int i)
{
    return bits == 8 ? data[i / 4 * 64 + 4 * lane + i % 4] - 128 : (data[i / 8 * 64 + 4 * lane + i % 4] >> (i / 4 % 2 ? 4 : 0) & 15) - 8;
}

static bool same(const unsigned char *block, const unsigned char *panel, int bits, int groups, int lane, int g)
{
    const unsigned char *data = panel + (groups * 32 + 63) / 64 * 64 + g * 64 * bits;
    bool good = memcmp(block, panel + g * 32 + lane * 2, 2) == 0;
    for (int i = 0; i < GROUP; i++) good &= in_file(block, bits, i) == in_panel(data, bits, lane, i);
    return good;
}

/* Count the groups of a matrix of one layer, which the file contains whole and in order. Returns
 * how many differ, and prints the first three of them. Biases precede a panel's factors. */
static int other_groups(const Packed *k, const TensorSource *t, const unsigned char *packed, int count[9])
{
    const int bits = t->dtype == DTYPE_Q8_0 ? 8 : 4, bytes = bits == 8 ? 34 : 18, groups = (int)(t->shape[1] / GROUP), bias = k->tensor[1] ? 64 : 0;
    const unsigned char *block = t->file->map.data + t->offset;
    int others = 0;
    for (int64_t o = 0; o < t->shape[0]; o++) {
        const unsigned char *panel = packed + (size_t)(o / 16) * rt_panel_bytes((int)t->shape[1], bias > 0, bits) + bias;
        for (int g = 0; g < groups; g++, block += bytes, count[bits]++)
            if (!same(block, panel, bits, groups, (int)(o % 16), g) && others++ < 3) printf("%s: output %d, group %d\n", t->file_name, (int)o, g);
    }
    return others;
}

int main(int argc, char **argv)
{
    const CompileOptions spec = { .spec = argc > 1 ? argv[1] : "", .slots = 1 };
    Session *s = session_new(&spec);
    if (argc != 2 || !session_read(s)) return 2;
    const PlanOptions options = { .slots = 1, .max_threads = 1, .target = TARGET_PANELS };
    const Plan *p = plan_make(s->arena, s->graph, options);
    const Pack pack = pack_layout(s->arena, p);
    bool reused;
    const unsigned char *data = pack_acquire(s->arena, s->diag, &pack, &reused);
    int count[9] = { 0 }, others = 0;
    for (int i = 0; i < p->packed_count; i++) {
        const Packed *k = p->packed[i];
        for (int l = 0; k->tensor[0] && l < (k->layers ? k->layers : 1); l++) {
            const TensorSource *t = k->tensor[0]->source[l];
            if (t->dtype == DTYPE_Q8_0 || t->dtype == DTYPE_Q4_0) others += other_groups(k, t, data + k->offset + (size_t)l * k->stride, count);
        }
    }
    printf("%d groups of 8 bits, %d of 4 bits, %d differ\n", count[8], count[4], others);
    pack_release(data);
    session_free(s);
    return others > 0;
}
