/* emit_sequence_main.c: the programs of a sequence model: NAME_main.c is the command NAME, and
 * example.c uses the library. */
#include "emit_kind.h"
#include "chat.h"
#include "tolerance.h"

#include <string.h>


static const char main_template[] =
    "/* ${name}_main.c: the program ${name}. Compiled for the baseline instruction set; it checks whether the processor can run ${name}.c. */\n"
    "#include \"${name}.h\"\n"
    "#include \"rt_cli.h\"\n"
    "\n"
    "${weights_declaration}\n"
    "static rt_status main_bind(void *m, const void *weights, size_t bytes) { return ${name}_bind(m, weights, bytes); }\n"
    "static rt_status main_threads(void *m, int n) { return ${name}_threads(m, n); }\n"
    "static rt_team *main_team(const void *m) { return ((const ${name} *)m)->team; }\n"
    "static void main_reset(void *s) { ${name}_reset(s); }\n"
    "${encoder_calls}\n"
    "${decoder_calls}\n"
    "${text_calls}\n"
    "\n"
    "int main(int argc, char **argv)\n"
    "{\n"
    "    const rt_program program = {\n"
    "        .name = \"${name}\", .about = \"${about}\", .spec = \"${spec}\", .version = \"${version}\",\n"
    "${stacks}\n"
    "        .isa = ${isa}, .model_bytes = sizeof(${name}), .state_bytes = ${upper}_STATE_BYTES,\n"
    "        .weights = ${weights}, .weights_bytes = ${upper}_WEIGHTS_BYTES, .weights_file = ${weights_file},\n"
    "        ${behind}\n"
    "        .parameters = ${parameters}, .dtype = \"${dtype}\",${kv_dtype}\n"
    "        .tolerance = ${tolerance}, .default_threads = ${threads}, .max_threads = ${upper}_MAX_THREADS,\n"
    "        .bind = main_bind, .threads = main_threads, .team = main_team, .reset = main_reset,\n"
    "${encoder_rows}\n"
    "${decoder_rows}\n"
    "${text_rows}\n"
    "    };\n"
    "    return rt_cli_main(&program, argc, argv);\n"
    "}\n";

static const char main_encoder[] =
    "static rt_status main_encode(const void *m, void *s, int slot, const int *ids, int n)\n"
    "{\n"
    "    return ${name}_encode(m, s, slot, ids, n);\n"
    "}\n";
static const char main_encoder_rows[] =
    "        .max_source = ${upper}_MAX_SOURCE, .source_vocab = ${upper}_SOURCE_VOCAB, .encode = main_encode,\n";
static const char main_hidden[] =
    "static rt_status main_encode_batch(const void *m, void *s, const int *ids, const int *lengths, const int *firsts, int count, float *vectors)\n"
    "{\n"
    "    return ${name}_encode_batch(m, s, ids, lengths, firsts, count, vectors);\n"
    "}\n"
    "static const float *main_hidden(const void *s) { return ${name}_hidden(s); }\n";
static const char main_hidden_rows[] =
    "        .width = ${width}, .hidden_stride = ${upper}_HIDDEN_STRIDE, .hidden = main_hidden, .encode_batch = main_encode_batch,\n"
    "        .vectors = &rt_cli_vector,\n";
static const char main_vector[] =
    "static const float *main_vector(const void *s) { return ${name}_vector(s); }\n";
static const char main_vector_rows[] =
    "        .vector_width = ${upper}_VECTOR_WIDTH, .vector_stride = ${stride}, .vector = main_vector,\n";
static const char main_pair[] =
    "static rt_status main_encode_pair(const void *m, void *s, int slot, const int *ids, int n, int first)\n"
    "{\n"
    "    return ${name}_encode_pair(m, s, slot, ids, n, first);\n"
    "}\n";
static const char main_decoder[] =
    "static rt_status main_decode(const void *m, void *s, const rt_token *r, int n) { return ${name}_decode(m, s, r, n); }\n"
    "static rt_status main_prefill(const void *m, void *s, const rt_token *r, int n) { return ${name}_prefill(m, s, r, n); }\n"
    "static const float *main_logits(const void *s) { return ${name}_${scores}(s); }\n"
    "static rt_status main_next(const void *m, void *s, int id, int *next) { return ${name}_next(m, s, id, next); }\n"
    "static rt_status main_clear(void *s, int slot) { return ${name}_clear(s, slot); }\n"
    "static rt_status main_fork_slot(void *s, int from, int to) { return ${name}_fork(s, from, to); }\n";
static const char main_decoder_rows[] =
    "        .max_target = ${upper}_MAX_TARGET, .vocab = ${upper}_VOCAB, .start = ${upper}_START, .slots = ${upper}_SLOTS,\n"
    "        .generation = &${name}_generation,\n"
    "        .rows = ${upper}_ROWS, .logits_stride = ${upper}_LOGITS_STRIDE, .decode = main_decode, .prefill = main_prefill, .logits = main_logits,\n"
    "        .next = main_next, .clear = main_clear, .fork_slot = main_fork_slot,\n";
static const char main_saturated[] = "\nstatic int main_saturated(const void *s) { return ${name}_saturated(s); }\n";
static const char main_text[] =
    "\n"
    "static rt_status main_tokenize(const void *m, void *s, const char *utf8, int *ids, int room, int *n, RtTextFault *fault)\n"
    "{\n"
    "    return ${name}_tokenize(m, s, utf8, ids, room, n, fault);\n"
    "}\n"
    "\n"
    "static rt_status main_detokenize(const void *m, const int *ids, int n, char *out, size_t cap, size_t *bytes)\n"
    "{\n"
    "    return ${name}_detokenize(m, ids, n, out, cap, bytes);\n"
    "}\n";
static const char main_tokenizer[] =
    "\n"
    "static const void *main_tokenizer(const void *m, size_t *bytes) { return ${name}_tokenizer(m, bytes); }\n";
static const char main_tokenizer_rows[] = "        .texts = &rt_cli_text, .tokenizer = main_tokenizer,\n";
static const char main_chat_rows[] = "        .texts = &rt_cli_text, .tokenizer = main_tokenizer, .chat = &${name}_chat,\n";
static const char main_text_rows[] = "        .tokenize = main_tokenize, .detokenize = main_detokenize,\n";

/* A step, or an encoder's longest call, with fewer FLOPs ends before a second thread has woken up,
 * so one thread is the default for such a model. */
static const double FLOPS_FOR_THREADS = 20e6;

static const char *about(Emit *e)
{
    const Model *m = e->model;
    const char *kind = m->has_encoder && m->has_decoder ? "encoder-decoder" : m->has_decoder ? "decoder" : "encoder";
    const char *layers = m->has_encoder && m->has_decoder
                             ? arena_format(e->arena, "%lld + %lld", (long long)m->encoder.layers, (long long)m->decoder.layers)
                             : emit_number(e, m->has_decoder ? m->decoder.layers : m->encoder.layers);
    return arena_format(e->arena, "%s of %s layer%s, width %lld", kind, layers, strcmp(layers, "1") == 0 ? "" : "s", (long long)m->d_model);
}

/* A part of main: a template with one placeholder filled; "" if the model lacks the part. */
static const char *part(Emit *e, bool there, const char *template, const char *key, const char *value)
{
    Text t = text_new(e->arena);
    if (there) text_fill(&t, template, key, value, NULL);
    return t.data;
}

static const char *in_quotes(Emit *e, const char *s)
{
    Text t = text_new(e->arena);
    text_add_quoted(&t, s);
    return t.data;
}

/* The labels of a classifier, one for each element of its vector. */
static void add_labels(Emit *e, Text *out)
{
    const FieldList *labels = &e->model->labels;
    text_add(out, "static const char *const main_labels[] = {\n");
    for (int i = 0; i < labels->count; i++) text_printf(out, "    \"%s\",\n", in_quotes(e, labels->text[i]));
    text_add(out, "};\n");
}

/* The rows of `translations`, each two language codes and the prefix of a text; NULL ends the
 * list. */
static void add_translations(Emit *e, Text *out)
{
    const FieldList *rows = &e->model->translations;
    text_add(out, "static const char *const main_translations[] = {\n");
    for (int i = 0; i < rows->count; i++) text_printf(out, "    \"%s\",\n", in_quotes(e, rows->text[i]));
    text_add(out, "    NULL\n};\n");
}

static const char *encoder_part(Emit *e)
{
    Text t = text_new(e->arena);
    if (!e->model->has_encoder) return "";
    text_fill(&t, main_encoder, "name", e->name, NULL);
    if (!e->model->has_decoder) text_fill(&t, main_hidden, "name", e->name, NULL);
    if (model_has_head(e->model)) text_fill(&t, main_vector, "name", e->name, NULL);
    if (e->model->pairs && e->model->token_types > 1) text_fill(&t, main_pair, "name", e->name, NULL);
    if (e->model->labels.count) add_labels(e, &t);
    if (e->model->translations.count) add_translations(e, &t);
    return t.data;
}

static const char *decoder_part(Emit *e)
{
    Text t = text_new(e->arena);
    if (!e->model->has_decoder) return "";
    text_fill(&t, main_decoder, "name", e->name, "scores", emit_scores(e->model), NULL);
    text_printf(&t, "\nextern const RtGeneration %s_generation;\n", e->name);
    if (model_chats(e->model)) text_printf(&t, "extern const RtChat %s_chat;\n", e->name);
    return t.data;
}

static const char *decoder_rows(Emit *e)
{
    Text t = text_new(e->arena);
    if (e->model->has_decoder) text_fill(&t, main_decoder_rows, "name", e->name, "upper", e->upper, NULL);
    return t.data;
}

static const char *encoder_rows(Emit *e)
{
    static const char *const similarities[] = {
        [SIMILARITIES_COSINE] = "", [SIMILARITIES_DOT] = "DOT", [SIMILARITIES_EUCLIDEAN] = "EUCLIDEAN", [SIMILARITIES_MANHATTAN] = "MANHATTAN",
    };
    Text t = text_new(e->arena);
    if (!e->model->has_encoder) return "";
    text_fill(&t, main_encoder_rows, "upper", e->upper, NULL);
    if (!e->model->has_decoder) text_fill(&t, main_hidden_rows, "upper", e->upper, "width", emit_number(e, e->model->d_model), NULL);
    if (model_has_head(e->model))
        text_fill(&t, main_vector_rows, "upper", e->upper,
                  "stride", model_pools(e->model) ? "0" : arena_format(e->arena, "%s_VECTOR_STRIDE", e->upper), NULL);
    if (e->model->labels.count)
        text_printf(&t, "        .labels = main_labels,%s\n", e->model->label_scores == SCORINGS_SIGMOID ? " .scoring = RT_SCORING_SIGMOID,"
                    : e->model->label_scores == SCORINGS_NONE ? " .scoring = RT_SCORING_NONE," : "");
    if (e->model->translations.count) text_add(&t, "        .translations = main_translations,\n");
    if (*similarities[e->model->similarity]) text_printf(&t, "        .similarity = RT_SIMILARITY_%s,\n", similarities[e->model->similarity]);
    if (e->model->pairs) text_printf(&t, "        .pairs = 1,%s\n", e->model->token_types > 1 ? " .encode_pair = main_encode_pair," : "");
    if (e->model->mask_id >= 0) text_printf(&t, "        .has_mask = 1, .mask_id = %lld,\n", (long long)e->model->mask_id);
    if (e->model->pad_id >= 0) text_printf(&t, "        .has_pad = 1, .pad_id = %lld,\n", (long long)e->model->pad_id);
    return t.data;
}

static const char *stacks(Emit *e)
{
    const Model *m = e->model;
    Text t = text_new(e->arena);
    if (m->has_encoder) text_printf(&t, "        .about_encoder = \"%s\",\n", emit_stack(e, &m->encoder));
    if (m->has_decoder) text_printf(&t, "        .about_decoder = \"%s\",\n", emit_stack(e, &m->decoder));
    return t.data;
}

/* A C expression for the instruction sets of the variant that bind chooses. */
static const char *isa_expression(Emit *e)
{
    const char *chosen = arena_format(e->arena, "%s_isa", e->name);
    for (int i = e->isa_count - 2; i >= 0; i--)
        chosen = arena_format(e->arena, "rt_isa_missing(%s_%s_isa) ? %s : %s_%s_isa", e->name, e->isas[i], chosen, e->name, e->isas[i]);
    return chosen;
}

/* Declarations that NAME.h lacks: the instruction sets of all variants but the last. */
static const char *isa_declarations(Emit *e)
{
    Text t = text_new(e->arena);
    for (int i = 0; i + 1 < e->isa_count; i++) text_printf(&t, "extern const unsigned %s_%s_isa;\n", e->name, e->isas[i]);
    if (t.size) text_add(&t, "\n");
    return t.data;
}

void emit_sequence_main(Emit *e, Text *out)
{
    const Model *m = e->model;
    const bool text = has_text(e);
    const int tuned = e->form.tuning ? e->form.tuning->threads : 0;
    const char *result = m->has_decoder ? "logits" : "hidden";
    Cost c = m->has_decoder
           ? plan_cost(e->plan, PROGRAM_NEXT, 1, m->max_target, m->max_source)
           : plan_cost(e->plan, PROGRAM_ENCODE, m->max_source, m->max_source, m->max_source);
    text_fill(out, main_template, "name", e->name, "upper", e->upper, "version", XFORMC_VERSION, "about", about(e),
              "spec", in_quotes(e, emit_spec_name(e)), "stacks", stacks(e),
              "weights_declaration", arena_format(e->arena, "%s%s", isa_declarations(e), emit_weights_declaration(e)),
              "weights", emit_weights_symbol(e), "isa", isa_expression(e),
              "weights_file", emit_has_weights_file(e) ? arena_format(e->arena, "\"%s.safetensors\"", e->name) : "NULL",
              "behind", e->form.weights == WEIGHTS_BEHIND ? ".weights_behind = 1," : "",
              "parameters", emit_number(e, model_parameters(m)), "dtype", emit_dtypes(e),
              "kv_dtype", m->kv_dtype == KV_DTYPES_F32 ? "" : arena_format(e->arena, " .kv_dtype = \"%s\",%s", model_kv_dtype(m),
                                                                         m->kv_dtype == KV_DTYPES_F16 ? " .saturated = main_saturated," : ""),
              "tolerance", arena_format(e->arena, "%g", model_tolerance_apart(m, result)),
              "threads", tuned ? emit_number(e, tuned) : c.flops < FLOPS_FOR_THREADS ? "1" : "0",
              "encoder_calls", encoder_part(e), "encoder_rows", encoder_rows(e),
              "decoder_calls", arena_format(e->arena, "%s%s", decoder_part(e),
                                             part(e, e->plan->saturated_offset > 0, main_saturated, "name", e->name)),
              "decoder_rows", decoder_rows(e),
              "text_calls", part(e, text || has_pieces(e), text ? main_text : main_tokenizer, "name", e->name),
              "text_rows", text ? main_text_rows : model_chats(m) ? part(e, true, main_chat_rows, "name", e->name)
                           : has_pieces(e) ? main_tokenizer_rows : "", NULL);
}

static const char example_template[] =
    "/* example.c: ${name} inside another program: bind, ${calls}. */\n"
    "#include <stdio.h>\n"
    "#include <string.h>\n"
    "\n"
    "#include \"${name}.h\"\n"
    "#include \"rt_weights.h\"\n"
    "\n"
    "${define}static ${name}_state state;\n"
    "\n"
    "int main(int argc, char **argv)\n"
    "{\n"
    "    static ${name} model;\n"
    "    const char *path = argc > 1 ? argv[1] : ${place};       /* of the packed weights */\n"
    "    RtWeights weights;\n"
    "    const int ids[] = { ${ids} };\n"
    "    const int n = (int)(sizeof ids / sizeof *ids);\n"
    "    const int missing = rt_weights_open(&weights, path);                /* 0 or an errno */\n"
    "    rt_status status = missing ? RT_BAD_WEIGHTS : ${name}_bind(&model, weights.data, weights.bytes);\n"
    "${body}\n"
    "    if (missing) fprintf(stderr, \"example: %s: %s\\n\", path, strerror(missing));\n"
    "    else if (status != RT_OK) fprintf(stderr, \"example: %s\\n\", rt_status_text(status));\n"
    "    rt_weights_close(&weights);\n"
    "    return status == RT_OK ? 0 : 1;\n"
    "}\n";

static const char example_translate[] =
    "    if (status == RT_OK) status = ${name}_encode(&model, &state, 0, ids, n);\n"
    "    for (int i = 1, id = ${upper}_START; status == RT_OK && i < ${upper}_MAX_TARGET; i++) {\n"
    "        status = ${name}_next(&model, &state, id, &id);\n"
    "        if (status == RT_OK) printf(\"%d%c\", id, id == ${upper}_END || i + 1 == ${upper}_MAX_TARGET ? '\\n' : ' ');\n"
    "        if (id == ${upper}_END) break;\n"
    "    }\n";

static const char example_generate[] =
    "    for (int i = 0, id = ids[0]; status == RT_OK && i < ${upper}_MAX_TARGET; i++) {     /* ids, then what follows them */\n"
    "        int next;\n"
    "        status = ${name}_next(&model, &state, id, &next);\n"
    "        id = i + 1 < n ? ids[i + 1] : next;\n"
    "        if (status == RT_OK) printf(\"%d%c\", id, id == ${upper}_END || i + 1 == ${upper}_MAX_TARGET ? '\\n' : ' ');\n"
    "        if (id == ${upper}_END) break;\n"
    "    }\n";

static const char example_encode[] =
    "    if (status == RT_OK) status = ${name}_encode(&model, &state, 0, ids, n);\n"
    "    for (int i = 0; status == RT_OK && i < n; i++)\n"
    "        printf(\"%d: %.5f ..\\n\", ids[i], ${name}_hidden(&state)[i * ${upper}_HIDDEN_STRIDE]);\n";

void emit_sequence_example(Emit *e, Text *out)
{
    const Model *m = e->model;
    Text ids = text_new(e->arena), body = text_new(e->arena);
    int64_t longest = m->has_encoder ? m->max_source : m->max_target, vocab = m->has_encoder ? m->source_vocab : m->target_vocab;
    for (int64_t i = 0; i < 4 && i < longest; i++) text_printf(&ids, "%s%lld", i ? ", " : "", (long long)((4 + 3 * i) % vocab));
    bool both = m->has_encoder && m->has_decoder;
    const char *template = both ? example_translate : m->has_decoder ? example_generate : example_encode;
    text_fill(&body, template, "name", e->name, "upper", e->upper, NULL);
    text_fill(out, example_template, "name", e->name, "define", emit_weights_define(e, e->name), "place", emit_weights_place(e),
              "calls", both ? "encode, next" : m->has_decoder ? "next" : "encode", "ids", ids.data,
              "body", body.data, NULL);
}
