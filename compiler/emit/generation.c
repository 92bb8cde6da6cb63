/* generation.c: a model's generation settings as an RtGeneration, and as C text. */
#include "generation.h"

static RtProcessors processors_of(const Model *m)
{
    RtProcessors p = { .no_repeat_ngram = (int)m->generation_no_repeat_ngram_size, .bad_words = m->bad_words.id, .bad_words_room = m->bad_words.count,
                       .suppress = m->suppress.id, .suppress_count = m->suppress.count,
                       .begin_suppress = m->begin_suppress.id, .begin_suppress_count = m->begin_suppress.count };
    const double penalty = m->generation_repetition_penalty;
    p.min_new = (int)m->generation_min_new_tokens;
    p.min_length = p.min_new ? 0 : (int)m->generation_min_length;
    p.force_first = m->generation_forced_bos_token_id >= 0;
    p.force_last = m->generation_forced_eos_token_id >= 0;
    if (penalty != 1) p.repetition_penalty = (float)penalty;
    if (p.force_first) p.first = (int)m->generation_forced_bos_token_id;
    if (p.force_last) p.last = (int)m->generation_forced_eos_token_id;
    return p;
}

static RtSampling sampling_of(const Model *m)
{
    RtSampling s = { .top_k = (int)m->generation_top_k, .min_p = (float)m->generation_min_p };
    if (m->generation_do_sample) s.temperature = (float)m->generation_temperature;
    /* top_p 0 keeps only the most likely token; in an RtSampling, 0 means off. */
    if (m->generation_top_p < 1) s.top_p = m->generation_top_p > 0 ? (float)m->generation_top_p : 1e-30f;
    if (m->generation_typical_p < 1) s.typical_p = (float)m->generation_typical_p;
    return s;
}

RtGeneration generation_of(const Model *m)
{
    RtGeneration g = { .max_new = (int)m->generation_max_new_tokens, .max_length = (int)m->generation_max_length, .sampling = sampling_of(m),
                       .seed = 1, .processors = processors_of(m), .ends = m->ends, .end_count = m->end_count,
                       .length_penalty = m->generation_length_penalty, .early_stopping = (RtBeamStop)m->generation_early_stopping };
    g.stops = m->generation_stop_strings.text;
    g.stop_count = m->generation_stop_strings.count;
    if (m->generation_num_beams > 1) g.beams = (int)m->generation_num_beams;
    return g;
}

/* ---- as C ----------------------------------------------------------------------------------------------- */

static void emit_ids(Text *out, const char *model, const char *name, const int *ids, int n)
{
    if (n) text_printf(out, "static const int %s_%s[] = {", model, name);
    for (int i = 0; i < n; i++) text_printf(out, i % 16 ? ", %d" : i ? ",\n    %d" : " %d", ids[i]);
    if (n) text_add(out, " };\n");
}

static void emit_stops(Text *out, const char *model, const RtGeneration *g)
{
    if (g->stop_count) text_printf(out, "static const char *const %s_stops[] = {", model);
    for (int i = 0; i < g->stop_count; i++) {
        text_add(out, i ? ", \"" : " \"");
        text_add_quoted(out, g->stops[i]);
        text_add(out, "\"");
    }
    if (g->stop_count) text_add(out, " };\n");
}

/* A line with one member, unless it is 0. */
static void emit_line(Text *out, const char *member, int n)
{
    if (n) text_printf(out, "        .%s = %d,\n", member, n);
}

static void emit_integer(Text *out, const char *member, int n)
{
    if (n) text_printf(out, ", .%s = %d", member, n);
}

static void emit_real(Text *out, const char *member, float x)
{
    if (x < 0 || x > 0) text_printf(out, ", .%s = %.9g", member, (double)x);
}

static void emit_list(Text *out, const char *model, const char *list, const char *count, int n)
{
    if (n) text_printf(out, "        .%s = %s_%s, .%s = %d,\n", list, model, list, count, n);
}

/* Members that are 0 are left out, and the whole struct if all are. */
static void emit_processors(Arena *a, Text *out, const char *model, const RtProcessors *p)
{
    Text t = text_new(a);
    if (!rt_logits_change(p)) return;
    if (p->repetition_penalty > 0) text_printf(&t, "        .repetition_penalty = %.9g,\n", (double)p->repetition_penalty);
    emit_line(&t, "no_repeat_ngram", p->no_repeat_ngram);
    emit_list(&t, model, "bad_words", "bad_words_room", p->bad_words_room);
    emit_line(&t, "min_length", p->min_length);
    emit_line(&t, "min_new", p->min_new);
    if (p->force_first) text_printf(&t, "        .force_first = 1, .first = %d,\n", p->first);
    if (p->force_last) text_printf(&t, "        .force_last = 1, .last = %d,\n", p->last);
    emit_list(&t, model, "suppress", "suppress_count", p->suppress_count);
    emit_list(&t, model, "begin_suppress", "begin_suppress_count", p->begin_suppress_count);
    text_printf(out, "    .processors = {\n%s    },\n", t.data);
}

void generation_emit(Arena *a, Text *out, const char *model, const RtGeneration *g)
{
    static const char *const stops[] = { NULL, "RT_BEAM_STOP_TRUE", "RT_BEAM_STOP_NEVER" };
    Text limits = text_new(a);
    emit_ids(out, model, "ends", g->ends, g->end_count);
    emit_ids(out, model, "bad_words", g->processors.bad_words, g->processors.bad_words_room);
    emit_ids(out, model, "suppress", g->processors.suppress, g->processors.suppress_count);
    emit_stops(out, model, g);
    emit_ids(out, model, "begin_suppress", g->processors.begin_suppress, g->processors.begin_suppress_count);
    text_printf(out, "const RtGeneration %s_generation = {\n"
                     "    .ends = %s_ends, .end_count = sizeof %s_ends / sizeof *%s_ends,\n    .sampling = { .top_k = %d", model, model, model, model,
                g->sampling.top_k);
    emit_real(out, "temperature", g->sampling.temperature);
    emit_real(out, "top_p", g->sampling.top_p);
    emit_real(out, "min_p", g->sampling.min_p);
    emit_real(out, "typical_p", g->sampling.typical_p);
    text_printf(out, " }, .seed = %llu, .length_penalty = %.9g,\n", (unsigned long long)g->seed, g->length_penalty);
    emit_integer(&limits, "max_new", g->max_new);
    emit_integer(&limits, "max_length", g->max_length);
    emit_integer(&limits, "beams", g->beams);
    if (stops[g->early_stopping]) text_printf(&limits, ", .early_stopping = %s", stops[g->early_stopping]);
    if (g->stop_count) text_printf(&limits, ", .stops = %s_stops, .stop_count = sizeof %s_stops / sizeof *%s_stops", model, model, model);
    if (limits.size) text_printf(out, "    %s,\n", limits.data + 2);
    emit_processors(a, out, model, &g->processors);
    text_add(out, "};\n");
}
