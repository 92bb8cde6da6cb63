#!/bin/sh
# tags: slow noasan
# `xformc run` and the built programs of twelve models behave alike: every byte of standard output
# and standard error, and the exit code, for nearly 300 calls with good and bad inputs
# (inputs.rows).
# usage: run.sh XFORMC
set -u
. tests/lib.sh
here=$PWD/tests/host
quick_cc "$scratch/cc"

# ---- models --------------------------------------------------------------------------------------

# spec NAME FIELDS: a small model with random weights.
spec() {
    cat >"$scratch/$1.lua" <<END
return xf.model { name = "$1", layers = 2, heads = 4, d_model = 32, d_ff = 48, weights = "random", norm = "layer", $2 }
END
}
tokenizers=$top/tests/tokenizer
bert="kind = \"encoder\", max_len = 40, tokenizer_file = \"$tokenizers/bert_uncased\", position = \"learned\""
answers='generation = { max_new_tokens = 12, no_repeat_ngram_size = 2, repetition_penalty = 1.3 }'
spec talk "kind = \"decoder\", max_len = 200, position = \"rotary\", tokenizer_file = \"$top/tests/chat/chatml_tools\", $answers"
spec tale "kind = \"decoder\", max_len = 60, position = \"rotary\", tokenizer_file = \"$top/tests/chat/llama2\", $answers"
spec across "max_source = 30, max_target = 24, position = \"rotary\", tokenizer_file = \"$tokenizers/t5\", $answers"
spec numbers 'kind = "decoder", vocab = 40, max_len = 30, position = "rotary", generation = { max_new_tokens = 9 }'
spec brief 'kind = "decoder", vocab = 40, max_len = 30, position = "rotary", generation = { max_length = 4 }'
spec sentence "$bert, token_types = 2, pairs = true, pooling = \"mean\", normalize = true, head = { width = 5 }"
spec label "$bert, pooling = \"cls\", head = { width = 3 }, labels = { 'no', 'per\"haps', 'yes\\t' }"
spec several "$bert, pooling = \"cls\", head = { width = 3 }, labels = { \"a\", \"b\", \"c\" }, label_scores = \"sigmoid\""
spec states 'kind = "encoder", vocab = 40, max_len = 30, position = "rotary"'

spec_of() {
    case $1 in
    dates|sums) echo "specs/$1.lua" ;;
    mask_bert)  echo tests/vectors/mask_bert ;;
    *)          echo "$scratch/$1.lua" ;;
    esac
}
for model in dates sums talk tale across numbers brief sentence label several states mask_bert; do
    "$xformc" build "$(spec_of $model)" -q --slots 4 --cc "$scratch/cc" -o "$scratch/$model" >"$scratch/log" 2>&1
    verdict $? "$model is built"
    cat "$scratch/log"
done

# ---- inputs --------------------------------------------------------------------------------------

awk 'BEGIN { for (i = 0; i < 5000000; i++) printf "7" }' >"$scratch/huge"                              # one line of 5 MB
awk 'BEGIN { for (i = 0; i < 3000; i++) printf "1 "; printf "\n4\n" }' >"$scratch/long"
awk 'BEGIN { for (i = 1; i <= 60; i++) printf "%d%s", i, i % 7 ? " " : "\n" }' >"$scratch/counts"
printf 'the rain\tfalls\nthe rain\n\nold\t\n\told\n\t\na\tb\tc\n' >"$scratch/pairs"
printf 'a\000b\n\377\xc3\n\302\205\342\200\256x\nok\r\n\r\n \n  7  \n-1\n99999999999999999999\n1,2\n+3\n' >"$scratch/odd"
printf '7' >"$scratch/alone"
printf '7\n\n' >"$scratch/ended"
: >"$scratch/nothing"
mkdir "$scratch/folder"

# ask NAME COMMAND...: standard output, standard error and exit code go to $scratch/NAME.*.
# $arguments may contain redirections.
ask() {
    who=$1
    shift
    eval "timeout $patience \"\$@\" $arguments" <"$input" >"$scratch/$who.out" 2>"$scratch/$who.err"
    echo $? >"$scratch/$who.code"
}

# compare MODEL: run one row on both sides.
compare() {
    ask run "$xformc" run "$(spec_of "$1")" --slots 4
    ask program "$scratch/$1/$1"
    for part in out err code; do cmp "$scratch/run.$part" "$scratch/program.$part" || return 1; done
    [ "$(cat "$scratch/run.code")" = "$code" ]
}

trim() { printf '%s' "$1" | sed 's/^ *//; s/ *$//'; }
while IFS='|' read -r models code stdin arguments; do
    case $models in '#'*|'') continue ;; esac
    code=$(trim "$code") stdin=$(trim "$stdin") arguments=$(trim "$arguments")
    case $stdin in
    -)  input=/dev/null ;;
    @*) input=$scratch/${stdin#@} ;;
    *)  input=$scratch/input && printf "$stdin" >"$input" ;;
    esac
    for model in $models; do
        compare "$model" >"$scratch/log" 2>&1
        verdict $? "$model: run and the program alike: ${arguments:-no arguments}, input $stdin"
        cat "$scratch/log"
        [ "$(cat "$scratch/run.code")" = "$code" ] || echo "exit $(cat "$scratch/run.code"), expected $code"
        for part in out err; do cmp -s "$scratch/run.$part" "$scratch/program.$part" || diff -a "$scratch/run.$part" "$scratch/program.$part" | head -n 8; done
    done
done <"$here/inputs.rows"
