#!/bin/sh
# tags: slow noasan
# Emitted folders built without their Makefile. Every header compiles as C11, C++11 and C++20, and
# C++ links every function that it declares. A freestanding model compiles as one file.
# The Makefile chooses flags for other compilers and processors. x87 arithmetic is rejected.
# usage: run.sh XFORMC
set -u
. tests/lib.sh
strict='-Wall -Wextra -pedantic -Werror -Iruntime -I.'
quick_cc "$scratch/cc"

# ---- headers -------------------------------------------------------------------------------------

# A model with subword tokens has the whole runtime, except for what only encoders need. The second
# model adds that.
"$xformc" build specs/sums.lua -q --cc "$scratch/cc" -o "$scratch/sums" && "$xformc" build specs/encoder.lua -q --cc "$scratch/cc" -o "$scratch/encoder"
verdict $? 'two programs are built'
cp "$scratch"/encoder/runtime/rt_cli_vector.o "$scratch"/encoder/runtime/rt_cli_batch.o "$scratch"/encoder/runtime/rt_scores.o "$scratch/sums/runtime"
cd "$scratch/sums" || exit 74
# All headers except those that only the kernels header includes.
headers=$(ls runtime/*.h sums.h | sed 's#.*/##' | while read -r header; do
    if [ ! -e "$top/runtime/kernels/$header" ] && [ ! -e "$top/runtime/kernels/simd/$header" ]; then echo "$header"; fi
done)
[ "$(echo "$headers" | wc -l)" -ge 25 ]
verdict $? 'there are headers'
for std in c11 c++11 c++20; do
    case $std in c11) language=c compilers='gcc clang' ;; *) language=c++ compilers='g++ clang++' ;; esac
    for cc in $compilers; do
        name="$cc -std=$std takes every header, alone"
        if ! has $cc; then skip "$name" "no $cc"; continue; fi
        bad=0
        for header in $headers; do
            echo "#include \"$header\"" | $cc -x $language -std=$std $strict -fsyntax-only - || { echo "$header"; bad=1; }
        done
        verdict $bad "$name"
    done
done

# Take the address of every function that a header declares and an object defines: without extern
# "C", C++ would mangle its name.
nm -g --defined-only runtime/*.o sums.o | awk 'NF == 3 && $2 == "T" { print $3 }' | sort -u >defined
for header in $headers; do
    sed -n 's/^[a-z][^=]*[ *]\([a-z][a-z0-9_]*\)(.*/\1/p' "$(ls runtime/"$header" "$header" 2>/dev/null)"
done | sort -u | comm -12 - defined >declared
[ "$(wc -l <declared)" -ge 100 ]
verdict $? 'functions are declared by headers'
{
    for header in $headers; do echo "#include \"$header\""; done
    echo 'typedef void function(void);'
    echo 'int main(void) { static function *volatile all[] = {'
    sed 's/.*/(function *)\&&,/' declared
    echo '}; int n = 0; for (unsigned i = 0; i < sizeof all / sizeof *all; i++) n += all[i] != 0; return n < 100; }'
} >all.cc
for std in c++11 c++20; do
    name="a program in $std links every function of every header"
    if ! has g++; then skip "$name" 'no g++'; continue; fi
    g++ -std=$std -Wall -Werror -Iruntime -I. -o all all.cc $(ls runtime/*.o | grep -v rt_alone) sums.o -lm -pthread && ./all
    verdict $? "$name"
done

# ---- one translation unit ------------------------------------------------------------------------

cd "$top" || exit 74
answer=$top/tests/forms/programs/answer.c
"$xformc" compile specs/dates.lua -q --weights literal -o "$scratch/literal" && text=$scratch/literal/dates_weights.c &&
    grep -qxF '    struct { float bias[16], weight[64][16]; } encoder_0_self_attn_q_weight[4];' "$text" && ! grep '.\{101\}' "$text" &&
    awk -F '[][]' '/^    float .*;$/ { expected += $2 } /^    int32_t / { expected++ } /^    struct / { expected += (1 + $4) * $8 }
                   /^ *{ / { rows++ } END { exit !(rows > 10000 && rows == expected) }' "$text"
verdict $? 'weights as C text are matrices'
# A model's files and its runtime as one freestanding file, called from C and from C++.
for name in dates sums; do
    folder=$scratch/one.$name
    "$xformc" compile specs/$name.lua -q --kernels unrolled --weights literal --max-threads 1 -o "$folder"
    (cd "$folder" && ls $name.c ${name}_weights.c runtime/rt_isa.c runtime/rt_characters.c runtime/rt_alone.c; cd "$folder" && ls runtime/rt_tokenizer*.c 2>/dev/null) |
        sed 's/.*/#include "&"/' >"$folder/one.c"
    for cc in gcc clang; do
        what="$name: $cc takes all files as one"
        if ! has $cc; then skip "$what" "no $cc"; continue; fi
        (cd "$folder" && $cc -std=c11 -O0 $strict -ffp-contract=off -c -o one.o one.c)
        verdict $? "$what"
    done
    (cd "$folder" && cc -std=c11 -O0 $(answer_defines . $name) -DLITERAL -Iruntime -I. -o one "$answer" one.o) &&
        "$folder/one" | grep -q '^bits [0-9a-f]*$'
    verdict $? "$name: and it answers"
    what="$name: a program in C++ binds weights in C"
    if ! has g++; then skip "$what" 'no g++'; continue; fi
    cat >"$folder/main.cc" <<END
#include "$name.h"
extern "C" const void *const ${name}_literal;
static $name model;
int main() { return ${name}_bind(&model, ${name}_literal, $(upper $name)_WEIGHTS_BYTES); }
END
    (cd "$folder" && g++ -std=c++11 $strict -o main main.cc one.o && ./main)
    verdict $? "$what"
done

# ---- the Makefile's flags ------------------------------------------------------------------------

# compiler MACHINE EVALUATION: a fake compiler for that machine with that __FLT_EVAL_METHOD__.
compiler() {
    cat >"$scratch/some-cc" <<END
#!/bin/sh
case "\$*" in
*-dumpmachine*) echo $1 ;;
*-P*) echo; echo $2 ;;
esac
END
    chmod +x "$scratch/some-cc"
}
"$xformc" compile specs/dates.lua -q -o "$scratch/flags"
# says WORD MACHINE EVALUATION [SETTING...]: true if the command line of dates.o or of the program
# has that word.
says() (
    word=$1
    compiler "$2" "$3"
    shift 3
    make -n -C "$scratch/flags" CC="$scratch/some-cc" "$@" 2>/dev/null | grep -E ' -c -o dates[.]o | -o dates ' >"$scratch/commands"
    [ "$(wc -l <"$scratch/commands")" = 2 ] || exit 2
    grep -qF -e "$word" "$scratch/commands"
)
here=$(cc -dumpmachine)
says ' -march=native ' "$here" 0
verdict $? 'the Makefile: the instructions of this machine'
for machine in aarch64-linux-gnu arm-linux-gnueabihf riscv64-unknown-elf powerpc64le-linux-gnu s390x-linux-gnu i686-linux-gnu x86_64-w64-mingw32 arm64-apple-darwin22; do
    if [ "${machine%%-*}" = "${here%%-*}" ]; then continue; fi
    says ' -march=native ' $machine 0
    [ $? = 1 ] && says ' -march=mine ' $machine 0 ISA=-march=mine
    verdict $? "the Makefile: not for $machine, unless asked to"
done
says ' -march=native ' "$here" 0 ISA=
[ $? = 1 ]
verdict $? 'the Makefile: ISA= is for any'
says ' -msse2 -mfpmath=sse ' i686-linux-gnu 2 && says ' -fexcess-precision=fast ' s390x-linux-gnu 1
verdict $? 'the Makefile: floats are computed as floats'
says ' -m' aarch64-linux-gnu 0 || says ' -fexcess' aarch64-linux-gnu 0 || says -msse i686-linux-gnu __FLT_EVAL_METHOD__
[ $? = 1 ]
verdict $? 'the Makefile: and nothing is added where they are'
says ' -Wl,-z,' x86_64-linux-gnu 0 && ! says ' -Wl,-z' arm64-apple-darwin22 0 && ! says ' -s ' arm64-apple-darwin22 0 &&
    ! says ' -Wl,-z' x86_64-w64-mingw32 0
verdict $? 'the Makefile: linker flags for Linux only'

# ---- a debugger ----------------------------------------------------------------------------------

says ' -g -Og ' "$here" 0 DEBUG=1 && ! says ' -s ' "$here" 0 DEBUG=1 && ! says ' -O2 ' "$here" 0 DEBUG=1
[ $? = 0 ] && ! says ' -g ' "$here" 0
verdict $? 'the Makefile: DEBUG=1 is for a debugger'
"$xformc" build specs/dates.lua -q --debug -o "$scratch/debug" && [ "$("$scratch/debug/dates" '3 May 2019')" = 2019-05-03 ] &&
    nm "$scratch/debug/dates" | grep -q ' t decoder_layer$'
verdict $? 'a program for a debugger answers the same, and has its names'
# The function's second call is in layer 1. By then the keys of position 0 are stored.
name='gdb prints the keys of a layer by their name'
if ! gdb -nx -q -batch -ex run /bin/true 2>&1 | grep -q 'exited normally'; then skip "$name" 'no gdb that runs programs'; else
    gdb -nx -q -batch -ex 'break attention_4x16_16' -ex run -ex continue -ex up -ex 'p layer' -ex 'ptype s->slot[0].self_k' \
        -ex 'p s->slot[0].self_k[1][0][0][0][0] != 0' -ex 'p s->slot[0].self_k[1][0][0][0][1]' \
        --args "$scratch/debug/dates" '3 May 2019' >"$scratch/gdb" 2>&1
    grep -qxF '$1 = 1' "$scratch/gdb" && grep -qxF 'type = float [2][4][1][16][16]' "$scratch/gdb" && grep -qxF '$2 = 1' "$scratch/gdb" &&
        grep -qxF '$3 = 0' "$scratch/gdb"
    verdict $? "$name"
fi

# ---- with the flags of the Makefile --------------------------------------------------------------

# At -O3 compilers check where pointers point: none may seem to leave its member of the state.
for cc in gcc clang; do
    name="$cc: a plain xf.graph at its own flags"
    if ! has $cc; then skip "$name" "no $cc"; continue; fi
    "$xformc" build "$top/specs/self_attention.lua" --kernels unrolled --cc $cc -q -o "$scratch/graph_$cc" >"$scratch/err" 2>&1
    verdict $? "$name"
done

# ---- the x87 -------------------------------------------------------------------------------------

for cc in gcc clang; do
    name="$cc: the x87 is refused, with the flags to take"
    if ! has $cc; then skip "$name" "no $cc"; continue; fi
    if ! echo | $cc -m32 -ffreestanding -fsyntax-only -x c - 2>/dev/null; then skip "$name" 'another processor'; continue; fi
    unit() { echo '#include "rt.h"' | $cc -m32 -std=c11 -ffreestanding -Iruntime -Iruntime/kernels/simd -fsyntax-only -x c "$@" -; }
    ! unit 2>"$scratch/err" && grep -q 'error.*-msse2 -mfpmath=sse' "$scratch/err" && unit -msse2 -mfpmath=sse
    verdict $? "$name"
done
