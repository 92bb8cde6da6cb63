#!/bin/sh
# tags: slow ubsan
# Generation settings in a spec, in a folder and on the command line, in jit, generic and programs.
# Penalties on models that end in a log-softmax give the answers of PyTorch and transformers
# (penalties.txt, by make_penalties.py), even with a probe. Equal lines are sampled independently.
# Also -p, -f, -c, --stop and stop_strings across tokens, with characters, subword tokens and beams.
# A single NaN logit is an error, however ids are chosen.
# usage: run.sh XFORMC
set -u
. tests/lib.sh
families=tests/families
quick_cc "$scratch/cc"

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

# ---- a folder's settings in its program ----------------------------------------------------------

for model in set_bad_words set_beams set_penalty; do
    "$xformc" build $families/$model -o "$scratch/$model" --kernels unrolled --cc "$scratch/cc" -q >"$scratch/log" 2>&1
    verdict $? "$model: a program"
    cat "$scratch/log"
    while IFS=';' read -r _ given wanted; do
        same "$model: $given" "${wanted# }" "$scratch/$model/$model" "${given# }"
    done <$families/$model.expected
done
given='17 40 16 86 68'
same '--beam 1 takes the most likely' "$("$xformc" run $families/set_beams --engine generic --beam 1 "$given")" "$scratch/set_beams/set_beams" --beam 1 "$given"
[ "$("$scratch/set_beams/set_beams" --beam 1 "$given")" != "$("$scratch/set_beams/set_beams" "$given")" ]
verdict $? '--beam 1 is not --beam 4'
# One beam is not a search: with a penalty, transformers generates the greedy text, though sums of
# log-probabilities would lead to different ids.
while IFS=';' read -r _ given wanted; do
    for engine in jit generic; do same "--beam 1 with a penalty, $engine: $given" "${wanted# }" "$xformc" run $families/set_penalty --engine $engine --beam 1 "${given# }"; done
    same "--beam 1 with a penalty, a program: $given" "${wanted# }" "$scratch/set_penalty/set_penalty" --beam 1 "${given# }"
    same "--beam 1 --stream: $given" "${wanted# }" "$xformc" run $families/set_penalty --beam 1 --stream "${given# }"
    same "--beam 1 --stream, a program: $given" "${wanted# }" "$scratch/set_penalty/set_penalty" --beam 1 --stream "${given# }"
done <$families/set_penalty.expected
[ "$("$xformc" run $families/set_penalty --beam 1 --json "$given" | grep -c '"beams"')" = 0 ]
verdict $? '--beam 1 has no list of beams'

# ---- penalties where a model ends in a log-softmax -----------------------------------------------

# penalised SPEC NAME COMMAND...: the command gives the answers of penalties.txt for SPEC.
penalised() {
    of=$1 label=$2 rows=0
    shift 2
    while IFS=';' read -r row options given wanted; do
        [ "$row" = "$of" ] || continue
        rows=$((rows + 1))
        same "$label:$options:$given" "${wanted# }" "$@" $options "${given# }"
    done <tests/generation/penalties.txt
    [ $rows -ge 6 ]
    verdict $? "$label: $rows answers with a penalty"
}
for spec in pre_annotated other_marks kind_decoder_post; do
    for engine in jit generic; do penalised tests/goldens/$spec.lua "$spec, $engine" "$xformc" run tests/goldens/$spec.lua --engine $engine; done
done
"$xformc" build tests/goldens/pre_annotated.lua -o "$scratch/pre" --kernels unrolled --cc "$scratch/cc" -q >"$scratch/log" 2>&1
verdict $? 'a program that ends in a log-softmax'
cat "$scratch/log"
penalised tests/goldens/pre_annotated.lua 'pre_annotated, a program' "$scratch/pre/pre_annotated"
"$xformc" info $families/marian --lua >"$scratch/false.lua"
sed 's/log_softmax = false/log_softmax = true/' "$scratch/false.lua" >"$scratch/true.lua"
grep -q 'log_softmax = true' "$scratch/true.lua"
verdict $? 'a Marian that ends in a log-softmax'
"$xformc" build "$scratch/true.lua" -o "$scratch/true" --slots 3 --kernels unrolled --cc "$scratch/cc" -q >"$scratch/log" 2>&1
verdict $? 'and its program'
for softmax in true false; do
    for engine in jit generic; do penalised marian "marian, log_softmax = $softmax, $engine" "$xformc" run "$scratch/$softmax.lua" --engine $engine; done
done
penalised marian 'marian, a program' "$scratch/true/marian"
# With a probe, the model is compiled with taps; penalties act on logits there too.
sed 's/^}/  generation = { repetition_penalty = 1.3 },\n}/; s|"pre_annotated.s|"tests/goldens/pre_annotated.s|' tests/goldens/pre_annotated.lua >"$scratch/tapped.lua"
sed -i "s|\"tests|\"$PWD/tests|" "$scratch/tapped.lua"
grep 'pre_annotated.lua; --repeat-penalty 1.3;' tests/generation/penalties.txt | while IFS=';' read -r _ _ given wanted; do
    printf 'm = xf.compile("%s")\nm:probe("decoder.0.ffn", function(t) end)\nprint(m("%s"))\n' "$scratch/tapped.lua" "${given# }" >"$scratch/probe.lua"
    same "at the prompt, with a probe:$given" "${wanted# }" "$xformc" lua "$scratch/probe.lua"
done

# ---- NaN logits ----------------------------------------------------------------------------------

# not_a_number FILE TENSOR PLACE BYTES: set one number of a tensor to the NaN with these bytes.
not_a_number() {
    header=$(od -An -tu8 -N8 "$1" | tr -d ' ')
    first=$(head -c $((8 + header)) "$1" | tail -c "$header" | sed "s/.*\"$2\":{[^}]*\"data_offsets\":\[\([0-9]*\),.*/\1/")
    width=$(printf "$4" | wc -c)
    chmod u+w "$1" && printf "$4" | dd of="$1" bs=1 seek=$((8 + header + first + $3 * width)) conv=notrunc 2>/dev/null
}
# nan NAME COMMAND...: a one-line error, and at most an empty line on standard output.
nan() {
    name=$1
    shift
    "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    code=$?
    [ $code = 65 ] && [ "$(grep -v ': note: ' "$scratch/err" | sed 's/^[a-z_]*: argument 1: //')" = "the model's output contains NaN or infinity" ] && [ -z "$(tr -d '\n' <"$scratch/out")" ]
    verdict $? "one logit is NaN: $name"
    echo "exit $code"
    cat "$scratch/out" "$scratch/err"
}
cp -r $families/llama "$scratch/nan_llama" && not_a_number "$scratch/nan_llama/model.safetensors" lm_head.weight 2500 '\0\0\300\177'
"$xformc" build "$scratch/nan_llama" -q --slots 2 --kernels unrolled --cc "$scratch/cc" -o "$scratch/nan_program" 2>"$scratch/log"
verdict $? 'one logit is NaN: a program'
cat "$scratch/log"
for options in '' '--temp 1' '--temp 1 --top-k 2' '--beam 1' '--beam 2' '--beam 2 --repeat-penalty 1.3' '--repeat-penalty 1.3' '--stream'; do
    for engine in generic jit; do nan "$engine $options" "$xformc" run "$scratch/nan_llama" --engine $engine -n 3 $options '5 9 33'; done
    nan "a program $options" "$scratch/nan_program/nan_llama" -n 3 $options '5 9 33'
done
make -s -C "$scratch/nan_program" example >"$scratch/log" 2>&1 && (cd "$scratch/nan_program" && ./example >"$scratch/out" 2>"$scratch/err")
[ $? = 1 ] && [ "$(cat "$scratch/err")" = "example: the model's output contains NaN or infinity" ]
verdict $? 'one logit is NaN: the status of a library'
cat "$scratch/log" "$scratch/err"
nan 'native' "$xformc" run "$scratch/nan_llama" --engine native --kernels unrolled --cc "$scratch/cc" -n 3 '5 9 33'
# An f16 cache saturates infinities.
for number in 'infinite \0\0\200\177' 'NaN \0\0\300\177'; do
    rm -rf "$scratch/nan_keys"
    cp -r $families/llama "$scratch/nan_keys"
    not_a_number "$scratch/nan_keys/model.safetensors" model.layers.0.self_attn.k_proj.weight 0 "${number#* }"
    for engine in generic jit; do
        for kv in f32 f16 int8; do
            [ "$kv ${number%% *}" = 'f16 infinite' ] || nan "keys are ${number%% *}, $engine, $kv" "$xformc" run "$scratch/nan_keys" --engine $engine --kv-dtype $kv -n 3 '5 9 33'
        done
    done
done
cp -r tests/vectors/mask_bert "$scratch/nan_masked" && not_a_number "$scratch/nan_masked/model.safetensors" bert.embeddings.LayerNorm.bias 0 '\300\177'
nan 'a masked language model, --raw of a text without a mask' "$xformc" run "$scratch/nan_masked" --raw rain
"$xformc" run "$scratch/nan_llama" --json -n 3 '5 9 33' >"$scratch/out" 2>"$scratch/err"
[ $? = 65 ] && [ "$(cat "$scratch/out")" = '{"input":"5 9 33","error":"the model'"'"'s output contains NaN or infinity"}' ]
verdict $? 'one logit is NaN: --json'
cat "$scratch/out"
echo "m = xf.compile('$scratch/nan_llama', { notes = false }) print(pcall(m.generate, m, { 5, 9, 33 }, 3)) print(pcall(m, '5 9 33'))" >"$scratch/nan.lua"
[ "$("$xformc" lua "$scratch/nan.lua" 2>&1 | grep -c "^false.*the model's output contains NaN or infinity")" = 2 ]
verdict $? 'one logit is NaN: at the prompt'
"$xformc" lua "$scratch/nan.lua"
# `verify --perplexity` of a model that reads text.
cp -r "$scratch/nan_llama" "$scratch/nan_reader" && cp tests/languages/nllb.json "$scratch/nan_reader/tokenizer.json" && echo 'das haus ist rot' >"$scratch/read"
for model in "$scratch/nan_reader" $families/llama; do
    [ "$model" = "$scratch/nan_reader" ] || { cp -r "$model" "$scratch/reader" && cp tests/languages/nllb.json "$scratch/reader/tokenizer.json" && model=$scratch/reader; }
    "$xformc" verify "$model" --dtype bf16 --engine jit --perplexity "$scratch/read" >"$scratch/out" 2>"$scratch/err"
    echo "$?"
done >"$scratch/codes"
[ "$(paste -s -d ' ' "$scratch/codes")" = '65 0' ] && grep -q '^perplexity over ' "$scratch/out"
verdict $? 'one logit is NaN: --perplexity is an error, and a number without it'
cat "$scratch/codes" "$scratch/out" "$scratch/err"
# Masks in a text.
cp -r tests/vectors/mask_bert "$scratch/nan_mask" && not_a_number "$scratch/nan_mask/model.safetensors" cls.predictions.bias 95 '\0\0\300\177'
for engine in generic jit; do nan "a mask, $engine" "$xformc" run "$scratch/nan_mask" --engine $engine 'the [MASK] is old'; done
# Encoders: labels, and the outputs of a head.
cp -r $families/bert_classifier $families/bert_masked "$scratch"
not_a_number "$scratch/bert_classifier/model.safetensors" classifier.weight 40 '\300\177'
not_a_number "$scratch/bert_masked/model.safetensors" cls.predictions.bias 95 '\300\177'
for engine in generic jit; do
    nan "labels, $engine" "$xformc" run "$scratch/bert_classifier" --engine $engine --ids '1 5 9 2'
    printf '1 5 9 2\n1 5\n' | "$xformc" run "$scratch/bert_masked" --engine $engine --ids >"$scratch/out" 2>"$scratch/err"
    [ $? = 65 ] && grep -q '^bert_masked: line 1: .*NaN' "$scratch/err" && [ "$(cat "$scratch/out")" = '' ]
    verdict $? "one number is NaN: lines of an encoder, $engine"
    cat "$scratch/out" "$scratch/err"
done

# ---- settings that exclude every token -----------------------------------------------------------

cp -r $families/llama "$scratch/excluded"
sed "s/{/{ \"suppress_tokens\": [$(seq -s ', ' 0 95)],/" $families/llama/generation_config.json >"$scratch/excluded/generation_config.json"
"$xformc" build "$scratch/excluded" -q --slots 2 --kernels unrolled --cc "$scratch/cc" -o "$scratch/excluded_program" 2>"$scratch/log"
verdict $? 'every token is excluded: a program'
cat "$scratch/log"
exclude="the settings of generation exclude every token"
# excluded NAME COMMAND...: this error alone, with exit code 65.
excluded() {
    name=$1
    shift
    "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    [ $? = 65 ] && [ "$(grep -v ': note: ' "$scratch/err" | sed 's/^[a-z_]*: argument 1: //')" = "$exclude" ] && [ -z "$(tr -d '\n' <"$scratch/out")" ]
    verdict $? "every token is excluded: $name"
    cat "$scratch/out" "$scratch/err"
}
for options in '' '--temp 1' '--beam 2' '--stream'; do
    for engine in generic jit; do excluded "$engine $options" "$xformc" run "$scratch/excluded" --engine $engine -n 3 $options '5 9 33'; done
    excluded "a program $options" "$scratch/excluded_program/excluded" -n 3 $options '5 9 33'
done
echo "m = xf.compile('$scratch/excluded', { notes = false }) print(pcall(m, '5 9 33'))" >"$scratch/excluded.lua"
"$xformc" lua "$scratch/excluded.lua" >"$scratch/out" 2>&1
grep -q "^false.*$exclude" "$scratch/out"
verdict $? 'every token is excluded: at the prompt'
cat "$scratch/out"

# ---- settings of a spec --------------------------------------------------------------------------

# model NAME SETTINGS: a spec with these settings. Its dump shows those that differ from their
# defaults, and no others.
model() {
    cat >"$scratch/$1.lua" <<END
return xf.model { name = "$1", kind = "decoder", layers = 1, heads = 2, d_model = 16, d_ff = 16, max_len = 20, vocab = 30, weights = "random",
  end_id = 2, generation = { $2 } }
END
}
model drawn 'temperature = 0.7, top_k = 50, num_beams = 1, max_new_tokens = 6, suppress_tokens = 4, bad_words_ids = { { 5 }, { 3, 4 } }'
"$xformc" info "$scratch/drawn.lua" -d m 2>&1 >/dev/null | sed -n 's/^  generation_/ /p' | tr -d '\n' >"$scratch/settings"
[ "$(cat "$scratch/settings")" = ' do_sample true temperature 0.7 bad_words_ids { { 5 }, { 3, 4 } } max_new_tokens 6 suppress_tokens { 4 }' ]
verdict $? 'the dump tells what differs'
cat "$scratch/settings"
model greedy 'max_new_tokens = 6, suppress_tokens = 4, bad_words_ids = { { 5 }, { 3, 4 } }'
drawn=$("$xformc" run "$scratch/drawn.lua" 3)
[ "$drawn" != "$("$xformc" run "$scratch/drawn.lua" -s 2 3)" ] && [ "$drawn" = "$("$xformc" run "$scratch/drawn.lua" -s 1 3)" ]
verdict $? 'temperature alone draws, by the seed'
same '--temp 0 draws nothing' "$("$xformc" run "$scratch/greedy.lua" 3)" "$xformc" run "$scratch/drawn.lua" --temp 0 3
same 'another name of the flag' "$drawn" "$xformc" run "$scratch/greedy.lua" --temperature 0.7 3
same 'as flags say it' "$drawn" "$xformc" run "$scratch/greedy.lua" --temp 0.7 3
"$xformc" build "$scratch/drawn.lua" -o "$scratch/drawn" --kernels unrolled --cc "$scratch/cc" -q >"$scratch/log" 2>&1
verdict $? 'a program that draws'
same 'draws in a program as in the jit' "$drawn" "$scratch/drawn/drawn" 3
same 'and nothing with --temp 0' "$("$xformc" run "$scratch/greedy.lua" 3)" "$scratch/drawn/drawn" --temp 0 3
model ended 'eos_token_id = { 2, 4, 11, 13, 17, 20, 29 }'
all=$("$xformc" run "$scratch/ended.lua" 3 | wc -w)
model unended 'eos_token_id = 2'
[ "$all" -lt "$("$xformc" run "$scratch/unended.lua" 3 | wc -w)" ]
verdict $? 'several ends'
ends='{ 2, 4, 11, 13, 17, 20, 29 }'
model bad_ends "eos_token_id = $ends, bad_words_ids = { { 2 }, { 4 }, { 11 }, { 13 }, { 17 }, { 20 }, { 29 } }"
same 'a bad word that is an end forbids nothing' "$("$xformc" run "$scratch/ended.lua" 3)" "$xformc" run "$scratch/bad_ends.lua" 3

# ---- sampling of each text -----------------------------------------------------------------------

# Samples depend on the seed and the text's number: equal texts get different answers, however they
# are given and read.
given() { for _ in 1 2 3 4 5 6 7 8; do echo 3; done; }
given | "$xformc" run "$scratch/drawn.lua" >"$scratch/lines"
[ "$(wc -l <"$scratch/lines")" = 8 ] && [ "$(sort -u "$scratch/lines" | wc -l)" = 8 ] && [ "$(head -n 1 "$scratch/lines")" = "$drawn" ]
verdict $? 'equal lines are drawn apart, the first by the seed itself'
cat "$scratch/lines"
eight() { given | "$@" | cmp - "$scratch/lines"; }
eight "$xformc" run "$scratch/drawn.lua" --seed 1 && eight "$xformc" run "$scratch/drawn.lua" -t 2 && eight "$xformc" run "$scratch/drawn.lua" --engine generic
verdict $? 'and the same again, by two threads, by the generic engine'
"$xformc" run "$scratch/drawn.lua" -p 3 3 3 3 3 3 3 3 | cmp - "$scratch/lines"
verdict $? 'as words and prompts'
{ echo 3; echo none; given | tail -n +3; } | "$xformc" run "$scratch/drawn.lua" 2>"$scratch/err" | sed 2d >"$scratch/out"
sed 2d "$scratch/lines" | cmp - "$scratch/out" && grep -q 'line 2: the model has no tokenizer: pass token ids' "$scratch/err"
verdict $? 'a refused line has its number'
given | "$xformc" run "$scratch/drawn.lua" -s 2 >"$scratch/out"
[ "$(cat "$scratch/out" "$scratch/lines" | sort -u | wc -l)" = 16 ]
verdict $? 'another seed, other answers'
eight "$scratch/drawn/drawn" && eight "$scratch/drawn/drawn" -t 2 && "$scratch/drawn/drawn" -p 3 3 3 3 3 3 3 3 | cmp - "$scratch/lines"
verdict $? 'the same in a program: lines, two threads, words and prompts'
{ echo 3; echo none; given | tail -n +3; } | "$scratch/drawn/drawn" 2>"$scratch/err" | sed 2d >"$scratch/out"
sed 2d "$scratch/lines" | cmp - "$scratch/out" && grep -q 'line 2: the model has no tokenizer: pass token ids' "$scratch/err"
verdict $? 'where a refused line has its number too'
given | "$scratch/drawn/drawn" --json | sed 's/.*"ids":.//; s/\].*//; s/,/ /g' | cmp - "$scratch/lines"
verdict $? 'and as objects'

# ---- texts on the command line, and stop strings -------------------------------------------------

dates=specs/dates.lua
same '-p is a text' 2019-05-03 "$xformc" run $dates -p '3rd of May 2019'
printf '3rd of May 2018\n' >"$scratch/text"
same '-f is the text of a file, before the words' '2018-05-03
2017-05-03' "$xformc" run $dates -f "$scratch/text" '3rd of May 2017'
printf '3rd of May 2018\r\n' >"$scratch/crlf"
same '-f drops a line end of two bytes' 2018-05-03 "$xformc" run $dates -f "$scratch/crlf"
"$xformc" run $dates -f "$scratch/none" >"$scratch/out" 2>"$scratch/err"
[ $? = 66 ] && [ ! -s "$scratch/out" ] && grep -q "^dates: cannot read .*/none: No such file or directory" "$scratch/err"
verdict $? '-f with a file that does not exist'
for engine in jit generic; do
    same "--stop across characters, $engine" 2019 "$xformc" run $dates --engine $engine --stop -0 '3rd of May 2019'
    same "the first of several, $engine" 20 "$xformc" run $dates --engine $engine --stop -0 --stop 5-03 --stop 19 '3rd of May 2019'
    same "--stop of another text, $engine" 2019-05-03 "$xformc" run $dates --engine $engine --stop -06 '3rd of May 2019'
done
same '--stop of a search' 2019 "$xformc" run $dates --beam 2 --stop -0 '3rd of May 2019'
same 'every text anew' '2019
2018' "$xformc" run $dates --stop -0 '3rd of May 2019' '3rd of May 2018'
"$xformc" run $families/llama --stop x 1 >"$scratch/out" 2>"$scratch/err"
[ $? = 2 ] && [ "$(cat "$scratch/err")" = 'error: --stop x: answers are ids here, not text' ]
verdict $? '--stop where answers are ids'
"$xformc" run specs/self_attention.lua -p x >"$scratch/out" 2>"$scratch/err"
[ $? = 2 ] && [ "$(cat "$scratch/err")" = 'error: --prompt: an xf.graph takes no text' ]
verdict $? '-p of an xf.graph'

# Programs take the same options.
"$xformc" build $dates -o "$scratch/dates" --kernels unrolled --cc "$scratch/cc" -q >"$scratch/log" 2>&1
verdict $? 'a program of dates'
cat "$scratch/log"
program=$scratch/dates/dates
same 'a program: -p, -f, then the words' '2019-05-03
2018-05-03
2017-05-03' "$program" -p '3rd of May 2019' -f "$scratch/text" '3rd of May 2017'
same 'a program: --stop across characters' 2019 "$program" --stop -0 '3rd of May 2019'
same 'a program: the first of several' 20 "$program" --stop -0 --stop 5-03 --stop 19 '3rd of May 2019'
same 'a program: --stop of another text' 2019-05-03 "$program" --stop -06 '3rd of May 2019'
same 'a program: every text anew' '2019
2018' "$program" --stop -0 '3rd of May 2019' '3rd of May 2018'
same 'a program: --stop in --json' '2019' sh -c '"$1" --json --stop -0 "3rd of May 2019" | sed "s/.*\"answer\":\"//; s/\".*//"' - "$program"
same 'a program: the stopped ids are those up to the stop' '6' sh -c '"$1" --json --stop -0 "3rd of May 2019" | sed "s/.*\"ids\":.//; s/].*//" | tr , "\n" | wc -l' - "$program"
same 'a program: -c is the longest target' '2019-' "$program" -c 6 3/5/19
same 'run: -c is the longest target' '2019-' "$xformc" run $dates -c 6 3/5/19
# refused NAME CODE MESSAGE COMMAND...: exits with CODE, prints MESSAGE first on stderr, and prints
# nothing on stdout.
refused() {
    name=$1 code=$2 message=$3
    shift 3
    "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    [ $? = "$code" ] && [ ! -s "$scratch/out" ] && [ "$(head -n 1 "$scratch/err")" = "$message" ]
    verdict $? "$name"
    echo "expected $message"
    cat "$scratch/out" "$scratch/err"
}
refused 'a program: -f of no file' 66 "dates: cannot read $scratch/none: No such file or directory" "$program" -f "$scratch/none"
refused 'a program: -f of a folder' 74 "dates: cannot read $scratch: Is a directory" "$program" -f "$scratch"
refused 'a program: --stop of nothing' 2 'dates: --stop is empty' "$program" --stop '' x
refused 'a program: --stop where answers are ids' 2 'dates: --stop x: answers are ids here, not text' "$program" --ids --stop x 1
refused 'a program: --stop where nothing is answered' 2 'dates: --stop x has no effect: no text is answered' "$program" --info --stop x
refused 'a program: -p where nothing is answered' 2 "dates: 'x': no text is read with --info, --check, --selftest or --bench" "$program" --info -p x
refused 'a program: -c above what it was built for' 2 "dates: --max-len must be a whole number from 1 to 80, not '81'" "$program" -c 81 x
"$program" -c 6 '3rd of May 2019' >"$scratch/out" 2>"$scratch/err"
[ $? = 65 ] && [ "$(cat "$scratch/err")" = 'dates: argument 1: 15 characters, but at most 6 fit' ]
verdict $? 'a program: -c is the longest source too'
cat "$scratch/err"

# With subword tokens the prompt is printed too, but is not part of the answer.
cat >"$scratch/pieces.lua" <<END
return xf.model { name = "pieces", kind = "decoder", layers = 1, heads = 2, d_model = 16, d_ff = 16, max_len = 40, weights = "random",
  tokenizer_file = "$PWD/tests/tokenizer/llama2", generation = { max_new_tokens = 24, no_repeat_ngram_size = 1, repetition_penalty = 1.5 } }
END
all=$("$xformc" run "$scratch/pieces.lua" 'on the other')
answer=${all#on the other}
stop=$(printf %s "$answer" | sed -E 's/^(.{20})(.{5}).*/\2/')
[ "$answer" != "$all" ] && [ -n "$stop" ] && [ "$stop" != "$answer" ]
verdict $? 'an answer of pieces'
echo "$all"
same '--stop across pieces' "on the other${answer%%"$stop"*}" "$xformc" run "$scratch/pieces.lua" --stop "$stop" 'on the other'
same '--stop with a text of the prompt' "$all" "$xformc" run "$scratch/pieces.lua" --stop 'on the o' 'on the other'
"$xformc" build "$scratch/pieces.lua" -o "$scratch/pieces" --kernels unrolled --cc "$scratch/cc" -q >"$scratch/log" 2>&1
verdict $? 'a program of pieces'
cat "$scratch/log"
same 'a program: an answer of pieces' "$all" "$scratch/pieces/pieces" 'on the other'
same 'a program: --stop across pieces' "on the other${answer%%"$stop"*}" "$scratch/pieces/pieces" --stop "$stop" 'on the other'
same 'a program: --stop with a text of the prompt' "$all" "$scratch/pieces/pieces" --stop 'on the o' 'on the other'

# In the settings of a spec and of a folder.
sed "s|max_new_tokens = 24|max_new_tokens = 24, stop_strings = { \"none such\", \"$stop\" }|" "$scratch/pieces.lua" >"$scratch/stopped.lua"
same 'stop_strings of a spec' "on the other${answer%%"$stop"*}" "$xformc" run "$scratch/stopped.lua" 'on the other'
same '--stop is one more' "on the other${answer%%"$(printf %s "$answer" | cut -c 1-8)"*}" \
    "$xformc" run "$scratch/stopped.lua" --stop "$(printf %s "$answer" | cut -c 1-8)" 'on the other'
"$xformc" build "$scratch/stopped.lua" -o "$scratch/stopped" --kernels unrolled --cc "$scratch/cc" -q >"$scratch/log" 2>&1 &&
    grep -q '^static const char \*const pieces_stops\[\] = { "none such", ' "$scratch/stopped/pieces_settings.c"
verdict $? 'stop_strings in the text of a program'
same 'stop_strings of a program' "on the other${answer%%"$stop"*}" "$scratch/stopped/pieces" 'on the other'
"$xformc" info "$scratch/stopped.lua" -d m 2>&1 >/dev/null | grep -q "^  generation_stop_strings \"none such\", \"$stop\"$"
verdict $? 'the dump shows them'
"$xformc" info "$scratch/stopped.lua" --lua >"$scratch/again.lua" && grep -q '  generation_stop_strings = { "none such", ' "$scratch/again.lua"
verdict $? 'and the spec in Lua'
same 'which says the same' "on the other${answer%%"$stop"*}" "$xformc" run "$scratch/again.lua" 'on the other'
