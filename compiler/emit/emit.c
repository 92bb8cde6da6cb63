/* emit.c: emit the files of a model's folder, or all of its C as one text. */
#include "emit.h"
#include "emit_kind.h"
#include "isa.h"
#include "model.h"
#include "runtime_text.h"

#include <string.h>

static const EmitKind *kind_of(const Emit *e) { return e->model->graph ? &emit_graph : &emit_sequence; }

/* ---- NAME.h -------------------------------------------------------------------------------------------------- */

static const char types_template[] =
    "#define ${upper}_MAX_THREADS    ${threads}          /* threads that a state has room for */\n"
    "#define ${upper}_STATE_BYTES    ${state}\n"
    "#define ${upper}_WEIGHTS_BYTES  ${weights}\n"
    "${too_large}\n"
    "\n"
    "/* The state of ${slots}. It contains no pointers, so it can be copied or saved. Zero-initialise it. It is large: make\n"
    " * it static, or allocate it aligned to 64 bytes. */\n"
    "typedef struct ${name}_state { XF_ALIGN(64) unsigned char bytes[${upper}_STATE_BYTES]; } ${name}_state;\n"
    "\n"
    "/* A model. Zero-initialise it, then bind it. Any number of states may use it. Several threads may use it at once,\n"
    " * each with its own state, unless ${name}_threads gave it threads. */\n"
    "typedef struct ${name} { const unsigned char *weights; struct rt_team *team;${variant} } ${name};\n"
    "\n"
    "extern const unsigned ${name}_isa;         /* ${isa_words}: RT_ISA_* bits */\n"
    "\n"
    "/* Use packed weights: ${upper}_WEIGHTS_BYTES bytes, 64-byte aligned, kept by the caller while the model is in use.\n"
    " * rt_weights_open in rt_weights.h reads them from a file. The size and the header are checked; nothing is copied.\n"
    " * Errors: RT_BAD_WEIGHTS, RT_BYTE_ORDER, RT_NO_ISA. */\n"
    "rt_status ${name}_bind(${name} *m, const void *weights, size_t bytes);\n"
    "${variant_call}\n"
    "\n"
    "/* Compute with n threads, including the caller's; the results do not depend on n. Passing 1 ends the others: do\n"
    " * that before the model is destroyed. Errors: RT_NO_ROOM; RT_TOO_LONG for n outside 1 .. ${upper}_MAX_THREADS. */\n"
    "rt_status ${name}_threads(${name} *m, int n);\n"
    "\n"
    "/* ${reset}. A zeroed state needs no reset. */\n"
    "void ${name}_reset(${name}_state *s);\n";

static const char variant_call[] =
    "\n"
    "/* The name of the variant that bind chose: the first of ${list} that the processor supports. */\n"
    "const char *${name}_variant(const ${name} *m);\n";

static const char header_begin[] =
    "/* ${name}.h: the API of the model ${name}, for C11 and C++. Made by xformc from ${spec}.\n"
    " ${words}\n"
    " * Bind the model first: the other calls do not check that it is bound. Calls that can fail return a status, which\n"
    " * rt_status_text describes; a call that rejects its arguments changes nothing. Only ${name}_threads allocates. */\n"
    "#ifndef ${upper}_H\n"
    "#define ${upper}_H\n"
    "\n"
    "#include \"rt.h\"\n"
    "\n"
    "#define ${upper}_VERSION \"${version}\"     /* the version of xformc that wrote this */\n"
    "#if XF_API_VERSION != ${api}\n"
    "#error \"${name}.h and rt.h come from different versions of xformc\"\n"
    "#endif\n"
    "\n"
    "#ifdef __cplusplus\n"
    "extern \"C\" {\n"
    "#endif\n"
    "\n";
static const char header_end[] =
    "${taps}\n"
    "\n"
    "#ifdef __cplusplus\n"
    "}\n"
    "#endif\n"
    "\n"
    "#endif\n";

static const char taps_header[] =
    "\n"
    "/* A named intermediate of the last call: [heads][rows][stride] floats at `offset` in a state; the first `columns` of\n"
    " * each row are in use. */\n"
    "typedef struct ${name}_tap { const char *name; size_t offset; int heads, rows, columns, stride; } ${name}_tap;\n"
    "extern const ${name}_tap ${name}_taps[${count}];\n";

/* Definitions of the terms that the header of a sequence model uses. */
static const char *header_words(const Model *m)
{
    if (m->graph) return "*";
    if (!m->has_decoder) return "*\n* An id is the number of a token; a source is a text as ids.\n*";
    if (!m->has_encoder) return "*\n* An id is the number of a token. A state has slots, and a slot holds one sequence of ids.\n*";
    return "*\n* An id is the number of a token. A state has slots. A slot holds a source, which the encoder\n"
           "* reads, and a target, the sequence of ids that the decoder writes.\n*";
}

static const char too_large[] =
    "#if __SIZEOF_POINTER__ == 4\n"
    "#error \"${name} needs a 64-bit machine: its weights take ${weights} bytes\"\n"
    "#endif";

static void emit_header(Emit *e, Text *out)
{
    const Plan *p = e->plan;
    const int64_t weights = (int64_t)(e->head_bytes + p->weights_bytes);
    Text limit = text_new(e->arena);
    if (weights > INT32_MAX) text_fill(&limit, too_large, "name", e->name, "weights", emit_number(e, weights), NULL);
    Text types = text_new(e->arena), taps = text_new(e->arena), variant = text_new(e->arena);
    bool variants = e->isa_count > 1;
    if (variants) text_fill(&variant, variant_call, "name", e->name, "list", e->form.isa, NULL);
    text_fill(&types, types_template, "name", e->name, "upper", e->upper, "threads", emit_number(e, p->options.max_threads),
              "variant", variants ? arena_format(e->arena, " const struct %s_variants *variant;", e->name) : "", "variant_call", variant.data,
              "isa_words", variants ? "instruction sets that the last variant needs" : "instruction sets that this was compiled for",
              "state", emit_number(e, (int64_t)p->state_bytes), "weights", emit_number(e, weights), "too_large", limit.data,
              "slots", e->model->graph ? "a run: all its values"
                       : p->options.slots == 1 ? "one sequence" : arena_format(e->arena, "%d sequences", p->options.slots),
              "reset", !e->model->graph ? "Forget every sequence"
                       : p->graph->step_rows ? "Forget the rows in the caches; the inputs stay set"
                                             : "Do nothing: the graph has no caches", NULL);
    if (p->options.taps) text_fill(&taps, taps_header, "name", e->name, "count", emit_number(e, p->tap_count), NULL);
    text_fill(out, header_begin, "words", header_words(e->model), "name", e->name, "upper", e->upper, "spec", emit_spec_name(e),
              "version", XFORMC_VERSION, "api", emit_number(e, XF_API_VERSION), NULL);
    kind_of(e)->header(e, out, types.data);
    text_fill(out, header_end, "taps", taps.data, NULL);
}

/* ---- NAME.c -------------------------------------------------------------------------------------------------- */

static const char model_begin[] =
    "/* ${name}.c: ${spec} as C, made by xformc ${version}. ${about}\n"
    " *\n"
    " * Weights: ${parameters} parameters as ${dtypes}, ${weights} bytes, identity ${identity}.\n"
    " * State: ${state} bytes${slots}.\n"
    "${costs}\n"
    " * Build: make, or cc -std=c11 ${optimise} -march=native -ffp-contract=off -Iruntime -c ${name}.c\n"
    " *\n"
    " * This file has, in order: the weights, as structs; the state; binding; the blocks, as functions;\n"
    " * the programs, which call blocks; and other calls of ${name}.h. The operations are in\n"
    " * ${name}_kernels.h.\n"
    "${threads}\n"
    " * A comment above each call gives its equation and, at the right, the shape of its result. */\n"
    "#include \"rt.h\"\n"
    "${rows}\n"
    "#include \"${name}_kernels.h\"\n"
    "\n";

static const char about_threads[] =
    " * Every thread runs the same code on its share (rt_split), and waits for the others where it needs\n"
    " * their results (rt_barrier).";

static const char model_bind[] =
    "/* The arguments of a call, for ${hearers}. */\n"
    "${job}\n"
    "\n"
    "/* ---- binding --------------------------------------------------------------------------------- */\n"
    "\n"
    "const unsigned ${name}_isa = RT_ISA_BUILT;\n"
    "\n"
    "rt_status ${name}_bind(${name} *m, const void *weights, size_t bytes)\n"
    "{\n"
    "    static const char identity[] = \"${identity}\";      /* a hash of the graph and the layout */\n"
    "    const unsigned char *head = weights;\n"
    "    if (rt_isa_missing(${name}_isa)) return RT_NO_ISA;\n"
    "    if (bytes != ${upper}_WEIGHTS_BYTES || (uintptr_t)weights % 64 != 0) return RT_BAD_WEIGHTS;\n"
    "    const rt_status order = rt_head_check(head, HEAD_BYTES - 8);\n"
    "    if (order != RT_OK) return order;\n"
    "    for (size_t i = 0; identity[i]; i++)\n"
    "        if (head[IDENTITY_AT + i] != (unsigned char)identity[i]) return RT_BAD_WEIGHTS;\n"
    "    ${tokenizer}\n"
    "    m->weights = head + HEAD_BYTES;\n"
    "    return RT_OK;\n"
    "}\n"
    "\n"
    "rt_status ${name}_threads(${name} *m, int n)\n"
    "{\n"
    "    return n < 1 || n > ${upper}_MAX_THREADS ? RT_TOO_LONG : rt_team_resize(&m->team, n);\n"
    "}\n"
    "\n";

static const char *about(Emit *e)
{
    const Model *m = e->model;
    if (m->model_kind == KIND_GRAPH) return "A graph of operations.";
    Text t = text_new(e->arena);
    text_printf(&t, "Width %lld.", (long long)m->d_model);
    if (m->has_encoder) text_printf(&t, "\n * Encoder of %s.", emit_stack(e, &m->encoder));
    if (m->has_decoder) text_printf(&t, "\n * Decoder of %s.", emit_stack(e, &m->decoder));
    return t.data;
}

static int64_t tap_columns(const Tap *t) { return t->buffer->width; }

static void emit_taps(Emit *e, Text *out)
{
    const Plan *p = e->plan;
    text_printf(out, "\nconst %s_tap %s_taps[%d] = {\n", e->name, e->name, p->tap_count);
    for (int i = 0; i < p->tap_count; i++) {
        const Tap *t = &p->taps[i];
        text_printf(out, "    { \"%s\", %zu, %lld, %lld, %lld, %lld },\n", t->name,
                    plan_address(p, t->buffer) + (size_t)t->layer_index * t->buffer->layer_stride, (long long)t->buffer->heads,
                    (long long)t->buffer->rows, (long long)tap_columns(t), (long long)t->buffer->stride);
    }
    text_add(out, "};\n");
}

/* A thread that finds a number beyond the range of f16 among keys or values sets its flag in the
 * state. */
static const char saturation_template[] =
    "\n"
    "/* Set the thread's flag in the state if one of the rows, each x[width], has a number beyond the range of f16. */\n"
    "static void note_saturation(const job *j, int thread, const float *x, rt_span rows, int width, int stride)\n"
    "{\n"
    "    int beyond = 0;\n"
    "    for (int r = rows.begin; r < rows.end; r++) {\n"
    "        const float *const row = x + (ptrdiff_t)r * stride;\n"
    "        for (int i = 0; i < width; i++) beyond |= (row[i] >= 65520) | (row[i] <= -65520);\n"
    "    }\n"
    "    if (beyond) j->state->saturated[thread] = 1;\n"
    "}\n\n";

/* " as f16"; "" for f32. */
static const char *kv_words(Emit *e)
{
    return e->model->kv_dtype == KV_DTYPES_F32 ? "" : arena_format(e->arena, " as %s", model_kv_dtype(e->model));
}

static void emit_model(Emit *e, Text *out)
{
    const Plan *p = e->plan;
    const char *slots = p->options.slots == 1 ? "one slot" : arena_format(e->arena, "%d slots", p->options.slots);
    text_fill(out, model_begin, "name", e->name, "rows", e->model->has_decoder ? "#include \"rt_rows.h\"" : "",
              "spec", emit_spec_name(e), "version", XFORMC_VERSION, "about", about(e), "identity", e->identity,
              "threads", emit_has_threads(e) ? about_threads : "", "costs", emit_costs(e), "optimise", emit_optimise(e),
              "parameters", emit_number(e, model_parameters(e->model)), "weights", emit_number(e, (int64_t)p->weights_bytes),
              "dtypes", emit_dtypes(e), "state", emit_number(e, (int64_t)p->state_bytes),
              "slots", p->slot_bytes ? arena_format(e->arena, ", %s of %zu for keys and values%s, %zu for everything else", slots, p->slot_bytes,
                                                     kv_words(e),
                                                     p->state_bytes - (size_t)p->options.slots * p->slot_bytes) : "", NULL);
    text_printf(out, "#define %-12s ((size_t)%zu)      /* bytes before the data of the packed file */\n", "HEAD_BYTES", e->head_bytes);
    text_printf(out, "#define %-12s ((size_t)%d)        /* offset of the 16 digits that bind compares */\n\n", "IDENTITY_AT", PACK_IDENTITY_AT);
    emit_weights_structs(e, out);
    emit_state(e, out);
    bool many = plan_program(p, PROGRAM_DECODE) != NULL || emit_batches(e);
    const char *job = arena_format(e->arena, "typedef struct job { const unsigned char *weights;%s struct state *state; int slot, rows;%s%s%s } job;",
                                   emit_has_threads(e) ? " struct rt_team *team;" : "",
                                   many ? " const rt_group *groups, *groups_end;" : "", emit_pools(e) ? " int first;" : "",
                                   emit_prefill_end(p).block ? " int keys_only;" : "");
    const char *tokenizer = !has_pieces(e) ? "" : arena_format(e->arena,
        "if (rt_text_check(head + HEAD_BYTES + W_TOKENIZER, %s) != RT_OK) return RT_BAD_WEIGHTS;", emit_number(e, (int64_t)e->model->tokenizer_size));
    if (!emit_has_threads(e) && e->model->has_decoder)
        job = arena_format(e->arena, "%s\ntypedef void job_body(const job *j);", job);
    text_fill(out, model_bind, "hearers", emit_has_threads(e) ? "every thread" : "its blocks",
              "name", e->name, "upper", e->upper, "identity", e->identity, "job", job, "tokenizer", tokenizer, NULL);
    if (p->saturated_offset) text_add(out, saturation_template);
    text_add(out, "/* ---- blocks ---------------------------------------------------------------------------------- */\n\n");
    if (plan_program(p, PROGRAM_DECODE))
        text_add(out, !emit_has_threads(e)
                      ? "/* Each decoder block appears twice: for one row, and (_rows) for several. */\n\n"
                      : p->few_rows
                      ? "/* Each decoder block appears twice: for one row, where threads divide panels and heads, and\n"
                        " * (_rows) for several, where threads divide the rows or, for few rows, the panels of linears. */\n\n"
                      : "/* Each decoder block appears twice: for one row, where threads divide panels and heads, and\n"
                        " * (_rows) for several, where threads divide the rows. */\n\n");
    emit_blocks(e, out);
    text_add(out, "/* ---- programs -------------------------------------------------------------------------------- */\n\n");
    emit_programs(e, out);
    kind_of(e)->calls(e, out);
    if (p->options.taps) emit_taps(e, out);
}

/* ---- the small files ------------------------------------------------------------------------------------------- */

static const char weights_embed[] =
    "/* ${name}_weights.c: embeds the packed weights, ${name}.safetensors, in the program. */\n"
    "#if defined(__APPLE__)\n"
    "#define SECTION \".const\"\n"
    "#define SYMBOL \"_${name}_weights\"\n"
    "#else\n"
    "#define SECTION \".section .rodata\"\n"
    "#define SYMBOL \"${name}_weights\"\n"
    "#endif\n"
    "\n"
    "extern const unsigned char ${name}_weights[];\n"
    "__asm__(SECTION \"\\n.balign 64\\n.globl \" SYMBOL \"\\n\" SYMBOL \":\\n.incbin \\\"${name}.safetensors\\\"\\n.text\\n\");\n";

typedef void EmitOne(Emit *e, Text *out);

static void emit_weights(Emit *e, Text *out)
{
    if (e->form.weights == WEIGHTS_EMBED) text_fill(out, weights_embed, "name", e->name, NULL);
}

static void emit_seam(Emit *e, Text *out)
{
    static EmitOne *const seams[] = { [KERNELS_LIBRARY] = emit_kernels, [KERNELS_UNROLLED] = emit_unrolled, [KERNELS_BOUND] = emit_bound };
    seams[e->form.kernels](e, out);
    emit_fit(out);
    emit_custom(e, out);            /* after emit_fit: the user's lines are not broken */
    if (e->form.kernels != KERNELS_BOUND) text_add(out, "#endif\n");
}

static void emit_main(Emit *e, Text *out) { kind_of(e)->main(e, out); }
static void emit_example(Emit *e, Text *out) { kind_of(e)->example(e, out); }

static Emit emit_new(Arena *a, const Plan *p, const char *identity, size_t head_bytes, EmitForm form)
{
    const Model *m = p->graph->model;
    Emit e = { .arena = a, .plan = p, .model = m, .name = m->name, .upper = emit_upper(a, m->name), .identity = identity,
               .head_bytes = head_bytes, .form = form };
    e.isas = isa_list(a, form.isa, &e.isa_count);
    emit_wrappers_begin(&e);
    emit_state_begin(&e);
    emit_weights_begin(&e);
    return e;
}

EmittedFile *emit_files(Arena *a, const Plan *p, const char *identity, size_t head_bytes, EmitForm form, int *n)
{
    Emit e = emit_new(a, p, identity, head_bytes, form);
    /* NAME.c comes first: emitting it collects the functions that NAME_kernels.h defines */
    /* fits: break long lines */
    static const struct { const char *format; EmitOne *emit; bool fits; } files[] = {
        { "%s.c", emit_model, true }, { "%s_kernels.h", emit_seam, false }, { "%s.h", emit_header, true },
        { "%s_main.c", emit_main, true }, { "%s_settings.c", emit_settings, true }, { "%s_generate.c", emit_generate, true },
        { "%s_weights.c", emit_weights, true }, { "example.c", emit_example, true }, { "Makefile", emit_makefile, false },
        { "%s_variants.c", emit_variants, true },
    };
    enum { FILES = sizeof files / sizeof *files };
    EmittedFile *out = arena_array(a, FILES + MAX_ISAS + RUNTIME_FILES, sizeof *out);
    *n = 0;
    for (int i = 0; i < FILES; i++) {
        bool named = strchr(files[i].format, '%') != NULL;
        EmittedFile f = { named ? arena_format(a, files[i].format, e.name) : files[i].format, text_new(a) };
        files[i].emit(&e, &f.text);
        if (files[i].fits) emit_fit(&f.text);
        if (f.text.size) out[(*n)++] = f;
    }
    for (int i = 0; i < e.isa_count && e.isa_count > 1; i++) {
        out[*n] = (EmittedFile){ arena_format(a, "%s_%s.c", e.name, e.isas[i]), text_new(a) };
        emit_variant(&e, &out[*n].text, i);
        emit_fit(&out[(*n)++].text);
    }
    emit_kernel_files(&e, out, n);
    return out;
}

/* ---- one text -------------------------------------------------------------------------------------------------- */

/* The types and macros that rt.h needs from the freestanding headers of C, for a compiler without
 * headers. */
static const char without_headers[] =
    "#define NULL ((void *)0)\n#define bool _Bool\n"
    "#define INT32_MAX 2147483647\n"
    "typedef signed char int8_t; typedef unsigned char uint8_t; typedef short int16_t; typedef unsigned short uint16_t;\n"
    "typedef int int32_t; typedef unsigned uint32_t; typedef long long int64_t; typedef unsigned long long uint64_t;\n"
    "typedef unsigned long size_t; typedef long ptrdiff_t; typedef unsigned long uintptr_t; typedef long intptr_t;\n";

static void add_part(Text *out, const char *name, const char *text)
{
    text_printf(out, "#line 1 \"%s\"\n", name);
    for (const char *s = text, *end; *s; s = end) {
        end = strchr(s, '\n');
        end = end ? end + 1 : s + strlen(s);
        if (strncmp(s, "#include ", 9) != 0) text_add_bytes(out, s, (size_t)(end - s));
        else text_add(out, "\n");
    }
}

void emit_without_headers(Arena *a, Text *out)
{
    Text runtime = text_new(a);
    emit_paste(&runtime, "rt.h");
    emit_paste(&runtime, "rt_plain.h");
    text_add(out, without_headers);
    add_part(out, "rt.h", runtime.data);
}

Text emit_one_text(Arena *a, const Plan *p, const char *identity, size_t head_bytes, EmitForm form, unsigned isa, unsigned hooks)
{
    const EmitForm bound = { .weights = WEIGHTS_FILE, .kernels = KERNELS_BOUND, .layers = form.layers, .tuning = form.tuning };
    Emit e = emit_new(a, p, identity, head_bytes, bound);
    e.isa = isa;
    e.hooks = hooks;
    Text out = text_new(a), model = text_new(a), header = text_new(a), kernels = text_new(a), runtime = text_new(a), rows = text_new(a);
    emit_model(&e, &model);
    emit_seam(&e, &kernels);
    emit_header(&e, &header);
    emit_fit(&model);
    emit_fit(&header);
    emit_paste(&runtime, "rt.h");
    text_add(&out, without_headers);
    emit_paste(&rows, "rt_rows.h");
    add_part(&out, "rt.h", runtime.data);
    if (p->graph->model->has_decoder) add_part(&out, "rt_rows.h", rows.data);
    add_part(&out, arena_format(a, "%s.h", e.name), header.data);
    add_part(&out, arena_format(a, "%s_kernels.h", e.name), kernels.data);
    add_part(&out, arena_format(a, "%s.c", e.name), model.data);
    return out;
}

Emit *emit_named(Arena *a, const Plan *p)
{
    Emit *e = arena_alloc(a, sizeof *e);
    Text text = text_new(a);
    *e = emit_new(a, p, "", 0, (EmitForm){ .isa = NULL });
    emit_model(e, &text);           /* names are given in the order of first use */
    return e;
}

bool emit_form_fits(Diag *d, const Model *m, EmitForm form)
{
    if (!model_is_narrow(m) || form.kernels != KERNELS_UNROLLED) return true;
    diag_error(d, EXIT_NO_FEATURE, (Loc){ 0 }, "--kernels unrolled supports only f32 weights, and the dtype is %s; use --kernels "
               "library, or --dtype f32", model_dtype(m));
    return false;
}
