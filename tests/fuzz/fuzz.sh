#!/bin/sh
# Run every fuzz target, or those given, for a while. Prints a line for each; exits with 1 if one
# found something.
# usage: fuzz.sh BUILD [TARGET]...     environment: FUZZ_SECONDS (of each, 20)
# Seeds are files of this tree, collected anew each time. Inputs that the fuzzer adds stay in
# BUILD/corpus/, findings in BUILD/found/.
build=$1
shift
seconds=${FUZZ_SECONDS:-20}
targets=$*
[ -n "$targets" ] || targets=$(for f in tests/fuzz/fuzz_*.c; do basename "$f" .c | sed 's/^fuzz_//'; done)
mkdir -p "$build/found"

# seeds TARGET: the paths of its seeds. The largest files add nothing to smaller ones.
seeds() {
    case $1 in
    spec) find specs tests -name '*.lua' -type f ;;
    safetensors) find tests specs -name '*.safetensors' -size -24k ;;
    weights) ls tests/goldens/gated*.safetensors tests/front/data/*.safetensors ;;
    tokenizer) ls tests/tokenizer/gpt2/*.json tests/tokenizer/llama2/*.json tests/tokenizer/bert_uncased/*.json tests/tokenizer/mistral/*.json \
        tests/tokenizer/spm_spaces/*.model tests/tokenizer/files/*/* tests/gguf/files/vocabularies/*.gguf tests/classes/*.model ;;
    vocabulary) ls specs/dates/*vocabulary.txt tests/front/data/*.txt ;;
    config) ls tests/families/*/config.json ;;
    checkpoint) ls tests/families/*.bin tests/families/*_bin/pytorch_model.bin tests/families/*/*.index.json ;;
    gguf) ls tests/gguf/files/*.gguf ;;
    tokens) find "$build/tokens" -type f ;;
    pickle) find "$build/pickles" -type f ;;
    program) find "$build/lines" -type f ;;
    chat) ls tests/chat/learned/*.jinja ;;
    esac
}

# Words that a spec may contain.
spec_words() {
    "$build/xformc" fields | sed -n 's/^\([a-z_0-9]*\) .*/"\1 = "/p'
    "$build/xformc" fields | grep -oE '"[a-z0-9/-]+"' | sed 's/"\(.*\)"/"\\"\1\\""/'
    "$build/xformc" ops | grep -oE 'g\.[a-z_]+\(' | sed 's/.*/"&"/'
    printf '"%s"\n' 'return xf.model {' 'return xf.graph(' 'function(g)' ' end' 'encoder = {' 'decoder = {' \
        'math.huge' '1048576' '-1' '0' 'pcall(' 'for i = 1, 1e9 do'
}

tensor_words() {
    printf '"%s"\n' '\"dtype\":\"F32\"' '\"F64\"' '\"BF16\"' '\"F16\"' '\"I64\"' '\"I32\"' '\"F4\"' \
        '\"shape\":[' '\"data_offsets\":[' '\"__metadata__\":{' \
        '\"source\"' '\"target\"' '\"greedy\"' '\"logits\"' '18446744073709551615' '9223372036854775807' '4294967296' 'null' '[[[[' '\\\\u0000'
}

# Lines of the held-out texts, ids, and malformed text, after a byte that selects the options.
lines() {
    mkdir -p "$build/lines"
    for choice in 0 1 2 3 4 6 9 11 13; do
        byte=$(printf '\\%03o' $choice)
        { printf "$byte"; head -n 3 specs/dates/heldout.tsv; } >"$build/lines/held-out.$choice"
        { printf "$byte"; printf 'ab\303\251 \360\237\230\200\r\n\n3 4,\t2\n1\n99999999999\n-1\n'; } >"$build/lines/known.$choice"
        { printf "$byte"; printf '%040d\n' 0 | sed 's/0/3 /g'; } >"$build/lines/long.$choice"
        { printf "$byte"; printf '\377a\n\300\200\n\355\240\200\na\000b\nababababababab\n\033[2J\n\342\200\256'; } >"$build/lines/damaged.$choice"
    done
}

# Texts for each tokenizer of fuzz_tokens.c: many languages, words with special tokens, invalid
# UTF-8. In inputs with changes, the first bytes of the text say how to damage the tokenizer.
tokens() {
    mkdir -p "$build/tokens"
    for tokenizer in 0 1 2 3 4 5 6 7; do
        for changes in 0 1 3; do
            head="\\00$tokenizer\\00$changes" into=$build/tokens/$tokenizer.$changes
            { printf "$head"; head -c 900 tests/tokenizer/languages.txt; } >"$into.languages"
            { printf "$head"; printf "  Hello,\r\n\t e\314\201lan 1234567 don't <s></s> \352\260\201\360\237\230\200\342\200\215"; } >"$into.marks"
            { printf "$head"; printf 'a\377\300\200\355\240\200\000b\360\237\342\226\201'; } >"$into.damaged"
        done
    done
}

# The pickles of the small models, cut from the beginning of their zip files.
pickles() {
    mkdir -p "$build/pickles"
    for file in tests/families/*_bin/pytorch_model.bin; do
        head -c 4000 "$file" | tail -c +65 >"$build/pickles/$(basename "$(dirname "$file")")"
    done
}

# Keys and values of the configs.
config_words() {
    cat tests/families/*/config.json | grep -oE '"[A-Za-z0-9_]+"' | sort -u | sed 's/"\(.*\)"/"\\"\1\\""/'
}

# Names of components in the tests' tokenizer.json files, keys of GGUF files, and other words of
# tokenizers.
tokenizer_words() {
    cat tests/tokenizer/*/tokenizer.json tests/vectors/*/tokenizer.json |
        grep -oE '"(type|behavior|direction|strategy|prepend_scheme)": ?"[A-Za-z]+"' |
        grep -oE '"[A-Za-z]+"$' | sort -u | sed 's/"\(.*\)"/"\\"\1\\""/'
    sed -n 's/^GGUF_KEY([A-Z_0-9]*, "\([^"]*\)".*/"\1"/p' compiler/weights/gguf_keys.def
    printf '"%s"\n' '\"vocab\":' '\"merges\":' '\"added_tokens\":' '\"Regex\":' '\"String\":' '\"content\":' '\"id\":4294967297' \
        '<0x00>' '<0xFF>' '##' '[UNK]' '<s>' '</s>'
}

# Words of chat templates.
chat_words() {
    cat tests/chat/learned/*.jinja | grep -oE '[a-z_]+|[{%}-]{2,3}' | sort -u | sed 's/.*/"&"/'
    sed -n "s/^    \"\(.*\)\",$/\1/p" tests/chat/make_learned.py | grep -oE '\| ?[a-z]+|\.[a-z]+\(|is [a-z]+' | sort -u | sed 's/.*/"&"/'
}

lines
tokens
pickles
chat_words >"$build/chat.words"
tokenizer_words >"$build/tokenizer.words"
config_words >"$build/config.words"
spec_words >"$build/spec.words"
tensor_words >"$build/tensor.words"
failed=0
for target in $targets; do
    corpus=$build/corpus/$target
    rm -rf "$build/seeds/$target"
    mkdir -p "$corpus" "$build/seeds/$target"
    seeds "$target" | while read -r file; do cp "$file" "$build/seeds/$target/$(echo "$file" | tr / _)"; done
    case $target in spec) words=-dict=$build/spec.words ;; safetensors|weights) words=-dict=$build/tensor.words ;;
        chat) words=-dict=$build/chat.words ;;
        config) words=-dict=$build/config.words ;; tokenizer|gguf) words=-dict=$build/tokenizer.words ;; *) words= ;; esac
    case $target in program) closed=2 ;; *) closed=0 ;; esac
    # A zip is read from its end, so it needs more room. The mutator of tokenizers makes a large
    # input now and then.
    room=24576 length=20
    case $target in checkpoint|gguf) room=65536 ;; tokenizer) room=1048576 length=0 ;; esac
    if "$build/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=4096 \
        -max_len=$room -len_control=$length \
        -close_fd_mask=$closed -print_final_stats=1 -artifact_prefix="$build/found/$target-" $words \
        "$corpus" "$build/seeds/$target" >"$build/$target.log" 2>&1; then
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$target.log")
        echo "ok $target: $runs inputs in $seconds s, $(ls "$build/seeds/$target" | wc -l) seeds"
    else
        failed=1
        echo "not ok $target: see $build/$target.log"
        grep -aE '^(SUMMARY|==[0-9]+== *ERROR|.*(does not hold|runtime error|internal error)|Test unit written)' "$build/$target.log" | head -n 8
    fi
done
exit $failed
