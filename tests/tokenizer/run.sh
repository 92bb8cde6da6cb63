#!/bin/sh
# tags: slow noasan golden
# `xformc tokenize`, older folders, unsupported and damaged tokenizers, empty texts, patterns with
# exponential backtracking; models with a tokenizer in every engine, where binding the weights
# checks the tokenizer's tables. With XFORMC_TEST_DATA, also the ids of llama.cpp for three
# vocabularies, and checksums of the ids of three corpora for six vocabularies (others.sums).
# usage: run.sh [--write] XFORMC
#
# --write rewrites others.sums, if XFORMC_TEST_DATA is set.
. tests/lib.sh
here=tests/tokenizer
same() { if [ "$2" = "$3" ]; then echo "ok $1"; else not_ok "$1"; printf 'expected: %s\nfound:    %s\n' "$2" "$3"; fi; }
quick_cc "$scratch/cc"

# ---- checksums of ids
# The naughty strings, languages.txt, and a copy of it with invalid UTF-8, with third-party
# vocabularies: the number of ids and the checksum of all of them, one line each as in others.sums.
sums() {
    LC_ALL=C tr '\200-\217' '\300-\317' <$here/languages.txt >"$scratch/broken"
    for file in t5-small/tokenizer.json roberta-base/tokenizer.json llama2/tokenizer.json ggml-vocab-gpt-2.gguf ggml-vocab-llama-spm.gguf ggml-vocab-bert-bge.gguf; do
        for corpus in "$XFORMC_TEST_DATA/text/blns.txt" $here/languages.txt "$scratch/broken"; do
            "$xformc" tokenize "$XFORMC_TEST_DATA/tokenizers/$file" <"$corpus" >"$scratch/ids" 2>"$scratch/err"
            code=$?
            echo "$file $(basename "$corpus" .txt) $(tr ' ' '\n' <"$scratch/ids" | grep -c .) $(cksum <"$scratch/ids" | cut -d ' ' -f 1) $code$(head -c 200 "$scratch/err")"
        done
    done
}
if [ -n "$write" ]; then
    if [ -n "$XFORMC_TEST_DATA" ]; then sums >"$scratch/sums" && cp "$scratch/sums" $here/others.sums; fi
    exit
fi

# ---- the command
text="The house by the river isn't größer"
ids=$("$xformc" tokenize $here/gpt2/tokenizer.json "$text")
same 'ids and back' "$text" "$("$xformc" tokenize $here/gpt2/tokenizer.json --decode "$ids")"
same 'a folder is its tokenizer.json' "$ids" "$("$xformc" tokenize $here/gpt2 "$text")"
same 'lines of standard input' "$ids" "$(printf '%s\n' "$text" | "$xformc" tokenize $here/gpt2 -)"
same '--no-special leaves <s> and </s> out' "$("$xformc" tokenize $here/roberta "$text" | sed 's/^0 //; s/ 2$//')" \
    "$("$xformc" tokenize $here/roberta --no-special "$text")"
same '--decode --no-special leaves them out' 'a b' "$("$xformc" tokenize $here/roberta --decode --no-special "$("$xformc" tokenize $here/roberta 'a b')")"
"$xformc" tokenize $here/bert_uncased --json --pair 'the river' 'The é' >"$scratch/json"
cat >"$scratch/wanted" <<'END'
{"texts":[
 {"text":"The é","ids":[2,512,40,3,512,561,3],"pieces":["[CLS]","the","e","[SEP]","the","river","[SEP]"],"types":[0,0,0,0,1,1,1],"offsets":[[0,0],[0,3],[4,6],[0,0],[0,3],[4,9],[0,0]],"character_offsets":[[0,0],[0,3],[4,5],[0,0],[0,3],[4,9],[0,0]]}
]}
END
diff "$scratch/wanted" "$scratch/json"
verdict $? '--json: pieces, types, bytes and characters of the text'
printf '65\t0-1\t"a"\n303\t1-5\t"Ġthe"\n\n' >"$scratch/wanted" && "$xformc" tokenize $here/gpt2 --pieces 'a the' | diff "$scratch/wanted" -
verdict $? '--pieces: id, bytes, piece'
same 'vocab.txt' "$("$xformc" tokenize $here/bert_uncased "$text")" "$("$xformc" tokenize $here/files/bert "$text")"
same 'vocab.json and merges.txt' "$("$xformc" tokenize $here/roberta "a <mask> $text")" "$("$xformc" tokenize $here/files/gpt2 "a <mask> $text")"

# ---- unsupported or damaged: rejected by name, before any work
refused() {     # NAME CODE MESSAGE FILE
    message=$("$xformc" tokenize "$4" x 2>&1 >"$scratch/out") ; code=$?
    case $message in *"$3"*) [ "$code" = "$2" ] && [ ! -s "$scratch/out" ] ;; *) false ;; esac
    verdict $? "$1"
    [ "$code" = "$2" ] || echo "exit $code: $message"
}
edit() { sed "$2" $here/gpt2/tokenizer.json >"$scratch/$1.json"; cmp -s $here/gpt2/tokenizer.json "$scratch/$1.json" && not_ok "$1: the edit changes nothing"; }
cp -r $here/files/marian "$scratch/marian" && chmod -R u+w "$scratch/marian" && echo '{ "a": 0,' >"$scratch/marian/vocab.json"
refused 'the vocab.json of a Marian model is cut off' 65 'marian/vocab.json:2:' "$scratch/marian"
edit normalizer 's/"normalizer":null/"normalizer":{"type":"Magic"}/'
refused 'an unknown normalizer' 65 "error: the normalizer 'Magic' is not supported" "$scratch/normalizer.json"
edit pattern 's/"pre_tokenizer":{[^}]*}/"pre_tokenizer":{"type":"Split","pattern":{"Regex":"(?<=a)b"},"behavior":"Isolated","invert":false}/'
refused 'an unknown construct in a pattern' 65 "pattern.json: error: pre_tokenizer: pattern '(?<=a)b': (?<= is not supported" "$scratch/pattern.json"
edit long 's/"pre_tokenizer":{[^}]*}/"pre_tokenizer":{"type":"Split","pattern":{"Regex":"'"$(printf 'ab%.0sé|' $(seq 200))"'(?<=a)b"},"behavior":"Isolated","invert":false}/'
refused 'a long pattern is shown by its beginning' 65 "long.json: error: pre_tokenizer: pattern 'abé|abé|abé|abé|abé|abé|abé|abé|abé|abé|abé|abé|…': (?<= is not supported" "$scratch/long.json"
edit script 's/"pre_tokenizer":{[^}]*}/"pre_tokenizer":{"type":"Split","pattern":{"Regex":"\\\\p{Han}"},"behavior":"Isolated","invert":false}/'
refused 'an unknown property' 65 '\p{Han} is not supported' "$scratch/script.json"
edit empty 's/"pre_tokenizer":{[^}]*}/"pre_tokenizer":{"type":"Split","pattern":{"String":""},"behavior":"Isolated","invert":false}/'
refused 'an empty pattern' 65 "empty.json: error: an empty pattern is not supported" "$scratch/empty.json"
edit nothing 's/"normalizer":null/"normalizer":{"type":"Replace","pattern":{"Regex":""},"content":"x"}/'
refused 'an empty pattern of a normalizer' 65 "nothing.json: error: an empty pattern is not supported" "$scratch/nothing.json"
sed 's/"end_of_word_suffix":null/"end_of_word_suffix":"<w>"/' $here/llama2/tokenizer.json >"$scratch/suffix.json"
refused 'bytes of pieces with a suffix' 65 'byte_fallback with a continuing_subword_prefix or an end_of_word_suffix is not supported' "$scratch/suffix.json"
edit decoder 's/"decoder":{[^}]*}/"decoder":{"type":"CTC"}/'
refused 'an unknown decoder' 65 "the decoder 'CTC' is not supported" "$scratch/decoder.json"
edit words 's/"decoder":{[^}]*}/"decoder":{"type":"Sequence","decoders":[{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true},{"type":"WordPiece","prefix":"##","cleanup":true}]}/'
refused 'a decoder of tokens behind ByteLevel' 65 "a 'WordPiece' decoder after Fuse or ByteLevel is not supported" "$scratch/words.json"
edit dropout 's/"dropout":null/"dropout":0.5/'
refused 'dropout' 65 'a dropout other than 0 is not supported' "$scratch/dropout.json"
edit model 's/"model":{"type":"BPE"/"model":{"type":"Markov"/'
refused 'an unknown model' 65 "the model 'Markov' is not supported" "$scratch/model.json"
head -c 900 $here/gpt2/tokenizer.json >"$scratch/cut.json"
refused 'a file cut off' 65 'not JSON' "$scratch/cut.json"
head -c 1997 $here/spm_spaces/tokenizer.model >"$scratch/cut.model"
refused 'a SentencePiece model cut off' 65 'not a SentencePiece model: truncated' "$scratch/cut.model"
printf 'GGUF\003\000\000\000\000\000\000\000\000\000\000\000\377\377\377\377\000\000\000\000' >"$scratch/a.gguf"
refused 'a GGUF file cut off' 65 'the file has a header that is damaged' "$scratch/a.gguf"
printf 'a\nb\n' >"$scratch/vocab.txt"
refused 'a vocabulary without [UNK]' 65 'must have [UNK], [CLS] and [SEP]' "$scratch/vocab.txt"
refused 'no file' 66 'No such file' "$scratch/none"
mkdir "$scratch/empty"
refused 'a folder without a tokenizer' 66 'has no tokenizer; it needs one of tokenizer.json' "$scratch/empty"
for id in 999999 4000000000; do
    "$xformc" tokenize $here/gpt2 --decode $id 2>&1 | grep -q "id $id is not in the vocabulary (0 to"
    verdict $? "not an id: $id"
done

# ---- white space taken by an added token
# As with Hugging Face: a token is found even in white space that the previous one takes. One with
# lstrip gets only what is left: nothing.
cat >"$scratch/takes.json" <<'END'
{"added_tokens":[
{"id":3,"content":"<a>","single_word":false,"lstrip":false,"rstrip":true,"normalized":false,"special":true},
{"id":4,"content":"\n\n","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":false},
{"id":5,"content":"  ","single_word":false,"lstrip":true,"rstrip":false,"normalized":false,"special":false}],
"normalizer":null,"pre_tokenizer":null,"post_processor":null,"decoder":null,
"model":{"type":"BPE","unk_token":"<unk>","vocab":{"<unk>":0," ":1,"x":2},"merges":[]}}
END
same 'a token in white space that the one before takes' '3 4 2' "$("$xformc" tokenize "$scratch/takes.json" "$(printf '<a>\n\nx')")"
same 'the white space behind such a token is text' '3 4 1 2' "$("$xformc" tokenize "$scratch/takes.json" "$(printf '<a>\n\n x')")"
same 'nothing is left for a token with lstrip' '3 2' "$("$xformc" tokenize "$scratch/takes.json" '<a>  x')"

# ---- byte-level pieces in models other than BPE
# Hugging Face's ids for a character of several bytes, some of which the vocabulary lacks.
bytes() {           # NAME MODEL IDS
    printf '{"added_tokens":[],"normalizer":null,"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true},' >"$scratch/bytes.json"
    printf '"post_processor":null,"decoder":{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true},"model":%s}' "$2" >>"$scratch/bytes.json"
    same "byte-level pieces: $1" "$3" "$("$xformc" tokenize "$scratch/bytes.json" 'aéa')"
}
bytes Unigram '{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["a",-1],["Ã",-1],["©",-1],["©a",-1]]}' '1 2 4'
bytes WordPiece '{"type":"WordPiece","unk_token":"<unk>","continuing_subword_prefix":"##","max_input_chars_per_word":4,
"vocab":{"<unk>":0,"a":1,"##Ã":2,"##©":3,"##©a":4}}' '1 2 4'
bytes 'WordPiece, of more bytes than it takes' '{"type":"WordPiece","unk_token":"<unk>","continuing_subword_prefix":"##",
"max_input_chars_per_word":3,"vocab":{"<unk>":0,"a":1,"##Ã":2,"##©":3,"##©a":4}}' 0

# ---- models
for kind in decoder encoder-decoder; do
    cat >"$scratch/$kind.lua" <<END
return xf.model {
  name = "talk", kind = "$kind", layers = 2, heads = 2, d_model = 16, d_ff = 32, max_len = 48, weights = "random", seed = 3,
  norm = "layer", log_softmax = false, tokenizer_file = "$PWD/$here/llama2/tokenizer.json", start_id = 1, end_id = 2,
}
END
    answer=$("$xformc" run "$scratch/$kind.lua" --engine generic 'The river' 'größe')
    [ "$(printf '%s\n' "$answer" | wc -l)" -ge 2 ] && [ -n "$answer" ]
    verdict $? "$kind: generic answers"
    same "$kind: jit" "$answer" "$("$xformc" run "$scratch/$kind.lua" --engine jit 'The river' 'größe')"
    "$xformc" build "$scratch/$kind.lua" -q --isa portable --kernels unrolled --cc "$scratch/cc" -o "$scratch/$kind" >"$scratch/log" 2>&1
    verdict $? "$kind: a program is built"
    cat "$scratch/log"
    same "$kind: the program" "$answer" "$("$scratch/$kind/talk" 'The river' 'größe')"
    "$scratch/cc" -std=c11 -Wall -Wextra -Werror -I"$scratch/$kind" -I"$scratch/$kind/runtime" -o "$scratch/library" $here/programs/library_text.c \
        "$scratch/$kind/libtalk.a" "$scratch/$kind/talk_weights.o" -lm -pthread
    found=$("$scratch/library" 'The river' 'größe')
    verdict $? "$kind: the tokenizer is checked when weights are bound, and by no call"
    said=$(for text in 'The river' 'größe'; do
        whole=$("$scratch/$kind/talk" "$text" && echo .)
        if [ $kind = decoder ]; then whole=${whole#"$text"}; fi
        printf %s "${whole%.}"
    done)
    same "$kind: the library's talk_generate says what follows" "$said" "$found"
done
sed 's/"decoder"/"encoder"/; s/, log_softmax = false//; s/, start_id = 1, end_id = 2//' "$scratch/decoder.lua" >"$scratch/encoder.lua"
"$xformc" build "$scratch/encoder.lua" -q --isa portable --kernels unrolled --cc "$scratch/cc" -o "$scratch/encoder" >"$scratch/log" 2>&1 &&
    "$scratch/cc" -std=c11 -Wall -Wextra -Werror -I"$scratch/encoder" -I"$scratch/encoder/runtime" -o "$scratch/library" \
        $here/programs/library_ids.c "$scratch/encoder/libtalk.a" "$scratch/encoder/talk_weights.o" -lm -pthread 2>>"$scratch/log"
verdict $? 'a library of an encoder is built'
cat "$scratch/log"
for text in 'The river' 'größe'; do
    ids=$("$xformc" tokenize "$here/llama2/tokenizer.json" "$text")
    same "an encoder's talk_tokenize and talk_detokenize: $text" "$ids $text" "$("$scratch/library" "$text")"
done
same 'a decoder answers with its prompt' 'The river' "$("$xformc" run "$scratch/decoder.lua" 'The river' | head -c 9)"
"$xformc" run "$scratch/decoder.lua" "$(printf 'x%.0s' $(seq 200))" 2>&1 >/dev/null | grep -q 'tokens, but at most 48 fit'
verdict $? 'a text of too many tokens is reported'
sed 's/max_len = 48,/max_len = 48, vocab = 20,/' "$scratch/decoder.lua" >"$scratch/small.lua"
"$xformc" run "$scratch/small.lua" x 2>&1 | grep -q 'vocab (20), is less than the number of ids in'
verdict $? 'a vocabulary smaller than the tokenizer is refused'

# ---- patterns with exponential backtracking
# 20,000 letters. A backtracking matcher would try every way to split them, more than 10^30.
# repeating NAME PATTERN: a tokenizer.json of three letters
repeating() {
    mkdir -p "$scratch/$1"
    printf '{"added_tokens":[],"normalizer":null,"post_processor":null,"decoder":null,"pre_tokenizer":{"type":"Split","pattern":{"Regex":"%s"},%s' \
        "$2" '"behavior":"Isolated","invert":false},"model":{"type":"BPE","vocab":{"a":0,"b":1,"c":2},"merges":[]}}' >"$scratch/$1/tokenizer.json"
}
head -c 20000 /dev/zero | tr '\0' a >"$scratch/letters"
wanted=$(sed 's/a/0 /g; s/ $//' "$scratch/letters" | cksum)
for pattern in 'a*a*a*a*a*a*a*a*a*a*b' 'a+a+a+a+b' '[ab]*[ab]*[ab]*[ab]*[ab]*[ab]*c' 'a*?a*?a*?a*?b' 'a{2,}a{2,}?a*b|a+c' \
    '(?:a|a)(?:a|a)(?:a|a)(?:a|a)(?:a|a)a*a*(?:a?|b)a+c' 'a*a*(?=a*b)a*b' 'a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?b'; do
    repeating again "$pattern"
    same "no pattern takes longer than its text is long: $pattern" "$wanted" "$(timeout "$patience" "$xformc" tokenize "$scratch/again" - <"$scratch/letters" | tr -d '\n' | cksum)"
done
repeating again 'a*a*a*a*a*a*a*a*a*a*b'
echo 'return xf.model { name = "again", kind = "encoder", layers = 1, heads = 1, d_model = 8, d_ff = 8, max_len = 8000, tokenizer_file = "again", weights = "random" }' \
    >"$scratch/again.lua"
head -c 6000 "$scratch/letters" >"$scratch/fewer"
"$xformc" build "$scratch/again.lua" -q --kernels unrolled --cc "$scratch/cc" -o "$scratch/again_program" >"$scratch/log" 2>&1 &&
    [ "$(timeout "$patience" "$scratch/again_program/again" --json <"$scratch/fewer" 2>>"$scratch/log" | head -c 20)" = '{"input":"aaaaaaaaaa' ]
verdict $? 'no pattern takes longer than its text is long: in a program'
head -c 1000 "$scratch/log"

# ---- special tokens as text

# The ids of Hugging Face's tokenizers with encode_special_tokens. Only its Unigram still finds </s>
# among its pieces.
plain() { same "--plain-text: $1" "$3" "$("$xformc" tokenize $here/$1 --plain-text "$2" 2>&1)"; }
plain gpt2 'a<|endoftext|>b' '65 28 92 69 308 79 70 84 69 88 84 92 30 66'
plain bert_uncased 'a [MASK] b' '2 36 34 792 35 37 3'
plain llama2 'a</s>b <s>' '1 636 285 272 320 287 304 554 285 320 287'
plain roberta 'a <mask> </s>b' '0 68 685 512 78 33 685 18 86 33 69 2'
plain t5 'a</s> b' '21 214 91 8 94 162 1'
same '--plain-text of a pair' '2 36 3 34 792 35 3' "$("$xformc" tokenize $here/bert_uncased --plain-text --pair '[MASK]' a 2>&1)"
same 'special tokens in a text are tokens' '65 0 66' "$("$xformc" tokenize $here/gpt2 'a<|endoftext|>b' 2>&1)"

# ---- texts that grow

# U+FDFA becomes eighteen characters. The ids match SentencePiece's library and Hugging Face's
# tokenizers.
grows() {       # TOKENIZER TIMES FIRST IDS
    many=$(printf 'ﷺ%.0s' $(seq "$2"))
    same "U+FDFA $2 times, $(basename "$1")" "$(echo $3 $(printf " $4%.0s" $(seq "$2")))" "$("$xformc" tokenize "$1" --no-special "$many" 2>&1)"
}
unigram='277 34 280 3 60 34 108 3 128 34 109 108 3 279 276 174'
grows $here/t5 4 3 "$unigram"
grows $here/spm_unigram 22 3 "$unigram"
grows $here/spm_bpe 22 335 '549 357 552 335 270 357 438 335 436 357 439 438 335 551 548 357 399'

sed 's/"normalizer":null/"normalizer":{"type":"NFKC"}/' $here/gpt2/tokenizer.json >"$scratch/nfkc.json"
grows "$scratch/nfkc.json" 22 '' '149 114 320 150 232 221 343 320 150 230 221 149 118 320 659 150 230 221 150 231 149 112 320 377'

# ---- empty texts

# As in transformers, an empty text is answered if the tokenizer adds tokens to it. Otherwise it is
# rejected.
empty() {       # TOKENIZER KIND IDS
    settings=', generation = { max_new_tokens = 3 }' json=--json
    [ "$2" = encoder ] && settings='' json=''
    {
        echo "return xf.model { name = 'empty', kind = '$2', weights = 'random', max_len = 12,"
        echo "layers = 1, heads = 1, d_model = 4, d_ff = 4, tokenizer_file = '$PWD/$here/$1' $settings }"
    } >"$scratch/empty.lua"
    wanted=$("$xformc" run "$scratch/empty.lua" --ids "$3" 2>"$scratch/err")
    [ "$2" = encoder ] || wanted="\"input_ids\":[$(echo "$3" | tr ' ' ,)],\"ids\":[$(echo "$wanted" | tr ' ' ,)]"
    "$xformc" run "$scratch/empty.lua" $json '' >"$scratch/word" 2>>"$scratch/err" && echo | "$xformc" run "$scratch/empty.lua" $json >"$scratch/line" 2>>"$scratch/err" &&
        [ -n "$wanted" ] && cmp "$scratch/word" "$scratch/line" && grep -qF "$wanted" "$scratch/word"
    verdict $? "an empty text, $1: the answer to $3"
    cat "$scratch/err"
}
empty t5 encoder-decoder 1
empty llama2 decoder 1
empty bert_uncased encoder '2 3'
empty gpt2 decoder 0 >"$scratch/out"        # only to write its spec
message=$("$xformc" run "$scratch/empty.lua" '' 2>&1 >"$scratch/out")
[ $? = 65 ] && [ "$message" = 'empty: argument 1: empty; 1 to 12 tokens fit' ]
verdict $? 'an empty text, gpt2: no token'

# ---- third-party vocabularies
if [ -z "$XFORMC_TEST_DATA" ]; then
    echo "skip vocabularies of others (XFORMC_TEST_DATA is not set)"
    exit 0
fi
data=$XFORMC_TEST_DATA/tokenizers
for name in gpt-2 llama-spm bert-bge; do
    file=$data/ggml-vocab-$name.gguf
    # The texts are separated by lines of one word and may have several lines. Each is passed as one
    # argument.
    awk -v RS='\n__ggml_vocab_test__\n' -v to="$scratch/text" '{ printf "%s", $0 >(to NR) }' "$file.inp"
    n=0 bad=0
    while read -r wanted; do
        n=$((n + 1))
        text=$(cat "$scratch/text$n"; echo .)           # keeps a line end at the end of the text
        found=$("$xformc" tokenize "$file" --no-special "${text%.}")
        [ "$(echo $found)" = "$(echo $wanted)" ] || { bad=$((bad + 1)); echo "$name, text $n: $found, expected $wanted"; }
    done <"$file.out"
    [ "$bad" = 0 ] && [ "$n" -ge 40 ]
    verdict $? "$name: $n texts as llama.cpp has them"
done
sums >"$scratch/sums"
while read -r file corpus rest; do
    same "$file: ids of $corpus" "$rest" "$(sed -n "s#^$file $corpus ##p" "$scratch/sums")"
done <$here/others.sums
[ "$(wc -l <$here/others.sums)" -ge 18 ]
verdict $? 'six vocabularies, three corpora'
