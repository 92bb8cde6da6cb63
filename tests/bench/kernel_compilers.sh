#!/bin/sh
# The hottest kernels as gcc and clang compile them for each instruction set of this machine, in turns, beside OpenBLAS on one
# thread: least times, for a person to read. It fails where the compilers' bits differ.
# usage, from the top: sh tests/bench/kernel_compilers.sh [ROUNDS [WORD [SET...]]]      WORD: kernels with it in their names
rounds=${1:-100} word=${2-}
[ $# -eq 0 ] || shift
[ $# -eq 0 ] || shift
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT || exit 74
table=runtime/kernels/simd/instruction_sets.def
machine=$(uname -m)
sets=${*:-$(sed -n "s/^KERNEL_SET(\([^,]*\), \($machine\|any\), .*/\1/p" $table)}
programs=tests/bench/programs
includes="-Iruntime -Iruntime/kernels -Iruntime/kernels/simd -I$programs"
: >"$scratch/kernel_times_sets.def"
for isa in $sets; do
    flags=$(sed -n "s/^KERNEL_SET($isa, [^\"]*\"\([^\"]*\)\")\$/\1/p" $table)
    for cc in gcc clang; do
        command -v $cc >/dev/null 2>&1 || { echo "no $cc" >&2; continue; }
        $cc -std=c11 -D_GNU_SOURCE -O3 -Wall -Wextra -Werror -ffp-contract=off $flags $includes "-DSET=${cc}_$isa" \
            "-DCOMPILER=\"$cc\"" "-DISA_NAME=\"$isa\"" -c -o "$scratch/${cc}_$isa.o" $programs/kernel_times_set.c || exit 69
        echo "SET(${cc}_$isa)" >>"$scratch/kernel_times_sets.def"
    done
done
blas=
if pkg-config --exists openblas 2>/dev/null; then blas="-DOPENBLAS $(pkg-config --cflags openblas)"; libraries=$(pkg-config --libs openblas); fi
${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror $includes -I"$scratch" $blas -o "$scratch/kernel_times" \
    $programs/kernel_times.c runtime/rt_isa.c runtime/rt_prefetch.c "$scratch"/*_*.o $libraries -lm -pthread || exit 69
if [ -n "$KEEP" ]; then cp -R "$scratch/." "$KEEP"; fi
"$scratch/kernel_times" "$rounds" "$word"
