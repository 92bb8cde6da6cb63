#!/bin/sh
# Compile a program of programs/ in the same way for all its users: peers/, kernel_compilers.sh and
# run.sh.
# usage: compile.sh PROGRAM OUTPUT [ARGUMENT...]      CC: the compiler
#   peer_limit OUTPUT
#   peer_ours OUTPUT FOLDER NAME KIND         an emitted FOLDER with libNAME.a
#                                             KIND: DECODER, ENCODER or TEXTS
#   peer_llama OUTPUT HEADERS [LIBRARIES]     without LIBRARIES: an object
#   kernel_times_set OUTPUT SET ISA [FLAG...]      an object: the kernels for ISA, as SET
#   cache_times OUTPUT
#   row_times OUTPUT
#   kernel_times OUTPUT FOLDER                the objects of FOLDER, named by kernel_times_sets.def
set -u
[ $# -ge 2 ] || { echo "usage: compile.sh PROGRAM OUTPUT [ARGUMENT...]" >&2; exit 2; }
program=$1 output=$2
shift 2
cc=${CC:-cc}
bench=$(dirname "$0")
top=$bench/../.. source=$bench/programs/$program.c
warnings='-Wall -Wextra -Werror'

# The runtime folders, as listed in the Makefile.
includes="-I$bench/programs"
for folder in $(sed -n 's/^RUNTIME_FOLDERS *= *//p' "$top/Makefile"); do
    includes="$includes -I$top/$folder"
done

case $program in
peer_limit)
    exec $cc -std=gnu11 -O3 -march=native $warnings $includes -o "$output" "$source" \
        "$top/runtime/rt_team.c" "$top/runtime/rt_processors.c" -pthread ;;
peer_ours)
    folder=$1 name=$2 kind=$3
    upper=$(printf %s "$name" | tr a-z A-Z) scores=logits
    if grep -q "${name}_scores(" "$folder/$name.h"; then scores=scores; fi
    exec $cc -std=c11 -O2 $warnings "-DMODEL=$name" "-DMODEL_UPPER=$upper" \
        "-DMODEL_H=\"$name.h\"" "-DMODEL_$kind" "-DSCORES=$scores" "-I$folder" "-I$folder/runtime" \
        -o "$output" "$source" "$folder/lib$name.a" -lm -pthread ;;
peer_llama)
    headers=$1 libraries=${2-}
    flags="-std=c11 -D_GNU_SOURCE -O2 $warnings -Wno-error=deprecated-declarations"
    [ -n "$libraries" ] || exec $cc $flags -isystem "$headers" -c -o "$output" "$source"
    exec $cc $flags -isystem "$headers" -o "$output" "$source" "-L$libraries" \
        -lllama -lggml -lggml-base -lggml-cpu "-Wl,-rpath,$libraries" ;;
cache_times)
    exec $cc -std=c11 -D_GNU_SOURCE -O2 -march=native $warnings -ffp-contract=off $includes -o "$output" \
        "$source" "$top/runtime/rt_prefetch.c" "$top/runtime/rt_isa.c" -lm -pthread ;;
row_times)
    exec $cc -std=gnu11 -O3 -march=native $warnings -ffp-contract=off $includes -o "$output" "$source" \
        "$top/runtime/rt_prefetch.c" "$top/runtime/rt_isa.c" "$top/runtime/rt_team.c" \
        "$top/runtime/rt_processors.c" -lm -pthread ;;
kernel_times_set)
    set_name=$1 isa=$2
    shift 2
    exec $cc -std=c11 -D_GNU_SOURCE -O3 $warnings -ffp-contract=off "$@" $includes \
        "-DSET=$set_name" "-DCOMPILER=\"$cc\"" "-DISA_NAME=\"$isa\"" -c -o "$output" "$source" ;;
kernel_times)
    folder=$1 blas='' libraries=''
    if pkg-config --exists openblas 2>/dev/null; then
        blas="-DOPENBLAS $(pkg-config --cflags openblas)" libraries=$(pkg-config --libs openblas)
    fi
    exec $cc -std=c11 -D_GNU_SOURCE -O2 $warnings $includes "-I$folder" $blas -o "$output" \
        "$source" "$top/runtime/rt_isa.c" "$top/runtime/rt_prefetch.c" "$folder"/*.o \
        $libraries -lm -pthread ;;
*)
    echo "compile.sh: $program: no command compiles it; add one here" >&2
    exit 2 ;;
esac
