/* first.c: The first test to read. It compiles dates in memory with libtcc, runs it on one text and
 * its answer, and compares the named tensors with PyTorch's (first.ref.safetensors, by
 * specs/dates/one_text.py).
 *
 * It prints a line for each tensor: its name, our first values, PyTorch's, and the distance.
 * usage: build/tests/first */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "session.h"
#include "trace.h"
#include "weights.h"

enum { MOST_IDS = 80, SHOWN = 3 };

/* Read a list of ids from the reference; returns their number, or 0 if there is no such list with
 * at most MOST_IDS. */
static int read_ids(const TensorFile *f, const char *name, int *ids)
{
    const TensorSource *t = tensor_file_find(f, name);
    if (!t || t->dtype != DTYPE_I32 || t->shape[0] > MOST_IDS) return 0;
    memcpy(ids, f->map.data + t->offset, (size_t)t->shape[0] * sizeof *ids);
    return (int)t->shape[0];
}

static void print_numbers(const float *x)
{
    for (int i = 0; i < SHOWN; i++) printf(" %9.4f", (double)x[i]);
}

/* Print the line of a tensor. Returns true if the distance is at most 1e-5 of PyTorch's largest
 * value. */
static bool compare(Arena *a, const TraceTensor *ours, const TensorSource *expected)
{
    TraceTensor theirs = { .name = expected->name, .rank = expected->rank };
    memcpy(theirs.shape, expected->shape, sizeof theirs.shape);
    theirs.values = arena_array(a, (size_t)tensor_elements(expected), sizeof *theirs.values);
    tensor_read(expected, theirs.values);
    const double distance = trace_distance(ours, &theirs);
    printf("%-28s", ours->name);
    print_numbers(ours->values);
    printf("  |");
    print_numbers(theirs.values);
    printf("  %.1e%s\n", distance, distance <= 1e-5 ? "" : "  differs");
    return distance <= 1e-5;
}

int main(void)
{
    /* A spec becomes a model, a graph, a plan and C, which libtcc compiles. */
    Session *s = session_new(&(CompileOptions){ .spec = "specs/dates.lua", .taps = true });
    Engine *jit = session_read(s) ? session_engine(s, ENGINE_JIT, true) : NULL;
    TensorFile *reference = safetensors_open(s->arena, s->diag, (Loc){ 0 }, "tests/first.ref.safetensors");
    if (!jit || !reference) return session_end(s);

    /* The model reads the text that PyTorch read, and is fed the ids of the same answer. */
    int source[MOST_IDS], target[MOST_IDS], agree = 0, count = 0;
    const int n = read_ids(reference, "source", source), m = read_ids(reference, "target", target);
    const Trace *trace = trace_run(s->arena, jit, source, n, target, m);
    if (trace->status != RT_OK) printf("not ok the model runs: %s\n", rt_status_text(trace->status));

    for (int i = 0; i < trace->count; i++) {
        const TensorSource *expected = tensor_file_find(reference, trace->tensors[i].name);
        if (expected) agree += compare(s->arena, &trace->tensors[i], expected);
    }
    for (int i = 0; i < reference->count; i++) count += reference->tensors[i].dtype == DTYPE_F32;
    const bool good = agree == count && count >= 50;
    printf("1..1\n%s %d of %d tensors are PyTorch's\n", good ? "ok" : "not ok", agree, count);
    tensor_file_close(reference);
    engine_close(jit);
    const Exit code = session_end(s);
    return good ? code : EXIT_DIFFERS;
}
