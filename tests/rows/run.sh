#!/bin/sh
# tags: slow noasan
# Many rows in one call give the same bits as one row at a time: prefill in any split, batches, the
# greedy id after each row and its logits, forks, a saved state (programs/rows.c). Ring buffers
# longer and shorter than a call, rewound positions (programs/rings.c). For four decoders with both
# kinds of kernels, two with int8 caches, one with f16 caches, one with int8 and int4 weights.
# usage: run.sh XFORMC
set -u
. tests/lib.sh
quick_compilers

for spec in tests/specs/modern_decoder.lua tests/specs/windows.lua tests/specs/few_rows.lua specs/gpt.lua; do
    name=$(basename "$spec" .lua)
    upper=$(printf '%s' "$name" | tr 'a-z' 'A-Z')
    for form in library unrolled $(case $name in windows) echo f16 kv8 ;; modern_decoder) echo kv8 ;; few_rows) echo int8 int4 ;; esac); do
        folder=$scratch/$name-$form
        case $form in f16) chosen='--kv-dtype f16' ;; kv8) chosen='--kv-dtype int8' ;; int?) chosen="--dtype $form" ;; *) chosen="--kernels $form" ;; esac
        if ! "$xformc" compile -q "$spec" --slots 3 $chosen -o "$folder" || ! make -s -C "$folder" "lib$name.a"; then
            not_ok "$name, $form: builds"
            continue
        fi
        for program in rows $([ "$name" = windows ] && echo rings); do
            cc -std=c11 -O1 -Wall -Wextra -Werror -I"$folder" -I"$folder/runtime" -DMODEL="$name" -DHEADER="\"$name.h\"" -DVOCAB="${upper}_VOCAB" \
                -DSTRIDE="${upper}_LOGITS_STRIDE" -DSCORES="$(scores "$folder/$name.h")" -o "$folder/$program" "tests/rows/programs/$program.c" "$folder/lib$name.a" -lm -pthread &&
                "$folder/$program" "$folder/$name.safetensors" "$scratch/state" | sed "s/ok /ok $name, $form: /"
        done
        case $form in f16) kept=f16 ;; kv8) kept=int8 ;; *) continue ;; esac
        make -s -C "$folder" && "$folder/$name" --selftest >"$scratch/out" && "$folder/$name" --info | grep -q "keys and values kept as $kept"
        verdict $? "$name, $form: the program computes what was packed, and says how it keeps keys and values"
        cat "$scratch/out"
    done
done
