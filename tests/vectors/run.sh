#!/bin/sh
# tags: slow noasan
# Answers of encoders in `run` and programs compared with PyTorch: hidden states, vectors and
# labels, as lines, objects and bytes. Misuse. Damaged folders and modules.json.
# usage: run.sh XFORMC
#
# The numbers are those of tests/goldens. The probabilities are computed from them here.
. tests/lib.sh
goldens=tests/goldens
tools=$(dirname "$xformc")/tests/vectors

quick_cc "$scratch/cc"
# same FILE FILE: both files list the same floats, however they are written.
same() { paste "$1" "$2" | awk '{ d = $1 - $2; if (NF != 2 || d * d > 1e-14 * $1 * $1) bad = 1 } END { exit bad || !NR }'; }
build() { "$xformc" build "$1" -q --cc "$scratch/cc" -o "$scratch/built_$2" && program=$scratch/built_$2/$2; }

# expect NAME CODE STDOUT STDERR COMMAND...
expect() {
    name=$1 code=$2
    printf "$3" >"$scratch/out.expected"
    printf "$4" >"$scratch/err.expected"
    shift 4
    timeout "$patience" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    found=$?
    diff -u "$scratch/out.expected" "$scratch/out" && diff -u "$scratch/err.expected" "$scratch/err" && [ $found = "$code" ]
    verdict $? "$name"
    [ $found = "$code" ] || echo "exit $found, expected $code"
}

# ---- numbers -------------------------------------------------------------------------------------

# The source of each golden, and the tensor that is the answer.
cat >"$scratch/cases" <<'END'
head_classifier vector 12 12 11 5 10 9 8 12
head_mean vector 9 11 5 4 7 12 10
head_tokens vector 10 12 3 3 12 11 5 8 10 6 8 4 6 6 12 11 8 10 7 10
kind_encoder encoder.norm 4 7 12 11 9 4
END
while read -r name tensor ids; do
    for engine in jit generic; do
        "$xformc" run $goldens/$name.lua --engine $engine --raw "$ids" >"$scratch/raw" && "$tools/raw_distance" $goldens/$name.ref.safetensors $tensor <"$scratch/raw"
        verdict $? "$name: --raw is as PyTorch has it, $engine"
    done
    # A line and an object have the same floats.
    "$xformc" run $goldens/$name.lua --raw "$ids" | od -An -v -tf4 -w4 >"$scratch/numbers"
    "$xformc" run $goldens/$name.lua "$ids" | tr ' ' '\n' >"$scratch/line" && same "$scratch/line" "$scratch/numbers"
    verdict $? "$name: a line has the same numbers"
    "$xformc" run $goldens/$name.lua --json "$ids" >"$scratch/json"
    sed -n 's/.*"\(vector\|vectors\|hidden\)":\(.*\)}$/\2/p' "$scratch/json" | tr -d '[]' | tr ',' '\n' >"$scratch/line" &&
        same "$scratch/line" "$scratch/numbers" &&
        grep -qF "{\"input\":\"$ids\",\"input_ids\":[$(echo "$ids" | tr ' ' ',')]," "$scratch/json"
    verdict $? "$name: an object has the same numbers, and the ids"
done <"$scratch/cases"

# ---- labels --------------------------------------------------------------------------------------

cp $goldens/head_classifier.safetensors "$scratch"
sed 's/weights = /labels = { "one \\"1\\"", "zwei", "??=" }, weights = /' $goldens/head_classifier.lua >"$scratch/three.lua"
ids='12 12 11 5 10 9 8 12'
"$xformc" run $goldens/head_classifier.lua "$ids" | awk '{
    for (i = 1; i <= 3; i++) sum += exp($i)
    for (i = 1; i <= 3; i++) { p[i] = exp($i) / sum; if (i == 1 || p[i] > p[best]) best = i }
    split("one \"1\"|zwei|??=", label, "|")
    printf "%s %.4f\n", label[best], p[best]
    printf "%.5f %.5f %.5f\n", p[1], p[2], p[3] }' >"$scratch/expected"
"$xformc" run "$scratch/three.lua" "$ids" >"$scratch/out" && head -n 1 "$scratch/expected" | diff - "$scratch/out"
verdict $? 'the most likely label and its probability'
"$xformc" run "$scratch/three.lua" --json "$ids" >"$scratch/json"
sed -n 's/.*"scores":\[\([^]]*\)\].*/\1/p' "$scratch/json" | grep -o '"score":[0-9.e-]*' | cut -d: -f2 | xargs printf '%.5f %.5f %.5f\n' >"$scratch/scores"
tail -n 1 "$scratch/expected" | diff - "$scratch/scores"
verdict $? '--json has all scores'
cat >"$scratch/score.lua" <<'END'
return xf.model { name = "one", kind = "encoder", layers = 1, heads = 2, d_model = 8, d_ff = 8, vocab = 9, max_len = 9, weights = "random",
  pooling = "cls", head = { width = 1 } }
END
sed 's/pooling/labels = "yes", pooling/' "$scratch/score.lua" >"$scratch/one.lua"
"$xformc" run "$scratch/score.lua" '4 5 6' | awk '{ printf "yes %.4f\n", 1 / (1 + exp(-$1)) }' >"$scratch/expected" && grep -q '^yes 0\.[0-9]*$' "$scratch/expected" &&
    "$xformc" run "$scratch/one.lua" '4 5 6' | diff "$scratch/expected" -
verdict $? 'of one number alone the sigmoid'

# ---- programs ------------------------------------------------------------------------------------

for spec in "$scratch/three.lua:head_classifier:12 12 11 5 10 9 8 12" "$goldens/head_tokens.lua:head_tokens:10 12 3 3 12" "$goldens/kind_encoder.lua:kind_encoder:4 7 12"; do
    file=${spec%%:*} ids=${spec##*:} name=${spec#*:} name=${name%:*}
    build "$file" "$name"
    verdict $? "$name is built"
    for form in '' --raw; do
        "$xformc" run "$file" --engine native --cc "$scratch/cc" $form "$ids" >"$scratch/out" && [ -s "$scratch/out" ] && "$program" $form "$ids" | cmp - "$scratch/out"
        verdict $? "$name: a program answers as run does $form"
    done
    "$xformc" run "$file" --engine native --cc "$scratch/cc" --json "$ids" >"$scratch/out" && [ -s "$scratch/out" ] && "$program" --json "$ids" | diff - "$scratch/out"
    verdict $? "$name: a program gives the same object"
done
expect 'a program: --raw with --json' 2 '' \
    'kind_encoder: --raw cannot be combined with --json, --info, --check, --selftest or --bench\nUsage: kind_encoder [OPTION]... [TEXT]...\nTry '"'kind_encoder --help'"' for more information.\n' \
    "$program" --raw --json '1 2'
expect 'a program: a refused text has no bytes' 65 '' 'kind_encoder: argument 1: id 99 at position 1 is not in the vocabulary, 0 to 12\n' "$program" --raw 99

# ---- misuse --------------------------------------------------------------------------------------

expect 'run --raw: a refused text has no bytes' 65 '' 'kind_encoder: argument 1: id 99 at position 1 is not in the vocabulary, 0 to 12\n' \
    "$xformc" run $goldens/kind_encoder.lua --raw 99
expect 'run: a refused text is an empty line' 65 '\n' 'kind_encoder: argument 1: empty; 1 to 9 ids fit\n' "$xformc" run $goldens/kind_encoder.lua ''
expect 'run --json: a refused text has an error' 65 '{"input":"","error":"empty; 1 to 9 ids fit"}\n' '' \
    "$xformc" run $goldens/kind_encoder.lua --json ''
expect 'run --raw of a decoder' 2 '' 'error: --raw: kind_decoder generates ids; only an encoder-only model gives vectors\n' "$xformc" run $goldens/kind_decoder.lua --raw 1
expect 'run --raw --json' 2 '' 'error: --raw and --json cannot be combined\n' "$xformc" run $goldens/kind_encoder.lua --raw --json 1
expect 'run --raw of a graph' 2 '' "error: --raw prints an encoder's vectors; an xf.graph has none\n" "$xformc" run specs/attention.lua --raw
expect 'run --beam of an encoder' 2 '' 'error: --beam: kind_encoder has no decoder and generates nothing\n' "$xformc" run $goldens/kind_encoder.lua --beam 2 1

# ---- folders -------------------------------------------------------------------------------------

# damaged NAME FOLDER FILE MESSAGE: a copy of a small folder with FILE from standard input fails
# with MESSAGE.
damaged() {
    rm -rf "$scratch/folder" && cp -r "tests/families/$2" "$scratch/folder" && cat >"$scratch/folder/$3"
    "$xformc" run "$scratch/folder" 1 >"$scratch/out" 2>"$scratch/err"
    [ $? = 65 ] && [ ! -s "$scratch/out" ] && sed "s|$scratch/folder/||" "$scratch/err" | grep -qxF "$4"
    verdict $? "$1"
    cat "$scratch/err"
}
damaged 'modules.json is not a list' sentence modules.json 'modules.json: error: not a JSON list' <<'END'
{}
END
damaged 'modules.json is cut' sentence modules.json "modules.json:2: error: not JSON: ']' expected near end of file" <<'END'
[
END
damaged 'an element of modules.json is not an object' sentence modules.json 'modules.json: error: element 0 is not a JSON object' <<'END'
[ 5 ]
END
damaged 'modules.json without modules' sentence modules.json 'modules.json: error: the first module must be a Transformer' <<'END'
[]
END
damaged 'a module without a type' sentence modules.json 'modules.json:1:3: error: the key "type" is missing' <<'END'
[ { "idx": 0, "path": "" } ]
END
damaged 'a module that is not known' sentence modules.json \
    'modules.json:2:3: error: the module "sentence_transformers.models.LSTM" is not supported, only Transformer, Pooling, Dense, Normalize and Dropout of sentence_transformers' <<'END'
[ { "type": "sentence_transformers.models.Transformer", "path": "" },
{ "type": "sentence_transformers.models.LSTM", "path": "1_LSTM" } ]
END
damaged 'a module of somebody else' sentence modules.json \
    'modules.json:1:5: error: the module "custom_st.Transformer" is not supported, only Transformer, Pooling, Dense, Normalize and Dropout of sentence_transformers' <<'END'
[ { "type": "custom_st.Transformer", "path": "" } ]
END
damaged 'a module outside the folder' sentence modules.json 'modules.json:1:57: error: "a/../.." is not a path inside this folder' <<'END'
[ { "type": "sentence_transformers.models.Transformer", "path": "a/../.." } ]
END
damaged 'a module at a whole path' sentence modules.json 'modules.json:1:57: error: "/tmp" is not a path inside this folder' <<'END'
[ { "type": "sentence_transformers.models.Transformer", "path": "/tmp" } ]
END
damaged 'modules in another order' sentence modules.json 'modules.json:3:3: error: a Dense after a Normalize is not supported' <<'END'
[ { "type": "sentence_transformers.models.Transformer", "path": "" }, { "type": "sentence_transformers.models.Pooling", "path": "1_Pooling" },
{ "type": "sentence_transformers.models.Normalize", "path": "2_Normalize" },
{ "type": "sentence_transformers.models.Dense", "path": "3_Dense" } ]
END
damaged 'a pooling that is not known' sentence 1_Pooling/config.json '1_Pooling/config.json:1:3: error: the pooling_mode "first" is not supported' <<'END'
{ "pooling_mode": "first" }
END
damaged 'a switch of a pooling that is not known' sentence 1_Pooling/config.json \
    '1_Pooling/config.json:1:3: error: "pooling_mode_first_token" is not supported' <<'END'
{ "pooling_mode_first_token": true }
END
damaged 'no mode at all' sentence 1_Pooling/config.json '1_Pooling/config.json:1:3: error: "pooling_mode" must list 1 to 6 modes' <<'END'
{ "pooling_mode": [] }
END
damaged 'a prompt that nobody has' sentence config_sentence_transformers.json \
    'config_sentence_transformers.json:1:37: error: "prompts" has no "document"' <<'END'
{ "prompts": { "query": "find: " }, "default_prompt_name": "document" }
END
damaged 'vectors that are not of the hidden states' sentence sentence_bert_config.json \
    'sentence_bert_config.json:1:69: error: "modality_config.text.method_output_name" = "logits" is not supported, only "last_hidden_state"' <<'END'
{ "modality_config": { "text": { "method": "forward",               "method_output_name": "logits" } } }
END
damaged 'no texts' sentence sentence_bert_config.json 'sentence_bert_config.json:1:3: error: "modality_config" has no "text"' <<'END'
{ "modality_config": { "image": { "method": "forward" } } }
END
damaged 'texts as messages' sentence sentence_bert_config.json 'sentence_bert_config.json:1:114: error: "modality_config.message": wrapping texts as messages with the chat template is not supported' <<'END'
{ "modality_config": { "text": { "method": "forward",               "method_output_name": "last_hidden_state" }, "message": { "method": "forward" } } }
END
damaged 'another task' sentence sentence_bert_config.json \
    'sentence_bert_config.json:1:3: error: "transformer_task" = "text-generation" is not supported, only "feature-extraction"' <<'END'
{ "transformer_task": "text-generation" }
END
damaged 'arguments of the tokenizer' sentence sentence_bert_config.json \
    'sentence_bert_config.json:1:48: error: "processing_kwargs" with "text" is not supported' <<'END'
{ "model_args": { "torch_dtype": "float16" },  "processing_kwargs": { "text": { "max_length": 8 } } }
END
# Models that generate text, followed by modules: the unsupported combinations.
modules() { printf '[{"type":"sentence_transformers.models.Transformer","path":""},\n{"type":"sentence_transformers.models.Pooling","path":"1_Pooling"}]\n'; }
place_of() { grep -n "\"$2\"" "tests/families/$1/config.json" | sed 's/:.*//'; }
modules >"$scratch/modules"
damaged 'modules behind a BART' bart modules.json \
    "config.json:$(place_of bart model_type):3: error: sentence-transformers modules are not supported with model_type \"bart\"" <"$scratch/modules"
damaged 'modules behind an OPT whose last linear is part of the stack' opt_narrow modules.json \
    "config.json:$(place_of opt_narrow word_embed_proj_dim):3: error: a sentence model whose hidden states and layers differ in width is not supported" \
    <"$scratch/modules"
with='supported only with sentence-transformers modules'
for key in is_causal:false:llama is_causal:false:bart use_bidirectional_attention:true:gemma3_text is_encoder_decoder:false:t5; do
    name=${key%%:*} rest=${key#*:}
    value=${rest%%:*} folder=${rest##*:} said=$with
    [ "$folder" = bart ] && said='not supported, only true'
    grep -v "\"$name\"" "tests/families/$folder/config.json" | sed "1s/.*/{ \"$name\": $value,/" >"$scratch/config"
    damaged "a stack that gives no text, without modules: $name" "$folder" config.json \
        "config.json:1:3: error: \"$name\" = $value is $said" <"$scratch/config"
done
sed 's/"1": "perhaps"/"1": true/' tests/families/bert_classifier/config.json >"$scratch/config"
damaged 'a label that is not a text' bert_classifier config.json \
    "$(grep -n '"1": true' "$scratch/config" | sed 's/:.*//; s/.*/config.json:&:5: error: "id2label.1" must be a string, found true/')" <"$scratch/config"
sed 's/"1": "perhaps"/"3": "perhaps"/' tests/families/bert_classifier/config.json >"$scratch/config"
damaged 'labels with a hole' bert_classifier config.json \
    "$(grep -n '"id2label"' "$scratch/config" | sed 's/:.*//; s/.*/config.json:&:15: error: the key "id2label.1" is missing/')" <"$scratch/config"

# Token types of a pair: those of tokenizer.json, or none if model_input_names has none.
mkdir "$scratch/named" "$scratch/typeless" && cp tests/vectors/cross_bert/* "$scratch/named" && cp tests/vectors/cross_bert/* "$scratch/typeless"
sed 's/^{/{ "model_input_names": ["input_ids", "attention_mask"],/' tests/vectors/cross_bert/tokenizer_config.json >"$scratch/named/tokenizer_config.json"
sed 's/"type_id": 1/"type_id": 0/' tests/vectors/cross_bert/tokenizer.json >"$scratch/typeless/tokenizer.json"
# BERT's own class would overwrite the types.
sed 's/BertTokenizer/PreTrainedTokenizerFast/' tests/vectors/cross_bert/tokenizer_config.json >"$scratch/typeless/tokenizer_config.json"
pair=$(printf 'rain fell\ton the roof')
usual=$("$xformc" run tests/vectors/cross_bert "$pair" 2>/dev/null) typeless=$("$xformc" run "$scratch/typeless" "$pair" 2>/dev/null)
[ -n "$typeless" ] && [ "$usual" != "$typeless" ] && [ "$("$xformc" run "$scratch/named" "$pair" 2>/dev/null)" = "$typeless" ]
verdict $? 'a pair has no types where model_input_names has none'

# The tokenizer handles white space around a text, in a sentence-transformers model too.
mkdir "$scratch/plain" "$scratch/sentence" && cp tests/tokenizer/roberta/* "$scratch/plain" && cp tests/tokenizer/roberta/* "$scratch/sentence"
echo '[]' >"$scratch/sentence/modules.json"
ids() { "$xformc" tokenize "$scratch/$1" "$2" 2>"$scratch/err"; }
spaced=$(printf ' \t two words \n.')
[ -n "$(ids plain 'two words')" ] && [ "$(ids sentence "${spaced%.}")" = "$(ids plain "${spaced%.}")" ] && [ "$(ids plain "${spaced%.}")" != "$(ids plain 'two words')" ]
verdict $? 'sentence-transformers: white space around a text stays'

"$xformc" info tests/vectors/sentence_dense -d m 2>&1 | grep -q '^  head_weights  *"model.safetensors", "pytorch_model.bin"$'
verdict $? 'a dump of the model names the files of its head'
