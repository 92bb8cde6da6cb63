# `make help` lists the targets; a setting may be given on the command line: `make CC=clang V=1`.
CC      = cc
CFLAGS  = -O2
LDFLAGS =
PREFIX  = /usr/local
DESTDIR =
BUILD   = build
V       = 0
JOBS    = $(shell nproc 2>/dev/null || echo 1)
LUA     = lua5.4
SANITIZE =
# Flags for the kernels inside xformc. They come after -O3.
SANITIZE_KERNELS = $(SANITIZE)
# The kernel tests run for each of these. native is the best set of this machine, even AVX-512.
ISAS    = native $(filter-out avx512%,$(KERNEL_SETS))
# Where native is AVX-512 with VNNI, the kernels that differ without it are tested, too.
ISA_TESTS = $(if $(ISAS),$(addsuffix .avx512,$(if $(filter avx512,$(KERNEL_SETS)),test_linear_int8)))

LIBRARIES = $(LUA) jansson openblas libedit libutf8proc
WARNINGS  = -Wall -Wextra -Werror
# Each folder may include only itself and the folders before it. `make lint` checks this.
FOLDERS   = $(RUNTIME_FOLDERS) $(COMPILER_FOLDERS)
RUNTIME_FOLDERS  = runtime/kernels/simd runtime runtime/kernels runtime/tokenizer runtime/generate runtime/cli
COMPILER_FOLDERS = compiler/base compiler/cache compiler/model compiler/weights compiler/tokenizer compiler/chat \
                   compiler/front/lua compiler/front/hf compiler/front compiler/graph compiler/plan compiler/pack \
                   compiler/emit/text compiler/emit compiler/machine compiler/engine \
                   compiler compiler/answer compiler/verify compiler/inspect compiler/bench compiler/repl compiler/cli
FLAGS    := -std=c11 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) -ffp-contract=off -pthread $(SANITIZE) $(FOLDERS:%=-I%) \
            $(shell pkg-config --cflags $(LIBRARIES) 2>/dev/null)
# OpenBLAS is loaded when the generic engine is first used (generic_blas.c).
LIBS     := $(shell pkg-config --libs $(filter-out openblas,$(LIBRARIES)) 2>/dev/null) -ldl -lm -pthread
# The instruction sets of this machine and their flags are rows of
# runtime/kernels/simd/instruction_sets.def.
MACHINE     := $(patsubst arm64,aarch64,$(firstword $(subst -, ,$(shell $(CC) -dumpmachine))))
sets_of      = $(shell sed -n 's/^KERNEL_SET.\([^,]*\), $(1), .*/\1/p' runtime/kernels/simd/instruction_sets.def)
isa_flags    = $(shell sed -n 's/^KERNEL_SET.$(1), [^"]*"\([^"]*\)".$$/\1/p' runtime/kernels/simd/instruction_sets.def)
KERNEL_SETS := $(call sets_of,$(MACHINE)) $(call sets_of,any)
ISA_native   = -march=native
$(foreach i,$(KERNEL_SETS),$(eval ISA_$(i) := $(call isa_flags,$(i))))
ALL_ISAS    := $(foreach i,$(KERNEL_SETS),$(i): $(ISA_$(i)))

Q    = $(if $(V:0=),,@)
say  = $(if $(V:0=),@:,@printf '  %-5s %s\n' $(1) $(2))
make = $(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS))

# Only generated programs need these parts of rt_cli*.c. xformc uses the other parts itself.
# rt_alone.c replaces rt_team.c in programs for a single thread.
MAIN     := $(addprefix runtime/cli/rt_cli,.c _options.c _info.c _check.c _bench.c)
RUNTIME  := $(filter-out $(MAIN) runtime/rt_alone.c,$(wildcard $(RUNTIME_FOLDERS:%=%/rt_*.c)))
COMPILER := $(filter-out compiler/engine/kernel_set_one.c,$(wildcard $(COMPILER_FOLDERS:%=%/*.c)))
# The kernel sets take longest to compile, so they come first.
OBJECTS  := $(KERNEL_SETS:%=$(BUILD)/compiler/engine/kernel_set_%.o) $(patsubst %.c,$(BUILD)/%.o,$(COMPILER) $(RUNTIME))
OBJECTS  += $(BUILD)/libtcc.a
XFORMC   := $(BUILD)/xformc

all: $(XFORMC)  ## build build/xformc (the default)

$(XFORMC): $(OBJECTS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(FLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/%.o: %.c $(BUILD)/flags | libraries
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) -MMD -MP -c -o $@ $<

# Code run in memory calls these kernels, so they are compiled like those of a generated program.
$(KERNEL_SETS:%=$(BUILD)/compiler/engine/kernel_set_%.o): $(BUILD)/compiler/engine/kernel_set_%.o: compiler/engine/kernel_set_one.c $(BUILD)/flags
	$(call say,CC,'$< ($*)')
	@mkdir -p $(@D)
	$(Q)$(CC) $(filter-out $(SANITIZE),$(FLAGS)) -O3 $(SANITIZE_KERNELS) $(ISA_$*) -DKERNEL_SET_NAME=$* -MMD -MP -c -o $@ $<

# libtcc has no call to set an allocator and does not survive a failed allocation. Its calls to the
# C library's allocator and exit() go through compiler/machine/tcc.c instead.
LIBTCC := $(shell $(CC) -print-file-name=libtcc.a)
$(BUILD)/libtcc.a: $(BUILD)/flags | libraries
	$(call say,COPY,$(LIBTCC))
	$(Q)objcopy $(foreach f,malloc calloc realloc exit,--redefine-sym $f=c_memory_$f) $(LIBTCC) $@

# The assembler includes runtime/ in this file, which -MMD does not see.
$(BUILD)/compiler/emit/text/runtime_text.o: $(wildcard runtime/* runtime/*/* runtime/*/*/*)

BLAS_FOLDER := $(shell pkg-config --variable=libdir openblas 2>/dev/null)
$(BUILD)/compiler/engine/generic_blas.o: private FLAGS += $(BLAS_FOLDER:%=-DBLAS_FOLDER='"%"')

$(BUILD)/compiler/repl/repl_prelude.o: compiler/repl/repl_prelude.lua

# The cache key of packed weights contains a hash of the sources that determine their bytes.
PACKER := $(sort $(wildcard compiler/pack/*.[ch] compiler/weights/*.[ch] compiler/model/*.c) runtime/kernels/formats.def)
$(BUILD)/compiler/pack/pack_key.o: $(PACKER)
$(BUILD)/compiler/pack/pack_key.o: private FLAGS += -DPACKER_VERSION=$(shell cat $(PACKER) | cksum | tr -d ' ')u

# Rewritten only when the compiler or its flags change; then everything is compiled again.
$(BUILD)/flags: always
	@mkdir -p $(@D)
	@echo '$(CC) $(FLAGS) $(LDFLAGS) $(SANITIZE_KERNELS) $(ALL_ISAS)' >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

libraries:
	@pkg-config --exists $(LIBRARIES) || { echo "libraries are missing: run 'make deps'" >&2; exit 1; }

# ---- tests: tests/README.md says how suites are found --------------------------------------------
# tests/F/support_*.c is linked into every test program of folder F. Other sources there, except
# test_*.c, are tools for its shell suites.
TEST_SOURCES := $(filter-out tests/kernels/% tests/goldens/% tests/fuzz/% $(wildcard tests/*/support_*.c), \
                  $(wildcard tests/first.c tests/*/*.c))
KERNEL_TESTS := $(wildcard tests/kernels/test_*.c)
KERNELS      := $(filter-out runtime/rt_alone.c,$(wildcard $(RUNTIME_FOLDERS:%=%/*.c) tests/kernels/support_*.c))
TEST_PROGRAMS = $(BUILD)/tests/once/cc_once $(TEST_SOURCES:%.c=$(BUILD)/%) $(foreach i,$(ISAS),$(KERNEL_TESTS:%.c=$(BUILD)/%.$(i))) \
                $(ISA_TESTS:%=$(BUILD)/tests/kernels/%)
CMOCKA        = $(shell pkg-config --libs cmocka)

test-programs: $(XFORMC) $(TEST_PROGRAMS)

.SECONDEXPANSION:
$(TEST_SOURCES:%.c=$(BUILD)/%): $(BUILD)/%: $(BUILD)/%.o $(filter-out $(BUILD)/compiler/cli/main.o,$(OBJECTS)) \
                                $$(patsubst %.c,$(BUILD)/%.o,$$(wildcard $$(dir $$*)support_*.c))
	$(call say,LINK,$@)
	$(Q)$(CC) $(FLAGS) $(LDFLAGS) -o $@ $^ $(CMOCKA) $(LIBS)

# PCRE2 is the oracle of one test, which is skipped without it.
PCRE2_LIBS := $(shell pkg-config --libs libpcre2-8 2>/dev/null)
$(BUILD)/tests/tokenizer/test_patterns.o: private FLAGS += $(if $(PCRE2_LIBS),-DHAVE_PCRE2 $(shell pkg-config --cflags libpcre2-8 2>/dev/null))
$(BUILD)/tests/tokenizer/test_patterns: private CMOCKA += $(PCRE2_LIBS)

# A kernel test is linked with kernels compiled for the same instruction set.
define isa_rules
$(BUILD)/$(1)/%.o: %.c $(BUILD)/flags
	$$(call say,CC,'$$< ($(1))')
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(FLAGS) $$(ISA_$(1)) -MMD -MP -c -o $$@ $$<

$(BUILD)/tests/kernels/%.$(1): $(BUILD)/$(1)/tests/kernels/%.o $(KERNELS:%.c=$(BUILD)/$(1)/%.o)
	$$(call say,LINK,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(FLAGS) $$(LDFLAGS) -o $$@ $$^ $$(CMOCKA) -lm -pthread
endef
$(foreach i,$(sort $(ISAS) $(patsubst .%,%,$(suffix $(ISA_TESTS)))),$(eval $(call isa_rules,$(i))))

# The caching compiler of the suites, which compiles the same text only once, needs no libraries.
$(BUILD)/tests/once/cc_once: tests/once/programs/cc_once.c $(BUILD)/flags
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(filter-out $(SANITIZE),$(FLAGS)) $(LDFLAGS) -o $@ $<

test: deps  ## the tests that a change can plausibly break, 7 minutes; ends with `N passed, N failed`
	+@$(make) test-programs
	@sh tests/run.sh $(BUILD) test

check: deps  ## the quick suites of `make test`, a minute; times exclude test-programs
	+@$(make) test-programs
	@sh tests/run.sh $(BUILD) check

test-targets: deps  ## one check of each other compiler, emulator, browser and package, 4 minutes
	+@$(make) test-programs
	@sh tests/run.sh $(BUILD) targets

test-all: deps  ## all of the above with every sweep, once under load, then asan and fuzz; takes hours
	+@$(make) test-programs
	@failed=; \
	sh tests/run.sh $(BUILD) all || failed="$$failed all"; \
	sh tests/loaded.sh $(BUILD) || failed="$$failed loaded"; \
	$(make) asan || failed="$$failed asan"; \
	$(make) fuzz || failed="$$failed fuzz"; \
	[ -z "$$failed" ] || { echo "make test-all: failed:$$failed" >&2; exit 1; }

asan: deps  ## suites not tagged noasan, with the address, leak and undefined-behaviour sanitizers
	+@$(make) test-programs $(ASAN)
	@XFORMC_SANITIZE=1 sh tests/run.sh build/asan asan; status=$$?; $(make) ubsan && exit $$status

ubsan:  ## test programs and some suites with clang's sanitizer, which finds more; part of asan
	@if echo 'int main(int n, char **words) { return words && n + 1 < n; }' | \
	    $(CLANG) -fsanitize=undefined -x c -o /dev/null - 2>/dev/null; then \
	    $(make) test-programs $(UBSAN) && \
	    XFORMC_SANITIZE=1 sh tests/run.sh build/ubsan ubsan; \
	else echo "make ubsan: $(CLANG) with its sanitizers is missing" >&2; fi
# kernel_set_one.c holds all kernels. With pointer-overflow, inline address checks or -O3, gcc takes
# up to ten times as long for it, and 1.6 times if it tracks variables and moves loop invariants.
# tests/kernels checks each kernel with all sanitizers.
ASAN = BUILD=build/asan CFLAGS='-O1 -g' \
       SANITIZE='-fsanitize=$(ASAN_CHECKS) $(TRAPS)' \
       SANITIZE_KERNELS='-O1 -fsanitize=$(ASAN_CHECKS) $(TRAPS) -fno-sanitize=pointer-overflow $(CALLS) $(QUICKER)'
ASAN_CHECKS = address,undefined,float-cast-overflow
IS_CLANG = $(findstring clang,$(shell $(CC) --version))
CALLS = $(if $(IS_CLANG),-mllvm ,--param )asan-instrumentation-with-call-threshold=0
QUICKER = $(if $(IS_CLANG),,-fno-var-tracking -fno-move-loop-invariants)
TRAPS = -fno-sanitize-recover=all -fno-omit-frame-pointer
# clang takes a quarter of an hour for some kernels with several sanitizers, so kernels have none
# here.
UBSAN = BUILD=build/ubsan CC=$(CLANG) CFLAGS='-O1 -g' SANITIZE_KERNELS= ISAS= \
        SANITIZE='-fsanitize=undefined,float-cast-overflow,local-bounds,nullability $(TRAPS)'

fuzz: deps  ## fuzz every file reader, FUZZ_SECONDS=20 each; needs clang with libFuzzer
	@echo 'int LLVMFuzzerTestOneInput(const char *data, unsigned long size) { return data && size > 9; }' | \
	    $(CLANG) -fsanitize=fuzzer -x c -o /dev/null - 2>/dev/null || { echo "make fuzz: $(CLANG) with libFuzzer is missing" >&2; exit 69; }
	+@$(make) fuzz-programs $(FUZZ)
	@sh tests/fuzz/fuzz.sh build/fuzz $(FUZZ_TARGETS)
CLANG = clang
FUZZ = BUILD=build/fuzz CC=$(CLANG) CFLAGS='-O1 -g' SANITIZE_KERNELS= \
       SANITIZE='-fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow $(TRAPS)'
FUZZ_SUPPORT := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/fuzz/support_*.c))
FUZZERS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/fuzz/fuzz_*.c))

# libFuzzer brings its own main(), so compiler/cli/main.o is left out. fuzz_program runs rt_cli*.c.
fuzz-programs: $(XFORMC) $(FUZZERS)

$(FUZZERS): $(BUILD)/%: $(BUILD)/%.o $(filter-out $(BUILD)/compiler/cli/main.o,$(OBJECTS)) $(FUZZ_SUPPORT) \
            $(MAIN:%.c=$(BUILD)/%.o)
	$(call say,LINK,$@)
	$(Q)$(CC) $(FLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(LIBS)

lint: deps  ## check includes, calls, text, names, sizes, and warnings of gcc and clang
	+@$(make) all
	@sh tests/lint/lint.sh

golden: deps  ## rewrite the goldens and generated/dates; read the diff
	+@$(make) test-programs
	@sh tests/run.sh $(BUILD) golden
	$(Q)$(XFORMC) compile specs/dates.lua -o generated/dates

# ---- other targets -------------------------------------------------------------------------------
deps:  ## install missing packages; NO_INSTALL=1 only names them
	@sh tests/deps.sh $(LUA)

demo: deps  ## compile the date model, build it, run it, measure it
	+@$(make) all
	@sh tests/demo.sh $(XFORMC)

peers: deps  ## compare speed with llama.cpp, CTranslate2, ONNX Runtime, PyTorch; PEERS='--only decode-f32-15m': see tests/bench/README.md
	+@$(make) all
	@sh tests/bench/peers.sh $(XFORMC) $(PEERS)

large: deps  ## build, run and compare random models of 0.5 to 8 billion parameters; 45 GB in build/large; LARGE=1b for one
	+@$(make) all
	@python3 tests/large/large.py $(XFORMC) $(BUILD)/large $(LARGE)

# The manual pages quote what xformc prints, so it has to be built first.
PAGES := $(patsubst %.scd,%,$(wildcard man/*.scd))
man: $(XFORMC)  ## rewrite the manual pages in man/; needs scdoc
	@for page in $(PAGES); do \
	    sh man/page.sh $(XFORMC) $$page.scd >$$page.new && mv $$page.new $$page || { rm -f $$page.new; exit 1; }; \
	done

# Install locations below PREFIX.
SHARE    = $(DESTDIR)$(PREFIX)/share
HEADERS := $(filter-out %_parts.h,$(wildcard runtime/*.h runtime/*.def runtime/generate/*.h runtime/tokenizer/*.h)) \
           runtime/kernels/simd/instruction_sets.def
VERSION := $(shell sed -n 's/^#define XFORMC_VERSION "\(.*\)"/\1/p' compiler/emit/emit_kind.h)

install: all  ## install program, specs, headers, completions, pages into PREFIX, below DESTDIR
	@sh packaging/install.sh "$(XFORMC)" "$(DESTDIR)" "$(PREFIX)" "$(VERSION)" $(HEADERS)

uninstall:  ## remove what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/xformc $(DESTDIR)$(PREFIX)/lib/pkgconfig/xformc.pc
	rm -f $(foreach p,$(notdir $(PAGES)),$(SHARE)/man/man*/$(p))
	rm -f $(SHARE)/bash-completion/completions/xformc $(SHARE)/zsh/site-functions/_xformc $(SHARE)/fish/vendor_completions.d/xformc.fish
	rm -rf $(SHARE)/doc/xformc $(SHARE)/xformc $(DESTDIR)$(PREFIX)/include/xformc

dist:  ## make build/xformc-VERSION.tar.gz, which builds without git
	@sh packaging/dist.sh "$(VERSION)" "$(BUILD)"

deb: all  ## make build/xformc_VERSION_ARCH.deb, for the Debian release it is built on
	@sh packaging/deb.sh "$(VERSION)" "$(BUILD)" "$(MAKE)"

clean:  ## remove build/
	rm -rf build

help:  ## print this list
	@sed -n 's/^\([a-z-]*\):.*  ## /\1\t/p' Makefile | while IFS='	' read -r t d; do \
	    printf '  make %-13s %s\n' "$$t" "$$d"; done
	@echo "Settings, with their defaults, are at the top of the Makefile."

.PHONY: all always libraries test-programs fuzz-programs test test-targets test-all check asan ubsan fuzz lint \
        golden deps demo peers man install uninstall dist deb clean help
.SECONDARY:
.DELETE_ON_ERROR:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
