#!/bin/sh
# tags: targets
# The stack size that `info` states: gcc and clang builds in f32 and int8 stay within it, judging by
# the call graph of the assembly. Models answer the same on a stack of that size plus one page, and
# so does `dates` in int8 in WebAssembly on the default stack (skipped without clang, wasm-ld and
# node).
# `make test-all` covers more specs, and every dtype.
# usage: slow.sh XFORMC
set -u
. tests/lib.sh

# bound SPEC OPTION...: the bytes that `info` states.
bound() { "$xformc" info "$@" --json | sed -n 's/.*"stack_bytes":\([0-9]*\).*/\1/p'; }

# depth FOLDER NAME CC FLAG...: the deepest stack, and its functions.
depth() (
    cd "$1" || exit
    model=$2
    shift 2
    rm -rf stack && mkdir stack
    for file in "$model.c" runtime/rt_team.c runtime/rt_tokenizer*.c runtime/rt_characters.c; do
        [ -e "$file" ] || continue
        "$@" -std=c11 -ffp-contract=off -fPIC -fstack-usage -Iruntime -I. -S "$file" -o "stack/$(basename "$file" .c).s" || exit
    done
    awk -f "$top/tests/info/stack_depth.awk" stack/*.su stack/*.s
)

# within LABEL BYTES FOLDER NAME CC FLAG...: the deepest stack takes at most BYTES.
within() {
    case_name=$1 most=$2
    shift 2
    found=$(depth "$@") && [ "${found%% *}" -le "$most" ] && [ "${found%% *}" -gt 64 ]
    verdict $? "$case_name: $found of $most"
}

# ---- the calls -----------------------------------------------------------------------------------

story=tests/families/llama
# pairs SPEC...: each spec with each dtype, as `SPEC DTYPE`.
pairs() { for spec; do for dtype in f32 bf16 int8 int4; do echo "$spec $dtype"; done; done; }
some=$(for spec in specs/dates.lua $story; do echo "$spec f32" && echo "$spec int8"; done)

# chosen DTYPE: the options; kv8 is an int8 cache.
chosen() { case $1 in kv8) echo "--kv-dtype int8" ;; *) echo "--dtype $1" ;; esac; }

# emit LABEL SPEC DTYPE: compile to the folder $scratch/LABEL.DTYPE.
emit() {
    folder=$scratch/$1.$3
    # shellcheck disable=SC2046
    [ -d "$folder" ] || "$xformc" compile "$2" $(chosen "$3") -q -o "$folder" 2>"$scratch/err" ||
        { cat "$scratch/err"; verdict 1 "compile $1 $3"; return 1; }
    model=$(basename "$(echo "$folder"/*_kernels.h)" _kernels.h)
}

# The sample has f32 and quantized products, each in portable C with both compilers and, for dates,
# in vectors with gcc; each case has its own bound. make test-all adds other models, dtypes and
# levels.
all=$(pairs specs/dates.lua specs/encoder.lua specs/self_attention.lua $story; echo "specs/dates.lua kv8"; echo "$story kv8")
while read -r spec dtype; do
    label=$(basename "$spec" .lua)
    emit "$label" "$spec" "$dtype" || continue
    # shellcheck disable=SC2046
    plain=$(bound "$spec" $(chosen $dtype) --isa portable) vectors=$(bound "$spec" $(chosen $dtype))
    for cc in gcc clang; do
        has $cc || { skip "the stack of $label $dtype with $cc" 'not installed'; continue; }
        within "$label $dtype, portable, $cc -O2" "$plain" "$folder" "$model" \
            $cc -O2 -DRT_PORTABLE
        [ "$(uname -m)" = x86_64 ] || continue
        case $label.$dtype.$cc in
        $(sweep 'dates.*.gcc' 'dates.*') | encoder.int8.*) ;;
        *) continue ;;
        esac
        within "$label $dtype, AVX-512, $cc -O2" "$vectors" "$folder" "$model" \
            $cc -O2 -march=x86-64-v4
        case ${XFORMC_ALL:+all.}$label.$dtype in all.dates.int8) ;; *) continue ;; esac
        within "$label $dtype, AVX-512, $cc -O3" "$vectors" "$folder" "$model" \
            $cc -O3 -march=x86-64-v4
        within "$label $dtype, AVX2, $cc -O2" "$vectors" "$folder" "$model" \
            $cc -O2 -march=x86-64-v3
    done
done <<END
$(sweep "$some" "$all")
END
"$xformc" compile specs/dates.lua --kernels unrolled -q -o "$scratch/form" 2>"$scratch/err" &&
    within "dates --kernels unrolled" "$(bound specs/dates.lua --kernels unrolled)" "$scratch/form" dates gcc -O2 -DRT_PORTABLE || cat "$scratch/err"

# ---- a stack of that size and a page -------------------------------------------------------------

# kinds FOLDER NAME: macros that tell bounded_stack.c what to call.
kinds() {
    header=$1/$2.h
    upper=$(echo "$2" | tr '[:lower:]' '[:upper:]')
    number() { sed -n "s/^#define ${upper}_$1  *\([0-9]*\).*/\1/p" "$header"; }
    for macro in MAX_SOURCE MAX_TARGET ROWS; do
        value=$(number $macro)
        [ -z "$value" ] || printf ' -D%s=%s' $macro "$value"
    done
    if grep -q "$2_run(" "$header"; then printf ' -DKIND_GRAPH'
    elif grep -q "$2_encode_batch(" "$header"; then printf ' -DKIND_ENCODER'
    elif grep -q "$2_encode(" "$header"; then printf ' -DKIND_BOTH'
    else printf ' -DKIND_DECODER'; fi
    if grep -q "$2_generate(" "$header"; then printf ' -DKIND_TEXT'; fi
}

# bounded FOLDER NAME BYTES TEXT [ISA=FLAG]: run bounded_stack.c with the library built by the
# folder's Makefile.
bounded() (
    cd "$1" || exit
    # shellcheck disable=SC2086
    make -s "lib$2.a" ${5-} >make.log 2>&1 || { cat make.log; exit 1; }
    # shellcheck disable=SC2046
    ${CC:-cc} -std=c11 -O1 -Wall -Wextra -Werror -Iruntime -I. "-DMODEL=$2" "-DMODEL_HEADER=\"$2.h\"" $(kinds . "$2") -o bounded \
        "$top/tests/info/programs/bounded_stack.c" "lib$2.a" -Wl,-z,now -pthread -lm 2>&1 || exit 1
    ./bounded "$3" "$2.safetensors" "$4"
)

text_of() {
    case $1 in
    dates) echo '3rd of May 2019' ;;
    brackets) echo '( [ ] )' ;;
    sums) echo '12+34=' ;;
    *) echo 'abc' ;;
    esac
}
# The sample has f32 and quantized products in the machine's own vectors, a model with a source and
# one without, and a tokenizer.
some=$(echo "$some" && echo 'specs/sums.lua f32')
while read -r spec dtype; do
    label=$(basename "$spec" .lua)
    emit "$label" "$spec" "$dtype" || continue
    case $label in
    dates | llama) isa='' bytes=$(bound "$spec" --dtype $dtype) ;;      # the machine's own vectors
    *) isa=ISA=-DRT_PORTABLE bytes=$(bound "$spec" --dtype $dtype --isa portable) ;;
    esac
    said=$(bounded "$folder" "$model" "$bytes" "$(text_of "$label")" "$isa" 2>&1)
    verdict $? "$label $dtype${isa:+, portable,} on a stack of $bytes bytes and a page: $said"
    case $label.$dtype in dates.int8) continue ;; esac
    rm -rf "$folder"
done <<END
$(sweep "$some" "$(pairs specs/*.lua $story)")
END
(cd "$scratch/dates.int8" && ./bounded -3072 dates.safetensors '3rd of May 2019') >"$scratch/out" 2>&1
[ $? != 0 ]
verdict $? 'a stack of 1 KB is seen to be too small'

# ---- WebAssembly ---------------------------------------------------------------------------------

# objects CC FOLDER FLAG...: compile into FOLDER what runs dates int8 on the default stack.
objects() (
    cc=$1 folder=$2
    shift 2
    cd "$scratch/dates.int8" && mkdir "$folder" || exit
    for file in dates dates_settings dates_generate default_stack runtime/rt_status runtime/rt_isa runtime/rt_prefetch \
        runtime/rt_alone runtime/rt_processors runtime/rt_characters runtime/rt_numbers \
        runtime/rt_generation runtime/rt_generation_range runtime/rt_generation_options runtime/rt_generate runtime/rt_beam \
        runtime/rt_logits runtime/rt_sample runtime/rt_generate_text runtime/rt_stops; do
        source=$file.c
        [ $file != default_stack ] || source=$top/tests/info/programs/default_stack.c
        # shellcheck disable=SC2046
        $cc "$@" -std=c11 -ffp-contract=off -DRT_PORTABLE -Iruntime -I. -DMODEL=dates \
            '-DMODEL_HEADER="dates.h"' $(kinds . dates) -c -o "$folder/$(basename $file).o" \
            "$source" || exit
    done
)
# wasm FLAG...: link dates int8 with these flags and run it in node.
wasm() (
    cd "$scratch/dates.int8" || exit
    # shellcheck disable=SC2086
    $clang "$@" wasm/*.o -lm -o default.wasm && node --no-warnings \
        "$top/tests/info/programs/run_wasi.mjs" default.wasm dates.safetensors '3rd of May 2019'
)
clang='clang --target=wasm32-wasi --sysroot=/usr'
if has clang && has wasm-ld && has node && [ -e "$(clang --target=wasm32-wasi -print-libgcc-file-name)" ]; then
    objects "$clang" wasm -O2
    own=$(objects gcc own -O1 && cd "$scratch/dates.int8" && gcc own/*.o -lm -o default &&
        ./default dates.safetensors '3rd of May 2019' 2>&1)
    said=$(wasm 2>&1) && [ "$said" = "$own" ]
    verdict $? "dates int8 in WebAssembly on its default stack: $said"
    bytes=$(bound specs/dates.lua --dtype int8 --isa portable)
    said=$(wasm -Wl,--stack-first "-Wl,-z,stack-size=$(((bytes + 4096) / 16 * 16))" 2>&1) && [ "$said" = "$own" ]
    verdict $? "dates int8 in WebAssembly on a stack of $bytes bytes and a page: $said"
    ! said=$(wasm -Wl,--stack-first -Wl,-z,stack-size=1024 2>&1) && echo "$said" | grep -q 'out of bounds'
    verdict $? 'a stack of 1 KB is seen to be too small in WebAssembly'
else
    skip 'dates int8 in WebAssembly' 'no clang, wasm-ld, node or compiler-rt'
fi
