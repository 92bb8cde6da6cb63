#!/bin/sh
# tags: slow noasan
# `verify` finds one weight that is 1 % off in native code, and compares unrolled kernels. With XFORMC_TEST_DATA, a third-party
# transliteration model gives the expected answers and scores in every engine.
# usage: slow.sh XFORMC
. tests/lib.sh
tools=$(dirname "$xformc")/tests/cli

# Native code with one weight 1 % off. run.sh covers the jit, test_perturbed.c the generic engine.
golden=tests/goldens/pre_layer where=encoder.layers.1.feed_forward.w_2.weight
quick_cc "$scratch/cc"
mkdir "$scratch/off"
cp $golden.lua "$scratch/off"
"$tools/perturb" $golden.safetensors "$scratch/off/pre_layer.safetensors" $where 1.01 &&
    "$xformc" verify "$scratch/off/pre_layer.lua" --engine native --cc "$scratch/cc" --against $golden.ref.safetensors >"$scratch/out" 2>"$scratch/err"
[ $? = 1 ] && grep -q "^verify: first difference: encoder.1.ffn (native ($scratch/cc) against pre_layer.ref.safetensors): " "$scratch/out"
verdict $? "verify finds 1 % in $where, native"
tail -n 2 "$scratch/out"
"$xformc" verify $golden.lua --engine native --cc "$scratch/cc" --json >/dev/full 2>"$scratch/err"
[ $? = 74 ] && [ -s "$scratch/err" ]
verdict $? 'verify on a full disk'

# Unrolled kernels sum in another order than those of the jit.
"$xformc" verify specs/dates.lua --kernels unrolled --cc "$scratch/cc" >"$scratch/out" 2>&1 &&
    grep -q 'within tolerance' "$scratch/out"
verdict $? 'verify --kernels unrolled'
tail -n 2 "$scratch/out"

name='transliteration answers as its authors say'
data=$XFORMC_TEST_DATA/transliteration
for engine in native jit generic; do
    if [ -z "$XFORMC_TEST_DATA" ]; then echo "skip $name, $engine (XFORMC_TEST_DATA is not set)"; continue; fi
    if [ ! -d "$data" ]; then echo "skip $name, $engine (no $data)"; continue; fi
    cp "$top/tests/specs/transliteration.lua" "$scratch" && ln -sfn "$data" "$scratch/transliteration"
    "$xformc" run "$scratch/transliteration.lua" -v --engine $engine 'آتزمون' 'آتشيسون' >"$scratch/out" 2>"$scratch/err" &&
        [ "$(tr '\n' ' ' <"$scratch/out")" = 'atzmon achison ' ] &&
        grep -q '^atzmon: sum of log-probabilities -1\.0617$' "$scratch/err" && grep -q '^achison: sum of log-probabilities -1\.1136$' "$scratch/err"
    verdict $? "$name, $engine"
    cat "$scratch/out" "$scratch/err"
done
