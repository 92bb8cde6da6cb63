#!/bin/sh
# Time the hottest kernels, compiled by gcc and clang for each instruction set of this machine, in
# turn, next to OpenBLAS on one thread. Prints the shortest times, for a person to read. Fails if
# the compilers' bits differ.
# usage, from the top: sh tests/bench/kernel_compilers.sh [ROUNDS [WORD [SET...]]]
# WORD: only kernels whose names contain it
rounds=${1:-100} word=${2-}
[ $# -eq 0 ] || shift
[ $# -eq 0 ] || shift
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT || exit 74
table=runtime/kernels/simd/instruction_sets.def
machine=$(uname -m)
sets=${*:-$(sed -n "s/^KERNEL_SET(\([^,]*\), \($machine\|any\), .*/\1/p" $table)}
compile=tests/bench/compile.sh
: >"$scratch/kernel_times_sets.def"
for isa in $sets; do
    flags=$(sed -n "s/^KERNEL_SET($isa, [^\"]*\"\([^\"]*\)\")\$/\1/p" $table)
    for cc in gcc clang; do
        command -v $cc >/dev/null 2>&1 || { echo "no $cc" >&2; continue; }
        CC=$cc sh $compile kernel_times_set "$scratch/${cc}_$isa.o" "${cc}_$isa" "$isa" $flags ||
            exit 69
        echo "SET(${cc}_$isa)" >>"$scratch/kernel_times_sets.def"
    done
done
sh $compile kernel_times "$scratch/kernel_times" "$scratch" || exit 69
if [ -n "$KEEP" ]; then cp -R "$scratch/." "$KEEP"; fi
"$scratch/kernel_times" "$rounds" "$word"
