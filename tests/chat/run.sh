#!/bin/sh
# tags: slow noasan
# `--chat` in `run` and programs: the ids are those of transformers' chat template, only the answer
# is printed, `--system` and `--stream` work, wrong options are rejected. test_chat.c tests the
# templates.
# usage: run.sh XFORMC
set -u
. tests/lib.sh
here=tests/chat
quick_cc "$scratch/cc"
writes=$(dirname "$xformc")/tests/streaming/writes

# same NAME EXPECTED COMMAND...: the command prints that, and nothing on standard error.
same() {
    name=$1 expected=$2
    shift 2
    found=$("$@" 2>"$scratch/err" </dev/null)
    [ $? = 0 ] && [ "$found" = "$expected" ] && [ ! -s "$scratch/err" ]
    verdict $? "$name"
    echo "expected $expected, found $found"
    cat "$scratch/err"
}
# golden NAME N: the ids of line N of NAME.gold, with blanks between; nothing where it has several turns.
golden() { sed -n "$2{/\"user\": /!d}; $2s/.*\"ids\": \[\([0-9, ]*\)\].*/\1/p" "$here/$1.gold" | tr -d ,; }

# The first line of a .gold file has no system's text, line 8 'You are helpful.'
user='What is the capital?'
for model in chatml_preset llama2 gemma; do
    cat >"$scratch/$model.lua" <<END
return xf.model { name = "$model", kind = "decoder", layers = 1, heads = 2, d_model = 16, d_ff = 16, max_len = 200, weights = "random",
  tokenizer_file = "$PWD/$here/$model", generation = { max_new_tokens = 12, no_repeat_ngram_size = 1, repetition_penalty = 1.5 } }
END
    "$xformc" build "$scratch/$model.lua" -o "$scratch/$model" --kernels unrolled --cc "$scratch/cc" -q >"$scratch/log" 2>&1
    verdict $? "$model: a program"
    cat "$scratch/log"
    program=$scratch/$model/$model
    # An answer is what follows those ids.
    for line in 1 8; do
        ids=$(golden $model $line)
        [ -n "$ids" ] || continue
        if [ $line = 1 ]; then set -- --chat "$user"; else set -- --chat --system 'You are helpful.' "$user"; fi
        found=$("$program" --json "$@" | sed 's/.*"input_ids":.\([0-9,]*\)].*/\1/' | tr , ' ')
        [ "$found" = "$ids" ]
        verdict $? "$model: the ids of line $line"
        echo "expected $ids"
        echo "found    $found"
        more=$("$xformc" run "$scratch/$model.lua" --ids "$ids")
        same "$model: the program goes on from them" "$more" sh -c '"$@" | sed "s/.*\"ids\":.\([0-9,]*\)].*/\1/" | tr , " "' - "$program" --json "$@"
        answer=$("$xformc" tokenize "$here/$model" --decode --no-special "$more")
        [ -n "$answer" ]
        verdict $? "$model: there is an answer"
        same "$model: run writes it alone" "$answer" "$xformc" run "$scratch/$model.lua" "$@"
        same "$model: and the generic engine" "$answer" "$xformc" run "$scratch/$model.lua" --engine generic "$@"
        same "$model: and a program" "$answer" "$program" "$@"
        same "$model: with --stream too" "$answer" "$program" --stream "$@"
        same "$model: and run" "$answer" "$xformc" run "$scratch/$model.lua" --stream "$@"
    done
done
[ "$("$writes" "$scratch/chatml_preset/chatml_preset" --chat --stream "$user" | wc -l)" -gt 3 ]
verdict $? 'a chat streams'
"$xformc" run "$scratch/llama2.lua" --chat --json "$user" >"$scratch/json" && grep -q "\"input\":\"$user\",\"input_ids\":.*\"answer\":\"" "$scratch/json" &&
    ! grep -q 'INST' "$scratch/json"
verdict $? '--json has the answer alone'
cat "$scratch/json"

# refused NAME CODE MESSAGE COMMAND...
refused() {
    name=$1 code=$2 message=$3
    shift 3
    "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    [ $? = "$code" ] && [ ! -s "$scratch/out" ] && [ "$(head -n 1 "$scratch/err")" = "$message" ]
    verdict $? "$name"
    echo "expected $message"
    cat "$scratch/out" "$scratch/err"
}
refused 'a program: a template without a place for a system text' 2 "gemma: --system: the chat template gemma has no place for a system's text" \
    "$scratch/gemma/gemma" --chat --system x y
refused 'a program: --system alone' 2 'llama2: --system is read with --chat' "$scratch/llama2/llama2" --system x y
refused 'a program: an empty system text' 2 'llama2: system is empty' "$scratch/llama2/llama2" --chat --system '' y
refused 'a program: a chat of ids' 2 'llama2: --chat says how texts are read; none is here' "$scratch/llama2/llama2" --chat --ids 5
"$xformc" compile specs/sums.lua -o "$scratch/sums" -q && ! grep -q -i chat "$scratch/sums/sums_main.c" &&
    grep -q '^static const RtChat chat = {$' "$scratch/llama2/llama2_main.c"
verdict $? 'a template stands in the text of the programs that have one'
"$scratch/llama2/llama2" --help | grep -q -e '--chat ' && "$scratch/llama2/llama2" --help | grep -q -e '--system TEXT '
verdict $? '--help of a program tells of it'
