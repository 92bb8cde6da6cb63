/* model_calls.h: the calls of a model at their largest (encoding the longest source, many rows, one
 * row, a text, or running a graph), and a hash of the state and of the answer.
 *
 * Compiled with -DMODEL=name -DMODEL_HEADER='"name.h"', the sizes -DMAX_SOURCE=N -DMAX_TARGET=N
 * -DROWS=N, one of -DKIND_GRAPH, -DKIND_ENCODER, -DKIND_DECODER and -DKIND_BOTH, and -DKIND_TEXT
 * for a model that answers texts. */
#ifndef MODEL_CALLS_H
#define MODEL_CALLS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include MODEL_HEADER

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define M(name) JOIN(MODEL, name)

static MODEL model;
static M(state) state;
static rt_status status;
static const char *prompt;
static char answer[1 << 16];
static size_t answer_bytes;
static int ids[1 << 16];

#ifdef KIND_TEXT
static bool note(void *user, const char *text, size_t n)
{
    (void)user;
    if (n < sizeof answer - answer_bytes) memcpy(answer + answer_bytes, text, n), answer_bytes += n;
    return true;
}
#endif

static void calls(void)
{
    status = RT_OK;
#ifdef KIND_GRAPH
    status = M(run)(&model, &state);
#endif
#ifdef KIND_ENCODER
    const int all = MAX_SOURCE;
    status = M(encode_batch)(&model, &state, ids, &all, NULL, 1, NULL);
#endif
#ifdef KIND_BOTH
    status = M(encode)(&model, &state, 0, ids, MAX_SOURCE);
#endif
#if defined(KIND_BOTH) || defined(KIND_DECODER)
    static rt_token rows[ROWS];
    int next = 0;
    const int n = ROWS < MAX_TARGET ? ROWS : MAX_TARGET - 1;
    for (int i = 0; i < n; i++) rows[i] = (rt_token){ 0, i, ids[i] };
    if (status == RT_OK) status = M(prefill)(&model, &state, rows, n);
    if (status == RT_OK) status = M(decode)(&model, &state, rows, n);
    if (status == RT_OK) status = M(next)(&model, &state, ids[0], &next);
#endif
#ifdef KIND_TEXT
    if (status == RT_OK && prompt) status = M(generate)(&model, &state, prompt, NULL, note, NULL);
#endif
}

static uint64_t hash(void)
{
    uint64_t h = 14695981039346656037u;
    const unsigned char *s = (const unsigned char *)&state;
    for (size_t i = 0; i < sizeof state; i++) h = (h ^ s[i]) * 1099511628211u;
    for (const char *c = answer; *c; c++) h = (h ^ (unsigned char)*c) * 1099511628211u;
    return h;
}

static void clear(void)
{
    memset(&state, 0, sizeof state);
    memset(answer, 0, sizeof answer);
    answer_bytes = 0;
}

/* Load `file`, whose content stays in memory, bind it, make the ids for the calls, and keep `text`,
 * which may be NULL, as the prompt. Returns 0, or 3 if the file cannot be read or belongs to
 * another model. */
static int prepare(const char *file, const char *text)
{
    FILE *in = fopen(file, "rb");
    prompt = text;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) ids[i] = (int)(i % 7);
    if (!in || fseek(in, 0, SEEK_END)) return 3;
    const size_t bytes = (size_t)ftell(in);
    void *data = aligned_alloc(64, (bytes + 63) / 64 * 64);
    rewind(in);
    const int read = data && fread(data, 1, bytes, in) == bytes;
    fclose(in);
    return read && M(bind)(&model, data, bytes) == RT_OK ? 0 : 3;
}

#endif
