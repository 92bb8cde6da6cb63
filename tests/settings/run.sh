#!/bin/sh
# What the files beside a tokenizer and a model say: numbers of any size and U+0000 in JSON, files
# that are no JSON.
# usage: run.sh XFORMC
set -u
. tests/lib.sh

# fails NAME CODE MESSAGE COMMAND...: it ends with that code, and standard error begins with the message.
fails() {
    name=$1 code=$2 message=$3
    shift 3
    "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    found=$?
    [ $found = "$code" ] && [ "$(head -n 1 "$scratch/err" | sed "s|$scratch/||")" = "$message" ]
    verdict $? "$name"
    echo "expected $code, $message; found $found"
    cat "$scratch/out" "$scratch/err"
}

# ---- JSON -----------------------------------------------------------------------------------------

cp -r tests/chat/llama2 "$scratch/chat"
cat >"$scratch/chat.lua" <<END
return xf.model { name = "chat", kind = "decoder", layers = 1, heads = 2, d_model = 16, d_ff = 16, max_len = 200,
  weights = "random", tokenizer_file = "$scratch/chat/tokenizer.json", generation = { max_new_tokens = 1 } }
END
# ids_of_chat: the prompt that the model reads.
ids_of_chat() {
    "$xformc" run "$scratch/chat.lua" --engine generic --chat --json 'two words' 2>"$scratch/err" |
        sed 's/.*"input_ids":.\([0-9,]*\)].*/\1/'
    cat "$scratch/err" >&2
}
config=$scratch/chat/tokenizer_config.json
usual=$(ids_of_chat)
for said in '"model_max_length": 1000000000000000019884624838656' '"note": "a\\u0000b"' '"note": [-99999999999999999999, 1e5]' \
    "\"note\": $(printf '%0400d' 0 | sed 's/0/7/g')"; do
    sed "1s/{/{ $said,/" tests/chat/llama2/tokenizer_config.json >"$config"
    same "$usual" "$(ids_of_chat)"
    verdict $? "a chat whose tokenizer_config.json has $(echo "$said" | cut -c 1-50)"
done
head -c 100 tests/chat/llama2/tokenizer_config.json >"$config"
fails 'a chat whose tokenizer_config.json is cut' 65 'chat/tokenizer_config.json:4: error: not JSON: premature end of input' \
    "$xformc" run "$scratch/chat.lua" --engine generic --chat 'two words'
sed 's/"{% if/&\\u0000/' tests/chat/llama2/tokenizer_config.json >"$config"
fails 'a chat template with U+0000' 69 'chat/tokenizer_config.json: error: chat_template holds U+0000' \
    "$xformc" run "$scratch/chat.lua" --engine generic --chat 'two words'
cp tests/chat/llama2/tokenizer_config.json "$config"
echo '{ "eos_token": ' >"$scratch/chat/special_tokens_map.json"
fails 'a special_tokens_map.json that is no JSON' 65 'chat/special_tokens_map.json:2: error: not JSON: unexpected token near end of file' \
    "$xformc" run "$scratch/chat.lua" --engine generic --chat 'two words'
ln -sf nowhere "$scratch/chat/special_tokens_map.json"
fails 'a link to no file' 66 "error: cannot open chat/special_tokens_map.json: No such file or directory" "$xformc" tokenize "$scratch/chat" x

cp -r tests/families/bert_classifier "$scratch/bert"
sed '1s/{/{ "note": ["a\\u0000b", 1000000000000000019884624838656],/' tests/families/bert_classifier/config.json >"$scratch/bert/config.json"
same "$("$xformc" run tests/families/bert_classifier --ids '1 5 7')" "$("$xformc" run "$scratch/bert" --engine generic --ids '1 5 7')"
verdict $? 'a config.json with a large number and U+0000'
sed 's/"gelu"/"ge\\u0000lu"/' tests/families/bert_classifier/config.json >"$scratch/bert/config.json"
fails 'a value with U+0000' 65 'bert/config.json:11:3: error: "hidden_act" must be text without U+0000, found "ge\u0000lu"' \
    "$xformc" run "$scratch/bert" --ids '1 5 7'
