/* emit_translate.c: the calls of an encoder-decoder: header and bodies. */
#include "emit_kind.h"

static const char header_template[] =
    "#define ${upper}_MAX_SOURCE     ${max_source}\n"
    "#define ${upper}_MAX_TARGET     ${max_target}          /* with the start mark */\n"
    "#define ${upper}_SOURCE_VOCAB   ${source_vocab}\n"
    "#define ${upper}_VOCAB          ${target_vocab}\n"
    "#define ${upper}_ROWS           1           /* rows in one call of ${name}_rows */\n"
    "${marks}\n"
    "\n"
    "${types}\n"
    "\n"
    "/* Read a source of 1 .. ${upper}_MAX_SOURCE ids into a slot and forget what the slot held.\n"
    " * RT_BAD_ID, RT_TOO_LONG; RT_ORDER for n < 1. */\n"
    "rt_status ${name}_encode(const ${name} *m, ${name}_state *s, int slot, const int *ids, int n);\n"
    "\n"
    "/* Compute decoder rows: append the token `id` at `position` of the sequence in `slot`. Positions follow one another\n"
    " * from 0; an earlier one may be taken back. RT_ORDER without a source or past the next position. */\n"
    "rt_status ${name}_rows(const ${name} *m, ${name}_state *s, const rt_row *rows, int n);\n"
    "\n"
    "/* Copy the sequence and the source of slot `from` to slot `to`. */\n"
    "rt_status ${name}_fork(${name}_state *s, int from, int to);\n"
    "\n"
    "/* On slot 0: append `id`; then ${name}_logits has ${logits_words}. */\n"
    "rt_status ${name}_step(const ${name} *m, ${name}_state *s, int id);\n"
    "\n"
    "/* [${upper}_VOCAB], valid until the next call on this state. */\n"
    "const float *${name}_logits(const ${name}_state *s);\n"
    "\n"
    "/* On slot 0: append `id` and give the likeliest id after it, the first of equals. Leaves no ${logits_kind}. */\n"
    "rt_status ${name}_next(const ${name} *m, ${name}_state *s, int id, int *next);\n"
    "${text_calls}\n";

static const char text_header[] =
    "\n"
    "/* The ids of a text: one per character. RT_BAD_ID with *fault, which may be NULL, for a character without an id or\n"
    " * a broken sequence; RT_TOO_LONG past `room`. */\n"
    "rt_status ${name}_ids(const ${name} *m, const char *utf8, int *ids, int room, int *n, RtTextFault *fault);\n"
    "\n"
    "/* Answer a text, greedily, on slot 0: NUL-terminated in out[cap]. RT_NO_ROOM when it does not fit. */\n"
    "rt_status ${name}_text(const ${name} *m, ${name}_state *s, const char *utf8, char *out, size_t cap);\n";

static const char state_template[] =
    "/* ---- the calls -------------------------------------------------------------------------------------------- */\n"
    "\n"
    "/* The header of a state: per slot the length of its source and its next position. */\n"
    "static int *source_length(const ${name}_state *s, int slot) { return (int *)s->bytes + slot; }\n"
    "static int *next_position(const ${name}_state *s, int slot) { return (int *)s->bytes + ${slots} + slot; }\n"
    "\n"
    "void ${name}_reset(${name}_state *s) { memset(s->bytes, 0, SLOTS); }\n"
    "\n"
    "rt_status ${name}_encode(const ${name} *m, ${name}_state *s, int slot, const int *ids, int n)\n"
    "{\n"
    "    int *const source = (int *)(s->bytes + AT_SOURCE_IDS);\n"
    "    int *const positions = (int *)(s->bytes + AT_SOURCE_POSITIONS);\n"
    "    int *const visible = (int *)(s->bytes + AT_SOURCE_VISIBLE);\n"
    "    job j = { m, s, slot, n };\n"
    "    if (slot < 0 || slot >= ${slots}) return RT_BAD_ID;\n"
    "    if (n < 1) return RT_ORDER;\n"
    "    if (n > ${upper}_MAX_SOURCE) return RT_TOO_LONG;\n"
    "    for (int i = 0; i < n; i++)\n"
    "        if (ids[i] < 0 || ids[i] >= ${upper}_SOURCE_VOCAB) return RT_BAD_ID;\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        source[i] = ids[i];\n"
    "        positions[i] = i;\n"
    "        visible[i] = n;\n"
    "    }\n"
    "    rt_team_run(m->team, encode_body, &j);\n"
    "    *source_length(s, slot) = n;\n"
    "    *next_position(s, slot) = 0;\n"
    "    return RT_OK;\n"
    "}\n"
    "\n"
    "/* Check a row, set the inputs of a decoder program and run it. */\n"
    "static rt_status decode(const ${name} *m, ${name}_state *s, const rt_row *row, rt_body *body)\n"
    "{\n"
    "    job j = { m, s, row->slot, 1 };\n"
    "    if (row->slot < 0 || row->slot >= ${slots} || row->id < 0 || row->id >= ${upper}_VOCAB) return RT_BAD_ID;\n"
    "    if (row->position >= ${upper}_MAX_TARGET) return RT_TOO_LONG;\n"
    "    if (*source_length(s, row->slot) == 0 || row->position < 0 || row->position > *next_position(s, row->slot)) return RT_ORDER;\n"
    "    *(int *)(s->bytes + AT_ROWS_IDS) = row->id;\n"
    "    *(int *)(s->bytes + AT_ROWS_POSITIONS) = row->position;\n"
    "    *(int *)(s->bytes + AT_ROWS_VISIBLE) = row->position + 1;\n"
    "    *(int *)(s->bytes + AT_ROWS_VISIBLE_MEMORY) = *source_length(s, row->slot);\n"
    "    rt_team_run(m->team, body, &j);\n"
    "    *next_position(s, row->slot) = row->position + 1;\n"
    "    return RT_OK;\n"
    "}\n"
    "\n"
    "rt_status ${name}_rows(const ${name} *m, ${name}_state *s, const rt_row *rows, int n)\n"
    "{\n"
    "    if (n < 1) return RT_ORDER;\n"
    "    return n > ${upper}_ROWS ? RT_TOO_LONG : decode(m, s, rows, step_body);\n"
    "}\n"
    "\n"
    "rt_status ${name}_fork(${name}_state *s, int from, int to)\n"
    "{\n"
    "    if (from < 0 || from >= ${slots} || to < 0 || to >= ${slots}) return RT_BAD_ID;\n"
    "    if (from == to) return RT_OK;\n"
    "    memcpy(slot_bytes(s, to), slot_bytes(s, from), SLOT_BYTES);\n"
    "    *source_length(s, to) = *source_length(s, from);\n"
    "    *next_position(s, to) = *next_position(s, from);\n"
    "    return RT_OK;\n"
    "}\n"
    "\n"
    "rt_status ${name}_step(const ${name} *m, ${name}_state *s, int id)\n"
    "{\n"
    "    const rt_row row = { 0, *next_position(s, 0), id };\n"
    "    return decode(m, s, &row, step_body);\n"
    "}\n"
    "\n"
    "const float *${name}_logits(const ${name}_state *s) { return (const float *)(s->bytes + ${logits}); }\n"
    "\n"
    "rt_status ${name}_next(const ${name} *m, ${name}_state *s, int id, int *next)\n"
    "{\n"
    "    const rt_row row = { 0, *next_position(s, 0), id };\n"
    "    const rt_status status = decode(m, s, &row, next_body);\n"
    "    if (status == RT_OK) *next = *(const int *)(s->bytes + AT_NEXT_ID);\n"
    "    return status;\n"
    "}\n"
    "${text_calls}\n";

static const char text_template[] =
    "\n"
    "static RtCharacters characters(const ${name} *m, size_t table, int count, size_t texts, int size)\n"
    "{\n"
    "    const RtCharacters c = { (const int32_t *)(const void *)(m->weights + table), count,\n"
    "                             (const int32_t *)(const void *)(m->weights + texts), size };\n"
    "    return c;\n"
    "}\n"
    "\n"
    "rt_status ${name}_ids(const ${name} *m, const char *utf8, int *ids, int room, int *n, RtTextFault *fault)\n"
    "{\n"
    "    const RtCharacters source = characters(m, W_SOURCE_CHARACTERS, ${source_count}, W_SOURCE_TEXTS, ${upper}_SOURCE_VOCAB);\n"
    "    return rt_characters_encode(&source, utf8, ids, room, n, fault);\n"
    "}\n"
    "\n"
    "rt_status ${name}_text(const ${name} *m, ${name}_state *s, const char *utf8, char *out, size_t cap)\n"
    "{\n"
    "    const RtCharacters target = characters(m, W_TARGET_CHARACTERS, ${target_count}, W_TARGET_TEXTS, ${upper}_VOCAB);\n"
    "    int ids[${upper}_MAX_SOURCE], n, id = ${upper}_START;\n"
    "    size_t used = 0;\n"
    "    if (cap == 0) return RT_NO_ROOM;\n"
    "    out[0] = 0;\n"
    "    rt_status status = ${name}_ids(m, utf8, ids, ${upper}_MAX_SOURCE, &n, NULL);\n"
    "    if (status == RT_OK) status = ${name}_encode(m, s, 0, ids, n);\n"
    "    for (int i = 1; status == RT_OK && i < ${upper}_MAX_TARGET; i++) {\n"
    "        status = ${name}_next(m, s, id, &id);\n"
    "        if (status != RT_OK || id == ${upper}_END) break;\n"
    "        status = rt_characters_decode(&target, id, out, cap, &used);\n"
    "    }\n"
    "    return status;\n"
    "}\n";

static bool has_text(const Emit *e) { return e->plan->source_characters != NULL; }

static const char *number(Emit *e, int64_t n) { return arena_format(e->arena, "%lld", (long long)n); }

static void translate_header(Emit *e, Text *out, const char *types)
{
    const Model *m = e->model;
    Text marks = text_new(e->arena), text = text_new(e->arena);
    if (has_text(e)) {
        text_fill(&marks, "#define ${upper}_START          ${start}           /* <s> */\n"
                          "#define ${upper}_END            ${end}           /* </s> */\n",
                  "upper", e->upper, "start", number(e, m->target->start), "end", number(e, m->target->end), NULL);
        text_fill(&text, text_header, "name", e->name, NULL);
    }
    text_fill(out, header_template, "name", e->name, "upper", e->upper, "max_source", number(e, m->max_source),
              "max_target", number(e, m->max_target), "source_vocab", number(e, m->source_vocab), "target_vocab", number(e, m->target_vocab),
              "marks", marks.data, "types", types, "text_calls", text.data,
              "logits_words", m->log_softmax ? "the log-probabilities of what comes next" : "the logits of what comes next",
              "logits_kind", m->log_softmax ? "log-probabilities" : "logits", NULL);
}

static void translate_calls(Emit *e, Text *out)
{
    const Plan *p = e->plan;
    Text text = text_new(e->arena);
    if (has_text(e))
        text_fill(&text, text_template, "name", e->name, "upper", e->upper, "source_count", number(e, p->source_characters->integer_count / 2),
                  "target_count", number(e, p->target_characters->integer_count / 2), NULL);
    text_fill(out, state_template, "name", e->name, "upper", e->upper, "slots", number(e, p->options.slots), "logits", "AT_LOGITS",
              "text_calls", text.data, NULL);
}

static const char main_template[] =
    "/* ${name}_main.c: the program ${name}. Compiled for the baseline; it asks whether the processor can run ${name}.c. */\n"
    "#include \"${name}.h\"\n"
    "#include \"rt_host.h\"\n"
    "\n"
    "${weights_declaration}\n"
    "static rt_status bind(void *m, const void *weights, size_t bytes) { return ${name}_bind(m, weights, bytes); }\n"
    "static rt_status threads(void *m, int n) { return ${name}_threads(m, n); }\n"
    "static rt_team *team(const void *m) { return ((const ${name} *)m)->team; }\n"
    "static void reset(void *s) { ${name}_reset(s); }\n"
    "\n"
    "static rt_status ids(const void *m, const char *utf8, int *out, int room, int *n, RtTextFault *fault)\n"
    "{\n"
    "    return ${name}_ids(m, utf8, out, room, n, fault);\n"
    "}\n"
    "\n"
    "static rt_status text(const void *m, void *s, const char *utf8, char *out, size_t cap)\n"
    "{\n"
    "    return ${name}_text(m, s, utf8, out, cap);\n"
    "}\n"
    "\n"
    "int main(int argc, char **argv)\n"
    "{\n"
    "    const rt_program program = {\n"
    "        .name = \"${name}\", .about = \"${about}\", .version = \"${version}\",\n"
    "        .isa = ${name}_isa, .model_bytes = sizeof(${name}), .state_bytes = ${upper}_STATE_BYTES,\n"
    "        .weights = ${weights}, .weights_bytes = ${upper}_WEIGHTS_BYTES, .weights_file = ${weights_file},\n"
    "        .max_source = ${upper}_MAX_SOURCE, .answer_bytes = 4 * ${upper}_MAX_TARGET + 1,\n"
    "        .default_lanes = ${lanes}, .lanes_max = ${upper}_LANES,\n"
    "        .bind = bind, .threads = threads, .team = team, .reset = reset, .ids = ids, .text = text,\n"
    "    };\n"
    "    return rt_host_main(&program, argc, argv);\n"
    "}\n";

/* Steps below this are over before a second lane has woken: one lane is the default. */
static const double FLOPS_FOR_LANES = 20e6;

static void translate_main(Emit *e, Text *out)
{
    const Model *m = e->model;
    bool embed = e->weights == WEIGHTS_EMBED;
    Cost c = plan_cost(e->plan, "next", 1, m->max_target, m->max_source);
    text_fill(out, main_template, "name", e->name, "upper", e->upper, "version", XFORMC_VERSION,
              "about", arena_format(e->arena, "encoder-decoder of %lld + %lld layers, width %lld", (long long)m->encoder.layers,
                                    (long long)m->decoder.layers, (long long)m->d_model),
              "weights_declaration", embed ? arena_format(e->arena, "extern const unsigned char %s_weights[];\n\n", e->name) : "",
              "weights", embed ? arena_format(e->arena, "%s_weights", e->name) : "NULL",
              "weights_file", embed ? "NULL" : arena_format(e->arena, "\"%s.safetensors\"", e->name),
              "lanes", c.flops < FLOPS_FOR_LANES ? "1" : "0", NULL);
}

static const char example_template[] =
    "/* example.c: ${name} inside another program: bind, encode, step. */\n"
    "#include <stdio.h>\n"
    "\n"
    "#include \"${name}.h\"\n"
    "#include \"rt_weights.h\"\n"
    "\n"
    "static ${name}_state state;\n"
    "\n"
    "int main(int argc, char **argv)\n"
    "{\n"
    "    ${name} model = { 0 };\n"
    "    RtWeights weights;\n"
    "    const int source[] = { ${ids} };                /* ids of a source; from a text, see ${name}_ids */\n"
    "    int missing = rt_weights_open(&weights, argc > 1 ? argv[1] : \"${name}.safetensors\");    /* 0 or an errno */\n"
    "    rt_status status = missing ? RT_BAD_WEIGHTS : ${name}_bind(&model, weights.data, weights.bytes);\n"
    "    if (status == RT_OK) status = ${name}_encode(&model, &state, 0, source, (int)(sizeof source / sizeof *source));\n"
    "    for (int i = 1, id = ${start}; status == RT_OK && i < ${upper}_MAX_TARGET; i++) {\n"
    "        status = ${name}_next(&model, &state, id, &id);\n"
    "        if (status == RT_OK) printf(\"%d%c\", id, id == ${end} || i + 1 == ${upper}_MAX_TARGET ? '\\n' : ' ');\n"
    "        if (id == ${end}) break;\n"
    "    }\n"
    "    if (status != RT_OK) fprintf(stderr, \"example: %s\\n\", rt_status_text(status));\n"
    "    rt_weights_close(&weights);\n"
    "    return status == RT_OK ? 0 : 1;\n"
    "}\n";

static void translate_example(Emit *e, Text *out)
{
    const Model *m = e->model;
    Text ids = text_new(e->arena);
    int n = m->max_source < 4 ? (int)m->max_source : 4;
    for (int i = 0; i < n; i++) text_printf(&ids, "%s%lld", i ? ", " : "", (long long)((4 + 3 * i) % m->source_vocab));
    text_fill(out, example_template, "name", e->name, "upper", e->upper, "ids", ids.data,
              "start", has_text(e) ? number(e, m->target->start) : "1", "end", has_text(e) ? number(e, m->target->end) : "2", NULL);
}

const EmitKind emit_translate = { translate_header, translate_calls, translate_main, translate_example };
