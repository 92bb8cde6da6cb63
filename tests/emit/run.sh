#!/bin/sh
# tags: slow noasan early
# The emitted C matches the committed text, is the same whatever the current folder, allocates
# nothing, and compiles without warnings with gcc and clang, at several optimisation levels and for
# every instruction set. The emitted API, called by programs/: statuses, order of calls, forks,
# copies of a state, threads, pairs of texts and NAME_vector, two models in one program, weights in
# a file, taps.
# usage: run.sh XFORMC
. tests/lib.sh
compile() { spec=$1; shift; "$xformc" compile "$spec" -q "$@" || echo "cannot compile $spec"; }
strict='-std=c11 -Wall -Wextra -Werror -ffp-contract=off -Iruntime -I.'

# ---- the text ------------------------------------------------------------------------------------

# The options are those in the table of generated/README.md.
for name in dates story encoder; do
    options=$(sed -n "s#^| \`$name\` | \`specs/$name.lua\(.*\)\`.*#\1#p" generated/README.md)
    (unset XFORMC_TEAM; compile specs/$name.lua $options -o "$scratch/$name")
    bad=0
    for file in $(git ls-files generated/$name 2>/dev/null || ls -d generated/$name/*.[ch] generated/$name/Makefile); do
        case $file in *.c|*.h|*/Makefile) diff -u "$file" "$scratch/$name/${file##*/}" || bad=1 ;; esac
    done
    for file in "$scratch/$name"/*.[ch] "$scratch/$name/Makefile"; do
        [ -e "generated/$name/${file##*/}" ] || { echo "${file##*/} is not in generated/$name"; bad=1; }
    done
    verdict $bad "the text for $name is the committed one"
    if grep -n '.\{101\}' "$scratch/$name"/*.[ch]; then bad=1; fi
    verdict $bad "$name: no line is longer than 100 columns"
    if awk 'was && /^ [*] [a-z(]/ && length(line) < 80 { print FILENAME ": " line; bad = 1 }
            { was = /^( [*]|\/[*]) / && !/[*]\/$/; line = $0 } END { exit !bad }' "$scratch/$name/$name.h"; then bad=1; fi
    verdict $bad "$name: no line of a comment ends before its sentence does while there is room"
    command=$(sed -n 's/^ [*] Build: make, or \(cc .*\)$/\1/p' "$scratch/$name/$name.c") && [ -n "$command" ] && (cd "$scratch/$name" && sh -c "$command" && rm $name.o)
    verdict $? "$name: the command in its first comment compiles it"
    for cc in gcc clang; do
        what="$name: $cc is silent on every file, with all warnings on"
        if ! has $cc; then skip "$what" "no $cc"; continue; fi
        (cd "$scratch/$name" && for file in *.c runtime/rt_*.c; do
             $cc -std=c11 -D_GNU_SOURCE -pedantic -Wall -Wextra -Wshadow -Wconversion -Wcast-align -Wcast-qual -Werror -O1 -march=native \
                 -ffp-contract=off -Iruntime -I. -fsyntax-only "$file" || exit
         done)
        verdict $? "$what"
    done
    compile specs/$name.lua $options -o "$scratch/$name"        # from here on with XFORMC_TEAM as lib.sh sets it
done

bad=0
for file in runtime/* runtime/*/*; do
    name=${file##*/}
    if [ -e "$scratch/dates/runtime/$name" ] && ! cmp "$file" "$scratch/dates/runtime/$name"; then bad=1; fi
done
verdict $bad 'the runtime in a folder is that of the tree'

mkdir "$scratch/elsewhere"
(cd "$scratch/elsewhere" && cp -R "$top/specs" . && "$xformc" compile ./specs/../specs/dates.lua -q --output=other/folder) &&
    diff -r "$scratch/dates" "$scratch/elsewhere/other/folder"
verdict $? 'the same bytes from another folder, path and -o'

before=$(cd "$scratch/dates" && ls -l --time-style=full-iso dates.c dates.h runtime/rt.h)
compile specs/dates.lua -o "$scratch/dates" && [ "$(cd "$scratch/dates" &&
    ls -l --time-style=full-iso dates.c dates.h runtime/rt.h)" = "$before" ]
verdict $? 'compiling again leaves the dates of unchanged files'

if grep -nE '(malloc|calloc)[[:space:]]*\(|realloc|free[[:space:]]*\(' "$scratch"/dates/dates*.[ch]; then verdict 1 'dates allocates nothing'
else verdict 0 'dates allocates nothing'; fi

[ "$(sed -n 's/^#include //p' "$scratch/dates/dates.c" | tr '\n' ' ')" = '"rt.h" "rt_rows.h" "dates_kernels.h" ' ]
verdict $? 'dates.c includes only rt.h, rt_rows.h and dates_kernels.h'

if grep -rnE "$scratch|$top|$(hostname)|20[0-9][0-9]-[01][0-9]" \
    "$scratch"/dates/*.[ch] "$scratch/dates/Makefile"; then verdict 1 'no paths or dates in the text'
else verdict 0 'no paths or dates in the text'; fi

# Every block ends with a barrier, so that the next one sees its results.
awk '/^static void [a-z_0-9]+\(const job \*j/ { block = $0 }
     block && /^}/ { if (last !~ /rt_barrier\(j->team\);/) { print block; bad = 1 } block = "" }
     { last = $0 } END { exit bad }' "$scratch/dates/dates.c"
verdict $? 'every block ends where threads meet'

# Log-probabilities are called scores. A header has only one of the two calls.
"$xformc" compile specs/gpt.lua -q -o "$scratch/gpt"
grep -c '_\(logits\|scores\)(const' "$scratch/dates/dates.h" "$scratch/gpt/gpt.h" | sed 's/.*://' | grep -c '^1$' | grep -q '^2$' &&
    grep -q '^const float \*dates_scores(' "$scratch/dates/dates.h" && grep -q '^const float \*gpt_logits(' "$scratch/gpt/gpt.h"
verdict $? 'a log-softmax makes scores of logits'

# ---- compilers -----------------------------------------------------------------------------------

compile tests/specs/two_attentions.lua -o "$scratch/two"
compile tests/specs/different_layers.lua -o "$scratch/layers" --taps --slots 2
compile tests/specs/deep.lua -o "$scratch/deep" --weights file
grep -q '"5 layers, 4 heads of 6, d_ff 17 to 40, ' "$scratch/layers/different_layers_main.c" &&
    grep -q '"3 layers, 2 to 3 heads of ' "$scratch/layers/different_layers_main.c"
verdict $? 'for layers that differ, the least and the most are given'
# clean NAME CC FLAGS FILE...: the files compile without warnings.
clean() {
    name=$1 cc=$2 flags=$3
    shift 3
    if ! has "$cc"; then skip "$name" "no $cc"; return; fi
    bad=0
    for file; do (cd "$(dirname "$file")" && $cc $strict $flags -c -o "$scratch/one.o" "${file##*/}") || bad=1; done
    verdict $bad "$name"
}
# One level for each model: warnings depend little on the level and much on the text. -O0 gets the
# most files.
models="$scratch/layers/different_layers.c $scratch/deep/deep.c"
for cc in gcc clang; do
    clean "$cc -O0 finds no fault"             $cc -O0 "$scratch/two/two_attentions.c" "$scratch"/dates/*_main.c "$scratch"/two/*_main.c \
        "$scratch"/dates/*_settings.c "$scratch"/dates/*_generate.c \
        "$scratch"/dates/example.c "$scratch"/two/example.c
    if [ -n "$XFORMC_QUICK" ]; then continue; fi
    clean "$cc -O1 -march=native finds no fault" $cc '-O1 -march=native' $models
    clean "$cc -O3 finds no fault"             $cc -O3 "$scratch/dates/dates.c"
    while IFS=, read -r isa machine flags; do
        case $isa in *avx512vnni) continue ;; esac           # f32 code is that of avx512
        isa=${isa#KERNEL_SET?} flags=${flags#*\"} flags=${flags%\"*}
        case $machine in
        " $(uname -m)"|' any') clean "$cc for $isa finds no fault" $cc "-O1 $flags" "$scratch/dates/dates.c" ;;
        *) skip "$cc for $isa finds no fault" "another processor" ;;
        esac
    done <<END
$(grep '^KERNEL_SET(' runtime/kernels/simd/instruction_sets.def)
END
done

# Results of the calls below do not depend on optimisation.
quick_compilers

# ---- a library -----------------------------------------------------------------------------------

compile specs/dates.lua -o "$scratch/slots" --slots 3
make -s -C "$scratch/slots" libdates.a example >"$scratch/log" 2>&1
verdict $? 'a folder with three slots is built'
cat "$scratch/log"

nm -g --defined-only "$scratch/slots/dates.o" | awk 'NF == 3 { n++; if ($3 !~ /^dates/) { print; bad = 1 } } END { exit bad || n < 10 }'
verdict $? 'external names of dates.o begin with dates'
nm -g --defined-only "$scratch/slots/libdates.a" | awk 'NF == 3 { n++; if ($3 !~ /^(dates|rt_)/) { print; bad = 1 } } END { exit bad || n < 20 }'
verdict $? 'external names of libdates.a begin with dates or rt_'
nm "$scratch/slots/dates.o" | grep -E ' U (malloc|calloc|realloc|free|aligned_alloc|printf|fopen)$'
[ $? = 1 ]
verdict $? 'dates.o calls no allocator and no stdio'

cat >"$scratch/header.cc" <<'END'
#include "dates.h"
static dates model;
static dates_state state;
int main() { return dates_bind(&model, &state, 3) == RT_BAD_WEIGHTS && dates_step(&model, &state, 1) == RT_ORDER ? 0 : 1; }
END
for cc in g++ clang++; do
    name="$cc takes the header and links the library"
    if ! has $cc; then skip "$name" "no $cc"; continue; fi
    (cd "$scratch/slots" && $cc -std=c++17 -Wall -Wextra -Wpedantic -Werror -Iruntime -I. -o header "$scratch/header.cc" libdates.a -lm -pthread &&
        ./header)
    verdict $? "$name"
done

cp "$scratch/slots/dates.safetensors" "$scratch/foreign.safetensors"
printf 0000000000000000 | dd of="$scratch/foreign.safetensors" bs=1 seek=35 conv=notrunc 2>/dev/null
calls=$top/tests/emit/programs/library_calls.c
if (cd "$scratch/slots" && cc -O1 -g $strict -DMODEL_H='"dates.h"' -o calls "$calls" libdates.a -lm -pthread); then
    "$scratch/slots/calls" "$scratch/slots/dates.safetensors" "$scratch/foreign.safetensors" "$scratch/two/two_attentions.safetensors"
    [ $? -le 1 ]
    verdict $? 'the library_calls program ends'
else
    verdict 1 'the library_calls program is built'
fi

compile tests/goldens/hf_bert_pair.lua -o "$scratch/pair"
calls=$top/tests/emit/programs/encoder_calls.c
if make -s -C "$scratch/pair" libhf_bert_pair.a >/dev/null 2>&1 &&
    (cd "$scratch/pair" && cc -O1 -g $strict -o calls "$calls" libhf_bert_pair.a -lm -pthread); then
    "$scratch/pair/calls" "$scratch/pair/hf_bert_pair.safetensors"
    [ $? -le 1 ]
    verdict $? 'the encoder_calls program ends'
else
    verdict 1 'the encoder_calls program is built'
fi

# Two models in one program.
compile tests/goldens/dv_ne_dk.lua -o "$scratch/second"
cat >"$scratch/both.c" <<'END'
#include <stdio.h>
#include <string.h>
#include "dates.h"
#include "dv_ne_dk.h"
#include "rt_weights.h"
static char out[64];
static size_t used;
static bool note(void *user, const char *text, size_t n) { (void)user; memcpy(out + used, text, n); used += n; return true; }
static dates first; static dates_state first_state; static dv_ne_dk second; static dv_ne_dk_state second_state;
int main(int argc, char **argv)
{
    RtWeights a, b;
    static const int source[] = { 3, 4, 5 };
    if (argc != 3 || rt_weights_open(&a, argv[1]) || rt_weights_open(&b, argv[2])) return 2;
    if (dates_bind(&first, a.data, a.bytes) || dv_ne_dk_bind(&second, b.data, b.bytes)) return 3;
    if (dates_bind(&first, b.data, b.bytes) != RT_BAD_WEIGHTS || dv_ne_dk_bind(&second, a.data, a.bytes) != RT_BAD_WEIGHTS) return 4;
    int id = 1;
    if (dv_ne_dk_encode(&second, &second_state, 0, source, 3)) return 5;
    for (int i = 0; i < 4; i++) {
        used = 0;
        if (dates_generate(&first, &first_state, "3rd of May 2019", NULL, note, NULL)) return 6;
        if (dv_ne_dk_next(&second, &second_state, id, &id)) return 7;
    }
    printf("%.*s %d\n", (int)used, out, id);
    return 0;
}
END
# The library of the second model also holds the runtime, so only its own object is linked.
make -s -C "$scratch/second" dv_ne_dk.o >"$scratch/log" 2>&1 &&
    (cd "$scratch/slots" && cc -O1 $strict -I"$scratch/second" -o both "$scratch/both.c" "$scratch/second/dv_ne_dk.o" libdates.a -lm -pthread) &&
    answer=$(cd "$scratch/slots" && ./both dates.safetensors "$scratch/second/dv_ne_dk.safetensors") &&
    case $answer in '2019-05-03 '[0-9]*) true ;; *) echo "$answer"; false ;; esac
verdict $? 'two models in one program both answer'
cat "$scratch/log"

# ---- example, weights in a file, taps ------------------------------------------------------------

# The ids 4, 7, 10, 13 as characters, and the answer's characters as ids.
line() { sed -n "$(($1 + 1))p" specs/dates/source_vocabulary.txt; }
answer=$("$xformc" run specs/dates.lua --engine generic "$(line 4)$(line 7)$(line 10)$(line 13)")
expected=$(printf %s "$answer" | sed 's/./&\n/g' |
    awk 'NR == FNR { id[$0] = FNR - 1; next } { printf "%d ", id[$0] }' specs/dates/target_vocabulary.txt -)
found=$(cd "$scratch/slots" && ./example)
[ -n "$answer" ] && [ "$found" = "${expected}2" ] && [ "$(cd / && "$scratch/slots/example" "$scratch/slots/dates.safetensors")" = "$found" ]
verdict $? 'example answers as xformc run does'
echo "found $found, expected ${expected}2"
message=$(cd / && "$scratch/slots/example" nothing 2>&1)
[ $? = 1 ] && [ "$message" = 'example: nothing: No such file or directory' ]
verdict $? 'example says which weights are not there'
message=$(cd / && "$scratch/slots/example" "$scratch/slots/Makefile" 2>&1)
[ $? = 1 ] && [ "$message" = 'example: not the weights that this model was compiled for' ]
verdict $? 'example says that a file is not the weights'
echo "$message"

compile tests/specs/two_attentions.lua -o "$scratch/two" && make -s -C "$scratch/two" example >"$scratch/log" 2>&1 &&
    (cd "$scratch/two" && ./example >"$scratch/graph")
verdict $? 'the example of a graph runs'
message=$(cd / && "$scratch/two/example" nothing 2>&1)
[ $? = 66 ] && [ "$message" = 'error: nothing: No such file or directory' ]
verdict $? 'the example of a graph says which weights are not there'
cat "$scratch/log"

compile specs/dates.lua -o "$scratch/file" --weights file && [ ! -e "$scratch/file/dates_weights.c" ] &&
    make -s -C "$scratch/file" dates >"$scratch/log" 2>&1 &&
    mkdir "$scratch/moved" && mv "$scratch/file/dates" "$scratch/file/dates.safetensors" "$scratch/moved" &&
    [ "$(cd / && "$scratch/moved/dates" '3rd of May 2019')" = 2019-05-03 ]
verdict $? '--weights file: the program finds the file beside itself'
cat "$scratch/log"
mv "$scratch/moved/dates.safetensors" "$scratch/away.safetensors"
message=$("$scratch/moved/dates" x 2>&1)
[ $? = 66 ] && case $message in *"cannot read the weights $scratch/moved/dates.safetensors: No such file"*"--weights FILE"*) true ;; *) false ;; esac
verdict $? '--weights file: without the file the program says where it looked'
echo "$message"
[ "$("$scratch/moved/dates" --weights "$scratch/away.safetensors" '3rd of May 2019')" = 2019-05-03 ]
verdict $? '--weights file: another place can be given'

"$xformc" build tests/goldens/one_head.lua -q -o "$scratch/ids" >"$scratch/log" 2>&1
verdict $? 'a model without a tokenizer is built'
cat "$scratch/log"

MAKEFLAGS=' -- CC=false' "$xformc" build tests/specs/two_attentions.lua -q -o "$scratch/two" >"$scratch/log" 2>&1 &&
    "$scratch/two/two_attentions" >"$scratch/built" &&
    cmp "$scratch/built" "$scratch/graph"
verdict $? 'a graph is built, whichever make started xformc'
cat "$scratch/log"

cat >"$scratch/taps.c" <<'END'
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "dates.h"
#include "rt_weights.h"
static dates model; static dates_state state;
int main(int argc, char **argv)
{
    RtWeights w;
    int ids[80], n;
    if (argc != 2 || rt_weights_open(&w, argv[1]) || dates_bind(&model, w.data, w.bytes)) return 2;
    if (dates_tokenize(&model, &state, "3rd of May 2019", ids, 80, &n, NULL) || dates_encode(&model, &state, 0, ids, n) || dates_step(&model, &state, 1)) return 3;
    for (size_t i = 0; i < sizeof dates_taps / sizeof *dates_taps; i++) {
        const dates_tap *t = &dates_taps[i];
        const size_t length = strlen(t->name);
        puts(t->name);
        if (t->offset + 4 * (size_t)t->heads * (size_t)t->rows * (size_t)t->stride > sizeof state) return 4;
        if (length < 8 || strcmp(t->name + length - 8, ".weights") != 0) continue;
        const int columns = strstr(t->name, "decoder") && strstr(t->name, "self") ? 1 : n;
        for (int h = 0; h < t->heads; h++) {
            const float *row = (const float *)(const void *)(state.bytes + t->offset) + (size_t)h * (size_t)t->rows * (size_t)t->stride;
            double sum = 0;
            for (int c = 0; c < columns; c++) sum += row[c];
            if (fabs(sum - 1) > 1e-5) return 5;
        }
    }
    return 0;
}
END
compile specs/dates.lua -o "$scratch/tapped" --taps && make -s -C "$scratch/tapped" libdates.a >"$scratch/log" 2>&1 &&
    (cd "$scratch/tapped" && cc -O1 $strict -o taps "$scratch/taps.c" libdates.a -lm -pthread && ./taps dates.safetensors >"$scratch/names")
verdict $? '--taps: weights of attention are there and sum to 1'
cat "$scratch/log"
for stack in encoder decoder; do for n in 0 1; do
    for part in self_attn cross_attn; do
        case $stack$part in encodercross_attn) continue ;; esac
        for what in q scores weights out; do echo "$stack.$n.$part.$what"; done
    done
    echo "$stack.$n.ffn"; echo "$stack.$n.norm.0"; echo "$stack.$n.norm.1"
done; done >"$scratch/expected"
echo logits >>"$scratch/expected"
missing=$(while read -r t; do grep -qxF "$t" "$scratch/names" || echo "$t"; done <"$scratch/expected")
[ -z "$missing" ] && [ -z "$(sort "$scratch/names" | uniq -d)" ]
verdict $? '--taps: dates_taps has the names'
echo "missing: $missing"
grep -q 'tap' "$scratch/dates/dates.c" "$scratch/dates/dates.h"
[ $? = 1 ]
verdict $? 'without --taps there is no trace of them'
