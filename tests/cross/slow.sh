#!/bin/sh
# tags: targets early
# Emitted folders on aarch64, armv7, riscv64, ppc64le and i686 and with musl: up to four models in
# two forms give the same bits as on this machine, and `make CC=` builds a program. NEON on ARMv7.
# s390x rejects little-endian weights and accepts weights as C. Code for Cortex-M4 is freestanding.
# Each part is skipped without its tools.
# usage: slow.sh XFORMC
set -u
. tests/lib.sh
answer=$top/tests/forms/programs/answer.c
strict='-std=c11 -Wall -Wextra -Werror -ffp-contract=off -Iruntime -I.'
models='dates sums brackets stories260K' stories=${XFORMC_TEST_DATA:-}/stories260K

# target NAME: set its compiler, its qemu (- if its programs run here), the flags of a manual build,
# and where its libraries are.
target() {
    more= flags=
    case $1 in
    aarch64) cc=aarch64-linux-gnu-gcc emulator=aarch64 ;;
    armv7)   cc=arm-linux-gnueabihf-gcc emulator=arm ;;
    riscv64) cc=riscv64-linux-gnu-gcc emulator=riscv64 ;;
    ppc64le) cc=powerpc64le-linux-gnu-gcc emulator=ppc64le ;;
    i686)    cc=i686-linux-gnu-gcc emulator=i386 flags='-msse2 -mfpmath=sse' ;;
    s390x)   cc=s390x-linux-gnu-gcc emulator=s390x flags=-fexcess-precision=fast ;;
    musl)    cc=musl-gcc emulator=- more=LDFLAGS=-static ;;
    esac
    prefix=/usr/${cc%-gcc}
    qemu=
    if [ $emulator = - ]; then qemu=env
    else for word in qemu-$emulator qemu-$emulator-static; do qemu=${qemu:-$(command -v $word)}; done; fi
}
# missing NAME: the tool that is missing, if any.
missing() {
    target "$1"
    if ! has "$cc"; then echo "no $cc"; elif [ -z "$qemu" ]; then echo "no qemu-$emulator"; fi
}
run() { QEMU_LD_PREFIX=$prefix "$qemu" "$@"; }

compile() (
    of=specs/$1.lua folder=$2 tokenizer=
    if [ "$1" = stories260K ]; then of=$stories/stories260K.bin tokenizer="--tokenizer $stories/tok512.bin"; fi
    shift 2
    "$xformc" compile "$of" $tokenizer -q -o "$folder" "$@"
)
# of_form FORM: flags for compiling that form. No bit depends on the optimisation level. Without
# inlined kernels compilation takes a third of the time.
apart=$(sweep -Dalways_inline=unused '') level=$(sweep -O1 -O2)
of_form() {
    case $1 in
    library) echo -O1 -DRT_PORTABLE $apart ;;
    unrolled) echo $level ;;
    literal) echo -O1 ;;
    esac
}
# answers FOLDER NAME FORM OBJECTS OUT [FLAG...]: build a program that prints ids and a hash of all
# bits, linked with the runtime in OBJECTS.
answers() (
    cd "$1" || exit
    name=$2 form=$3 objects=$4 out=$5 literal=
    shift 5
    if [ "$form" = literal ]; then literal="-DLITERAL ${name}_weights.c"; fi
    $cc $strict $flags $(of_form "$form") "$@" $(answer_defines . "$name") -static -o "$out" "$answer" $literal "$name.c" \
        $(ls "$objects"/runtime/*.o | grep -vE '/rt_(cli.*|alone)[.]o$') -lm -pthread
)
questions() { printf '%s\n' '12+34' '907+85' '1+1'; }

# ---- here: the folders and their answers ---------------------------------------------------------

here() {
    cc=cc flags= qemu=env prefix=
    for name in $models; do
        if [ $name = stories260K ] && [ ! -d "$stories" ]; then continue; fi
        for form in library unrolled; do
            compile $name "$scratch/$form.$name" --kernels $form --weights file || return
        done
    done
    compile dates "$scratch/literal.dates" --kernels unrolled --weights literal &&
        compile sums "$scratch/literal.sums" --kernels unrolled --weights literal &&
        compile sums "$scratch/plain.sums" --weights literal --isa portable &&
        compile dates "$scratch/narrow.dates" --weights literal --dtype int8 && compile sums "$scratch/program.sums" || return
    cp -r "$scratch/program.sums" "$scratch/here" && make -s -C "$scratch/here" && questions | "$scratch/here/sums" --json >"$scratch/expected" || return
    for folder in "$scratch"/library.* "$scratch"/unrolled.*; do
        name=${folder##*.} form=${folder##*/}
        answers "$folder" $name "${form%%.*}" "$scratch/here" "$folder/answer" && "$folder/answer" "$folder/$name.safetensors" 1 >"$folder/expected" &&
            grep -q '^bits [0-9a-f]*$' "$folder/expected" || return
    done
}

# ---- little-endian machines ----------------------------------------------------------------------

# The output without scores: they have nine digits, and a different vector width may change the last
# one.
texts() { sed 's/,"score":[^,]*//'; }

# program NAME: build with its compiler and nothing else. Leaves the objects of its runtime.
program() {
    cp -r "$scratch/program.sums" "$scratch/$1" && make -s -C "$scratch/$1" CC=$cc $more &&
        questions | run "$scratch/$1/sums" --json | texts >"$scratch/$1/found" && texts <"$scratch/expected" | cmp - "$scratch/$1/found" &&
        run "$scratch/$1/sums" --selftest && run "$scratch/$1/sums" --check
}

# models_of MACHINE: the models compared bit by bit there. The sample has every model (encoders,
# decoders and encoder-decoders) on one 64-bit machine and one 32-bit machine. Each of the others
# has one encoder-decoder in both forms, besides the decoder with a tokenizer that is built as a
# program.
models_of() {
    case $1 in
    aarch64 | armv7) echo $models ;;
    *) sweep dates "$models" ;;
    esac
}
machine() {
    target "$1"
    names="$1: a program by make CC=$cc"
    for name in $(models_of $1); do names="$names|$1: $name gives the bits of this machine, portable and unrolled"; done
    why=$(missing "$1")
    if [ -n "$why" ]; then
        echo "$names" | tr '|' '\n' | while read -r name; do skip "$name" "$why"; done
        return
    fi
    program "$1"
    verdict $? "$1: a program by make CC=$cc"
    for name in $(models_of $1); do
        what="$1: $name gives the bits of this machine, portable and unrolled" bad=0
        if [ $name = stories260K ] && [ ! -d "$stories" ]; then skip "$what" 'no XFORMC_TEST_DATA'; continue; fi
        for form in library unrolled; do
            folder=$scratch/$form.$name
            answers "$folder" $name $form "$scratch/$1" "$scratch/$1/answer" &&
                same "$(cat "$folder/expected")" "$(run "$scratch/$1/answer" "$folder/$name.safetensors" 2)" || { echo "in $form"; bad=1; }
        done
        verdict $bad "$what"
    done
}

# ---- features of a single machine ----------------------------------------------------------------

# NEON is optional on ARMv7: a model compiled with it runs where it exists, and is rejected where it
# does not.
neon() {
    why=$(missing armv7)
    if [ -n "$why" ]; then skip 'armv7: NEON, where the processor has it' "$why"; skip 'armv7: and where it does not' "$why"; return; fi
    target armv7
    folder=$scratch/library.dates
    answers "$folder" dates library "$scratch/armv7" "$scratch/armv7/neon" -mfpu=neon &&
        same "$(cat "$folder/expected")" "$(run "$scratch/armv7/neon" "$folder/dates.safetensors" 2)"
    verdict $? 'armv7: NEON, where the processor has it'
    run -cpu cortex-a15,neon=off "$scratch/armv7/neon" "$folder/dates.safetensors" 1
    [ $? = 6 ]          # 1 + RT_NO_ISA
    verdict $? 'armv7: and where it does not'
}

# musl has no kernel headers, but threads still sleep on a futex.
futex() {
    what='musl: threads sleep by the kernel, without its headers'
    why=$(missing musl)
    if [ -n "$why" ]; then skip "$what" "$why"; return; fi
    nm "$scratch/musl/runtime/rt_team.o" | grep -q ' U syscall$'
    verdict $? "$what"
}

# ---- big-endian ----------------------------------------------------------------------------------

# refused FOLDER NAME: a program with little-endian weights says so and answers nothing.
refused() {
    make -s -C "$1" CC=$cc >/dev/null 2>&1
    run "$1/$2" x >"$scratch/$2.out" 2>"$scratch/$2.err"
    [ $? = 69 ] && [ ! -s "$scratch/$2.out" ] && grep -q 'wrong byte order.*--weights literal' "$scratch/$2.err" || { cat "$scratch/$2.err"; false; }
}

big_endian() {
    names='weights of little-endian bytes are refused|int8 weights as C are refused|unrolled with weights as C gives the bits of this machine'
    names="$names|a program of it answers, and finds its weights whole|the library with weights as C gives the bits of this machine"
    why=$(missing s390x)
    if [ -n "$why" ]; then
        echo "$names" | tr '|' '\n' | while read -r name; do skip "s390x: $name" "$why"; done
        return
    fi
    target s390x
    compile dates "$scratch/little.dates" && refused "$scratch/little.dates" dates
    verdict $? 's390x: weights of little-endian bytes are refused'
    refused "$scratch/narrow.dates" dates
    verdict $? 's390x: int8 weights as C are refused'
    # The tokenizer tables of `sums` are part of its weights.
    make -s -C "$scratch/literal.sums" CC=$cc && questions | run "$scratch/literal.sums/sums" --json | texts >"$scratch/big.found" &&
        texts <"$scratch/expected" | cmp - "$scratch/big.found" && run "$scratch/literal.sums/sums" --selftest && run "$scratch/literal.sums/sums" --check
    verdict $? 's390x: a program of it answers, and finds its weights whole'
    bad=0
    for name in dates sums; do
        answers "$scratch/literal.$name" $name literal "$scratch/literal.sums" "$scratch/big.$name" &&
            same "$(cat "$scratch/unrolled.$name/expected")" "$(run "$scratch/big.$name" - 2)" || bad=1
    done
    verdict $bad 's390x: unrolled with weights as C gives the bits of this machine'
    answers "$scratch/plain.sums" sums literal "$scratch/literal.sums" "$scratch/big.plain" -DRT_PORTABLE &&
        same "$(cat "$scratch/library.sums/expected")" "$(run "$scratch/big.plain" - 2)"
    verdict $? 's390x: the library with weights as C gives the bits of this machine'
}

# ---- microcontrollers ----------------------------------------------------------------------------

microcontroller() {
    names='literal and unrolled compile, freestanding|they link into a program that has no library|and give the bits of this machine'
    if ! has arm-none-eabi-gcc; then
        echo "$names|and include freestanding headers only" | tr '|' '\n' | while read -r name; do skip "cortex-m4: $name" 'no arm-none-eabi-gcc'; done
        return
    fi
    cc='arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -ffreestanding -fno-tree-loop-distribute-patterns'
    m=$scratch/cortex
    compile dates "$m" --kernels unrolled --weights literal --max-threads 1 &&
        (cd "$m" && $cc $strict -O2 -c dates.c dates_weights.c runtime/rt_alone.c runtime/rt_isa.c runtime/rt_characters.c)
    verdict $? 'cortex-m4: literal and unrolled compile, freestanding'
    (cd "$m" && $cc $strict -O2 -nostdlib $(answer_defines . dates) -DLITERAL -DALONE -o answer "$answer" ./*.o -lgcc)
    verdict $? 'cortex-m4: they link into a program that has no library'
    qemu=$(command -v qemu-arm || command -v qemu-arm-static)
    if [ -n "$qemu" ]; then
        same "$(cat "$scratch/unrolled.dates/expected")" "$("$qemu" "$m/answer")"
        verdict $? 'cortex-m4: and give the bits of this machine'
    else skip 'cortex-m4: and give the bits of this machine' 'no qemu-arm'; fi
    ! grep -hoE '#include <[a-z]+[.]h>' "$m"/dates.[ch] "$m"/dates_kernels.h "$m"/dates_weights.c "$m"/runtime/rt.h "$m"/runtime/rt_rows.h "$m"/runtime/rt_plain.h \
        "$m"/runtime/rt_alone.c "$m"/runtime/rt_characters.c | grep -vE '<std(def|int|bool)[.]h>'   # C11, 4 (6)
    verdict $? 'cortex-m4: and include freestanding headers only'
}

# ---- run everything, two at a time ---------------------------------------------------------------

here
verdict $? 'the models answer here'
# room: wait until fewer than two jobs run.
room() {
    while jobs >"$scratch/jobs" && [ "$(grep -c Running "$scratch/jobs")" -ge 2 ]; do sleep 0.1; done
}
{ machine armv7; neon; } >"$scratch/armv7.out" 2>&1 &
{ machine musl; futex; } >"$scratch/musl.out" 2>&1 &
room
for name in aarch64 riscv64 ppc64le i686; do
    machine $name >"$scratch/$name.out" 2>&1 &
    room
done
big_endian >"$scratch/s390x.out" 2>&1 &
room
microcontroller >"$scratch/cortex.out" 2>&1 &
wait
cat "$scratch"/*.out
