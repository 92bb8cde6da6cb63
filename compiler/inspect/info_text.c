/* info_text.c: print an Info as a table, or as JSON. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "info.h"
#include "verify.h"

static const char *kind_of(const Model *m)
{
    int n;
    return m->graph ? "graph" : field_words("kinds", &n)[m->model_kind];
}

/* ---- the table -------------------------------------------------------------------------------------------- */

enum { LABEL = 22, NUMBER = 18 };

static void line(Arena *a, FILE *to, const char *label, double n, const char *comment)
{
    fprintf(to, "%-*s%*s%s%s\n", LABEL, label, NUMBER, info_number(a, n), *comment ? "  " : "", comment);
}

static void bytes_line(Arena *a, FILE *to, const char *label, size_t bytes, const char *comment)
{
    const char *short_form = bytes >= 1000 ? text_bytes(a, bytes) : "";
    fprintf(to, "%-*s%*s  %-9s %s", LABEL, label, NUMBER, info_number(a, (double)bytes), short_form, comment);
    fputs("\n", to);
}

static void print_head(const Model *m, FILE *to)
{
    fprintf(to, "%s: %s", m->name, m->graph ? "graph" : "");
    if (m->has_encoder) fprintf(to, "encoder of %" PRId64 " layer%s", m->encoder.layers, m->encoder.layers == 1 ? "" : "s");
    if (m->has_decoder) fprintf(to, "%sdecoder of %" PRId64 " layer%s", m->has_encoder ? ", " : "", m->decoder.layers,
                                m->decoder.layers == 1 ? "" : "s");
    if (!m->graph) fprintf(to, ", width %" PRId64, m->d_model);
    if (m->has_encoder) fprintf(to, ", source up to %" PRId64, m->max_source);
    if (m->has_decoder) fprintf(to, ", target up to %" PRId64, m->max_target);
    fputs("\n\n", to);
}

/* Print the bytes and number of matrices by packed format, unless all are f32. */
static void print_formats(Arena *a, const Plan *p, FILE *to)
{
    if (!model_is_narrow(p->graph->model)) return;
    for (int f = 0; f < FORMATS; f++) {
        size_t bytes = 0;
        int count = 0;
        for (int i = 0; i < p->packed_count; i++) {
            const int layers = p->packed[i]->layers ? p->packed[i]->layers : 1;
            if ((int)p->packed[i]->format == f && *format_rows[f].word) bytes += p->packed[i]->bytes * (size_t)layers, count += layers;
        }
        if (!count) continue;
        bytes_line(a, to, arena_format(a, "  %s", format_rows[f].word), bytes, arena_format(a, "%d matri%s", count, count == 1 ? "x" : "ces"));
    }
}

/* Print a line without a number; nothing if text is NULL. */
static void text_line(FILE *to, const char *label, const char *text)
{
    if (text) fprintf(to, "%-*s%*s  %s\n", LABEL, label, NUMBER, "", text);
}

/* Print each word of a comma-separated list on its own line. */
static void list_lines(Arena *a, FILE *to, const char *label, const char *list)
{
    for (const char *s = list; s && *s;) {
        const size_t n = strcspn(s, ",");
        text_line(to, s == list ? label : "", arena_copy(a, s, n));
        s += n + strspn(s + n, ", ");
    }
}

/* The decoder's chat template in words; NULL if there is none. */
static const char *chat_words(Arena *a, const Model *m)
{
    if (!m->has_decoder || m->has_encoder) return NULL;
    if (m->chat) return arena_format(a, "%s, from the template", m->chat->name);
    return m->chat_fault ? "the template is not supported, so there is no --chat" : NULL;
}

static void print_tokenizer(Arena *a, const Model *m, FILE *to)
{
    const TokenizerOrigin *o = &m->tokenizer_origin;
    line(a, to, "tokenizer, ids", (double)m->tokenizer_ids, o->files);
    text_line(to, "  read as", o->rules);
    list_lines(a, to, "  settings", o->settings);
    text_line(to, "  chat", chat_words(a, m));
}

/* Print the bytes of f32 weights that `verify` holds for the generic engine, if it cannot hold
 * all. */
static void print_verify(Arena *a, const Graph *g, FILE *to)
{
    bool anew;
    const double bytes = plan_generic_bytes(g, &anew);
    if (!anew) return;
    bytes_line(a, to, "verify, bytes", (size_t)bytes,
               arena_format(a, "f32 weights, one layer at a time; all are read again for each of %d inputs", verify_inputs(g)));
}

static void print_sizes(Arena *a, const Info *i, FILE *to)
{
    const Plan *p = i->plan;
    const Model *m = p->graph->model;
    if (m->tokenizer_origin.files) print_tokenizer(a, m, to);
    else if (!m->graph && !m->source && !m->target)
        fprintf(to, "%-*s%*s  %s token ids\n", LABEL, "tokenizer", NUMBER, "none",
                m->has_decoder ? "input and output are" : "the input consists of");
    line(a, to, "parameters", (double)i->parameters, "");
    bytes_line(a, to, "weights, bytes", i->packed_bytes,
               m->weights_missing ? "packed; the spec's weights file is missing"
                                  : "packed, in one file");
    print_formats(a, p, to);
    bytes_line(a, to, "state, bytes", p->state_bytes, "one for each concurrent sequence, or one for all slots");
    bytes_line(a, to, "  header", p->header_bytes, "lengths");
    bytes_line(a, to, arena_format(a, "  %d slot%s", p->options.slots, p->options.slots == 1 ? "" : "s"),
               (size_t)p->options.slots * p->slot_bytes,
               m->kv_dtype == KV_DTYPES_F32 ? "KV cache" : arena_format(a, "KV cache, as %s", model_kv_dtype(m)));
    bytes_line(a, to, "  scratch", p->scratch_bytes, "values between and within blocks");
    bytes_line(a, to, "  taps", p->tap_bytes, p->options.taps ? "every named intermediate" : "none without --taps");
    bytes_line(a, to, "stack, bytes", i->stack_bytes, graph_has_custom(p->graph)
               ? "maximum for one call on one thread, without the spec's own operations" : "maximum for one call on one thread");
    print_verify(a, p->graph, to);
    if (i->code) {
        bytes_line(a, to, "code, bytes", i->code->model_bytes + i->code->runtime_bytes,
                   arena_format(a, "measured: %s, %s", i->code->compiler, i->code->isa));
        bytes_line(a, to, "  model", i->code->model_bytes, "instructions and constants");
        bytes_line(a, to, "  runtime", i->code->runtime_bytes, "threads, characters, weights, generation and others");
    } else {
        fprintf(to, "%-*s%*s  --code compiles the C and measures it\n", LABEL, "code, bytes", NUMBER, "not measured");
    }
}

static const char *block_label(Arena *a, const InfoBlock *b)
{
    const char *name = b->block->block->name;
    if (!b->layers) return name;
    return b->layers == 1 ? arena_format(a, "%s %d", name, b->first)
                          : arena_format(a, "%s %d-%d", name, b->first, b->first + b->layers - 1);
}

static void cost_line(Arena *a, FILE *to, const char *label, const char *layers, Cost each, Cost all, const Cost *sum)
{
    fprintf(to, "  %-28s %6s %17s %19s %5.1f%% %17s %17s\n", label, layers, info_number(a, each.flops), info_number(a, all.flops),
            sum->flops > 0 ? 100 * all.flops / sum->flops : 0, info_number(a, each.weight_bytes), info_number(a, all.weight_bytes));
}

static void sum_line(Arena *a, FILE *to, const char *label, double flops, double bytes)
{
    fprintf(to, "  %-28s %6s %17s %19s %6s %17s %17s\n", label, "", "", info_number(a, round(flops)), "", "", info_number(a, round(bytes)));
}

static const char *program_title(Arena *a, const Info *i, const InfoProgram *p)
{
    if (p->kind == PROGRAM_ENCODE)
        return arena_format(a, "encode: a source of %s token%s", info_number(a, (double)p->tokens), p->tokens == 1 ? "" : "s");
    if (p->kind == PROGRAM_RUN) return "run: the whole graph";
    const char *memory = p->memory_keys ? arena_format(a, " and %s of the source", info_number(a, (double)p->memory_keys)) : "";
    return arena_format(a, "step: one token at position %s, which sees %s key%s%s", info_number(a, (double)i->position),
                        info_number(a, (double)p->keys), p->keys == 1 ? "" : "s", memory);
}

/* Collect the names of all xf.op operations of a program, whose FLOPs are unknown; returns their
 * number. */
static int uncounted(Arena *a, const InfoProgram *p, const char ***names)
{
    int n = 0;
    NameMap *seen = name_map_new(a);
    *names = NULL;
    for (int k = 0; k < p->count; k++)
        for (int i = 0; i < p->blocks[k].block->op_count; i++) {
            const PlanOp *op = &p->blocks[k].block->ops[i];
            const char *name = op->kernel == KERNEL_CUSTOM ? op->node->custom->name : NULL;
            if (!name || name_map_find(seen, name)) continue;
            name_map_add(seen, name, (void *)name);
            const char **more = arena_array(a, (size_t)n + 1, sizeof *more);
            if (n) memcpy(more, *names, (size_t)n * sizeof *more);
            more[n++] = name;
            *names = more;
        }
    return n;
}

static void print_uncounted(Arena *a, const InfoProgram *p, FILE *to)
{
    const char **names;
    const int n = uncounted(a, p, &names);
    for (int i = 0; i < n; i++) fprintf(to, "%s%s", i ? ", " : "  FLOPs do not include the spec's own operations: ", names[i]);
    if (n) fputc('\n', to);
}

static void print_program(Arena *a, const Info *i, const InfoProgram *p, FILE *to)
{
    fprintf(to, "\n%s\n", program_title(a, i, p));
    fprintf(to, "  %-28s %6s %17s %19s %6s %17s %17s\n", "block", "layers", "FLOPs each", "FLOPs", "", "weights each", "weights, bytes");
    for (int k = 0; k < p->count; k++) {
        const InfoBlock *b = &p->blocks[k];
        const int n = b->layers ? b->layers : 1;
        const Cost all = { b->each.flops * n, b->each.weight_bytes * n };
        cost_line(a, to, block_label(a, b), b->layers ? arena_format(a, "%d", n) : "", b->each, all, &p->sum);
    }
    const double n = (double)p->tokens;
    sum_line(a, to, "total", p->sum.flops, p->sum.weight_bytes);
    if (n > 1) sum_line(a, to, "per token", p->sum.flops / n, p->sum.weight_bytes / n);
    print_uncounted(a, p, to);
}

static void print_pieces(Arena *a, const char *title, const InfoPiece *pieces, int n, FILE *to)
{
    enum { SHOWN = 6 };
    if (n == 0) return;
    fprintf(to, "\n%s\n", title);
    for (int i = 0; i < n && i < SHOWN; i++)
        fprintf(to, "  %-44s%18s  %s\n", pieces[i].name, info_number(a, (double)pieces[i].bytes), pieces[i].where);
}

static const char *limit_text(Arena *a, size_t limit) { return limit ? info_number(a, (double)limit) : "no limit"; }

static void print_target(Arena *a, const Info *i, const InfoTarget *t, FILE *to)
{
    fprintf(to, "\n%-*s%*s  needed  %*s  available\n", LABEL, t->name ? t->name : "limits", NUMBER, "", NUMBER, "");
    fprintf(to, "  %-*s%*s          %*s\n", LABEL - 2, "RAM, bytes", NUMBER, info_number(a, (double)info_ram(i)), NUMBER, limit_text(a, t->ram));
    fprintf(to, "  %-*s%*s          %*s%s\n", LABEL - 2, "flash, bytes", NUMBER, info_number(a, (double)info_flash(i)), NUMBER,
            limit_text(a, t->flash), i->code ? "" : "   weights only; --code adds the code");
}

void info_print(const Info *i, const InfoTarget *target, FILE *to)
{
    Arena *a = arena_new();
    print_head(i->plan->graph->model, to);
    print_sizes(a, i, to);
    for (int k = 0; k < i->program_count; k++) print_program(a, i, &i->programs[k], to);
    print_pieces(a, "largest buffers, bytes (scratch buffers share memory where their lifetimes do not overlap)", i->buffers, i->buffer_count, to);
    print_pieces(a, "largest weights, bytes", i->weights, i->weight_count, to);
    if (target) print_target(a, i, target, to);
    arena_free(a);
}

/* ---- JSON ------------------------------------------------------------------------------------------------- */

static void json_text(FILE *to, const char *s)
{
    fputc('"', to);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') fputc('\\', to);
        if ((unsigned char)*s < 0x20) fprintf(to, "\\u%04x", *s);
        else fputc(*s, to);
    }
    fputc('"', to);
}

static void json_program(Arena *a, const InfoProgram *p, FILE *to)
{
    const char **names;
    const int unknown = uncounted(a, p, &names);
    const double n = (double)p->tokens;
    fprintf(to, "{\"name\":\"%s\",\"tokens\":%" PRId64 ",\"keys\":%" PRId64 ",\"memory_keys\":%" PRId64
            ",\"flops\":%.0f,\"weight_bytes\":%.0f,\"flops_per_token\":%.0f,\"weight_bytes_per_token\":%.0f,\"blocks\":[",
            program_name(p->kind), p->tokens, p->keys, p->memory_keys, p->sum.flops,
            p->sum.weight_bytes, p->sum.flops / n, p->sum.weight_bytes / n);
    for (int i = 0; i < p->count; i++) {
        const InfoBlock *b = &p->blocks[i];
        fprintf(to, "%s{\"name\":\"%s\",\"first_layer\":%d,\"layers\":%d,\"flops\":%.0f,\"weight_bytes\":%.0f}", i ? "," : "",
                b->block->block->name, b->first, b->layers, b->each.flops, b->each.weight_bytes);
    }
    fputs("],\"flops_not_counted_of\":[", to);
    for (int i = 0; i < unknown; i++) fprintf(to, "%s\"%s\"", i ? "," : "", names[i]);
    fputs("]}", to);
}

static void json_limit(const char *key, size_t limit, FILE *to)
{
    if (limit) fprintf(to, ",\"%s\":%zu", key, limit);
    else fprintf(to, ",\"%s\":null", key);
}

static void json_target(const Info *i, const InfoTarget *t, FILE *to)
{
    if (!t) {
        fputs("null", to);
        return;
    }
    fputs("{\"name\":", to);
    if (t->name) json_text(to, t->name);
    else fputs("null", to);
    json_limit("ram", t->ram, to);
    json_limit("flash", t->flash, to);
    bool fits = (!t->ram || info_ram(i) <= t->ram) && (!t->flash || info_flash(i) <= t->flash);
    fprintf(to, ",\"ram_needed\":%zu,\"flash_needed\":%zu,\"fits\":%s}", info_ram(i), info_flash(i), fits ? "true" : "false");
}

static void json_code(const InfoCode *c, FILE *to)
{
    if (!c) {
        fputs("null", to);
        return;
    }
    fprintf(to, "{\"model_bytes\":%zu,\"runtime_bytes\":%zu,\"compiler\":", c->model_bytes, c->runtime_bytes);
    json_text(to, c->compiler);
    fputs(",\"isa\":", to);
    json_text(to, c->isa);
    fputs("}", to);
}

static void json_pieces(const InfoPiece *pieces, int n, FILE *to)
{
    for (int i = 0; i < n; i++) {
        fputs(i ? ",{\"name\":" : "{\"name\":", to);
        json_text(to, pieces[i].name);
        fputs(",\"where\":", to);
        json_text(to, pieces[i].where);
        fprintf(to, ",\"bytes\":%zu}", pieces[i].bytes);
    }
}

static void json_tokenizer(const Model *m, FILE *to)
{
    const TokenizerOrigin *o = &m->tokenizer_origin;
    const struct { const char *name, *text; } words[] = {
        { "origin", o->files }, { "rules", o->rules }, { "settings", o->settings }, { "chat", m->chat ? m->chat->name : NULL },
        { "chat_fault", m->chat_fault },
    };
    fprintf(to, ",\"tokenizer\":{\"ids\":%d", m->tokenizer_ids);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!words[i].text) continue;
        fprintf(to, ",\"%s\":", words[i].name);
        json_text(to, words[i].text);
    }
    fputs("}", to);
}

void info_json(Arena *a, const Info *i, const InfoTarget *target, FILE *to)
{
    const Plan *p = i->plan;
    const Model *m = p->graph->model;
    fprintf(to, "{\"name\":\"%s\",\"kind\":\"%s\",\"parameters\":%" PRId64 ",\"position\":%" PRId64, m->name, kind_of(m), i->parameters,
            i->position);
    if (m->tokenizer_origin.files) json_tokenizer(m, to);
    fprintf(to, ",\"weights\":{\"bytes\":%zu,\"data_bytes\":%zu,\"missing\":%s}", i->packed_bytes, p->weights_bytes,
            m->weights_missing ? "true" : "false");
    fprintf(to, ",\"state\":{\"bytes\":%zu,\"header_bytes\":%zu,\"slots\":%d,\"slot_bytes\":%zu,\"scratch_bytes\":%zu,\"tap_bytes\":%zu}",
            p->state_bytes, p->header_bytes, p->options.slots, p->slot_bytes, p->scratch_bytes, p->tap_bytes);
    bool anew;
    const double held = plan_generic_bytes(p->graph, &anew);
    fprintf(to, ",\"stack_bytes\":%zu,\"verify\":{\"weight_bytes\":%.0f,\"anew\":%s,\"inputs\":%d},\"code\":", i->stack_bytes,
            held, anew ? "true" : "false", verify_inputs(p->graph));
    json_code(i->code, to);
    fputs(",\"programs\":[", to);
    for (int k = 0; k < i->program_count; k++) {
        if (k) fputs(",", to);
        json_program(a, &i->programs[k], to);
    }
    fputs("],\"buffers\":[", to);
    json_pieces(i->buffers, i->buffer_count, to);
    fputs("],\"packed\":[", to);
    json_pieces(i->weights, i->weight_count, to);
    fputs("],\"target\":", to);
    json_target(i, target, to);
    fputs("}\n", to);
}
