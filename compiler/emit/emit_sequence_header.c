/* emit_sequence_header.c: NAME.h of sequence models: sizes, and the declarations of the calls. */
#include "emit_kind.h"

static const char sizes_encoder[] =
    "#define ${upper}_MAX_SOURCE     ${max_source}          /* maximum length of a source, in ids */\n"
    "#define ${upper}_SOURCE_VOCAB   ${source_vocab}\n"
    "${slots}\n";
static const char sizes_decoder[] =
    "#define ${upper}_MAX_TARGET     ${max_target}          /* maximum length of a sequence${start_words} */\n"
    "#define ${upper}_VOCAB          ${target_vocab}\n"
    "#define ${upper}_ROWS           ${rows}          /* maximum number of rows per call of ${name}_decode */\n"
    "#define ${upper}_SLOTS          ${slots}           /* sequences in a state */\n"
    "#define ${upper}_LOGITS_STRIDE  ${stride}          /* floats from one row of logits to the next */\n";

static const char header_encode[] =
    "\n"
    "/* Run the encoder on a source of 1 .. ${upper}_MAX_SOURCE ids in a slot, and empty the slot's target.\n"
    " * Errors: RT_BAD_ID, RT_TOO_LONG; RT_ORDER for n < 1. */\n"
    "rt_status ${name}_encode(const ${name} *m, ${name}_state *s, int slot, const int *ids, int n);\n";

static const char header_pair[] =
    "\n"
    "/* ${name}_encode for a pair of texts: the first `first` ids have token type 0, the others type 1. ${name}_encode gives every\n"
    " * id type 0. Errors: also RT_ORDER for `first` outside 0 .. n. */\n"
    "rt_status ${name}_encode_pair(const ${name} *m, ${name}_state *s, int slot, const int *ids, int n, int first);\n";

static const char header_hidden[] =
    "\n"
    "/* Run the encoder on a source of 1 .. ${upper}_MAX_SOURCE ids in slot 0, the only one.\n"
    " * Errors: RT_BAD_ID for an unknown id or another slot; RT_TOO_LONG; RT_ORDER for n < 1. */\n"
    "rt_status ${name}_encode(const ${name} *m, ${name}_state *s, int slot, const int *ids, int n);\n"
    "\n"
    "/* Run the encoder on `count` texts at once: text i has lengths[i] ids, and the texts follow one another in ids. Each\n"
    " * text attends only to itself, and its results are bit-identical to those of a separate call. Texts fit if their lengths, all but\n"
    " * the last rounded up to a multiple of 16, sum to at most ${upper}_MAX_SOURCE. ${firsts_words}\n"
    " * ${vectors_words}\n"
    " * Errors: RT_BAD_ID; RT_TOO_LONG if the texts do not fit; RT_ORDER for count < 1 or a length < 1${firsts_errors}${null_errors}. */\n"
    "rt_status ${name}_encode_batch(const ${name} *m, ${name}_state *s, const int *ids, const int *lengths, const int *firsts, int count, "
    "float *vectors);\n"
    "\n"
    "/* The hidden states of the last call: row i, of ${width} floats, begins at i * ${upper}_HIDDEN_STRIDE. Valid until the\n"
    " * next call on this state. */\n"
    "#define ${upper}_HIDDEN_STRIDE  ${stride}\n"
    "const float *${name}_hidden(const ${name}_state *s);\n";

static const char header_vector[] =
    "\n"
    "/* The head's output for ${vector_words}. Valid until the next call on this state. */\n"
    "#define ${upper}_VECTOR_WIDTH   ${width}\n"
    "${vector_stride}\n"
    "const float *${name}_vector(const ${name}_state *s);\n";

static const char header_decode[] =
    "\n"
    "/* Run the decoder on rows[n]: append token `id` at position `pos` of the sequence in `slot`. One\n"
    " * row is a step, several rows of a slot are a prefill, and rows of several slots are a batch. Rows\n"
    " * of a slot must be adjacent and have consecutive positions.\n"
    " * The first position is at most the length of the sequence, which is cut there first${back_words}.\n"
    " * ${start_rule}Row i of ${name}_${scores} scores the id that follows rows[i].\n"
    " * Errors: RT_BAD_ID, RT_TOO_LONG; RT_ORDER for n < 1${source_words} or rows that break these rules. */\n"
    "rt_status ${name}_decode(const ${name} *m, ${name}_state *s, const rt_token *rows, int n);\n"
    "\n"
    "/* ${name}_decode without ${logits_kind}, and faster: for all rows of a prompt but the last. */\n"
    "rt_status ${name}_prefill(const ${name} *m, ${name}_state *s, const rt_token *rows, int n);\n"
    "\n"
    "/* Like ${name}_decode; next[n] receives the most likely id after each row. Ties go to the lowest id.${plain_words}\n"
    " * Errors: also RT_NOT_FINITE, for a row with a logit that is NaN or +infinity; its next is -1. */\n"
    "rt_status ${name}_decode_greedy(const ${name} *m, ${name}_state *s, const rt_token *rows, int n, int *next);\n"
    "\n"
    "/* Copy the sequence${source_copy} of slot `from` to slot `to`. */\n"
    "rt_status ${name}_fork(${name}_state *s, int from, int to);\n"
    "\n"
    "/* Empty the sequence of a slot${source_keep}. */\n"
    "rt_status ${name}_clear(${name}_state *s, int slot);\n"
    "\n"
    "/* Append `id` to the sequence in slot 0, as ${name}_decode does with one row. */\n"
    "rt_status ${name}_step(const ${name} *m, ${name}_state *s, int id);\n"
    "\n"
    "/* The last call's ${logits_words}, as [rows][${upper}_LOGITS_STRIDE]; the first ${upper}_VOCAB of each row are in use. "
    "Valid until the next call on this state. */\n"
    "const float *${name}_${scores}(const ${name}_state *s);\n"
    "\n"
    "/* Append `id` to the sequence in slot 0 and write the most likely next id, as ${name}_decode_greedy does. */\n"
    "rt_status ${name}_next(const ${name} *m, ${name}_state *s, int id, int *next);\n";

static const char saturated_header[] =
    "\n"
    "/* True if a key or value exceeded the range of f16 since ${name}_reset; it was stored as +-65504. */\n"
    "int ${name}_saturated(const ${name}_state *s);\n";

static const char tokenize_header[] =
    "\n"
    "/* ---- text ------------------------------------------------------------------------------------ */\n"
    "\n"
    "/* Turn a text into ids[room]${special}; *n receives their number. s may serve as\n"
    " * scratch memory; its sequences are unchanged. RT_TOO_LONG: more than room, and *n says how many${long_words}.\n"
    " * RT_BAD_ID: a character without an id${fault_words}; fault may be NULL. */\n"
    "rt_status ${name}_tokenize(const ${name} *m, ${name}_state *s, const char *utf8, int *ids, int room, int *n, "
    "RtTextFault *fault);\n"
    "${target}\n"
    "\n"
    "/* Turn ids[n] into text: out[cap], NUL-terminated. Special tokens such as </s>${unknown} are left out.\n"
    " * *bytes receives the length of the text; bytes may be NULL. Errors: RT_NO_ROOM${id_words}. */\n"
    "rt_status ${name}_detokenize(const ${name} *m, const int *ids, int n, char *out, size_t cap, size_t *bytes);\n";

static const char target_header[] =
    "\n"
    "/* ${name}_tokenize for an answer, as ${name}_decode takes it: with the target's vocabulary, without special tokens. */\n"
    "rt_status ${name}_tokenize_target(const ${name} *m, ${name}_state *s, const char *utf8, int *ids, int room, int *n, "
    "RtTextFault *fault);";

static const char generate_header[] =
    "\n"
    "/* Generate ${words} in slot 0, replacing the sequence there, and pass it piece by piece to on_token, unless that is NULL.\n"
    " * When on_token returns false, generation stops with RT_OK. on_token must not use this state. A beam search takes\n"
    " * a slot for each beam. options NULL or all zeros: the model's own settings.\n"
    " * Errors: RT_BAD_OPTION: options that are out of range, conflict or are not supported; RT_ORDER: a\n"
    " * text without ids; RT_NO_ROOM: stop strings too long; RT_NO_TOKEN: the settings exclude every\n"
    " * token; or those of ${name}_tokenize and ${name}_decode_greedy. */\n"
    "rt_status ${name}_generate(const ${name} *m, ${name}_state *s, const char *text, const rt_generate_options *options,\n"
    "        rt_on_token *on_token, void *user);\n";

static const char tokenizer_header[] =
    "\n"
    "/* The tokenizer, which is part of the weights; rt_tokenizer_open in rt_tokenizer.h reads it. */\n"
    "const void *${name}_tokenizer(const ${name} *m, size_t *bytes);\n";

/* The buffer with the result of a program; NULL if the plan lacks the program. */
static const Buffer *left_by(const Emit *e, ProgramKind program)
{
    const PlanProgram *p = plan_program(e->plan, program);
    return p ? p->runs[p->count - 1].block->carry_out : NULL;
}

static void encoder_sizes(Emit *e, Text *out)
{
    text_fill(out, sizes_encoder, "upper", e->upper, "max_source", emit_number(e, e->model->max_source),
              "source_vocab", emit_number(e, e->model->source_vocab),
              "slots", e->model->has_decoder ? "" : arena_format(e->arena, "#define %s_SLOTS          1", e->upper), NULL);
}

static void decoder_sizes(Emit *e, Text *out)
{
    const Model *m = e->model;
    text_fill(out, sizes_decoder, "name", e->name, "upper", e->upper, "max_target", emit_number(e, m->max_target),
              "start_words", m->has_encoder ? ", start id included" : "",
              "target_vocab", emit_number(e, m->target_vocab),
              "rows", emit_number(e, plan_rows(e->plan)), "slots", emit_number(e, e->plan->options.slots),
              "stride", emit_number(e, left_by(e, PROGRAM_STEP)->stride), NULL);
    text_fill(out, "#define ${upper}_START          ${start}           /* ${first} id of a sequence */\n"
                   "#define ${upper}_END            ${end}           /* id that ends a sequence; -1: none */\n",
              "upper", e->upper, "first", m->has_encoder ? "first" : "usual first", "start", emit_number(e, m->start_id),
              "end", emit_number(e, m->end_id), NULL);
}

static void decoder_header(Emit *e, Text *out)
{
    bool memory = e->model->has_encoder, probabilities = e->model->log_softmax;
    text_fill(out, header_decode, "name", e->name, "upper", e->upper, "scores", emit_scores(e->model),
              "back_words", !e->plan->back ? ""
                  : arena_format(e->arena, "\n * (it must be 0, or fewer than %d before the furthest position decoded since position 0)",
                                 e->plan->back),
              "source_words", memory ? ", a slot without a source," : "", "source_copy", memory ? " and the source" : "",
              "source_keep", memory ? "; its source stays" : "",
              "plain_words", probabilities ? arena_format(e->arena, "\n * %s_scores then has logits, before the log-softmax.", e->name)
                                           : "",
              "logits_words", !probabilities ? "logits"
                  : arena_format(e->arena, "natural log-probabilities, or logits after %s_decode_greedy and %s_next", e->name, e->name),
              "start_rule", memory ? arena_format(e->arena, "A target begins with %s_START at 0 (not checked). ", e->upper) : "",
              "logits_kind", probabilities ? "log-probabilities" : "logits", NULL);
}

static void vector_header(Emit *e, Text *out)
{
    const Buffer *v = plan_vector(e->plan);
    const bool one = model_pools(e->model);
    text_fill(out, header_vector, "name", e->name, "upper", e->upper, "width", emit_number(e, v->width),
              "vector_words", one ? arena_format(e->arena, "the last source: %s_VECTOR_WIDTH floats", e->upper)
                                  : arena_format(e->arena, "the last call: row i begins at i * %s_VECTOR_STRIDE", e->upper),
              "vector_stride", one ? "" : arena_format(e->arena, "#define %s_VECTOR_STRIDE  %lld", e->upper, (long long)v->stride), NULL);
}

static void hidden_header(Emit *e, Text *out)
{
    const Model *m = e->model;
    const char *vectors = arena_format(e->arena, "%s_%s has the rows of all texts, in order; vectors must be NULL.", e->name,
                                       model_has_head(m) ? "vector" : "hidden");
    if (model_pools(m))
        vectors = arena_format(e->arena, "vectors [count][%s_VECTOR_WIDTH] receives a vector for each text; it may be NULL.", e->upper);
    text_fill(out, header_hidden, "name", e->name, "upper", e->upper, "width", emit_number(e, m->d_model),
              "stride", emit_number(e, plan_hidden(e->plan)->stride), "vectors_words", vectors,
              "firsts_errors", m->token_types > 1 ? ", or for a first outside 0 .. its text's length" : "",
              "null_errors", m->token_types > 1 && model_pools(m) ? "" : "; RT_BAD_OPTION for a pointer that must be NULL",
              "firsts_words", m->token_types > 1 ? "firsts: how many ids of each text have type 0; NULL: all." : "firsts must be NULL.", NULL);
}

static void tokenize_calls(Emit *e, Text *out)
{
    const bool pieces = has_pieces(e);
    Text target = text_new(e->arena);
    if (emit_answers_text(e)) text_fill(&target, target_header, "name", e->name, NULL);
    text_fill(out, tokenize_header, "name", e->name,
              "special", pieces ? ", including special tokens such as <s>"
                  : e->model->has_encoder ? arena_format(e->arena, ", as %s_encode takes them", e->name) : "",
              "long_words", pieces ? ", or 0 for a text too long to count" : "",
              "fault_words", pieces ? ", if there is no unknown token; *fault does not say which"
                                    : ", or invalid UTF-8; *fault says which", "target", target.data,
              "unknown", pieces ? ", and ids outside the vocabulary," : "", "id_words", pieces ? "" : "; RT_BAD_ID", NULL);
}

void emit_sequence_header(Emit *e, Text *out, const char *types)
{
    const Model *m = e->model;
    if (m->has_encoder) encoder_sizes(e, out);
    if (m->has_decoder) decoder_sizes(e, out);
    text_add(out, "\n");
    text_add(out, types);
    if (m->has_encoder && m->has_decoder) text_fill(out, header_encode, "name", e->name, "upper", e->upper, NULL);
    else if (m->has_encoder)
        hidden_header(e, out);
    if (model_has_head(m)) vector_header(e, out);
    if (m->token_types > 1) text_fill(out, header_pair, "name", e->name, NULL);
    if (m->has_decoder) decoder_header(e, out);
    if (e->plan->saturated_offset) text_fill(out, saturated_header, "name", e->name, NULL);
    if (has_text(e) || has_pieces(e)) tokenize_calls(e, out);
    if (has_pieces(e)) text_fill(out, tokenizer_header, "name", e->name, NULL);
    if (emit_answers_text(e))
        text_fill(out, generate_header, "name", e->name, "words", m->has_encoder ? "the answer to a text" : "a continuation of a text", NULL);
}
