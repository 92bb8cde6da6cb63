/* emit_generate.c: NAME_settings.c, which has a decoder's generation settings and chat template,
 * and NAME_generate.c, which answers a text with a text. */
#include "emit_kind.h"

#include "chat.h"
#include "generation.h"

static const char settings_template[] =
    "/* ${name}_settings.c: the model's generation settings${words}. */\n"
    "#include \"rt_generation.h\"\n"
    "${include}\n"
    "extern const RtGeneration ${name}_generation;\n";

static const char head_template[] =
    "/* ${name}_generate.c: ${name}_generate, built on the model's other calls. Compiled for the baseline instruction set. */\n"
    "#include \"${name}.h\"\n"
    "#include \"rt_generate_text.h\"\n"
    "${include}\n"
    "extern const RtGeneration ${name}_generation;\n"
    "${chat}\n";

static const char calls_template[] =
    "\n"
    "/* ---- the model's calls, as rt_generate_text.h expects them ----------------------------------- */\n"
    "\n"
    "typedef struct call { const ${name} *model; ${name}_state *state;${members} } call;\n"
    "\n"
    "static rt_status call_decode(void *self, const rt_token *rows, int n)\n"
    "{\n"
    "    const call *c = self;\n"
    "    return ${name}_decode(c->model, c->state, rows, n);\n"
    "}\n"
    "\n"
    "static rt_status call_prefill(void *self, const rt_token *rows, int n)\n"
    "{\n"
    "    const call *c = self;\n"
    "    return ${name}_prefill(c->model, c->state, rows, n);\n"
    "}\n"
    "\n"
    "static rt_status call_next(void *self, int id, int *next)\n"
    "{\n"
    "    const call *c = self;\n"
    "    return ${name}_next(c->model, c->state, id, next);\n"
    "}\n"
    "\n"
    "static const float *call_logits(void *self)\n"
    "{\n"
    "    const call *c = self;\n"
    "    return ${name}_${scores}(c->state);\n"
    "}\n"
    "\n"
    "static rt_status call_fork(void *self, int from, int to)\n"
    "{\n"
    "    const call *c = self;\n"
    "    return ${name}_fork(c->state, from, to);\n"
    "}\n"
    "\n"
    "static rt_status call_clear(void *self, int slot)\n"
    "{\n"
    "    const call *c = self;\n"
    "    return ${name}_clear(c->state, slot);\n"
    "}\n"
    "${encode}\n"
    "\n"
    "static rt_status call_tokenize(void *self, const RtTextInput *in, int *ids, int room, int *n)\n"
    "{\n"
    "    ${tokenize}\n"
    "}\n"
    "\n"
    "static rt_status call_detokenize(void *self, const int *ids, int from, int n, int last, char *out,\n"
    "                                 size_t cap, size_t *used)\n"
    "{\n"
    "    ${detokenize}\n"
    "}\n"
    "\n"
    "rt_status ${name}_generate(const ${name} *m, ${name}_state *s, const char *text, const rt_generate_options *options,\n"
    "                         rt_on_token *on_token, void *user)\n"
    "{\n"
    "    call c = { .model = m, .state = s };\n"
    "    const RtTextModel calls = {\n"
    "        .decoder = {\n"
    "            .self = &c, .slots = ${upper}_SLOTS, .rows_most = ${upper}_ROWS,\n"
    "            .vocab = ${upper}_VOCAB, .stride = ${upper}_LOGITS_STRIDE,\n"
    "            .decode = call_decode, .prefill = call_prefill, .next = call_next,\n"
    "            .logits = call_logits, .fork = call_fork, .clear = call_clear,\n"
    "        },\n"
    "        .settings = &${name}_generation, .tokenize = call_tokenize, .detokenize = call_detokenize,${chat}\n"
    "        ${kind}\n"
    "        .token = ${token},\n"
    "        .ids = (int *)(void *)(s->bytes + ${ids_at}),          /* [${ids}] */\n"
    "        .work = s->bytes + ${work_at}, .bytes = ${work},\n"
    "    };\n"
    "    ${open}\n"
    "    return rt_generate_text(&calls, text, options, on_token, user);\n"
    "}\n";

static const char encode_call[] =
    "\n"
    "static rt_status call_encode(void *self, int slot, const int *ids, int n)\n"
    "{\n"
    "    const call *c = self;\n"
    "    return ${name}_encode(c->model, c->state, slot, ids, n);\n"
    "}";

static const char pieces_open[] =
    "size_t bytes;\n"
    "const void *const blob = ${name}_tokenizer(m, &bytes);\n"
    "const rt_status status = rt_tokenizer_view(&c.tokenizer, blob, bytes);\n"
    "if (status != RT_OK) return status;";

static const char tokenize_characters[] =
    "const call *c = self;\n"
    "return ${name}_tokenize(c->model, c->state, in->text, ids, room, n, NULL);";

static const char tokenize_pieces[] =
    "call *c = self;\n"
    "const RtTokenText text = { in->text, in->bytes, NULL, 0, in->plain };\n"
    "const RtTokens out = { ids, NULL, NULL, room, NULL };\n"
    "rt_tokenizer_literal(&c->tokenizer, in->literal, in->literal_count);\n"
    "const rt_status status = rt_tokenizer_encode(&c->tokenizer, &text, &out, n, in->scratch, in->scratch_bytes);\n"
    "return status == RT_NO_ROOM ? RT_TOO_LONG : status;";

static const char detokenize_characters[] =
    "const call *c = self;\n"
    "size_t bytes;\n"
    "(void)last;\n"
    "const rt_status status = ${name}_detokenize(c->model, ids + from, n - from, out + *used, cap - *used, &bytes);\n"
    "*used += bytes;\n"
    "return status;";

static const char detokenize_pieces[] =
    "call *c = self;\n"
    "return rt_tokenizer_detokenize(&c->tokenizer, &c->stream, ids, from, n, last, out, cap, used);";

static const char *filled(Emit *e, const char *template)
{
    Text t = text_new(e->arena);
    text_fill(&t, template, "name", e->name, NULL);
    return t.data;
}

/* The offset of a list in the state. */
static const char *list_at(Emit *e, const CallList *l)
{
    return emit_number(e, (int64_t)(e->plan->scratch_offset + l->offset));
}

static void emit_calls(Emit *e, Text *out)
{
    const bool source = e->model->has_encoder, pieces = has_pieces(e);
    const CallList *ids = plan_list(e->plan, "text_ids"), *work = plan_list(e->plan, "text_work");
    const char *kind = arena_format(e->arena, "%s.longest = %s_MAX_TARGET + 1,       /* the last id is not fed */",
                                    pieces ? ".joined = 1, .marks = 1, " : "", e->upper);
    if (source)
        kind = arena_format(e->arena, "%s.encode = call_encode, .start = %s_START,\n.source = %s_MAX_SOURCE, .longest = %s_MAX_TARGET,",
                            pieces ? ".marks = 1, " : "", e->upper, e->upper, e->upper);
    text_fill(out, calls_template, "name", e->name, "upper", e->upper, "scores", emit_scores(e->model),
              "members", pieces ? " RtTokenizer tokenizer; RtTokenStream stream;" : "",
              "encode", source ? filled(e, encode_call) : "",
              "tokenize", pieces ? tokenize_pieces : filled(e, tokenize_characters),
              "detokenize", pieces ? detokenize_pieces : filled(e, detokenize_characters),
              "open", pieces ? filled(e, pieces_open) : "", "kind", kind,
              "token", emit_number(e, pieces ? PLAN_TOKEN_BYTES : PLAN_CHARACTER_BYTES),
              "chat", model_chats(e->model) ? arena_format(e->arena, "\n.chat = &%s_chat, .message = rt_chat_message,", e->name) : "",
              "ids_at", list_at(e, ids), "ids", emit_number(e, ids->count),
              "work_at", list_at(e, work), "work", emit_number(e, work->count), NULL);
}

void emit_settings(Emit *e, Text *out)
{
    const Model *m = e->model;
    if (!m->has_decoder) return;
    const bool chats = model_chats(m);
    const RtGeneration g = generation_of(m);
    text_fill(out, settings_template, "name", e->name, "words", chats ? " and its chat template" : "",
              "include", chats ? "#include \"rt_chat.h\"\n" : "", NULL);
    generation_emit(e->arena, out, e->name, &g);
    if (!chats) return;
    const RtChat chat = chat_of(m);
    text_printf(out, "\nextern const RtChat %s_chat;\n", e->name);
    chat_emit(out, e->name, &chat);
}

void emit_generate(Emit *e, Text *out)
{
    if (!emit_answers_text(e)) return;
    text_fill(out, head_template, "name", e->name, "include", has_pieces(e) ? "#include \"rt_tokenizer.h\"\n" : "",
              "chat", model_chats(e->model) ? arena_format(e->arena, "extern const RtChat %s_chat;\n", e->name) : "", NULL);
    emit_calls(e, out);
}
