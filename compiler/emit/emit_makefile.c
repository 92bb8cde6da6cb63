/* emit_makefile.c: the Makefile of a model's folder. */
#include "emit_kind.h"
#include "isa.h"
#include "rt_weights.h"

#include <string.h>

/* The runtime's objects that only the command-line program of a sequence model contains. */
static const char cli_objects[] =
    " \\\n"
    "          $(addprefix runtime/rt_,packed.o answer_text.o timing.o lines.o) \\\n"
    "          $(addprefix runtime/rt_cli,.o _options.o _weights.o _inputs.o _answer.o _json.o _info.o _check.o _bench.o _generate.o)";
static const char vector_objects[] = " \\\n          $(addprefix runtime/rt_,cli_vector.o cli_batch.o scores.o)";
static const char text_objects[] = " \\\n          $(addprefix runtime/rt_,cli_text.o cli_language.o conversation.o)";

static const char library_objects[] =
    "rt_status.o rt_isa.o rt_prefetch.o rt_team.o rt_processors.o rt_characters.o \\\n"
    "          rt_numbers.o rt_weights.o rt_generation.o rt_generation_options.o rt_generate.o \\\n"
    "          rt_generation_range.o rt_generate_text.o rt_beam.o rt_logits.o rt_sample.o rt_stops.o";
static const char tokenizer_objects[] =
    " \\\n"
    "          $(addprefix rt_tokenizer,.o _open.o _text.o _normalise.o _form.o _map.o _match.o _split.o _spans.o _bpe.o _unigram.o \\\n"
    "          _wordpiece.o _decode.o _language.o \\\n"
    "          _model.o) rt_chat.o";

static const char makefile_template[] =
    "# Build ${name}: the program, the libraries lib${name}.a and lib${name}.so, and the example.\n"
    "${isa_words}\n"
    "#   make DEBUG=1             for a debugger: -g -Og, not stripped\n"
    "CC     = cc\n"
    "DEBUG  =\n"
    "TARGET := $(shell $(CC) -dumpmachine 2>/dev/null)\n"
    "${isa_settings}\n"
    "OPTIMISE = $(if $(DEBUG),-g -Og,${optimise})\n"
    "CFLAGS = -std=c11 $(OPTIMISE) -Wall -Wextra -Werror -ffp-contract=off -fPIC \\\n"
    "         -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections -fno-plt \\\n"
    "         -fno-semantic-interposition\n"
    "CPPFLAGS = -Iruntime -I.$(if $(DEBUG), -DRT_DEBUG)\n"
    "# Compute floats as floats, neither on an x87 nor as doubles (the default on S/390), so that the bits\n"
    "# are the same everywhere.\n"
    "FLOATS_1 = -fexcess-precision=fast\n"
    "FLOATS_2 = -msse2 -mfpmath=sse\n"
    "FLOATS := $(FLOATS_$(strip $(shell echo __FLT_EVAL_METHOD__ | $(CC) -std=c11 -E -P -x c - 2>/dev/null)))\n"
    "${pages}LINUX  = $(if $(DEBUG),,-s )-Wl,-z,noseparate-code,-z,norelro,--gc-sections${link}\n"
    "LDFLAGS := $(if $(findstring linux,$(TARGET)),$(LINUX))\n"
    "LDLIBS = -lm -pthread\n"
    "\n"
    "LIBRARY = ${model_objects}${generate} \\\n"
    "          $(addprefix runtime/,${runtime})\n"
    "PROGRAM = ${name}_main.o${weights_object}${cli_objects}\n"
    "COMMAND := $(CC) $(CFLAGS) $(FLOATS) ${isas} $(CPPFLAGS) $(LDFLAGS)\n"
    "\n"
    "${link_rule}\n"
    "\n"
    "lib${name}.a: $(LIBRARY)\n"
    "\trm -f $@\n"
    "\t$(AR) rcs $@ $^\n"
    "\n"
    "lib${name}.so: $(LIBRARY)\n"
    "\t$(CC) $(LDFLAGS) -shared -o $@ $^ $(LDLIBS)\n"
    "\n"
    "example: example.o lib${name}.a\n"
    "\t$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)\n"
    "\n"
    "${isa_rules}\n"
    "\n"
    "# Code whose speed matters little is optimised for size.\n"
    "ifeq ($(DEBUG),)\n"
    "runtime/%.o ${name}_main.o${generate}: CFLAGS += -Os\n"
    "runtime/rt_tokenizer%.o: CFLAGS += -O2\n"
    "endif\n"
    "\n"
    "%.o: %.c command\n"
    "\t$(CC) $(CFLAGS) $(FLOATS) $(CPPFLAGS) -MMD -MP -c -o $@ $<\n"
    "\n"
    "# Rewritten when the compiler or its flags change; then everything is compiled again.\n"
    "command: always\n"
    "\t@echo '$(COMMAND)' | cmp -s - $@ || echo '$(COMMAND)' > $@\n"
    "\n"
    "${weights_rule}\n"
    "clean:\n"
    "${keep}"
    "\trm -f ${name}${unfinished} example lib${name}.a lib${name}.so command *.o *.d runtime/*.o runtime/*.d\n"
    "\n"
    ".PHONY: always clean\n"
    "-include $(wildcard *.d runtime/*.d)\n";

/* The parts that depend on the instruction sets: one that `make ISA=` may change, or a variant for
 * each. */
typedef struct Isas { Text words, settings, objects, all, rules; } Isas;

/* cc and uname may name the same machine differently, so names are normalised. */
static const char native_setting[] =
    "machine = $(patsubst amd64,x86_64,$(patsubst arm64,aarch64,$(patsubst armv%,arm,\\\n"
    "          $(patsubst powerpc%,ppc%,$(firstword $(subst -, ,$(1)))))))\n"
    "HERE   := $(filter $(call machine,$(TARGET)),$(call machine,$(shell uname -m 2>/dev/null)))\n"
    "ISA    := $(if $(HERE),$(shell $(CC) ${flags} -E -x c /dev/null >/dev/null 2>&1 && echo ${flags}))\n";

static void one_isa(Emit *e, Isas *t)
{
    const char *flags = isa_flags(e->isas[0]);
    const bool native = strcmp(e->isas[0], "native") == 0;
    text_printf(&t->words, "#   make ISA=-march=native   for this machine%s; ISA= for any machine\n",
                native ? " (the default if CC compiles for it)" : "");
    if (native) text_fill(&t->settings, native_setting, "flags", flags, NULL);
    else text_printf(&t->settings, "ISA    =%s%s\n", *flags ? " " : "", flags);
    text_printf(&t->objects, "%s.o", e->name);
    text_add(&t->all, "$(ISA)");
    text_printf(&t->rules, "# Only the model uses the instructions of ISA; the rest runs anywhere and checks for them first.\n"
                           "%s.o: CFLAGS += $(ISA)\n", e->name);
}

static void many_isas(Emit *e, Isas *t)
{
    text_printf(&t->words, "# The model is compiled once for each instruction set; %s_bind chooses the first one that\n"
                           "# the processor supports.\n", e->name);
    text_printf(&t->objects, "%s_variants.o", e->name);
    text_add(&t->rules, "# Only the variants use these instructions; the rest runs anywhere and checks for them first.\n");
    for (int i = 0; i < e->isa_count; i++) {
        const char *isa = e->isas[i], *flags = isa_flags(isa);
        text_printf(&t->settings, "ISA_%s =%s%s\n", isa, *flags ? " " : "", flags);
        text_printf(&t->objects, " %s_%s.o", e->name, isa);
        text_printf(&t->all, "%s$(ISA_%s)", i ? " " : "", isa);
        text_printf(&t->rules, "%s_%s.o: CFLAGS += $(ISA_%s)\n", e->name, isa, isa);
    }
}

/* Align the segments of a program with embedded weights to 2 MB, so that the system can map them
 * with large pages: a program of 101 MB then has 300 page faults until the first token instead of
 * 1,230, and needs a third less time. Without relro, which would protect a table of about a hundred
 * addresses, the file is not padded to a multiple of 2 MB. */
static const char pages_words[] = "# Aligned so that the system can map the weights in pages of 2 MB.\n";
static const char pages_link[] = " -Wl,-z,max-page-size=0x200000";
enum { LEAST_ON_LARGE_PAGES = 4 << 20 };

static const char link_rule[] =
    "${name}: $(PROGRAM) lib${name}.a\n"
    "\t$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)\n";

/* The weights are appended after linking, since the assembler and the linker would hold them in
 * memory. rt_weights.h has the format. */
static const char link_rule_behind[] =
    "# On Linux the weights are appended to the program, at a multiple of 2 MB. If ${name}.safetensors is\n"
    "# missing, they are taken from the existing program. Other systems read them from that file.\n"
    "${name}: $(PROGRAM) lib${name}.a $(wildcard ${name}.safetensors)\n"
    "\t$(CC) $(LDFLAGS) -o $@.new $(PROGRAM) lib${name}.a $(LDLIBS)\n"
    "ifneq ($(findstring linux,$(TARGET)),)\n"
    "\t@trap 'rm -f $@.new' 0; trap 'exit 1' HUP INT TERM; \\\n"
    "\tsize=$$(wc -c <$@.new) && { head -c $$((2097151 - (size - 1) % 2097152)) /dev/zero && \\\n"
    "\tif [ -f ${name}.safetensors ]; then cat ${name}.safetensors && echo '${footer}'; \\\n"
    "\telif [ \"$$(tail -c ${footer_bytes} $@ 2>/dev/null)\" = '${footer}' ]; then tail -c ${bytes} $@; \\\n"
    "\telse echo '${name}.safetensors is missing: xformc pack writes it' >&2; false; fi; } >>$@.new && \\\n"
    "\tmv $@.new $@\n"
    "else\n"
    "\tmv $@.new $@\n"
    "endif\n";

/* `make clean` removes the program, but not the only copy of the weights. */
static const char keep_rule_behind[] =
    "\t@if [ ! -f ${name}.safetensors ] && [ \"$$(tail -c ${footer_bytes} ${name} 2>/dev/null)\" = '${footer}' ]; then \\\n"
    "\techo 'moving the weights from ${name} to ${name}.safetensors'; \\\n"
    "\ttail -c ${bytes} ${name} | head -c ${weights_bytes} >${name}.safetensors.new && \\\n"
    "\tmv ${name}.safetensors.new ${name}.safetensors || { rm -f ${name}.safetensors.new; false; }; fi\n";

typedef struct Rules { Text link, keep; } Rules;

static Rules rules_of(Emit *e)
{
    Rules r = { text_new(e->arena), text_new(e->arena) };
    const size_t bytes = e->head_bytes + e->plan->weights_bytes;
    const char *footer = arena_format(e->arena, "xformc weights %016zx", bytes), *footer_bytes = emit_number(e, RT_WEIGHTS_FOOTER);
    const char *weights_bytes = emit_number(e, (int64_t)bytes), *both_bytes = emit_number(e, (int64_t)bytes + RT_WEIGHTS_FOOTER);
    if (e->form.weights != WEIGHTS_BEHIND) {
        text_fill(&r.link, link_rule, "name", e->name, NULL);
        return r;
    }
    text_fill(&r.link, link_rule_behind, "name", e->name, "footer", footer, "footer_bytes", footer_bytes, "bytes", both_bytes, NULL);
    text_fill(&r.keep, keep_rule_behind, "name", e->name, "footer", footer, "footer_bytes", footer_bytes, "bytes", both_bytes,
              "weights_bytes", weights_bytes, NULL);
    return r;
}

void emit_makefile(Emit *e, Text *out)
{
    bool embed = e->form.weights == WEIGHTS_EMBED, file = emit_has_weights_file(e);
    bool cli = e->model->model_kind != KIND_GRAPH;
    Isas isas = { text_new(e->arena), text_new(e->arena), text_new(e->arena), text_new(e->arena), text_new(e->arena) };
    (e->isa_count > 1 ? many_isas : one_isa)(e, &isas);
    const bool pages = embed && e->plan->weights_bytes >= LEAST_ON_LARGE_PAGES;
    const char *settings = e->model->has_decoder ? arena_format(e->arena, " %s_settings.o", e->name) : "";
    const char *generate = emit_answers_text(e) ? arena_format(e->arena, "%s %s_generate.o", settings, e->name) : settings;
    const Rules rules = rules_of(e);
    text_fill(out, makefile_template, "name", e->name, "link_rule", rules.link.data, "keep", rules.keep.data,
              "unfinished", e->form.weights == WEIGHTS_BEHIND ? arena_format(e->arena, " %s.new", e->name) : "",
              "generate", generate, "optimise", emit_optimise(e), "pages", pages ? pages_words : "",
              "link", pages ? pages_link : "", "isa_words", isas.words.data, "isa_settings", isas.settings.data,
              "model_objects", isas.objects.data, "isas", isas.all.data, "isa_rules", isas.rules.data,
              "weights_object", !file ? arena_format(e->arena, " %s_weights.o", e->name) : "",
              "runtime", arena_format(e->arena, "%s%s", library_objects, e->model->tokenizer_data ? tokenizer_objects : ""),
              "cli_objects",
              !cli ? "" : arena_format(e->arena, "%s%s%s", cli_objects, e->model->has_decoder ? "" : vector_objects,
                                        e->model->tokenizer_data ? text_objects : ""),
              "weights_rule", embed ? arena_format(e->arena, "%s_weights.o: %s.safetensors\n\n", e->name, e->name) : "", NULL);
}
