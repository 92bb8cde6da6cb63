#!/bin/sh
# tags: slow noasan
# The trained models sums and brackets: jit, generic and a program give PyTorch's answers to 2,000
# held-out lines of each, and at least 99 % are right. With XFORMC_TEST_DATA, also 200 tokens of
# stories260K in three engines, from its checkpoint and from its folder.
# usage: run.sh XFORMC
#
# tests/program tests dates.
. tests/lib.sh
failed=0
verdict() { if [ "$1" -eq 0 ]; then echo "ok $2"; else not_ok "$2"; failed=1; fi; }

# An answer like the last column of heldout.tsv: a classifier prints a label and its probability.
answers() { awk '{ print $1 }'; }

for name in sums brackets; do
    heldout=specs/$name/heldout.tsv
    cut -f 1 $heldout >"$scratch/texts"
    awk -F '\t' '{ print $NF }' $heldout >"$scratch/expected"
    for engine in jit generic; do
        "$xformc" run specs/$name.lua --engine $engine <"$scratch/texts" >"$scratch/answers" && answers <"$scratch/answers" >"$scratch/found" && cmp "$scratch/expected" "$scratch/found"
        verdict $? "$name: the held-out lines by $engine are those of the trained model"
    done
    "$xformc" build specs/$name.lua -o "$scratch/$name" >/dev/null && "$scratch/$name/$name" <"$scratch/texts" >"$scratch/answers" &&
        answers <"$scratch/answers" >"$scratch/found" && cmp "$scratch/expected" "$scratch/found"
    verdict $? "$name: the held-out lines by a program"
    "$scratch/$name/$name" --selftest >"$scratch/out" 2>&1
    verdict $? "$name: --selftest of the program"
done
awk -F '\t' '{ split($1, n, /[+=]/); right += $2 == $1 (n[1] + n[2]) } END { printf "%d of %d right\n", right, NR; exit !(NR == 2000 && right >= 0.99 * NR) }' specs/sums/heldout.tsv
verdict $? 'sums: at least 99 % of the held-out sums are right'
awk -F '\t' '{ right += $2 == $3 } END { printf "%d of %d right\n", right, NR; exit !(NR == 2000 && right >= 0.99 * NR) }' specs/brackets/heldout.tsv
verdict $? 'brackets: at least 99 % of the held-out texts are right'

# Real files: a llama2.c checkpoint with its tokenizer, and the same model as a Hugging Face folder.
# 200 tokens from an empty prompt.
data=${XFORMC_TEST_DATA:-/nonexistent}/stories260K
if [ -d "$data" ]; then
    for spec in stories260K.bin hf; do
        for engine in jit generic native; do
            "$xformc" run "$data/$spec" --tokenizer "$data/tok512.bin" --engine $engine --temp 0 -n 200 </dev/null >"$scratch/found" 2>"$scratch/err" &&
                cmp "$data/expected_greedy_200.txt" "$scratch/found"
            verdict $? "$spec: 200 greedy tokens from nothing by $engine"
        done
    done
    "$xformc" run "$data/hf" --tokenizer "$data/tok512.bin" -n 40 'Once upon a time' >"$scratch/found" 2>"$scratch/err" &&
        [ "$(head -c 90 "$scratch/found")" = "$(head -c 90 "$data/expected_greedy_200.txt")" ]
    verdict $? 'hf: goes on from the first words'
else
    echo 'skip stories260K: no XFORMC_TEST_DATA'
fi
exit $failed
