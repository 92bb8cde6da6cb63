#!/bin/sh
# verify of every golden against PyTorch's numbers, and a trained model of others in both engines.
xformc=$1 top=$PWD
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT || exit 74
verdict() { if [ "$1" = 0 ]; then echo "ok $2"; else echo "not ok $2"; fi; }
unset MAKEFLAGS MFLAGS MAKELEVEL

for spec in tests/goldens/*.lua; do
    golden=${spec%.lua}
    "$xformc" verify "$spec" --cc cc --against "$golden.ref.safetensors" >"$scratch/out" 2>"$scratch/err" &&
        grep -q 'all within tolerance' "$scratch/out" && grep -q '^greedy .*native' "$scratch/out" && grep -q '^greedy .*generic' "$scratch/out"
    verdict $? "verify --against: ${golden##*/}"
    tail -n 2 "$scratch/out"
    cat "$scratch/err"
done

name='transliteration answers as its authors say'
data=$XFORMC_TEST_DATA/transliteration
for engine in native generic; do
    if [ -z "$XFORMC_TEST_DATA" ]; then echo "skip $name, $engine (XFORMC_TEST_DATA is not set)"; continue; fi
    if [ ! -d "$data" ]; then echo "skip $name, $engine (no $data)"; continue; fi
    cp "$top/tests/specs/transliteration.lua" "$scratch" && ln -sfn "$data" "$scratch/transliteration"
    "$xformc" run "$scratch/transliteration.lua" -v --engine $engine 'آتزمون' 'آتشيسون' >"$scratch/out" 2>"$scratch/err" &&
        [ "$(tr '\n' ' ' <"$scratch/out")" = 'atzmon achison ' ] &&
        grep -q '^atzmon: sum of log-probabilities -1\.0617$' "$scratch/err" && grep -q '^achison: sum of log-probabilities -1\.1136$' "$scratch/err"
    verdict $? "$name, $engine"
    cat "$scratch/out" "$scratch/err"
done
