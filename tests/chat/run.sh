#!/bin/sh
# tags: slow noasan
# `--chat` in `run` and programs: the ids match transformers' chat template, only the answer is
# printed, `--system` and `--stream` work, and wrong options are rejected. test_chat.c tests the
# templates.
# usage: run.sh XFORMC
set -u
. tests/lib.sh
here=tests/chat
quick_cc "$scratch/cc"
writes=$(dirname "$xformc")/tests/streaming/writes

# same NAME EXPECTED COMMAND...: the command prints EXPECTED, and nothing on standard error.
same() {
    name=$1 expected=$2
    shift 2
    found=$("$@" 2>"$scratch/err" </dev/null)
    [ $? = 0 ] && [ "$found" = "$expected" ] && [ ! -s "$scratch/err" ]
    verdict $? "$name"
    echo "expected $expected, found $found"
    cat "$scratch/err"
}
# golden NAME N: the ids of line N of NAME.gold, separated by blanks; nothing if it has several
# turns.
golden() { sed -n "$2{/\"user\": /!d}; $2s/.*\"ids\": \[\([0-9, ]*\)\].*/\1/p" "$here/$1.gold" | tr -d ,; }

# The first line of a .gold file has no system text; the system text of line 8 is 'You are helpful.'
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
    # The answer follows those ids.
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
verdict $? '--json has only the answer'
cat "$scratch/json"

# The library answers like the program: with the template's own system text, with another, and with
# special tokens that are plain text.
for model in llama2 chatml_preset gemma; do
    bytes=$(sed -n "s/^#define $(upper $model)_WEIGHTS_BYTES *//p" "$scratch/$model/$model.h")
    "$scratch/cc" -std=c11 -Wall -Wextra -Werror -I"$scratch/$model" -I"$scratch/$model/runtime" "-DMODEL=$model" "-DMODEL_HEADER=\"$model.h\"" \
        "-DWEIGHTS_BYTES=$bytes" -o "$scratch/chats" $here/programs/library_chat.c "$scratch/$model/lib$model.a" \
        "$scratch/$model/${model}_weights.o" -lm -pthread 2>"$scratch/err"
    verdict $? "$model: a library is built"
    cat "$scratch/err"
    program=$scratch/$model/$model typed='<|im_end|> </s><eos> hi'
    answers() { expected=$1; shift; found=$("$@" 2>"$scratch/err") && [ -n "$expected" ] && [ "$found" = "$expected" ] || { cat "$scratch/err"; false; }; }
    answers "$("$program" --chat "$user")" "$scratch/chats" "$user"
    verdict $? "$model: NAME_generate answers as the program"
    answers "$("$program" --chat --plain-text "$typed")" "$scratch/chats" -plain "$typed"
    verdict $? "$model: NAME_generate takes marks as text"
    if [ $model = gemma ]; then
        [ "$("$scratch/chats" "$user" 'You are helpful.' 2>&1 >/dev/null)" = 'an invalid option' ]
        verdict $? "$model: NAME_generate refuses a system text that has no place"
    else
        answers "$("$program" --chat --system 'You are helpful.' "$user")" "$scratch/chats" "$user" 'You are helpful.'
        verdict $? "$model: NAME_generate takes a system text"
    fi
done

# refused NAME CODE MESSAGE COMMAND...: exits with CODE and prints MESSAGE on stderr and nothing on
# stdout.
refused() {
    name=$1 code=$2 message=$3
    shift 3
    "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    [ $? = "$code" ] && [ ! -s "$scratch/out" ] && [ "$(head -n 1 "$scratch/err")" = "$message" ]
    verdict $? "$name"
    echo "expected $message"
    cat "$scratch/out" "$scratch/err"
}
refused 'a program: a template without a place for a system text' 2 "gemma: --system: the gemma chat template has no supported place for a system prompt" \
    "$scratch/gemma/gemma" --chat --system x y
refused 'a program: --system alone' 2 'llama2: --system needs --chat' "$scratch/llama2/llama2" --system x y
# An empty system text is a turn of its own and replaces the template's default. A template that
# tests for a system text treats an empty one as absent.
cat >"$scratch/phi3_asks.lua" <<END
return xf.model { name = "phi3_asks", kind = "decoder", layers = 1, heads = 2, d_model = 16, d_ff = 16, max_len = 200, weights = "random",
  tokenizer_file = "$PWD/$here/phi3_asks" }
END
ids_of() { sed 's/.*"input_ids":.\([0-9,]*\)].*/\1/' | tr , ' '; }
for model in llama2 chatml_preset phi3_asks; do
    wanted=$(golden $model "$(grep -n '"system": "", "user"' $here/$model.gold | cut -d : -f 1)")
    [ -n "$wanted" ] && [ "$("$xformc" run "$scratch/$model.lua" --chat --json -n 1 --system '' "$user" | ids_of)" = "$wanted" ]
    verdict $? "$model: an empty system text"
    [ $model = phi3_asks ] || [ "$("$scratch/$model/$model" --chat --json -n 1 --system= "$user" | ids_of)" = "$wanted" ]
    verdict $? "$model: an empty system text, in a program"
done
# With --plain-text, special tokens that a user types are text, while those of the template stay
# special: there are as many as with ordinary text.
typed='<|im_end|> <|im_start|>system'
marks() { "$@" --chat --json -n 1 --system "$typed" "$typed" "$typed" | ids_of | tr ' ' '\n' | grep -c '^[12]$'; }
"$xformc" tokenize $here/chatml_preset '<|im_start|><|im_end|>' | grep -q '^1 2$'
verdict $? 'the marks of a template are tokens 1 and 2'
for who in "$scratch/chatml_preset/chatml_preset" "$xformc run $scratch/chatml_preset.lua"; do
    for turns in '' --turns; do
        few=$(marks $who --plain-text $turns) many=$(marks $who $turns) plain=$("$scratch/chatml_preset/chatml_preset" --chat --json -n 1 $turns a b | ids_of | tr ' ' '\n' | grep -c '^[12]$')
        [ "$few" = "$plain" ] && [ "$many" -gt "$few" ]
        verdict $? "--plain-text $turns: ${who##*/}: $few marks, and $many without it"
        echo "expected $plain"
    done
done
[ "$("$xformc" run "$scratch/chatml_preset.lua" --json -n 1 --plain-text "$typed" | ids_of)" = "$("$xformc" tokenize $here/chatml_preset --plain-text "$typed")" ]
verdict $? '--plain-text without a chat: all of the text'
# At the prompt: the number of tokens that the model was fed, not counting the one it generated.
printf 'm = xf.compile("%s")\nfor _, plain in ipairs { false, true } do\n  m:generate("%s", 1, { plain_text = plain })\n  print(#m:at("logits") - 1)\nend\n' \
    "$scratch/chatml_preset.lua" "$typed" | "$xformc" repl >"$scratch/out" 2>"$scratch/err"
[ "$("$xformc" tokenize $here/chatml_preset "$typed" | wc -w) $("$xformc" tokenize $here/chatml_preset --plain-text "$typed" | wc -w)" = \
    "$(paste -d ' ' -s "$scratch/out")" ] || { cat "$scratch/out" "$scratch/err"; false; }
verdict $? 'plain_text at the prompt'
refused '--plain-text with ids' 2 'llama2: --plain-text has no effect: inputs are ids here, not text' "$scratch/llama2/llama2" --plain-text --ids 5
refused 'a program: a chat of ids' 2 'llama2: --chat has no effect: inputs are ids here, not text' "$scratch/llama2/llama2" --chat --ids 5
"$xformc" compile specs/sums.lua -o "$scratch/sums" -q && ! grep -q -i chat "$scratch/sums/sums_settings.c" &&
    grep -q '^const RtChat llama2_chat = {$' "$scratch/llama2/llama2_settings.c"
verdict $? 'a template is in the text of the programs that have one'
"$scratch/llama2/llama2" --help >"$scratch/out" && grep -q -e '--chat ' "$scratch/out" && grep -q -e '--system TEXT ' "$scratch/out"
verdict $? '--help of a program describes it'
! grep -n '.\{81,\}' "$scratch/out" && [ "$(wc -l <"$scratch/out")" -le 60 ]
verdict $? '--help is at most 80 columns wide and 60 lines long'
# Native code is the same with and without --chat.
native() { env -u XFORMC_CACHE XDG_CACHE_HOME=$scratch/cache "$xformc" run "$scratch/gemma.lua" --engine native -n 1 "$@" >/dev/null; }
native x && native --chat x && [ "$(find "$scratch/cache" -name 'gemma-*.so' | wc -l)" = 1 ]
verdict $? 'a chat takes the native code that is in the cache'
find "$scratch/cache" -type f
