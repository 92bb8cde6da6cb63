#!/bin/sh
# Left out of make check: it builds many programs.
# Many rows in one call against one row after the other, for three decoders and both forms of kernels. usage: run.sh XFORMC
set -u
xformc=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for spec in tests/specs/modern_decoder.lua tests/specs/windows.lua specs/gpt.lua; do
    name=$(basename "$spec" .lua)
    upper=$(printf '%s' "$name" | tr 'a-z' 'A-Z')
    for form in library unrolled; do
        folder=$scratch/$name-$form
        if ! "$xformc" compile -q "$spec" --slots 3 --kernels "$form" -o "$folder" || ! make -s -C "$folder" "lib$name.a"; then
            echo "not ok $name, $form: builds"
            continue
        fi
        for program in rows $([ "$name" = windows ] && echo rings); do
            cc -std=c11 -O1 -Wall -Wextra -Werror -I"$folder" -I"$folder/runtime" -DMODEL="$name" -DHEADER="\"$name.h\"" -DVOCAB="${upper}_VOCAB" \
                -DSTRIDE="${upper}_LOGITS_STRIDE" -o "$folder/$program" "tests/rows/programs/$program.c" "$folder/lib$name.a" -lm -pthread &&
                "$folder/$program" "$folder/$name.safetensors" "$scratch/state" | sed "s/ok /ok $name, $form: /"
        done
    done
done
