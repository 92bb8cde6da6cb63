#!/bin/sh
# tags: slow
# Files next to a tokenizer and a model: numbers of any size and U+0000 in JSON, files that are not
# JSON, the side on which long texts are truncated, how the class of a tokenizer changes its
# tokenizer.json (classes.rows, beside.rows and ends.rows, by make.py), the number of labels of a
# classifier and its scores, the blanks that clean_up_tokenization_spaces keeps (cleaning.rows), how
# sentence-transformers compares vectors, and which of the names of its settings file is used.
# usage: run.sh XFORMC
set -u
. tests/lib.sh
quick_cc "$scratch/cc"

# fails NAME CODE MESSAGE COMMAND...: exits with CODE; MESSAGE is the first line of standard error.
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

# ---- JSON ----------------------------------------------------------------------------------------

cp -r tests/chat/llama2 "$scratch/chat"
cat >"$scratch/chat.lua" <<END
return xf.model { name = "chat", kind = "decoder", layers = 1, heads = 2, d_model = 16, d_ff = 16, max_len = 200,
  weights = "random", tokenizer_file = "$scratch/chat/tokenizer.json", generation = { max_new_tokens = 1 } }
END
# ids_of_chat: the ids of the prompt that the model reads.
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
fails 'a chat template with U+0000' 69 'chat/tokenizer_config.json: error: chat_template contains U+0000' \
    "$xformc" run "$scratch/chat.lua" --engine generic --chat 'two words'
cp tests/chat/llama2/tokenizer_config.json "$config"
echo '{ "eos_token": ' >"$scratch/chat/special_tokens_map.json"
fails 'a special_tokens_map.json that is no JSON' 65 'chat/special_tokens_map.json:2: error: not JSON: unexpected token near end of file' \
    "$xformc" run "$scratch/chat.lua" --engine generic --chat 'two words'
ln -sf nowhere "$scratch/chat/special_tokens_map.json"
fails 'a link to no file' 66 "error: cannot open chat/special_tokens_map.json: No such file or directory" "$xformc" tokenize "$scratch/chat" x

rm "$scratch/chat/special_tokens_map.json"

# Where the template and its special tokens may stand. marked TEXT: the prompt with a config whose
# eos_token is TEXT.
marked() {
    sed "s#\"eos_token\": *\"[^\"]*\"#\"eos_token\": \"$1\"#" tests/chat/zephyr/tokenizer_config.json >"$config"
    ids_of_chat
}
cp tests/chat/zephyr/tokenizer.json "$scratch/chat"
usual=$(marked '</s>') other=$(marked '<unk>')
[ "$usual" != "$other" ]
verdict $? 'the end of a turn is the eos_token of tokenizer_config.json'
echo '{ "eos_token": { "content": "</s>" } }' >"$scratch/chat/special_tokens_map.json"
same "$usual" "$(marked '<unk>')"
verdict $? 'special_tokens_map.json counts first'
sed -i '1s/{/{ "added_tokens_decoder": {},/' "$config"
same "$other" "$(ids_of_chat)"
verdict $? 'and not where tokenizer_config.json has added_tokens_decoder'
rm "$scratch/chat/special_tokens_map.json"
cp tests/chat/zephyr/tokenizer_config.json "$config"
mkdir "$scratch/chat/additional_chat_templates"
cat tests/chat/learned/lines.jinja >"$scratch/chat/additional_chat_templates/default.jinja"
lines=$(ids_of_chat)
[ "$lines" != "$usual" ]
verdict $? 'additional_chat_templates/default.jinja counts before tokenizer_config.json'
cat tests/chat/learned/bos_each.jinja >"$scratch/chat/chat_template.jinja"
[ "$(ids_of_chat)" != "$lines" ]
verdict $? 'chat_template.jinja counts before both'
cat tests/chat/learned/lines_crlf.jinja >"$scratch/chat/chat_template.jinja"
same "$lines" "$(ids_of_chat)"
verdict $? 'a template with CRLF is as one with LF'
rm -r "$scratch/chat/additional_chat_templates" "$scratch/chat/chat_template.jinja"
for form in '[{ "name": "default", "template": "x{{ messages[0].content }}" }, { "name": "default", "template": T }]' '{ "default": T }'; do
    text=$(sed -n 's/^ *"chat_template": *\(".*"\),*$/\1/p' tests/chat/zephyr/tokenizer_config.json)
    printf '{ "eos_token": "</s>", "chat_template": %s%s%s }\n' "${form%%T*}" "$text" "${form##*T}" >"$config"
    same "$usual" "$(ids_of_chat)"
    verdict $? "a chat_template of the form $(echo "$form" | cut -c 1-20)"
done

# A template may use tokens of other names, which tokenizer_config.json gives at its top or in an
# object.
for form in '"image_token": "<unk>",' '"extra_special_tokens": { "image_token": "<unk>" },' \
    '"image_token": { "__type": "AddedToken", "content": "<unk>" },'; do
    printf '{ %s "eos_token": "</s>", "chat_template": "{{ image_token }}{%% for m in messages %%}{{ m.content }}{%% endfor %%}" }\n' "$form" >"$config"
    named=$(ids_of_chat)
    sed -i 's/{{ image_token }}/<unk>/' "$config"
    same "$(ids_of_chat)" "$named"
    verdict $? "a chat_template names an image_token: $form"
done

cp -r tests/families/bert_classifier "$scratch/bert"
sed '1s/{/{ "note": ["a\\u0000b", 1000000000000000019884624838656],/' tests/families/bert_classifier/config.json >"$scratch/bert/config.json"
same "$("$xformc" run tests/families/bert_classifier --ids '1 5 7')" "$("$xformc" run "$scratch/bert" --engine generic --ids '1 5 7')"
verdict $? 'a config.json with a large number and U+0000'
sed 's/"gelu"/"ge\\u0000lu"/' tests/families/bert_classifier/config.json >"$scratch/bert/config.json"
fails 'a value with U+0000' 65 'bert/config.json:11:3: error: "hidden_act" must be a string without U+0000, found "ge\u0000lu"' \
    "$xformc" run "$scratch/bert" --ids '1 5 7'

# ---- truncation and padding ----------------------------------------------------------------------

# cut_folder NAME TRUNCATION CONFIG: a classifier of texts of up to 32 ids, with these lines in
# tokenizer.json and tokenizer_config.json.
cut_folder() {
    cp -r tests/vectors/cross_bert "$scratch/$1"
    sed "s/\"truncation\": null/\"truncation\": $2/" tests/vectors/cross_bert/tokenizer.json >"$scratch/$1/tokenizer.json"
    sed "1s/{/{ $3/" tests/vectors/cross_bert/tokenizer_config.json >"$scratch/$1/tokenizer_config.json"
}
# read_by NAME TEXT: the ids that the model reads.
read_by() { "$xformc" run "$scratch/$1" --engine generic --json "$2" 2>"$scratch/err" | sed 's/.*"input_ids":.\([0-9,]*\)].*/\1/' | tr , ' '; }
truncation() { echo "{ \"direction\": \"$1\", \"max_length\": 9, \"strategy\": \"LongestFirst\", \"stride\": 0 }"; }

long='rain fell on the roof and one two three four five six seven rain fell on the roof and one two three four five six seven end'
ids=$("$xformc" tokenize tests/vectors/cross_bert "$long" | tr '\n' ' ')
n=$(echo "$ids" | wc -w)
right=$(echo "$ids" | cut -d ' ' -f "1-31,$n") left=$(echo "$ids" | cut -d ' ' -f "1,$((n - 30))-$n")
[ "$n" -gt 40 ] && [ "$right" != "$left" ]
verdict $? 'a text that is too long'
cut_folder file_right "$(truncation Right)" ''
cut_folder file_left "$(truncation Left)" ''
cut_folder config_left null '"truncation_side": "left",'
cut_folder config_right "$(truncation Left)" '"truncation_side": "right",'
for name in file_right config_right; do
    same "$right" "$(read_by $name "$long")"
    verdict $? "$name: its end is cut, to what the model reads"
done
for name in file_left config_left; do
    same "$left" "$(read_by $name "$long")"
    verdict $? "$name: its beginning is cut"
done
# In a pair the longer text is truncated first.
found=$(read_by config_left "$(printf 'one two three\t%s' "$long")")
first=$("$xformc" tokenize --no-special tests/vectors/cross_bert 'one two three' | tr '\n' ' ')
kept=$((32 - 3 - $(echo "$first" | wc -w)))
same "$(echo "$ids" | cut -d ' ' -f "1") $first$(echo "$ids" | cut -d ' ' -f "$n") $(echo "$ids" | cut -d ' ' -f "$((n - kept))-$n")" "$found"
verdict $? 'a pair loses the beginning of its longer text'
"$xformc" build "$scratch/file_left" -o "$scratch/program" --kernels unrolled -q --cc "$scratch/cc" >"$scratch/log" 2>&1
same "$left" "$("$scratch/program/file_left" --json "$long" | sed 's/.*"input_ids":.\([0-9,]*\)].*/\1/' | tr , ' ')"
verdict $? 'a program cuts the beginning'
cat "$scratch/log"
for name in file_right file_left; do
    same "$ids" "$("$xformc" tokenize "$scratch/$name" "$long" | tr '\n' ' ')"
    verdict $? "$name: tokenize cuts nothing"
done
cut_folder wrong "$(truncation Up)" ''
fails 'an unknown direction' 65 'wrong/tokenizer.json: error: the direction "Up" of truncation is not supported' "$xformc" tokenize "$scratch/wrong" x
cut_folder wrong null '"truncation_side": "up",'
fails 'an unknown side' 65 'wrong/tokenizer_config.json: error: "truncation_side" is "up", neither "left" nor "right"' "$xformc" tokenize "$scratch/wrong" x

# A decoder reads the whole text.
cp tests/chat/llama2/tokenizer_config.json "$config"
question='two words and then some more words of which the last ones matter'
text_ids() { "$xformc" run "$scratch/chat.lua" --engine generic --json "$@" "$question" 2>"$scratch/err" | sed 's/.*"input_ids":.\([0-9,]*\)].*/\1/'; cat "$scratch/err" >&2; }
usual=$(text_ids) usual_chat=$(text_ids --chat)
echo "$question" >"$scratch/question"
perplexity() { "$xformc" verify "$scratch/chat.lua" --engine generic --perplexity "$scratch/question" 2>&1; }
perplexity=$(perplexity)
padding='{ "strategy": { "Fixed": 40 }, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0, "pad_type_id": 0, "pad_token": "<unk>" }'
for direction in Right Left; do
    sed "s/\"truncation\":null/\"truncation\":$(truncation $direction)/; s/\"padding\":null/\"padding\":$padding/" tests/chat/llama2/tokenizer.json \
        >"$scratch/chat/tokenizer.json"
    cmp -s tests/chat/llama2/tokenizer.json "$scratch/chat/tokenizer.json"
    [ $? = 1 ] && same "$usual" "$(text_ids)" && same "$usual_chat" "$(text_ids --chat)" &&
        same "$perplexity" "$(perplexity)"
    verdict $? "a decoder reads all of a text, whatever truncation and padding tokenizer.json has: $direction"
done

# ---- classes -------------------------------------------------------------------------------------

# class_folder NAME CONFIG MODEL: a tokenizer.json of tests/tokenizer, with CONFIG as its
# tokenizer_config.json and, unless it is -, MODEL as its config.json.
class_folder() {
    rm -rf "$scratch/class" && mkdir "$scratch/class" && cp "tests/tokenizer/$1/tokenizer.json" "$scratch/class"
    echo "$2" >"$scratch/class/tokenizer_config.json"
    [ "$3" = - ] || echo "$3" >"$scratch/class/config.json"
}
tab=$(printf '\t')
while IFS=$tab read -r name said model text ids; do
    class_folder "$name" "$said" "$model"
    same "$ids" "$("$xformc" tokenize --no-special "$scratch/class" -- "$text" 2>"$scratch/err" | tr '\n' ' ' | sed 's/ $//')"
    verdict $? "$name with $said, $model"
    cat "$scratch/err"
done <tests/settings/classes.rows

# The special tokens around a text and around a pair.
while IFS=$tab read -r name said begun ids pair; do
    class_folder "$name" "$said" -
    if [ "$begun" = bare ]; then
        sed 's/"single":\[{"SpecialToken":{"id":"<s>","type_id":0}},/"single":[/' "tests/tokenizer/$name/tokenizer.json" \
            >"$scratch/class/tokenizer.json"
    fi
    same "$ids" "$("$xformc" tokenize "$scratch/class" the 2>"$scratch/err")" &&
        same "$pair" "$("$xformc" tokenize "$scratch/class" the --pair and 2>"$scratch/err")"
    verdict $? "$name, $begun, with $said: the marks around a text"
    cat "$scratch/err"
done <tests/settings/ends.rows

# Tokens that other files list too keep the flags that tokenizer.json gives them.
while IFS=$tab read -r name config added text ids decoded; do
    class_folder "$name" "$config" -
    echo "$added" >"$scratch/class/added_tokens.json"
    same "$ids" "$("$xformc" tokenize "$scratch/class" --no-special "$text" 2>"$scratch/err")" &&
        same "$decoded" "$("$xformc" tokenize "$scratch/class" --decode --no-special "$ids" 2>"$scratch/err")"
    verdict $? "$name with $config and the added_tokens.json $added"
    rm "$scratch/class/added_tokens.json"
done <tests/settings/beside.rows

# says NAME CONFIG MODEL NOTE: NOTE is the only note; '' means none.
says() {
    class_folder "$1" "$2" "$3"
    "$xformc" tokenize "$scratch/class" x 2>&1 >/dev/null | sed "s|$scratch/||g" >"$scratch/err"
    [ "$(cat "$scratch/err")" = "$4" ]
    verdict $? "$1 with $2: ${4:-nothing is noted}"
    cat "$scratch/err"
}
says bert_cased '{ "tokenizer_class": "BertTokenizer", "do_lower_case": true }' - \
    'class/tokenizer.json: note: "lowercase" is false; using do_lower_case = true from class/tokenizer_config.json, as in transformers 5'
says bert_cased '{}' '{ "model_type": "bert" }' \
    'class/tokenizer.json: note: "lowercase" is false; using do_lower_case = true, the default of the class of model_type bert, which class/tokenizer_config.json does not override, as in transformers 5'
says bert_cased '{ "tokenizer_class": "BertTokenizer", "do_lower_case": false }' - ''
says bert_uncased '{ "tokenizer_class": "BertTokenizer", "tokenize_chinese_chars": false }' - \
    'class/tokenizer.json: note: "handle_chinese_chars" is true; using tokenize_chinese_chars = false from class/tokenizer_config.json, as in transformers 5'
says xlmr '{ "tokenizer_class": "XLMRobertaTokenizer", "add_prefix_space": false }' - \
    'class/tokenizer.json: note: "prepend_scheme" is "always", not "never"; using add_prefix_space = false from class/tokenizer_config.json, as in transformers 5'
says gpt2 '{ "tokenizer_class": "BertTokenizer" }' - \
    'class/tokenizer.json: note: its model is not a WordPiece model, unlike that of BertTokenizer; do_lower_case and similar keys are ignored
class/tokenizer.json: note: BertTokenizer in transformers 5 has the model WordPiece (in the file: BPE), the pre_tokenizer BertPreTokenizer (in the file: ByteLevel), the decoder WordPiece (in the file: ByteLevel); using the file, as in transformers 4'
lower='{"type":"Sequence","normalizers":[{"type":"Sequence","normalizers":[{"type":"Lowercase"},{"type":"NFC"}]}]}'
class_folder smollm '{ "tokenizer_class": "XLNetTokenizer", "do_lower_case": false }' -
sed "s/\"normalizer\":null/\"normalizer\":$lower/" tests/tokenizer/smollm/tokenizer.json >"$scratch/class/tokenizer.json"
same "$("$xformc" tokenize tests/tokenizer/smollm 'The HOUSE')" "$("$xformc" tokenize "$scratch/class" 'The HOUSE' 2>"$scratch/err")" &&
    grep -q 'has a Lowercase; using do_lower_case = false' "$scratch/err"
verdict $? 'a Lowercase in a Sequence within a Sequence is removed'
says llama2 '{ "tokenizer_class": "PreTrainedTokenizerFast", "add_bos_token": false, "add_eos_token": false }' - \
    'class/tokenizer.json: note: using the post_processor, as transformers 5 does, and ignoring "add_bos_token": false in tokenizer_config.json'
says llama2 '{ "tokenizer_class": "PreTrainedTokenizerFast", "add_bos_token": true, "add_eos_token": true }' - \
    'class/tokenizer.json: note: using the post_processor, as transformers 5 does, and ignoring "add_eos_token": true in tokenizer_config.json'
says gpt2 '{ "tokenizer_class": "PreTrainedTokenizerFast", "add_prefix_space": true }' '{ "model_type": "gpt2" }' ''

# Tokens that other files name and tokenizer.json lacks are added, in the order of transformers 5.
pad='"pad_token": { "content": "<|pad|>", "rstrip": true, "normalized": false }'
named='"image_token": "<image>", "additional_special_tokens": ["<|im_start|>", "the"]'
class_folder gpt2 "{ \"tokenizer_class\": \"PreTrainedTokenizerFast\", $pad, $named }" -
echo '{ "sep_token": "<sep>" }' >"$scratch/class/special_tokens_map.json"
echo '{ "<plain>": 700 }' >"$scratch/class/added_tokens.json"
ids=$("$xformc" tokenize "$scratch/class" '<|pad|> a<|im_start|>a<image> <sep><plain>a the')
same '702 65 704 65 703 221 701 700 65 221 705' "$ids"
verdict $? 'tokens of special_tokens_map.json, added_tokens.json and tokenizer_config.json beside tokenizer.json'
same 'aa <plain>a ' "$("$xformc" tokenize "$scratch/class" --decode --no-special "$ids")"
verdict $? 'those that are named are special'
# Their ids follow those of tokenizer.json, in the order of their ids in the files.
class_folder gpt2 '{ "tokenizer_class": "PreTrainedTokenizerFast" }' -
echo '{ "<b>": 9000, "<a>": 8000 }' >"$scratch/class/added_tokens.json"
same '700 701' "$("$xformc" tokenize "$scratch/class" '<a><b>' 2>"$scratch/err")" &&
    grep -q 'added_tokens.json: note: the added token "<a>" has the id 8000 in the file; using 700' "$scratch/err"
verdict $? 'ids of added_tokens.json beside tokenizer.json'
rm "$scratch/class/added_tokens.json"
class_folder gpt2 '{ "split_special_tokens": true }' -
fails 'special tokens as text' 65 'class/tokenizer_config.json: error: "split_special_tokens" = true is not supported; remove it and use --plain-text to read special tokens as text' \
    "$xformc" tokenize "$scratch/class" x

# ends NAME EDIT CONFIG BEFORE BEHIND NOTE: the tokens around a text, with an edited tokenizer.json.
ends() {
    class_folder "$1" "$3" -
    sed "$2" "tests/tokenizer/$1/tokenizer.json" >"$scratch/class/tokenizer.json"
    text=$("$xformc" tokenize --no-special "$scratch/class" x 2>/dev/null)
    found=$("$xformc" tokenize "$scratch/class" x 2>"$scratch/err")
    notes=$(sed "s|$scratch/||g" "$scratch/err" | grep 'tokens around')
    [ -n "$text" ] && same "$4$text$5" "$found" && [ "$notes" = "${6:+class/tokenizer.json: note: $6}" ]
    verdict $? "$1 edited by ${2:-nothing}, with $3: ${6:-nothing is noted}"
    cat "$scratch/err"
}
none='s/"post_processor":.*"decoder":/"post_processor":null,"decoder":/'
class='the tokens around a text come from'
file='as in transformers 5, not from the post_processor'
ends roberta '' '{ "tokenizer_class": "GPTNeoXTokenizer" }' '' '' "$class GPTNeoXTokenizer, $file"
ends roberta "$none" '{ "tokenizer_class": "RobertaTokenizer" }' '0 ' ' 2' "$class RobertaTokenizer, $file"
ends roberta "$none" '{ "tokenizer_class": "RobertaTokenizer", "cls_token": "</s>" }' '2 ' ' 2' "$class RobertaTokenizer, $file"
ends roberta "$none" '{ "tokenizer_class": "PreTrainedTokenizerFast" }' '' '' ''
ends roberta '' '{ "tokenizer_class": "RobertaTokenizer" }' '0 ' ' 2' ''
ends bert_cased "$none" '{ "tokenizer_class": "BertTokenizer", "do_lower_case": false }' '2 ' ' 3' "$class BertTokenizer, $file"
ends mpnet '' '{ "tokenizer_class": "MPNetTokenizer" }' '0 ' ' 2' ''
ends llama2 "$none" '{ "tokenizer_class": "CodeLlamaTokenizer" }' '1 ' '' "$class CodeLlamaTokenizer, $file"

# ---- classifiers ---------------------------------------------------------------------------------

# without FILE KEYS: a JSON file without these keys. Each of its objects is on one line, or has
# lines of its own.
without() {
    awk -v keys=" $2 " '
        skip { if (/^  }/) skip = 0; next }
        { name = $0; sub(/^ *"/, "", name); sub(/".*/, "", name) }
        index(keys, " " name " ") { if (/{ *$/) skip = 1; next }
        { print }' "$1"
}
# scores NAME CONFIG: the answer of a copy of a classifier, with CONFIG first in its config.json and
# without id2label.
scores() {
    rm -rf "$scratch/labels" && cp -r "$1" "$scratch/labels"
    without "$1/config.json" 'id2label label2id problem_type' | sed "1s/{/{ $2/" >"$scratch/labels/config.json"
    "$xformc" run "$scratch/labels" --engine generic --ids '1 5 7' 2>&1
}
# The answer with LABEL_0 to LABEL_2 instead of the names of the three labels.
usual=$("$xformc" run tests/families/bert_classifier --engine generic --ids '1 5 7' | sed 's/^no /LABEL_0 /; s/^perhaps /LABEL_1 /; s/^yes /LABEL_2 /')
same "$usual" "$(scores tests/families/bert_classifier '"num_labels": 3,')" && case $usual in LABEL_[012]' 0.'*) true ;; *) false ;; esac
verdict $? 'num_labels without id2label: LABEL_n and its probability'
[ "$(scores tests/families/bert_classifier '"id2label": { "0": 7, "1": -1, "2": 0 },' | grep -c '^[07-]')" -ge 1 ]
verdict $? 'labels that are numbers'
same "$usual" "$(scores tests/families/bert_classifier '"_num_labels": 3, "id2label": null,')"
verdict $? '_num_labels, and an id2label of null'
scores tests/families/bert_classifier '' | grep -q 'tensor "classifier.weight" in .* has shape .3, 32., expected .2, 32.'
verdict $? 'two labels are the preset'
scores tests/families/bert_classifier '"num_labels": 0,' | grep -q 'config.json:1:3: error: "num_labels" must be from 1 to 65536'
verdict $? 'no label at all'
sed '1s/{/{ "num_labels": 2,/' tests/families/bert_classifier/config.json >"$scratch/labels/config.json"
fails 'num_labels beside another number of names' 65 'labels/config.json:1:3: error: "num_labels" is 2, but "id2label" has 3 labels' \
    "$xformc" run "$scratch/labels" --ids 5

# A cross-encoder's score uses a sigmoid, unless sentence-transformers' own file, the new key or the
# old one, in this order, says otherwise.
pair=$(printf 'rain\train fell on the roof')
sigmoid=torch.nn.modules.activation.Sigmoid identity=torch.nn.modules.linear.Identity
old() { printf '"sbert_ce_default_activation_function": "%s",' "$1"; }
new() { printf '"sentence_transformers": { "activation_fn": "%s" },' "$1"; }
# score FILE KEYS: the answer with KEYS in config.json, and FILE as the activation_fn of
# config_sentence_transformers.json; - for no such file.
score() {
    rm -rf "$scratch/score" && cp -r tests/vectors/cross_bert "$scratch/score"
    without tests/vectors/cross_bert/config.json 'id2label label2id sentence_transformers sbert_ce_default_activation_function' |
        sed "1s/{/{ \"num_labels\": 1, $2/" >"$scratch/score/config.json"
    [ "$1" = - ] || printf '{ "activation_fn": %s }' "$1" >"$scratch/score/config_sentence_transformers.json"
    "$xformc" run "$scratch/score" --engine generic "$pair" 2>&1
}
chance=$(score - '') number=$(score - "$(old $identity)")
echo "$chance, $number" | awk '{ exit !($1 == "LABEL_0" && $3 == "LABEL_0" && $2 - 1 / (1 + exp(-$4)) < 1e-4 && 1 / (1 + exp(-$4)) - $2 < 1e-4) }'
verdict $? "num_labels 1: $chance; as it is: $number"
same "$number" "$(score - '"problem_type": "regression",')"
verdict $? 'a regression is a number'
same "$number" "$(score - "$(new $identity) $(old $sigmoid)")" && same "$chance" "$(score - "$(new $sigmoid) $(old $identity)")"
verdict $? 'the new key overrides the old'
same "$number" "$(score "\"$identity\"" "$(new $sigmoid)")" && same "$chance" "$(score "\"$sigmoid\"" "$(new $identity) $(old $identity)")"
verdict $? 'config_sentence_transformers.json overrides both'
same "$number" "$(score null "$(new $identity)")"
verdict $? 'an activation_fn of null has no effect'
score '"torch.nn.Softsign"' '' | grep -q 'score/config_sentence_transformers.json:1:3: error: the score activation "torch.nn.Softsign" is not supported'
verdict $? 'another activation is refused'
sed "1s/{/{ $(old $sigmoid)/" tests/families/bert_classifier/config.json \
    >"$scratch/labels/config.json"
cp tests/families/bert_classifier/model.safetensors "$scratch/labels"
"$xformc" run "$scratch/labels" --ids 5 2>&1 >"$scratch/out" |
    grep -q "config.json:1:3: note: the score activation \"$sigmoid\" applies to a single label"
verdict $? 'of several labels it is not read, and a note says so'

# ---- blanks of decoded texts ---------------------------------------------------------------------

while IFS=$tab read -r name said ids text; do
    class_folder "$name" "$said" -
    same "$text" "$("$xformc" tokenize "$scratch/class" --decode "$ids" 2>"$scratch/err")"
    verdict $? "$name decodes with $said"
    cat "$scratch/err"
done <tests/settings/cleaning.rows

# Generated text, all at once or streamed.
cat >"$scratch/clean.lua" <<END
return xf.model { name = "tidy", kind = "decoder", layers = 1, heads = 2, d_model = 16, d_ff = 16, max_len = 200,
  weights = "random", tokenizer_file = "$scratch/class", generation = { max_new_tokens = 60, do_sample = true, temperature = 9 } }
END
class_folder xlmr '{ "tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": true }' -
ids=$("$xformc" run "$scratch/clean.lua" --engine generic --seed 5 --json 'the , a' | sed 's/.*"ids":.\([0-9,]*\)].*/\1/' | tr , ' ')
answer=$("$xformc" run "$scratch/clean.lua" --engine generic --seed 5 'the , a')
ids="$("$xformc" tokenize "$scratch/class" 'the , a') $ids"
case $answer in 'the, a'*) same "$("$xformc" tokenize "$scratch/class" --decode --no-special "$ids")" "$answer" ;; *) false ;; esac &&
    same "$answer" "$("$xformc" run "$scratch/clean.lua" --engine generic --seed 5 --stream 'the , a')"
verdict $? 'an answer has the same blanks'

# ---- sentence-transformers -----------------------------------------------------------------------

# sentence SETTINGS: a copy of a sentence model with these settings in
# config_sentence_transformers.json.
sentence() {
    rm -rf "$scratch/sentence" && cp -r tests/vectors/sentence_mean "$scratch/sentence"
    printf '[{ "path": "", "type": "sentence_transformers.models.Transformer" },
        { "path": "1_Pooling", "type": "sentence_transformers.models.Pooling" }]' >"$scratch/sentence/modules.json"
    echo "$1" >"$scratch/sentence/config_sentence_transformers.json"
}
similar() { "$xformc" run "$scratch/sentence" --engine generic similar 'rain fell' 'on the roof' 2>"$scratch/err"; }
sentence '{}'
"$xformc" run "$scratch/sentence" --engine generic 'rain fell' 'on the roof' >"$scratch/vectors" 2>"$scratch/err"
for name in cosine dot euclidean manhattan; do
    sentence "{ \"similarity_fn_name\": \"$name\" }"
    awk -v name=$name -v found="$(similar)" '
        NR == 1 { n = split($0, x) }
        NR == 2 { for (i = 1; i <= n; i++) { a += x[i] * x[i]; b += $i * $i; ab += x[i] * $i; d = x[i] - $i; s += d * d; m += d < 0 ? -d : d } }
        END {
            wanted = name == "dot" ? ab : name == "euclidean" ? -sqrt(s) : name == "manhattan" ? -m : ab / sqrt(a * b)
            print "expected", wanted, "found", found
            exit !(n && found != "" && found - wanted < 1e-5 && wanted - found < 1e-5)
        }' "$scratch/vectors"
    verdict $? "similarity_fn_name $name"
done
"$xformc" build "$scratch/sentence" -o "$scratch/similar" --kernels unrolled -q --cc "$scratch/cc" >"$scratch/log" 2>&1
echo "$(similar) $("$scratch/similar/sentence" similar 'rain fell' 'on the roof')" | awk '{ d = $1 - $2; exit !(NF == 2 && $1 < -1 && d * d < 1e-8) }' &&
    "$scratch/similar/sentence" --help | grep -q "similar TEXT TEXT' prints the negative Manhattan distance of the vectors of two texts"
verdict $? 'a program compares likewise'
cat "$scratch/log"
sentence '{ "similarity_fn_name": null }'
usual=$(similar)
sentence '{ "similarity_fn_name": "maxsim" }'
same "$usual" "$(similar)" && grep -q 'config_sentence_transformers.json:1:3: note: the similarity_fn_name "maxsim" is unknown, so texts are compared by cosine similarity' "$scratch/err"
verdict $? 'an unknown similarity is the cosine, with a note'
# The Transformer module of a cross-encoder is checked like that of an embedding model.
cp -r tests/vectors/cross_bert "$scratch/crossed"
echo '[{ "path": "", "type": "sentence_transformers.base.modules.transformer.Transformer" }]' >"$scratch/crossed/modules.json"
# crossed KEYS: the model's output with these keys in sentence_bert_config.json.
crossed() {
    echo "{ \"modality_config\": { \"text\": { \"method\": \"forward\", \"method_output_name\": \"logits\" } }, $1 }" \
        >"$scratch/crossed/sentence_bert_config.json"
    "$xformc" run "$scratch/crossed" --engine generic 'a text' 2>&1 | head -n 1 | sed 's/.*json:1:[0-9]*: //'
}
same "$("$xformc" run tests/vectors/cross_bert --engine generic 'a text' 2>&1)" \
    "$(crossed '"transformer_task": "sequence-classification", "module_output_name": "scores"')"
verdict $? 'the settings of a cross-encoder that sentence-transformers 6 writes'
same 'error: "processing_kwargs" with "text" is not supported' "$(crossed '"processing_kwargs": { "text": { "max_length": 7 } }')" &&
    same 'error: "tokenizer_args" with "model_max_length" is not supported' "$(crossed '"tokenizer_args": { "model_max_length": 7 }')" &&
    same 'error: "transformer_task" = "feature-extraction" is not supported, only "sequence-classification"' \
        "$(crossed '"transformer_task": "feature-extraction"')"
verdict $? 'other arguments and tasks of a cross-encoder are refused'

# Some models' positions skip <pad>: a text that contains it is rejected. BERT's positions count it.
refusal='is the padding id, 1, which this model cannot read'
"$xformc" build tests/vectors/cross_roberta -o "$scratch/padded" --kernels unrolled -q --cc "$scratch/cc" >"$scratch/log" 2>&1
for answer in "$xformc run tests/vectors/cross_roberta" "$scratch/padded/cross_roberta" "$xformc run tests/families/m2m_100 --ids" \
    "$xformc run tests/families/m2m_100 --engine generic --ids"; do
    case $answer in *--ids) text='5 1 9' ;; *) text='the <pad> house' ;; esac
    $answer "$text" >"$scratch/out" 2>"$scratch/err"
    [ $? = 65 ] && grep -q "$refusal\$" "$scratch/err" && ! grep '[^ ]' "$scratch/out"
    verdict $? "padding within a text: $(echo "$answer" | sed 's|.*/||')"
    cat "$scratch/err"
done
printf 'm = xf.compile("tests/vectors/cross_roberta")\nm("the <pad> house")\nm:run{ 5, 1, 9 }\n' |
    "$xformc" repl >"$scratch/out" 2>"$scratch/err"
[ "$(grep -c "$refusal" "$scratch/err")" = 2 ]
verdict $? 'padding within a text at the prompt'
"$xformc" run tests/vectors/cross_bert --engine generic 'the [PAD] house' >"$scratch/out" 2>"$scratch/err"
verdict $? 'padding within a text of BERT'

# Masked language models whose files name no mask token.
for model in mask_roberta mask_bert; do
    rm -rf "$scratch/masked" && cp -r tests/vectors/$model "$scratch/masked" && echo '{ "model_max_length": 512 }' >"$scratch/masked/tokenizer_config.json"
    text=$(head -n 1 tests/vectors/$model.texts)
    same "$("$xformc" run tests/vectors/$model --engine generic "$text" 2>"$scratch/err")" \
        "$("$xformc" run "$scratch/masked" --engine generic "$text" 2>"$scratch/err")"
    verdict $? "$model without a mask_token"
    cat "$scratch/err"
done

sentence '{ "truncate_dim": 4 }'
similar >"$scratch/out" || grep -q 'config_sentence_transformers.json:1:3: error: truncating vectors to "truncate_dim" = 4 is not supported' "$scratch/err"
verdict $? 'truncate_dim is refused'

# The settings file of the Transformer has seven possible names. The first whose object is not empty
# is used.
read_ids() { "$xformc" run "$scratch/sentence" --engine generic --json "$long" 2>"$scratch/err" | sed 's/.*"input_ids":.\([0-9,]*\)].*/\1/' | tr , '\n' | wc -l; }
more=9
for name in xlnet xlm-roberta albert camembert distilbert roberta bert; do
    sentence '{}'
    rm "$scratch/sentence/sentence_bert_config.json"
    [ $more = 9 ] || cp "$scratch"/sentence_*_config.json "$scratch/sentence"
    echo "{ \"max_seq_length\": $more }" >"$scratch/sentence_${name}_config.json"
    cp "$scratch/sentence_${name}_config.json" "$scratch/sentence"
    same $more "$(read_ids)"
    verdict $? "sentence_${name}_config.json overrides those after it"
    more=$((more + 1))
done
echo '{}' >"$scratch/sentence/sentence_bert_config.json"
same $((more - 2)) "$(read_ids)"
verdict $? 'an empty one is passed over'
echo '{ "max_seq_length": ' >"$scratch/sentence/sentence_roberta_config.json"
read_ids >"$scratch/out"
grep -q 'sentence_roberta_config.json:2: error: not JSON' "$scratch/err"
verdict $? 'one that is not JSON is an error'
rm "$scratch/sentence"/sentence_*_config.json
echo '{ "do_lower_case": true }' >"$scratch/sentence/sentence_xlnet_config.json"
cp tests/tokenizer/bert_cased/tokenizer.json "$scratch/sentence" && rm "$scratch/sentence/tokenizer_config.json" "$scratch/sentence/config.json"
same "$("$xformc" tokenize tests/tokenizer/bert_cased 'the house')" "$("$xformc" tokenize "$scratch/sentence" 'THE House')"
verdict $? 'do_lower_case of any of them'
