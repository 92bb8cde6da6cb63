#!/bin/sh
# tags: targets
# 64-bit ARM with a cross compiler and qemu: the kernel tests pass, gcc and clang give the same
# bits, and the dates program gives the same answers as on this machine (in portable C, also the
# same bits). Skipped without aarch64-linux-gnu-gcc.
# usage: run.sh XFORMC
set -u
. tests/lib.sh

arm=aarch64-linux-gnu-gcc
qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static)
folders=$(find compiler runtime -type d | sed 's/^/-I/' | tr '\n' ' ')
strict="-std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -ffp-contract=off"
flags_of() { sed -n "s/^KERNEL_SET($1, [^\"]*\"\([^\"]*\)\")\$/\1/p" runtime/kernels/simd/instruction_sets.def; }
neon_tests='simd linear attention rows f16 int8_cache team' portable_tests='simd'

# objects SET FOLDER FILE...: compile each for the set, at -O1 plus the flags in $level.
level=
objects() (
    flags="$(flags_of $1) $level" folder=$2
    shift 2
    mkdir -p "$folder"
    for file; do echo "$file"; done |
        xargs -P 2 -I {} sh -c "$arm $strict -O1 $flags -Itests/cross/programs -Itests/kernels $folders -c -o '$folder'/\$(basename {} .c).o {}"
)

# kernels SET: compile the runtime for the set, and run the kernel tests.
kernels() {
    case $1 in neon) tests=$neon_tests ;; *) tests=$portable_tests ;; esac
    # Portable kernels are the same on any machine, and the program below runs them.
    case $1 in neon) all='runtime/*.c runtime/*/*.c' ;; *) all='runtime/rt_isa.c runtime/rt_prefetch.c runtime/rt_team.c runtime/rt_processors.c' ;; esac
    objects "$1" "$scratch/$1" $all
    verdict $? "$1: the runtime is compiled for 64-bit ARM"
    rm -f "$scratch/$1"/rt_cli*.o "$scratch/$1/rt_alone.o"
    if [ -z "$qemu" ]; then
        for test in $tests; do skip "$1: test_$test" 'no qemu-aarch64'; done
        return
    fi
    for test in $tests; do
        objects "$1" "$scratch/$1.tests" tests/kernels/test_$test.c &&
            $arm -static -o "$scratch/$1.test_$test" "$scratch/$1.tests/test_$test.o" "$scratch/$1"/*.o -lm -pthread &&
            KERNEL_TEST_SHARE=97 "$qemu" "$scratch/$1.test_$test" >"$scratch/out" && grep -q '^[1-9][0-9]* tests passed$' "$scratch/out" ||
            { cat "$scratch/out"; false; }
        verdict $? "$1: test_$test"
    done
}

# The hottest kernels give the same bits with both compilers.
compilers() {
    name='neon: gcc and clang give the same bits'
    if ! has clang; then skip "$name" 'no clang'; return; fi
    if [ -z "$qemu" ]; then skip "$name" 'no qemu-aarch64'; return; fi
    bench=tests/bench/programs
    : >"$scratch/kernel_times_sets.def"
    for cc in gcc clang; do
        case $cc in
        gcc) command=$arm ;;
        clang) command="clang --target=aarch64-linux-gnu -isystem /usr/aarch64-linux-gnu/include" ;;
        esac
        $command $strict -O3 $(flags_of neon) -Iruntime -Iruntime/kernels -Iruntime/kernels/simd -I$bench -DSET=${cc}_neon "-DCOMPILER=\"$cc\"" '-DISA_NAME="neon"' \
            -c -o "$scratch/times_$cc.o" $bench/kernel_times_set.c || { verdict 1 "$name"; return; }
        echo "SET(${cc}_neon)" >>"$scratch/kernel_times_sets.def"
    done
    $arm $strict -O2 -static -Iruntime -Iruntime/kernels -Iruntime/kernels/simd -I$bench -I"$scratch" -o "$scratch/times" $bench/kernel_times.c runtime/rt_isa.c runtime/rt_prefetch.c "$scratch"/times_*.o -lm &&
        for word in argmax gate rotary norm _1x 288x768; do "$qemu" "$scratch/times" 1 $word || break; done >"$scratch/said" &&
        [ "$(grep -cE '^(argmax|gate|rotary|norm|attention|linear)_' "$scratch/said")" = 8 ] &&
        ! grep 'BITS' "$scratch/said" && nm "$scratch/times" | grep -q ' clang_neon$'
    verdict $? "$name"
}

# The parts of the compiler that look at the machine, without its libraries. They are compiled but
# not run, so kernels are not inlined.
compiler_parts() {
    level='-O0 -Dalways_inline=unused'
    objects neon "$scratch/parts" compiler/machine/machine.c compiler/engine/kernel_set.c compiler/engine/kernel_set_one.c compiler/emit/isa.c
    verdict $? 'the parts of xformc that look at the machine compile for 64-bit ARM'
}

# build SET: build the dates program.
build() { "$xformc" build specs/dates.lua -q --isa "$1" --cc "$scratch/arm" -o "$scratch/dates.$1"; }
# ask SET [OPTION...]: its answers.
ask() (
    set=$1
    shift
    "$qemu" -L /usr/aarch64-linux-gnu "$scratch/dates.$set/dates" "$@"
)
dates() { printf '%s\n' '3rd of May 2019' 'Tuesday, February 29, 2000' '12/31/1999' 'march 7 1954' '1 Jan 2024'; }

program() {
    quick_cc "$scratch/arm" $arm -O1
    build portable && build neon,portable
    verdict $? 'the program of the dates is built'
    names='neon: the answers of this machine|neon: the self-test|variants: the first is chosen|portable: the bits of this machine'
    if [ -z "$qemu" ]; then
        echo "$names" | tr '|' '\n' | while read -r name; do skip "$name" 'no qemu-aarch64'; done
        return
    fi
    both=neon,portable
    quick_cc "$scratch/cc"
    "$xformc" build specs/dates.lua -q --isa portable --cc "$scratch/cc" -o "$scratch/here"
    expected=$(dates | "$scratch/here/dates") && [ "$(echo "$expected" | grep -cE '^[0-9]{4}-[0-9]{2}-[0-9]{2}$')" = 5 ] &&
        [ "$(dates | ask $both)" = "$expected" ]
    verdict $? 'neon: the answers of this machine'
    ask $both --selftest
    verdict $? 'neon: the self-test'
    ask $both --info | grep -q 'compiled for *neon'
    verdict $? 'variants: the first is chosen'
    # Scores are printed with nine digits, which identify every bit.
    [ "$(dates | ask portable --json)" = "$(dates | "$scratch/here/dates" --json)" ]
    verdict $? 'portable: the bits of this machine'
    [ "$(dates | ask portable --json)" != "$(dates | ask $both --json)" ]
    verdict $? 'portable: and not those of neon'
}

if ! has $arm || ! has make; then skip '64-bit ARM' "no $arm"; exit; fi
# Run two at a time.
(kernels neon; kernels portable) >"$scratch/kernels.out" 2>&1 &
(program; compilers; compiler_parts) >"$scratch/rest.out" 2>&1 &
wait
cat "$scratch/kernels.out" "$scratch/rest.out"
