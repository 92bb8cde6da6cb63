/* emit_sequence.c: the bodies of the calls of sequence models. Those of encoder-only, decoder-only
 * and encoder-decoder models are assembled from different templates. */
#include "emit_kind.h"

#include <string.h>

static const char state_template[] =
    "/* ---- the calls ------------------------------------------------------------------------------- */\n"
    "\n"
    "void ${name}_reset(${name}_state *state)\n"
    "{\n"
    "    struct state *const s = (struct state *)(void *)state;\n"
    "    rt_clear(s->source_length, sizeof s->source_length);\n"
    "    rt_clear(s->next_position, sizeof s->next_position);\n"
    "    ${clear_furthest}\n"
    "    ${clear_saturated}\n"
    "}\n"
    "${encode}\n"
    "${decode}\n"
    "${text_calls}\n";

static const char encode_template[] =
    "\n"
    "rt_status ${name}_encode${pair}(const ${name} *m, ${name}_state *state, int slot, const int *ids, int n${first_parameter})\n"
    "{\n"
    "    struct state *const s = (struct state *)(void *)state;\n"
    "    ${job}, .slot = slot, .rows = n };\n"
    "    if (slot < 0 || slot >= ${upper}_SLOTS) return RT_BAD_ID;\n"
    "    if (n < 1${first_check}) return RT_ORDER;\n"
    "    if (n > ${upper}_MAX_SOURCE) return RT_TOO_LONG;\n"
    "    for (int i = 0; i < n; i++)\n"
    "        if (ids[i] < 0 || ids[i] >= ${upper}_SOURCE_VOCAB) return RT_BAD_ID;\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        s->source_ids[i] = ids[i];\n"
    "        s->source_positions[i] = i;\n"
    "        ${set_visible}\n"
    "        ${set_seen}\n"
    "        ${set_type}\n"
    "    }\n"
    "    ${run};\n"
    "    s->source_length[slot] = n;\n"
    "    s->next_position[slot] = 0;\n"
    "    return RT_OK;\n"
    "}\n";

static const char batch_template[] =
    "\n"
    "rt_status ${name}_encode_batch(const ${name} *m, ${name}_state *state, const int *ids, const int *lengths, const int *firsts, "
    "int count, float *vectors)\n"
    "{\n"
    "    struct state *const s = (struct state *)(void *)state;\n"
    "    rt_group *const texts = s->groups;\n"
    "    ${job}, .groups = texts };\n"
    "    int place = 0;                  /* of the next text's keys and values, a multiple of 16 */\n"
    "    ${unused}\n"
    "    if (count < 1) return RT_ORDER;\n"
    "    for (int t = 0; t < count; t++) {\n"
    "        const int n = lengths[t];\n"
    "        ${first}\n"
    "        if (n < 1${first_check}) return RT_ORDER;\n"
    "        if (n > ${upper}_MAX_SOURCE - place) return RT_TOO_LONG;\n"
    "        for (int i = j.rows; i < j.rows + n; i++)\n"
    "            if (ids[i] < 0 || ids[i] >= ${upper}_SOURCE_VOCAB) return RT_BAD_ID;\n"
    "        j.rows += n;\n"
    "        place += (n + 15) / 16 * 16;\n"
    "    }\n"
    "    for (int t = 0, begin = 0, slot = 0; t < count; begin += lengths[t], slot += (lengths[t] + 15) / 16 * 16, t++) {\n"
    "        texts[t].slot = slot;\n"
    "        texts[t].rows.begin = begin;\n"
    "        texts[t].rows.end = begin + lengths[t];\n"
    "        for (int i = 0; i < lengths[t]; i++) {\n"
    "            s->source_ids[begin + i] = ids[begin + i];\n"
    "            s->source_positions[begin + i] = i;\n"
    "            ${set_visible}\n"
    "            ${set_seen}\n"
    "            ${set_type}\n"
    "        }\n"
    "    }\n"
    "    j.groups_end = texts + count;\n"
    "    ${run};\n"
    "    ${vectors}\n"
    "    s->source_length[0] = j.rows;\n"
    "    s->next_position[0] = 0;\n"
    "    return RT_OK;\n"
    "}\n"
    "\n"
    "rt_status ${name}_encode${pair}(const ${name} *m, ${name}_state *state, int slot, const int *ids, int n${first_parameter})\n"
    "{\n"
    "    return slot ? RT_BAD_ID : ${name}_encode_batch(m, state, ids, &n, ${first_argument}, 1, NULL);\n"
    "}\n";

static const char vectors_template[] =
    "for (int t = 0; t < count; t++) {\n"
    "    j.first = texts[t].rows.begin;\n"
    "    if (t) ${run};\n"
    "    if (vectors) rt_copy(vectors + (size_t)t * ${upper}_VECTOR_WIDTH, ${at}, ${upper}_VECTOR_WIDTH * sizeof *vectors);\n"
    "}";

static const char alone_template[] =
    "\n"
    "rt_status ${name}_encode(const ${name} *m, ${name}_state *state, int slot, const int *ids, int n)\n"
    "{\n"
    "    return ${name}_encode_pair(m, state, slot, ids, n, n);\n"
    "}\n";

static const char result_template[] =
    "const float *${name}_${result}(const ${name}_state *state)\n"
    "{\n"
    "    const struct state *const s = (const struct state *)(const void *)state;\n"
    "    return ${at};\n"
    "}\n";

static const char decode_template[] =
    "\n"
    "/* The rows in a state, for rt_rows.h. */\n"
    "static RtRows rows_of(struct state *s)\n"
    "{\n"
    "    const RtRows r = {\n"
    "        .slots = ${upper}_SLOTS, .vocab = ${upper}_VOCAB,\n"
    "        .positions_most = ${upper}_MAX_TARGET, .rows_most = ${upper}_ROWS,${back}\n"
    "        .source_length = s->source_length, .next_position = s->next_position,${furthest}\n"
    "        .ids = s->rows_ids, .positions = s->rows_positions, .visible = s->rows_visible,${memory}\n"
    "    };\n"
    "    return r;\n"
    "}\n"
    "\n"
    "${rows}\n"
    "\n"
    "rt_status ${name}_decode_greedy(const ${name} *m, ${name}_state *state, const rt_token *rows, int n, int *next)\n"
    "{\n"
    "    struct state *const s = (struct state *)(void *)state;\n"
    "    int good = 1;\n"
    "    const rt_status status = run_rows(m, s, rows, n, next_body${decode_greedy_body});\n"
    "    if (status != RT_OK) return status;\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        next[i] = s->next_id[i];\n"
    "        good = good && next[i] >= 0;\n"
    "    }\n"
    "    return good ? RT_OK : RT_NOT_FINITE;            /* a logit is NaN or +infinity */\n"
    "}\n"
    "\n"
    "rt_status ${name}_fork(${name}_state *state, int from, int to)\n"
    "{\n"
    "    struct state *const s = (struct state *)(void *)state;\n"
    "    if (from < 0 || from >= ${upper}_SLOTS || to < 0 || to >= ${upper}_SLOTS) return RT_BAD_ID;\n"
    "    if (from == to) return RT_OK;\n"
    "    const RtRows r = rows_of(s);\n"
    "    rt_copy(&s->slot[to], &s->slot[from], sizeof *s->slot);\n"
    "    rt_rows_fork(&r, from, to);\n"
    "    return RT_OK;\n"
    "}\n"
    "\n"
    "rt_status ${name}_clear(${name}_state *state, int slot)\n"
    "{\n"
    "    struct state *const s = (struct state *)(void *)state;\n"
    "    if (slot < 0 || slot >= ${upper}_SLOTS) return RT_BAD_ID;\n"
    "    s->next_position[slot] = 0;\n"
    "    return RT_OK;\n"
    "}\n"
    "\n"
    "rt_status ${name}_step(const ${name} *m, ${name}_state *state, int id)\n"
    "{\n"
    "    struct state *const s = (struct state *)(void *)state;\n"
    "    const rt_token row = { 0, s->next_position[0], id };\n"
    "    return run_rows(m, s, &row, 1, step_body${decode_body});\n"
    "}\n"
    "\n"
    "${logits}\n"
    "\n"
    "rt_status ${name}_next(const ${name} *m, ${name}_state *state, int id, int *next)\n"
    "{\n"
    "    struct state *const s = (struct state *)(void *)state;\n"
    "    const rt_token row = { 0, s->next_position[0], id };\n"
    "    return ${name}_decode_greedy(m, state, &row, 1, next);\n"
    "}\n";

static const char one_row_template[] =
    "static rt_status run_rows(const ${name} *m, struct state *s, const rt_token *rows, int n, ${body} *body)\n"
    "{\n"
    "    const RtRows r = rows_of(s);\n"
    "    const rt_status status = rt_rows_begin(&r, rows, n);\n"
    "    if (status != RT_OK) return status;\n"
    "    ${job}, .slot = rows->slot, .rows = 1 };\n"
    "    ${run};\n"
    "    rt_rows_end(&r, rows, n);\n"
    "    return RT_OK;\n"
    "}\n"
    "\n"
    "rt_status ${name}_decode(const ${name} *m, ${name}_state *state, const rt_token *rows, int n)\n"
    "{\n"
    "    struct state *const s = (struct state *)(void *)state;\n"
    "    return run_rows(m, s, rows, n, step_body);\n"
    "}\n"
    "\n"
    "rt_status ${name}_prefill(const ${name} *m, ${name}_state *state, const rt_token *rows, int n)\n"
    "{\n"
    "    return ${name}_decode(m, state, rows, n);\n"
    "}\n";

static const char many_rows_template[] =
    "/* Run `one` for a single row, unless it is NULL; otherwise run `many`. */\n"
    "static rt_status run_rows(const ${name} *m, struct state *s, const rt_token *rows, int n, ${body} *one, ${body} *many)\n"
    "{\n"
    "    const RtRows r = rows_of(s);\n"
    "    const rt_status status = rt_rows_begin(&r, rows, n);\n"
    "    if (status != RT_OK) return status;\n"
    "    ${job}, .slot = rows->slot, .rows = n, .groups = s->groups };\n"
    "    j.groups_end = rt_rows_group(rows, n, s->groups);\n"
    "    ${body} *const body = n == 1 && one ? one : many;\n"
    "    ${run};\n"
    "    rt_rows_end(&r, rows, n);\n"
    "    return RT_OK;\n"
    "}\n"
    "\n"
    "rt_status ${name}_decode(const ${name} *m, ${name}_state *state, const rt_token *rows, int n)\n"
    "{\n"
    "    struct state *const s = (struct state *)(void *)state;\n"
    "    return run_rows(m, s, rows, n, step_body, decode_body);\n"
    "}\n"
    "\n"
    "rt_status ${name}_prefill(const ${name} *m, ${name}_state *state, const rt_token *rows, int n)\n"
    "{\n"
    "    struct state *const s = (struct state *)(void *)state;\n"
    "    return run_rows(m, s, rows, n, NULL, prefill_body);\n"
    "}\n";

static const char text_template[] =
    "\n"
    "static RtCharacters characters(const ${name} *m, size_t table, int count, size_t texts, int size)\n"
    "{\n"
    "    const RtCharacters c = { (const int32_t *)(const void *)(m->weights + table), count,\n"
    "                             (const int32_t *)(const void *)(m->weights + texts), size };\n"
    "    return c;\n"
    "}\n"
    "\n"
    "rt_status ${name}_tokenize(const ${name} *m, ${name}_state *state, const char *utf8, int *ids, int room, int *n, "
    "RtTextFault *fault)\n"
    "{\n"
    "    (void)state;\n"
    "    const RtCharacters source = characters(m, W_SOURCE_CHARACTERS, ${source_count}, W_SOURCE_TEXTS, ${upper}_SOURCE_VOCAB);\n"
    "    return rt_characters_encode(&source, utf8, ids, room, n, fault);\n"
    "}\n"
    "\n"
    "rt_status ${name}_tokenize_target(const ${name} *m, ${name}_state *state, const char *utf8, int *ids, int room, int *n, "
    "RtTextFault *fault)\n"
    "{\n"
    "    const RtCharacters target = characters(m, W_TARGET_CHARACTERS, ${target_count}, W_TARGET_TEXTS, ${upper}_VOCAB);\n"
    "    (void)state;\n"
    "    return rt_characters_encode(&target, utf8, ids, room, n, fault);\n"
    "}\n"
    "\n"
    "rt_status ${name}_detokenize(const ${name} *m, const int *ids, int n, char *out, size_t cap, size_t *bytes)\n"
    "{\n"
    "    const RtCharacters target = characters(m, W_TARGET_CHARACTERS, ${target_count}, W_TARGET_TEXTS, ${upper}_VOCAB);\n"
    "    return rt_characters_decode(&target, ids, n, out, cap, bytes);\n"
    "}\n";

static const char tokenizer_template[] =
    "\n"
    "const void *${name}_tokenizer(const ${name} *m, size_t *bytes)\n"
    "{\n"
    "    *bytes = ${bytes};\n"
    "    return m->weights + W_TOKENIZER;\n"
    "}\n"
    "\n"
    "rt_status ${name}_tokenize(const ${name} *m, ${name}_state *state, const char *utf8, int *ids, int room, int *n, "
    "RtTextFault *fault)\n"
    "{\n"
    "    struct state *const s = (struct state *)(void *)state;\n"
    "    return rt_text_ids(m->weights + W_TOKENIZER, ${bytes}, utf8, 0, ids, room, n, fault, s->text_work,\n"
    "                       sizeof s->text_work);\n"
    "}\n"
    "\n"
    "${target}\n"
    "rt_status ${name}_detokenize(const ${name} *m, const int *ids, int n, char *out, size_t cap, size_t *bytes)\n"
    "{\n"
    "    return rt_text_of_ids(m->weights + W_TOKENIZER, ${bytes}, ids, n, out, cap, bytes);\n"
    "}\n";

/* `text` if some operation of the plan reads the input `name`; else "". */
static const char *of_input(const Emit *e, const char *name, const char *text)
{
    return plan_buffer(e->plan, name) ? text : "";
}

/* The call that returns a pointer to a buffer. */
static const char *result_call(Emit *e, const char *result, const Buffer *b)
{
    Text t = text_new(e->arena);
    text_fill(&t, result_template, "name", e->name, "result", result, "at", emit_in_state(e, b, NULL), NULL);
    return t.data;
}

/* The calls of an encoder-only model, where one text is a batch of one. */
static void batch_calls(Emit *e, Text *out)
{
    const bool types = e->model->token_types > 0, pair = e->model->token_types > 1, pools = model_pools(e->model);
    const int head = plan_program(e->plan, PROGRAM_ENCODE)->count - 1;
    Text vectors = text_new(e->arena);
    if (pools)
        text_fill(&vectors, vectors_template, "upper", e->upper, "run", emit_body_call(e, "head_body", PROGRAM_ENCODE, head),
                  "at", emit_in_state(e, plan_vector(e->plan), NULL), NULL);
    text_fill(out, batch_template, "run", emit_body_call(e, "encode_body", PROGRAM_ENCODE, 0), "job", emit_job(e),
              "name", e->name, "upper", e->upper,
              "pair", pair ? "_pair" : "", "first_parameter", pair ? ", int first" : "",
              "set_visible", of_input(e, "source_visible", "s->source_visible[begin + i] = lengths[t];"),
              "set_seen", of_input(e, "source_seen", "s->source_seen[begin + i] = i + 1;"),
              "first", pair ? "const int first = firsts ? firsts[t] : n;" : "", "first_check", pair ? " || first < 0 || first > n" : "",
              "set_type", pair ? "s->source_types[begin + i] = firsts && i >= firsts[t];" : types ? "s->source_types[begin + i] = 0;" : "",
              "unused", pair ? pools ? "" : "if (vectors) return RT_BAD_OPTION;" : pools ? "if (firsts) return RT_BAD_OPTION;"
                                                                                : "if (firsts || vectors) return RT_BAD_OPTION;",
              "first_argument", pair ? "&first" : "NULL", "vectors", vectors.data, NULL);
}

/* The calls of an encoder with a decoder, where each source has a slot. */
static void source_calls(Emit *e, Text *out)
{
    const bool types = e->model->token_types > 0, pair = e->model->token_types > 1;
    text_fill(out, encode_template, "run", emit_body_call(e, "encode_body", PROGRAM_ENCODE, 0), "job", emit_job(e),
              "name", e->name, "upper", e->upper, "pair", pair ? "_pair" : "",
              "first_parameter", pair ? ", int first" : "", "first_check", pair ? " || first < 0 || first > n" : "",
              "set_visible", of_input(e, "source_visible", "s->source_visible[i] = n;"),
              "set_seen", of_input(e, "source_seen", "s->source_seen[i] = i + 1;"),
              "set_type", pair ? "s->source_types[i] = i >= first;" : types ? "s->source_types[i] = 0;" : "", NULL);
}

static void encoder_calls(Emit *e, Text *out)
{
    const bool memory = e->model->has_decoder;
    (memory ? source_calls : batch_calls)(e, out);
    if (e->model->token_types > 1)
        text_fill(out, alone_template, "name", e->name, NULL);
    if (!memory) text_printf(out, "\n%s", result_call(e, "hidden", plan_hidden(e->plan)));
    if (model_has_head(e->model)) text_printf(out, "\n%s", result_call(e, "vector", plan_vector(e->plan)));
}

static const char saturated_template[] =
    "\n"
    "int ${name}_saturated(const ${name}_state *state)\n"
    "{\n"
    "    const struct state *const s = (const struct state *)(const void *)state;\n"
    "    int any = 0;\n"
    "    for (int i = 0; i < ${upper}_MAX_THREADS; i++) any |= s->saturated[i];\n"
    "    return any;\n"
    "}\n";

static void decoder_calls(Emit *e, Text *out)
{
    bool memory = e->model->has_encoder;
    Text rows = text_new(e->arena);
    const int back = e->plan->back;
    const char *rows_template = plan_rows(e->plan) > 1 ? many_rows_template : one_row_template;
    const char *keys_only = emit_prefill_end(e->plan).block ? ", .keys_only = many == prefill_body" : "";
    text_fill(&rows, rows_template, "name", e->name, "run", emit_body_call(e, "body", plan_rows(e->plan) > 1 ? PROGRAM_DECODE : PROGRAM_STEP, 0),
              "job", arena_format(e->arena, "%s%s", emit_job(e), keys_only),
              "body", emit_has_threads(e) ? "rt_body" : "job_body", NULL);
    text_fill(out, decode_template, "name", e->name, "upper", e->upper,
              "back", back ? arena_format(e->arena, " .back = %d,", back) : "",
              "furthest", back ? " .furthest = s->furthest," : "",
              "memory", memory ? " .memory = s->rows_visible_memory," : "",
              "logits", result_call(e, emit_scores(e->model), plan_buffer(e->plan, "logits")),
              "rows", rows.data, "decode_body", plan_rows(e->plan) > 1 ? ", decode_body" : "",
              "decode_greedy_body", plan_rows(e->plan) > 1 ? ", decode_greedy_body" : "", NULL);
    if (e->plan->saturated_offset) text_fill(out, saturated_template, "name", e->name, "upper", e->upper, NULL);
}

static const char tokenizer_target_template[] =
    "rt_status ${name}_tokenize_target(const ${name} *m, ${name}_state *state, const char *utf8, int *ids, int room, int *n, "
    "RtTextFault *fault)\n"
    "{\n"
    "    struct state *const s = (struct state *)(void *)state;\n"
    "    return rt_text_ids(m->weights + W_TOKENIZER, ${bytes}, utf8, 1, ids, room, n, fault, s->text_work,\n"
    "                       sizeof s->text_work);\n"
    "}\n";

static void tokenizer_calls(Emit *e, Text *out)
{
    const char *bytes = emit_number(e, (int64_t)e->model->tokenizer_size);
    Text target = text_new(e->arena);
    if (e->model->has_decoder)
        text_fill(&target, tokenizer_target_template, "name", e->name, "bytes", bytes, NULL);
    text_fill(out, tokenizer_template, "name", e->name, "bytes", bytes, "target", target.data, NULL);
}

static void sequence_calls(Emit *e, Text *out)
{
    const Plan *p = e->plan;
    Text text = text_new(e->arena), encode = text_new(e->arena), decode = text_new(e->arena);
    if (e->model->has_encoder) encoder_calls(e, &encode);
    if (e->model->has_decoder) decoder_calls(e, &decode);
    if (has_text(e))
        text_fill(&text, text_template, "name", e->name, "upper", e->upper, "source_count", emit_number(e, p->source_characters->integer_count / 2),
                  "target_count", emit_number(e, p->target_characters->integer_count / 2), NULL);
    if (has_pieces(e)) tokenizer_calls(e, &text);
    text_fill(out, state_template, "name", e->name,
              "clear_furthest", p->back ? "rt_clear(s->furthest, sizeof s->furthest);" : "",
              "clear_saturated", p->saturated_offset ? "rt_clear(s->saturated, sizeof s->saturated);" : "",
              "encode", encode.data, "decode", decode.data,
              "text_calls", text.data, NULL);
}

const EmitKind emit_sequence = { emit_sequence_header, sequence_calls, emit_sequence_main, emit_sequence_example, emit_sequence_names };
