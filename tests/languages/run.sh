#!/bin/sh
# tags: slow
# Translators: --source-language and --target-language in `run`, `tokenize` and programs, and as
# options at the prompt, for NLLB, M2M100, mBART, Marian and T5. Input and output ids match
# transformers (expected, by make.py). Languages missing from the vocabulary.
# usage: run.sh XFORMC
set -u
. tests/lib.sh
quick_compilers

tab=$(printf '\t')
prefixes='"task_specific_params": { "summarization": { "prefix": "summarize: " },
  "translation_en_to_de": { "prefix": "translate English to German : " },
  "translation_en_to_fr": { "prefix": "translate English to French : " } },'

# folder MODEL TOKENIZER: the path of a folder with both. MODEL@N starts answers with the id N.
folder() {
    made=$scratch/$1.$2
    if [ ! -d "$made" ]; then
        cp -r "tests/families/${1%@*}" "$made" && cp "tests/languages/$2.json" "$made/tokenizer.json" || return
        case $1 in *@*) sed -i "s/\"decoder_start_token_id\": .*/\"decoder_start_token_id\": ${1#*@},/" "$made"/*config.json ;; esac
        if [ "$2" = t5 ]; then printf '%s\n' "$prefixes" >"$scratch/prefixes" && sed -i "1r $scratch/prefixes" "$made/config.json"; fi
    fi
    echo "$made"
}

# ids KEY: the ids at KEY of a JSON line on standard input.
ids() { sed "s/.*\"$1\":\\[\\([0-9,]*\\)\\].*/\\1/" | tr , ' '; }

# answers NAME COMMAND...: it reads $text as the ids $given and answers with the ids $wanted.
answers() {
    name=$1
    shift
    "$@" --json -n 6 --temperature 0 $options -- "$text" >"$scratch/out" 2>"$scratch/err" &&
        same "$given" "$(ids input_ids <"$scratch/out")" && same "$wanted" "$(ids ids <"$scratch/out")" ||
        { cat "$scratch/err"; false; }
    verdict $? "$name"
}

# at_prompt: m(TEXT, OPTIONS) and m:generate answer as `run` does.
at_prompt() {
    table=$(echo "$options" | sed 's/--\([a-z]*\)-language[= ]\([^ ]*\)/\1_language = "\2",/g')
    printf 'm = xf.compile("%s")\nprint("one " .. m("%s", { %s }))\nprint("two " .. m:generate("%s", 9, { %s }))\n' \
        "$made" "$text" "$table" "$text" "$table" | "$xformc" repl >"$scratch/out" 2>"$scratch/err"
    same "one $("$xformc" run "$made" $options -- "$text")
two $("$xformc" run "$made" -n 9 $options -- "$text")" "$(cat "$scratch/out")" || { cat "$scratch/err"; false; }
    verdict $? "the prompt with $model $tokenizer $options"
}

# read_alone: `tokenize` gives the ids of the text. The target language is not among them, except
# for Marian. A tokenizer alone does not know the prefixes of T5.
read_alone() {
    case $tokenizer in
    t5) return ;;
    marian) asked=$options ;;
    *) asked=$(echo "$options" | sed 's/--target-language [^ ]*//') ;;
    esac
    same "$given" "$("$xformc" tokenize "$made" $asked -- "$text" 2>"$scratch/err")" || { cat "$scratch/err"; false; }
    verdict $? "tokenize $model $tokenizer $asked"
}

tr '\t' '|' <tests/languages/expected >"$scratch/expected"
while IFS='|' read -r model tokenizer options text given wanted; do
    made=$(folder "$model" "$tokenizer")
    answers "run $model $tokenizer $options" "$xformc" run "$made"
    at_prompt
    read_alone
    case $tokenizer in m2m) continue ;; esac
    name=$(basename "$made" | tr -c 'a-z0-9\n' _)
    [ -d "$scratch/built.$name" ] || "$xformc" build "$made" -q --name "$name" -o "$scratch/built.$name" ||
        verdict 1 "$name is built"
    answers "the program of $model $tokenizer $options" "$scratch/built.$name/$name"
done <"$scratch/expected"
# A model whose answers may begin with any language says so, unless its config or an option sets
# one.
made=$(folder m2m_100 nllb)
for options in '' '--target-language fra_Latn'; do
    "$xformc" run "$made" -n 3 $options the 2>"$scratch/err" >/dev/null
    note='note: the model chooses the language of its answer; --target-language sets it'
    [ "$(grep -c "$note" "$scratch/err")" = "$([ -n "$options" ] && echo 0 || echo 1)" ]
    verdict $? "a language of answers that was not chosen: ${options:-none}"
done

[ "$(wc -l <"$scratch/expected")" -ge 10 ]
verdict $? 'transformers gave all of them'

# refused NAME MESSAGE COMMAND...: exits with 2 and prints MESSAGE on stderr and nothing on stdout.
refused() {
    what=$1 message=$2
    shift 2
    "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    code=$?
    [ $code = 2 ] && [ ! -s "$scratch/out" ] && grep -qF -- "$message" "$scratch/err" || { echo "exit $code"; cat "$scratch/err"; false; }
    verdict $? "$what"
}
for program in "$xformc run $(folder m2m_100 nllb)" "$scratch/built.m2m_100_nllb/m2m_100_nllb"; do
    of=${program%% *} of=${of##*/}
    refused "$of: near languages" "--source-language: the vocabulary has no language 'zho'; similar: zho_Hans, zho_Hant" \
        $program --source-language zho x
    refused "$of: all languages" "--target-language: the vocabulary has no language 'xx'; it has eng_Latn, deu_Latn, fra_Latn, zho_Hans, zho_Hant" \
        $program --target-language xx x
    refused "$of: with ids" 'source-language' $program --source-language deu --ids '4 5'
done
for program in "$xformc run $(folder marian marian)" "$scratch/built.marian_marian/marian_marian"; do
    of=${program%% *} of=${of##*/}
    refused "$of: languages of answers alone" '--source-language: the vocabulary has only target languages' $program --source-language deu x
done
for program in "$xformc run $(folder t5 t5)" "$scratch/built.t5_t5/t5_t5"; do
    of=${program%% *} of=${of##*/}
    refused "$of: another pair" 'the model was not trained for this; it translates en to de, en to fr' $program --target-language ro x
    refused "$of: several pairs" 'several translations fit: en to de, en to fr' $program --source-language en x
done
refused 'tokenize: the language of an answer' '--target-language has no effect here: its token begins the answer and does not change the ids of a text' \
    "$xformc" tokenize "$(folder m2m_100 nllb)" --target-language fra_Latn x
refused 'tokenize: near languages' "--source-language: the vocabulary has no language 'zho'; similar: zho_Hans, zho_Hant" \
    "$xformc" tokenize "$(folder m2m_100 nllb)" --source-language zho x

# raises NAME CALL MESSAGE: at the prompt, CALL on the model m or n fails with MESSAGE.
raises() {
    printf 'm = xf.compile("%s")\nn = xf.compile("tests/families/llama")\nprint(select(2, pcall(%s)))\n' "$(folder m2m_100 nllb)" "$2" |
        "$xformc" repl >"$scratch/out" 2>&1
    same "$3" "$(cat "$scratch/out")"
    verdict $? "the prompt: $1"
}
raises 'near languages' 'm, "x", { source_language = "zho" }' \
    "error: source_language: the vocabulary has no language 'zho'; similar: zho_Hans, zho_Hant"
raises 'a decoder alone' 'n, "x", { target_language = "fr" }' 'target_language: llama is not an encoder-decoder with a subword tokenizer'
raises 'no option' 'm, "x", { target = "fr" }' "m has no option 'target'; its options are source_language, target_language, plain_text, pair_separator"
raises 'no language' 'm, "x", { target_language = 3 }' 'target_language: expected a string, found a number'
raises 'options of ids' 'm.generate, m, { 4, 5 }, { plain_text = true }' 'm:generate: options apply to a text, not to ids'
raises 'plain text' 'm, "x", { plain_text = 1 }' 'plain_text: expected true or false, found a number'
raises 'pairs' 'm, "x", { pair_separator = "|" }' 'pair_separator: m2m_100_nllb does not read pairs of texts'

made=$(folder bart marian) && cp tests/languages/t5.json "$made/tokenizer.json"
refused 'a vocabulary without languages' '--target-language: the vocabulary has no languages' "$xformc" run "$made" --target-language fr x
refused 'a decoder alone' '--target-language needs an encoder-decoder with a subword tokenizer' \
    "$xformc" run tests/families/llama --target-language fr x
printf 'return xf.model { name = "m", translations = { "en" } }\n' >"$scratch/row.lua"
"$xformc" info "$scratch/row.lua" >"$scratch/out" 2>&1
[ $? = 65 ] && grep -q 'translations\[1\]: expected two language codes and a prefix' "$scratch/out" || { cat "$scratch/out"; false; }
verdict $? 'a row of a spec that is not a translation'
