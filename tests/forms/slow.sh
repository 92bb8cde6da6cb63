#!/bin/sh
# tags: slow noasan early
# Every form of a committed spec (kernels x weights x layers x threads) gives the same ids, and the
# same bits with the same kernels: two specs in `make test`, all in `make test-all`. gcc compiles
# straight-line layers at -O2 within 1 GiB and a time limit. Also unroll factors, gcc and clang,
# several instruction sets in one program.
# usage: slow.sh XFORMC
set -u
. tests/lib.sh
answer=$top/tests/forms/programs/answer.c
strict='-std=c11 -Wall -Wextra -Werror -ffp-contract=off -Iruntime -I.'
native=-march=native
seconds=60 kilobytes=1048576        # CPU seconds and memory that are enough for gcc on any file of any form; it needs a tenth of them
allowed=$seconds                    # the seconds for this processor, which may be slower

# compile SPEC DIR OPTION...: emit the folder of a form.
compile() ( of=$1; shift; "$xformc" compile "$of" -q -o "$@" )
# gcc_in DIR ARGUMENT...: compile there, uncached, within these limits; print how long it took.
gcc_in() (
    cd "$1" || exit
    shift
    export XFORMC_COMPILE_ANEW=1
    ulimit -v $kilobytes
    ulimit -t $allowed
    gcc $strict "$@"
    code=$?
    times >"$scratch/times.$name"
    for file; do :; done
    echo "gcc $1 of ${file##*/}: $(tail -n 1 "$scratch/times.$name")"
    exit $code
)
# Write calls.h: the inputs and outputs of a graph, from the comments in its header.
write_calls() {
    awk -v name="$2_" '
        function elements(s,   n) { n = 1; while (match(s, /\[[0-9]+\]/)) { n *= substr(s, RSTART + 1, RLENGTH - 2); s = substr(s, RSTART + RLENGTH) } return n }
        /^\/\* (Set input|Copy output) .*row-major/ { n = elements($0) }
        /^void .*_(set|get)_/ { call = $2; sub(/\(.*/, "", call); call = substr(call, length(name) + 1)
            if (call == "set_mask") sets = sets " MASK(" call ")"
            else if (call ~ /^set_/) sets = sets " X(" call ", " n ")"; else gets = gets " X(" call ", " n ")" }
        END { printf "#define SET_INPUTS%s\n#define GET_OUTPUTS%s\n", sets, gets }' "$1/$2.h" >"$1/calls.h"
}
# The runtime is the same in every folder; a model with a tokenizer uses more of its files.
runtime() {
    mkdir -p "$scratch/runtime"
    for file in rt_status rt_isa rt_prefetch rt_team rt_processors rt_characters rt_numbers rt_weights $(cd "$1/runtime" && ls rt_tokenizer*.c | sed 's/[.]c$//'); do
        gcc_in "$1" -O1 -c -o "$scratch/runtime/$file.o" "runtime/$file.c" || return 1
    done
}
# run FOLDER PROGRAM [THREADS]: print its output, and the exit code if it fails.
run() { "$2" "$1/$name.safetensors" "${3:-1}" 2>&1 || echo "exit $?"; }
ids() { printf '%s\n' "$1" | grep '^ids'; }

# ---- every form of one spec ----------------------------------------------------------------------

# forms SPEC LAYERS WEIGHTS: test these layers and weights, with both kinds of kernels, on one and
# two threads.
forms() {
    spec=$1 name=$(basename "$1" .lua) first=
    base=$scratch/$name
    good=0
    for kernels in library unrolled; do for layers in $2; do
        folder=$base.$kernels.$layers
        compile "$spec" "$folder" --kernels $kernels --unroll-layers "$layers" --weights file || good=1
        first=${first:-$folder}
        cmp "$folder/$name.safetensors" "$first/$name.safetensors" || good=1
        [ "$folder" = "$first" ] || rm "$folder/$name.safetensors"
        # The place of the weights changes only NAME_weights.c and the files that refer to it.
        for weights in $3; do
            if [ $weights = file ]; then continue; fi
            compile "$spec" "$base.other" --kernels $kernels --unroll-layers "$layers" --weights $weights || good=1
            for file in $name.c $name.h ${name}_kernels.h; do cmp "$base.other/$file" "$folder/$file" || good=1; done
            cmp "$base.other/$name.safetensors" "$first/$name.safetensors" || good=1
            if [ ! -e "$base.$weights/$name.safetensors" ]; then
                cp -R "$base.other" "$base.$weights"
            fi
            cmp "$base.other/${name}_weights.c" "$base.$weights/${name}_weights.c" || good=1
        done
        optimise=-O1
        if [ "$layers" = on ]; then optimise=-O2; fi
        echo "$name, $kernels, layers $layers:"
        gcc_in "$folder" $optimise $native -c -o "$folder/$name.o" $name.c || good=1
    done; done
    verdict $good "$name: every form is written and compiled, in $seconds s and 1 GiB"

    if grep -q "${name}_run(" "$first/$name.h"; then for folder in "$first" "$base.embed" "$base.literal"; do write_calls "$folder" "$name"; done; fi
    good=0
    for weights in $3; do
        folder=$base.$weights define= objects=
        case $weights in
        file) folder=$first ;;
        *) define=-D$(upper $weights) objects=$base.$weights/${name}_weights.o
           gcc_in "$folder" -O3 -c -o "$objects" "${name}_weights.c" || good=1 ;;
        esac
        gcc_in "$folder" -O1 $(answer_defines "$folder" "$name") $define -c -o "$base.answer.$weights.o" "$answer" || good=1
        for kernels in library unrolled; do
            for layers in $2; do
                program=$base.$kernels.$layers.$weights.answer
                gcc -o "$program" "$base.answer.$weights.o" "$base.$kernels.$layers/$name.o" $objects "$scratch"/runtime/*.o -lm -pthread || good=1
                for threads in 1 2; do run "$first" "$program" $threads >"$program.$threads"; done
            done
        done
    done
    verdict $good "$name: every form is linked"
    for kernels in library unrolled; do
        expected=$(cat "$base.$kernels.${2%% *}.file.answer.1")
        good=0
        case $expected in *'bits '*) ;; *) good=1 ;; esac
        for found in "$base.$kernels".*.answer.[12]; do same "$expected" "$(cat "$found")" || { echo "in ${found#"$base."}"; good=1; }; done
        echo "$name, $kernels: $(ls "$base.$kernels".*.answer.[12] | wc -l) answers: $(echo "$expected" | tail -n 1)"
        verdict $good "$name, $kernels: the same ids and bits in every form, on one thread and two"
    done
    if grep -q '^#define .*_MAX_TARGET' "$first/$name.h"; then
        same "$(ids "$(cat "$base.library.${2%% *}.file.answer.1")")" "$(ids "$(cat "$base.unrolled.${2%% *}.file.answer.1")")"
        verdict $? "$name: library and unrolled give the same ids"
    fi
}

# bits OF CC FLAGS OPTION...: the output of a form of the spec, built by CC in the folder OF.
bits() (
    built=$scratch/$1 cc=$2 flags=$3
    shift 3
    compile $spec "$built" --weights file "$@" 2>"$built.err" || exit
    cd "$built" && $cc $strict $flags $(answer_defines . $name) -o answer "$answer" $name.c "$scratch"/runtime/*.o -lm -pthread && run . ./answer 2
)

# ---- different layers, factors, compilers --------------------------------------------------------

layers_and_factors() {
    spec=tests/specs/different_layers.lua name=different_layers
    library=$(bits calls gcc "-O1 $native" --unroll-layers on)
    unrolled=$(bits unrolled_calls gcc "-O1 $native" --unroll-layers on --kernels unrolled)
    same "$library" "$(bits loops gcc "-O1 $native" --unroll-layers off)" && same "$unrolled" "$(bits unrolled_loops gcc -O0 --unroll-layers off --kernels unrolled)" &&
        same "$(ids "$library")" "$(ids "$unrolled")" && [ "$(ids "$library")" ]
    verdict $? 'layers that differ: the same ids and bits from calls and from loops'
    grep -q '^note: different_layers: layers that differ from their neighbours are called one by one' "$scratch/loops.err" && [ ! -s "$scratch/calls.err" ] &&
        grep -q 'for (int layer = 0; layer < 2; layer++) encoder_layer_3(j' "$scratch/loops/$name.c" &&
        [ "$(grep -c 'A layer that differs from its neighbours is a separate call' "$scratch/loops/$name.c")" = 5 ] &&
        ! grep -q 'layer++' "$scratch/calls/$name.c"
    verdict $? 'loops cover layers that are alike; the others are reported'

    good=0
    for factor in 1 3 64; do
        same "$unrolled" "$(bits factor_$factor gcc -O0 --kernels unrolled --unroll $factor)" || good=1
        grep -q "are unrolled by $factor[.]" "$scratch/factor_$factor/${name}_kernels.h" || good=1
        [ "$(grep -c "i += $factor, a += $((16 * factor)))" "$scratch/factor_$factor/${name}_kernels.h")" -ge $((factor < 4)) ] || good=1
    done
    verdict $good 'every factor of unrolling gives the same bits'
    cmp "$scratch/factor_64/$name.c" "$scratch/unrolled_calls/$name.c" && ! cmp -s "$scratch/factor_64/${name}_kernels.h" "$scratch/unrolled_calls/${name}_kernels.h"
    verdict $? 'and is only in the kernels header'
    if has clang; then
        same "$unrolled" "$(bits clang clang "-O2 $native" --kernels unrolled)"
        verdict $? 'unrolled: gcc and clang, with and without instruction sets, give the same bits'
    else skip 'unrolled: gcc and clang, with and without instruction sets, give the same bits' 'no clang'; fi
}

# ---- several instruction sets in one program -----------------------------------------------------

variants() {
    quick_cc "$scratch/quick" gcc
    qemu=$(command -v qemu-x86_64 || command -v qemu-x86_64-static)
    spec=specs/dates.lua name=dates
    if [ "$(uname -m)" = x86_64 ]; then
        v=$scratch/variants
        (unset XFORMC_TEAM; "$xformc" build $spec -q --isa avx512,avx2,portable --cc "$scratch/quick" -o "$v")
        verdict $? 'variants: the program is built'
        [ "$("$v/dates" '3rd of May 2019')" = 2019-05-03 ]
        verdict $? 'variants: the program answers'
        nm -g --defined-only "$v/libdates.a" | awk 'NF == 3 { n++; if ($3 !~ /^(dates|dates_.*|rt_.*)$/) { print; bad = 1 } } END { exit bad || n < 30 }'
        verdict $? 'variants: external names begin with dates or rt_'
        nm -g --defined-only "$v"/dates*.o | awk 'NF == 3 { n[$3]++ } END { for (i in n) if (n[i] > 1) { print i; bad = 1 } exit bad }'
        verdict $? 'variants: no name is defined twice'
        cmp "$v/dates.c" generated/dates/dates.c && cmp "$v/dates_kernels.h" generated/dates/dates_kernels.h
        verdict $? 'variants: the text of the model is the same'
        # The chosen set gives the same bits as a program for only that set.
        (cd "$v" && gcc $strict $(answer_defines . dates) -DVARIANT -o answer "$answer" libdates.a -lm -pthread)
        verdict $? 'variants: a program links the library'
        chosen=portable
        if grep -q '^flags.* fma .* avx2 ' /proc/cpuinfo; then chosen=avx2; fi
        if grep -q '^flags.* avx512f .*avx512vl' /proc/cpuinfo; then chosen=avx512; fi
        for set in portable avx2 avx512; do
            flags=$(sed -n "s/^KERNEL_SET($set, [^\"]*\"\([^\"]*\)\")\$/\1/p" runtime/kernels/simd/instruction_sets.def)
            bits $set gcc "-O1 $flags" >"$scratch/$set.bits"
            if [ $set = $chosen ]; then break; fi
        done
        [ $chosen = portable ] || ! cmp -s "$scratch/portable.bits" "$scratch/$chosen.bits"
        verdict $? 'variants: their bits tell them apart'
        same "variant $chosen
$(cat "$scratch/$chosen.bits")" "$(run "$v" "$v/answer" 2)"
        verdict $? 'variants: the first that the processor has is chosen, and gives its bits'
        if [ -n "$qemu" ]; then
            same "variant portable
$(cat "$scratch/portable.bits")" "$("$qemu" -cpu qemu64 "$v/answer" "$v/dates.safetensors" 1)"
            verdict $? 'variants: without AVX2 the portable one is chosen, and gives its bits'
            if [ $chosen != portable ]; then
                same "variant avx2
$(cat "$scratch/avx2.bits")" "$("$qemu" -cpu Haswell "$v/answer" "$v/dates.safetensors" 1 2>/dev/null)"
                verdict $? 'variants: without AVX-512 the one for AVX2 is chosen, and gives its bits'
            else skip 'variants: without AVX-512 the one for AVX2 is chosen, and gives its bits' 'no AVX2 here to compare with'; fi
            [ "$("$qemu" -cpu qemu64 "$v/dates" '3rd of May 2019')" = 2019-05-03 ]
            verdict $? 'variants: with portable among them the program runs on the least processor'
        else
            skip 'variants: without AVX2 the portable one is chosen, and gives its bits' 'no qemu-x86_64'
            skip 'variants: without AVX-512 the one for AVX2 is chosen, and gives its bits' 'no qemu-x86_64'
            skip 'variants: with portable among them the program runs on the least processor' 'no qemu-x86_64'
        fi
        same "$("$xformc" run specs/self_attention.lua --cc "$scratch/quick")" \
            "$("$xformc" run specs/self_attention.lua --isa avx512,portable --cc "$scratch/quick")"
        verdict $? 'variants: xformc run takes a list'
    else skip 'variants' 'another processor'; fi
}

# ---- run everything, two at a time ---------------------------------------------------------------

name=runtime
compile specs/sums.lua "$scratch/any" && runtime "$scratch/any"
verdict $? 'the runtime is compiled'
# If gcc takes more than a quarter of a second for this file, the processor is slow and gets more
# time.
allowed=$(gcc_in "$scratch/any" -O2 -c -o "$scratch/known.o" runtime/rt_tokenizer.c | awk -v seconds=$seconds '
    { split($5, t, /[ms]/); slower = (60 * t[1] + t[2]) * 4 }
    END { printf "%d", seconds * (slower > 1 ? slower : 1) }')
echo "$allowed s"
# room: wait until fewer than two jobs run.
room() {
    while jobs >"$scratch/jobs" && [ "$(grep -c Running "$scratch/jobs")" -ge 2 ]; do sleep 0.1; done
}
# base.lua has one form of layers and of weights here: its packed file takes 177 MB each time, and
# literal is rejected. brackets, copy and sums have one too, since other specs have the same
# operations. An encoder-decoder and a graph, whose inputs and outputs are calls, have all forms;
# all other specs run in make test-all.
for spec in $(sweep 'specs/dates.lua specs/self_attention.lua' "$(echo specs/*.lua)"); do
    case $spec in
    specs/base.lua) forms $spec on file >"$scratch/base.out" 2>&1 & ;;
    specs/brackets.lua|specs/copy.lua|specs/sums.lua) forms $spec off file >"$scratch/$(basename $spec .lua).out" 2>&1 & ;;
    *) forms $spec 'on off' 'file embed literal' >"$scratch/$(basename "$spec" .lua).out" 2>&1 & ;;
    esac
    room
done
for part in layers_and_factors variants; do
    $part >"$scratch/part_$part.out" 2>&1 &
    room
done
wait
cat "$scratch"/*.out
