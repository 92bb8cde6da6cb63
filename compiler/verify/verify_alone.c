/* verify_alone.c: compare single operations in isolation, for tensors that differ by more than the
 * tolerance.
 *
 * Sums cancel: if x and f(x) are nearly opposite, little more than rounding errors is left of x +
 * f(x). A norm scales that up, and two correct engines end up far apart. So the generic engine
 * replaces each tensor that it has computed with the other engine's: both compute each operation
 * from equal inputs. The remaining difference is measured against the size of the terms of the
 * sum. */
#include "verify_parts.h"

#include <math.h>
#include <string.h>

static Trace *follow(Verify *v, const Trace *guide, bool weigh)
{
    const Subject *f = &v->subjects[v->follower];
    const Inputs *in = v->inputs;
    const Trace *before = v->guide;
    v->guide = guide;
    generic_weigh(f->engine, weigh);
    if (in->state) memcpy(f->engine->state, in->state, f->engine->plan->state_bytes);
    Trace *t = in->state ? verify_trace_graph(v, in->arena, f)
                         : verify_trace(v, in->arena, f, in->source, in->n, in->target, in->m);
    generic_weigh(f->engine, false);
    v->guide = before;
    return t;
}

static size_t elements(const TraceTensor *t)
{
    size_t n = 1;
    for (int r = 0; r < t->rank; r++) n *= (size_t)t->shape[r];
    return n;
}

static bool same_trace(const Trace *a, const Trace *b)
{
    for (int i = 0; i < a->count; i++) {
        const TraceTensor *x = &a->tensors[i], *y = trace_find(b, x->name);
        if (!y || elements(x) != elements(y)) return false;
        if (memcmp(x->values, y->values, elements(x) * sizeof *x->values)) return false;
    }
    return a->count == b->count;
}

/* The follower's results for a subject; they are shared by subjects whose traces have the same
 * bits. */
static const Alone *alone_of(Verify *v, int subject, Trace *const *traces)
{
    Alone *mine = &v->alone[subject];
    for (int i = 0; i < v->subject_count && !mine->sizes; i++)
        if (v->alone[i].sizes && same_trace(traces[i], traces[subject])) *mine = v->alone[i];
    if (!mine->values) mine->values = follow(v, traces[subject], false);
    if (!mine->sizes && mine->values) mine->sizes = follow(v, traces[subject], true);
    return mine;
}

static double largest(const TraceTensor *t)
{
    double most = 0;
    for (size_t i = 0; i < elements(t); i++) most = fmax(most, fabs((double)t->values[i]));
    return most;
}

static double distance_alone(Verify *v, int subject, Trace *const *traces, const char *name)
{
    const Alone *alone = alone_of(v, subject, traces);
    if (!alone->values || !alone->sizes) return INFINITY;
    const TraceTensor *a = trace_find(traces[subject], name), *b = trace_find(alone->values, name);
    const TraceTensor *size = trace_find(alone->sizes, name);
    if (!a || !b || !size) return INFINITY;
    const double apart = trace_distance(a, b);      /* relative to max |b| */
    return apart && isfinite(apart) ? apart * largest(b) / fmax(largest(b), largest(size)) : apart;
}

/* A subject without taps cannot be followed. If sums cancel, errors are amplified. The
 * amplification is the distance between a subject with taps and the follower, divided by that
 * subject's error in the single operation (at least one rounding). The distance without taps is
 * divided by it. */
static double distance_untapped(Verify *v, const Pair *p, Trace *const *traces, const char *name)
{
    const double rounding = 6e-8;           /* half a unit in the last place of f32 */
    const TraceTensor *a = trace_find(traces[p->a], name), *b = trace_find(traces[p->b], name);
    const TraceTensor *f = trace_find(traces[v->follower], name);
    double distance = INFINITY;
    for (int i = 0; i < v->subject_count && a && b && f; i++) {
        const TraceTensor *t = v->subjects[i].tapped && i != v->follower ? trace_find(traces[i], name) : NULL;
        const double apart = t ? trace_distance(t, f) : 0;
        if (apart > 0 && isfinite(apart))
            distance = fmin(distance, trace_distance(a, b) / apart * fmax(rounding, distance_alone(v, i, traces, name)));
    }
    return distance;
}

double verify_alone(Verify *v, const Pair *p, Trace *const *traces, const char *name)
{
    const int sides[] = { p->a, p->b };
    double distance = 0;
    if (v->follower < 0 || !v->inputs) return INFINITY;
    for (int i = 0; i < 2; i++)
        if (!v->subjects[sides[i]].tapped) return distance_untapped(v, p, traces, name);
    for (int i = 0; i < 2; i++)
        if (sides[i] != v->follower) distance = fmax(distance, distance_alone(v, sides[i], traces, name));
    return distance;
}
