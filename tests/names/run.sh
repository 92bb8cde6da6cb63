#!/bin/sh
# tags: slow noasan
# Model names that also occur in the emitted C: the folder compiles, or the name is rejected as
# reserved. `make test` tries the names that the emitted C of five kinds of models defines outside
# functions; `make test-all` tries every identifier in it.
# usage: run.sh XFORMC
. tests/lib.sh
out=$scratch/out        # a model's name may be that of a spec
mkdir "$out"

# Two models whose programs have as many parts as possible.
cat >"$scratch/talks.lua" <<END
return xf.model { name = "talks", kind = "decoder", layers = 1, heads = 2, d_model = 16, d_ff = 16, max_len = 200,
  weights = "random", kv_dtype = "f16", tokenizer_file = "$PWD/tests/chat/llama2",
  generation = { max_new_tokens = 12, num_beams = 2, repetition_penalty = 1.5, bad_words_ids = { { 5 } },
    suppress_tokens = { 6 }, begin_suppress_tokens = { 7 }, stop_strings = { "." } } }
END
cp -r tests/families/t5 "$scratch/translates"
cp tests/languages/t5.json "$scratch/translates/tokenizer.json"
sed -i '1a "task_specific_params": { "a": { "prefix": "translate English to German: " } },' "$scratch/translates/config.json"

# folder SPEC NAME: emit its C under that name into $out/NAME.
folder() { "$xformc" compile "$1" --name "$2" -o "$out/$2" -q >/dev/null 2>"$scratch/err"; }

# syntax ARGUMENT...: check C with these arguments. The headers of the C compiler, which take most
# of the time, are compiled once, into headers.h.gch.
syntax() { cc -std=c11 -Wall -Wextra -Werror "$@" >"$scratch/log" 2>&1; }
cat >"$scratch/headers.h" <<END
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif
END
syntax -x c-header "$scratch/headers.h" -o "$scratch/headers.h.gch" || cat "$scratch/log"

# compiles SPEC NAME: true if all C of that folder compiles, or the name is reserved.
compiles() {
    rm -rf "${out:?}/$2"
    if ! folder "$1" "$2"; then
        grep -q 'is reserved' "$scratch/err"
        return
    fi
    syntax -fsyntax-only -include "$scratch/headers.h" -I"$out/$2/runtime" "$out/$2"/*.c || return 1
    rm -rf "${out:?}/$2"
}

# words SPEC: the identifiers of its emitted C.
words() {
    folder "$1" zz
    sed 's/"[^"]*"//g' "$out"/zz/*.[ch] | grep -o '[A-Za-z_][A-Za-z0-9_]*' | grep -vi '^zz' | sort -u
    rm -rf "$out/zz"
}

# definitions SPEC: the names that its emitted C defines outside functions, without offsets.
definitions() {
    folder "$1" zz
    sed -nE -e 's/^#define ([A-Za-z_0-9]+).*/\1/p' -e 's/^typedef .*[ *}]([A-Za-z_0-9]+);.*/\1/p' \
        -e 's/^\} ([A-Za-z_0-9]+)[;[].*/\1/p' \
        -e 's/^[A-Za-z_][A-Za-z_0-9 *]*[ *]([A-Za-z_][A-Za-z_0-9]*)[(;].*/\1/p' \
        -e 's/^(static|const) [^(]*[ *]([A-Za-z_][A-Za-z_0-9]*)(\[[^]]*\])* =.*/\2/p' \
        "$out"/zz/*.c | grep -Ev '^(AT|W|ZZ|zz)_' | sort -u
    rm -rf "$out/zz"
}

# try SPEC SAMPLE: these names and its definitions, or every word, can be names of the spec.
try() {
    names=$(definitions "$1")
    defined=$(echo "$names" | grep -cE '^(main|job|run_body|HEAD_BYTES)$')
    names="$2 $names"
    if [ -n "${XFORMC_ALL:-}" ]; then names=$(words "$1"); fi
    wrong=
    for name in $names; do
        compiles "$1" "$name" && continue
        wrong="$wrong $name"
        head -n 5 "$scratch/err" "$scratch/log"
    done
    [ "$defined" -ge 2 ] && [ -z "$wrong" ]
    verdict $? "names that the emitted C of $1 uses"
    [ -z "$wrong" ] || echo "does not compile:$wrong"
}
cd "$scratch" && ln -s "$top/tests" tests && ln -s "$top/specs" specs || exit 74
try talks.lua 'chat generation ends bad_words suppress begin_suppress stops tokenizer threads fork_slot main_ends'
try translates 'translations encode read from to translates scale_96 scale_96_rows'
try tests/vectors/labels_several 'labels vector status path missing'
try specs/dates.lua 'ids_ n model example_ values'
try specs/attention.lua 'values arguments open rows_ columns'
