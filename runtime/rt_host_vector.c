/* rt_host_vector.c: what an encoder alone answers: hidden states, a vector, or the likeliest of a classifier's labels. */
#include "rt_host_parts.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "rt_scores.h"

/* Rows of numbers, and where each begins. */
typedef struct Rows { const float *at; int count, width, stride; } Rows;

static Rows rows_of(const Host *host)
{
    const rt_program *p = host->program;
    const int n = host->answer.input_count;
    if (!p->vector) return (Rows){ p->hidden(host->state), n, p->width, p->hidden_stride };
    return (Rows){ p->vector(host->state), p->vector_stride ? n : 1, p->vector_width, p->vector_stride };
}

static const float *row(const Rows *r, int i) { return r->at + (size_t)i * (size_t)r->stride; }

void host_print_vector(const Host *host)
{
    const rt_program *p = host->program;
    const Rows r = rows_of(host);
    if (p->labels) {
        const int best = rt_likeliest(r.at, r.width);
        if (best >= 0) printf("%s %.4f", p->labels[best], rt_probability(r.at, r.width, best));
        return;
    }
    for (int k = 0; k < r.count; k++)
        for (int i = 0; i < r.width; i++) printf("%s%.9g", k || i ? " " : "", (double)row(&r, k)[i]);
}

/* Floats of 32 bits, the lowest byte first. */
void host_print_raw(const Host *host)
{
    const Rows r = rows_of(host);
    if (host->answer.message[0]) return;
    for (int k = 0; k < r.count; k++)
        for (int i = 0; i < r.width; i++) {
            union { float value; uint32_t bits; } x = { row(&r, k)[i] };
            for (int b = 0; b < 32; b += 8) putchar((int)(x.bits >> b & 0xff));
        }
}

static void json_labels(const rt_program *p, const Rows *r)
{
    const int best = rt_likeliest(r->at, r->width);
    fputs(",\"answer\":", stdout);
    if (best >= 0) host_json_text(p->labels[best], strlen(p->labels[best]));
    else fputs("null", stdout);
    fputs(",\"scores\":[", stdout);
    for (int i = 0; i < r->width; i++) {
        fputs(i ? ",{\"label\":" : "{\"label\":", stdout);
        host_json_text(p->labels[i], strlen(p->labels[i]));
        fputs(",\"score\":", stdout);
        host_json_number(rt_probability(r->at, r->width, i));
        putchar('}');
    }
    putchar(']');
}

static void json_row(const Rows *r, int k)
{
    putchar('[');
    for (int i = 0; i < r->width; i++) {
        if (i) putchar(',');
        host_json_number((double)row(r, k)[i]);
    }
    putchar(']');
}

void host_json_vector(const Host *host)
{
    const rt_program *p = host->program;
    const Rows r = rows_of(host);
    if (p->labels) json_labels(p, &r);
    printf(",\"%s\":", !p->vector ? "hidden" : p->vector_stride ? "vectors" : "vector");
    if (p->vector && !p->vector_stride) {
        json_row(&r, 0);
        return;
    }
    for (int k = 0; k < r.count; k++) {
        putchar(k ? ',' : '[');
        json_row(&r, k);
    }
    putchar(']');
}
