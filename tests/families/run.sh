#!/bin/sh
# Hugging Face folders and llama2.c checkpoints against transformers: every row of logits in the jit and the generic engine, by steps, at
# once and in pieces; greedy and beam ids. The real models of XFORMC_TEST_DATA too. usage: run.sh XFORMC
set -u
xformc=$1 here=tests/families
rows=$(dirname "$xformc")/tests/families/families_rows
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
verdict() { if [ "$1" = 0 ]; then echo "ok $2"; else echo "not ok $2"; fi; }

# Every line `greedy|beam; ids; ids` of a .expected, by one engine. The search has as many beams as make.py gives it.
check_ids() {
    while IFS=';' read -r kind given wanted; do
        given=${given# } wanted=${wanted# }
        [ "$kind" = beam ] && search='--beam 3' || search=
        found=$("$xformc" run "$1" --ids --engine "$3" $search -n 6 "$given" 2>"$scratch/err")
        [ "$found" = "$wanted" ] && continue
        echo "$3, $kind, $given: expected $wanted, found $found"
        cat "$scratch/err"
        return 1
    done <"$2"
}

for folder in "$here"/*/; do
    folder=${folder%/}
    name=$(basename "$folder")
    "$xformc" verify "$folder" -v --engine jit --against "$folder.expected.safetensors" >"$scratch/out" 2>"$scratch/err" &&
        grep -q 'all within tolerance' "$scratch/out" && grep -q ' jit ' "$scratch/out" && grep -q ' generic ' "$scratch/out" &&
        grep -Eq '^(logits|encoder)' "$scratch/out" && ! grep -q error "$scratch/err"
    verdict $? "$name: as transformers"
    tail -n 3 "$scratch/out"; cat "$scratch/err"
    [ -e "$folder.expected" ] || continue
    for engine in jit generic; do
        "$rows" "$folder" "$folder.expected.safetensors" $engine >"$scratch/out" 2>&1 && [ "$(grep -c pieces "$scratch/out")" = 4 ]
        verdict $? "$name: rows and steps, $engine"
        cat "$scratch/out"
        check_ids "$folder" "$folder.expected" $engine
        verdict $? "$name: greedy and beams, $engine"
    done
done

# ---- real models ------------------------------------------------------------------------------------------------

if [ -z "${XFORMC_TEST_DATA:-}" ]; then
    echo 'skip the stories model, GPT-2, BERT (XFORMC_TEST_DATA is not set)'
    exit
fi

# The ids of a list in a JSON file, behind "KEY": one line for each list.
ids_of() { tr -d '\n ' <"$2" | grep -o "\"$1\":\[[0-9,]*\]" | sed 's/.*\[//; s/\]//; s/,/ /g'; }

stories=$XFORMC_TEST_DATA/stories260K
wanted=$(ids_of token_ids "$stories/hf/expected.json" | cut -d' ' -f2-)
for engine in jit generic native; do
    for spec in hf stories260K.bin; do
        [ -n "$wanted" ] && [ "$("$xformc" run "$stories/$spec" --ids --engine $engine -n 200 1)" = "$wanted" ]
        verdict $? "stories260K, $spec: 200 ids, $engine"
    done
done

gpt2=$XFORMC_TEST_DATA/tiny-random-gpt2
tr -d '\n ' <"$gpt2/expected.json" | sed 's/.*"greedy"://; s/"beam4.*//' >"$scratch/greedy"
tr -d '\n ' <"$gpt2/expected.json" | sed 's/.*"beam4[^:]*://' >"$scratch/beams"
for engine in jit generic native; do
    for kind in greedy beams; do
        [ $kind = beams ] && search='--beam 4' || search=
        ids_of prompt "$scratch/$kind" >"$scratch/prompts"
        ids_of full "$scratch/$kind" >"$scratch/full"
        fault=0
        paste -d';' "$scratch/prompts" "$scratch/full" >"$scratch/both"
        while IFS=';' read -r prompt full; do
            n=$(($(echo "$full" | wc -w) - $(echo "$prompt" | wc -w)))
            [ "$prompt $("$xformc" run "$gpt2" --ids --engine $engine $search -n $n "$prompt")" = "$full" ] || fault=1
        done <"$scratch/both"
        [ -s "$scratch/both" ] || fault=1
        verdict $fault "tiny-random-gpt2, $kind, $engine"
    done
done
