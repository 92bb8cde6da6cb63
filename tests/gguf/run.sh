#!/bin/sh
# tags: slow ubsan
# GGUF files of every supported type (by make.py): logits and greedy ids against transformers with
# the numbers that gguf's reference decodes, in jit and generic; one file in native code. Groups of
# Q8_0 and Q4_0 are packed unchanged (same_groups.c). Each file also as a Lua spec, and one as a
# program. The file's tokenizer and chat template, begin and end tokens, names of word patterns,
# split files, a file of 5 GB, damaged files.
# usage: run.sh XFORMC
set -u
. tests/lib.sh
quick_compilers
here=tests/gguf/files
tools=$(dirname "$xformc")/tests/gguf
shown="$scratch/out $scratch/err"

for file in "$here"/*.gguf; do
    stem=${file%.gguf} name=$(basename "$file" .gguf)
    "$xformc" verify "$file" --dtype f32 --engine jit --against "$stem.expected.safetensors" >"$scratch/out" 2>"$scratch/err" &&
        grep -q 'all within tolerance' "$scratch/out" && grep -q '^logits ' "$scratch/out"
    verdict $? "$name: the logits of transformers with the numbers that gguf reads"
    given=$(sed 's/; .*//' "$stem.expected") wanted=$(sed 's/.*; //' "$stem.expected")
    for engine in jit generic; do
        "$xformc" run "$file" --dtype f32 --ids --engine $engine -n 20 "$given" >"$scratch/out" 2>"$scratch/err" && [ "$(cat "$scratch/out")" = "$wanted" ]
        verdict $? "$name: its greedy ids, $engine"
    done
    "$xformc" verify "$file" --engine jit >"$scratch/out" 2>"$scratch/err" && grep -q 'all within tolerance' "$scratch/out"
    verdict $? "$name: jit and generic agree on the weights as the file has them"
    same=$scratch/$name.gguf        # emitted text names the spec's file
    "$xformc" info "$file" --lua >"$same" 2>"$scratch/err" && "$xformc" compile -q "$file" -o "$scratch/a" 2>>"$scratch/err" &&
        "$xformc" compile -q "$same" -o "$scratch/b" 2>>"$scratch/err" && diff -r "$scratch/a" "$scratch/b" >"$scratch/out"
    verdict $? "$name: as a spec in Lua, the same C and weights"
    rm -rf "$scratch/a" "$scratch/b"
done

# NAME GROUPS_OF_8 GROUPS_OF_4: the file's groups of 8 and of 4 bits, none of which is rounded
# again.
while read -r name eights fours; do
    "$tools/same_groups" "$here/$name.gguf" >"$scratch/out" 2>"$scratch/err" && [ "$(cat "$scratch/out")" = "$eights groups of 8 bits, $fours of 4 bits, 0 differ" ]
    verdict $? "$name: every group is packed as it stands"
done <<'EOF'
llama_q8_0 1200 0
llama_q4_0 0 1200
llama_mixed 376 760
qwen2_q8_0 2160 0
qwen3_q4_0 0 2808
llama_f16 0 0
EOF

"$xformc" verify "$here/llama_mixed.gguf" --cc cc >"$scratch/out" 2>"$scratch/err" && grep -q 'native' "$scratch/out" && grep -q 'all within tolerance' "$scratch/out"
verdict $? 'native code agrees on a file of 4, 8, 16 and 32 bits'
"$xformc" build "$here/llama_q8_0.gguf" -q --cc cc -o "$scratch/built" >"$scratch/out" 2>"$scratch/err" &&
    "$scratch/built/llama_q8_0" -n 8 'the thin ant' >"$scratch/out" 2>"$scratch/err" && "$xformc" run "$here/llama_q8_0.gguf" -n 8 'the thin ant' >"$scratch/ours" 2>>"$scratch/err" &&
    [ -s "$scratch/ours" ] && cmp "$scratch/ours" "$scratch/out"
verdict $? 'a program, with the tokenizer of the file, writes what run writes'
"$xformc" tokenize "$here/llama_q8_0.gguf" 'the thin ant' >"$scratch/out" 2>"$scratch/err" && [ "$(cat "$scratch/out")" = '1 57 8 57 58 30 17 23' ]
verdict $? 'tokenize reads the tokenizer of the file'
same '1 57 8 57 58 2 30 17 23' "$("$xformc" tokenize "$here/llama_q8_0.gguf" 'the thin</s>ant')"
verdict $? 'a mark in a text is a token, without a chat template too'

# ---- a file of 5 GB -----------------------------------------------------------------------------

# A hole between the header and the tensors only makes the file long (sparse.c). The memory peak
# also counts the parts of the file that were read.
small=$here/llama_q8_0.gguf large=$scratch/llama_q8_0.gguf
if "$tools/sparse" "$small" "$large" 2>"$scratch/err" && [ "$(wc -c <"$large")" -gt 5000000000 ]; then
    while read -r command rest; do
        expected=$("$xformc" "$command" "$small" $rest 2>"$scratch/err")
        found=$("$xformc" "$command" "$large" $rest 2>>"$scratch/err")
        same "$expected" "$found" >"$scratch/out"
        verdict $? "5 GB: $command writes what it writes of the small file"
        less=$("$tools/../cli/peak" "$xformc" "$command" "$small" $rest 2>"$scratch/err") &&
            more=$("$tools/../cli/peak" "$xformc" "$command" "$large" $rest 2>>"$scratch/err") &&
            [ $((more - less)) -le $((50 * 1024)) ]
        verdict $? "5 GB: $command takes at most 50 MB more memory than with the small file"
        echo "$less KiB, $more KiB"
    done <<'EOF'
info
tokenize the thin ant
run -n 8 --temp 0 the thin ant
EOF
else
    skip '5 GB' 'no sparse file can be made'
fi
rm -f "$large"

# ---- unsupported types ---------------------------------------------------------------------------

# After a vector's name come its rank (4 bytes), its length (8) and its type.
name=output_norm.weight
cp "$here/llama_f32.gguf" "$scratch/typed.gguf" && chmod u+w "$scratch/typed.gguf"
at=$(($(grep -abo "$name" "$scratch/typed.gguf" | head -n 1 | cut -d: -f1) + ${#name} + 12))
while read -r type named; do
    printf "$(printf '\\%03o' "$type")" | dd of="$scratch/typed.gguf" bs=1 seek=$at conv=notrunc 2>"$scratch/out"
    "$xformc" info "$scratch/typed.gguf" >"$scratch/out" 2>"$scratch/err"
    [ $? = 65 ] && grep -q "tensor \"$name\" has the ggml type $named, which is not supported; F32, F16, BF16, F64, Q8_0" "$scratch/err"
    verdict $? "type $type is called $named"
    cat "$scratch/err"
done <<'EOF'
7 Q5_1
10 Q2_K
16 IQ2_XXS
22 IQ2_S
23 IQ4_XS
39 MXFP4
99 number 99
EOF

# ---- end tokens ----------------------------------------------------------------------------------

# ends FILE: the ids that end an answer, from its Lua spec; without end_id there it is 2.
ends() {
    "$xformc" info "$1" --lua >"$scratch/out" 2>"$scratch/err" || cat "$scratch/err"
    { grep -q ' end_id = ' "$scratch/out" || echo 2; sed -n 's/^ *end_ids* = //p' "$scratch/out" | tr -d '{,' | tr ' }' '\n\n'; } |
        grep . | sort -n | tr '\n' ' '
}
[ "$(ends "$here/llama_f32.gguf")" = '-1 ' ]
verdict $? 'without keys of a tokenizer no id ends an answer'
# ended NAME IDS CHANGE...: the end ids of llama_q8_0 with changed tokens and keys (edit.c). It has
# 60 tokens; </s> is 2.
ended() {
    name=$1 wanted=$2
    shift 2
    "$tools/edit" "$here/llama_q8_0.gguf" "$scratch/ends.gguf" "$@" && found=$(ends "$scratch/ends.gguf") && [ "$found" = "$wanted " ]
    verdict $? "what ends: $name"
    echo "$found"
}
key=tokenizer.ggml
ended 'eos, eot and eom of keys' '2 5 6' $key.eot_token_id=5 $key.eom_token_id=6
ended 'eos of a SentencePiece without the key' 2 $key.eos_token_id=
for text in '<|eot_id|>' '<|im_end|>' '<|end|>' '<|return|>' '<|call|>' '<|flush|>' '<|calls|>' '<end_of_turn>' '<|endoftext|>' \
            '</s>' '<|eom_id|>' '<EOT>' '_<EOT>' '[EOT]' '[EOS]' '<|end_of_text|>' '<end_of_utterance>' '<eos>' '<turn|>' \
            '<｜end▁of▁sentence｜>' '[e~['; do
    ended "$text" '2 7' "7:3:$text"
done
ended 'a token given by the user, and a usual one' '2 7 8' '7:4:<|im_end|>' '8:1:<end_of_turn>'
ended 'other texts do not' 2 '7:3:<|im_start|>' '8:3:<unk>' '9:4:<|fim_prefix|>'
ended 'padding, repository and file of code' '2 7 8 9' '9:3:<|fim_pad|>' '8:3:<|repo_name|>' '7:3:<|file_sep|>'
ended 'padding, repository and file by keys' '2 4 5 6' $key.fim_pad_token_id=4 $key.fim_rep_token_id=5 $key.fim_sep_token_id=6 \
      '9:3:<|fim_pad|>' '8:3:<|fim_repo|>' '7:3:<|file_sep|>'
ended '<|end|> beside <|return|> and <|call|> does not' '2 8 9' '7:3:<|end|>' '8:3:<|return|>' '9:3:<|call|>'
ended '<|end|> beside <|calls|> and <|flush|> does not, though a key says it' '2 8 9' '7:3:<|end|>' '8:3:<|calls|>' '9:3:<|flush|>' \
      $key.eot_token_id=7
ended '<|end|> beside <|return|> alone does' '2 7 8' '7:3:<|end|>' '8:3:<|return|>'
ended '</s> beside <|tool_response> does not' '5 7' '7:3:<|tool_response>' $key.eot_token_id=5
ended 'a key outside the vocabulary does not' 2 $key.fim_pad_token_id=60
grep -q 'tokenizer.ggml.fim_pad_token_id (60) is not used: there are only 60 tokens' "$scratch/err"
verdict $? 'what ends: and it is reported'

# Token 4 is the third token of the answer.
"$tools/edit" "$here/llama_q8_0.gguf" "$scratch/ends.gguf" '4:4:<|im_end|>'
[ "$("$xformc" run "$scratch/ends.gguf" --ids --temp 0 -n 9 '1 17 5 30 2 44 8')" = '11 6 4' ]
verdict $? 'what ends: an answer stops there'

# ---- begin and end of a text ---------------------------------------------------------------------

# Keys decide, or else the rules of llama.cpp: a text begins with the begin token if words are split
# as in Llama 3. The begin and end ids of a SentencePiece vocabulary are 1 and 2.
while read -r name ids; do
    found=$("$xformc" tokenize "$here/vocabularies/$name.gguf" cab 2>"$scratch/err")
    [ "$found" = "$ids" ]
    verdict $? "$name: $ids"
    echo "$found"; cat "$scratch/err"
done <<'EOF'
gpt2 2 26
gpt2_end 2 26 28
llama3 27 2 26
llama3_end 2 26 28
sentencepiece 1 3 6 4 5 2
EOF

# As in llama.cpp, text after a user-defined token is split anew, as after a special token. Unused
# pieces are ordinary pieces. A BERT finds user-defined tokens.
edited() {          # TEXT CHANGE...: the ids of TEXT in a changed file
    given=$1
    shift
    "$tools/edit" "$here/llama_q8_0.gguf" "$scratch/typed.gguf" "$@" && "$xformc" tokenize "$scratch/typed.gguf" "$given"
}
mark=$(edited 'a<u>b <u> c' '7:3:<u>')
[ -n "$mark" ] && [ "$(edited 'a<u>b <u> c' '7:4:<u>')" = "$mark" ]
verdict $? "a text begins anew after a user-defined token: $mark"
plain=$(edited 'a b' '7:1:[PAD7]')
[ -n "$plain" ] && [ "$(edited 'a b' '7:5:[PAD7]')" = "$plain" ]
verdict $? 'unused pieces of a BPE'
bert='tokenizer.ggml.model=bert'
[ "$(edited 'x <sp>x' $bert '0:3:[UNK]' '1:3:[CLS]' '2:3:[SEP]' '5:4:<sp>')" = '1 53 5 53 2' ]
verdict $? 'a user-defined token in a BERT'

# ---- how a text is split into words --------------------------------------------------------------

# Every name of tokenizer.ggml.pre, next to the name whose pattern it has (words.expected, by
# tokenizers).
text=$(printf "ab's.a  ab 12345 .a \$..b\n\n ab")
words=$here/vocabularies/words
while read -r pattern names; do
    expected=$(sed -n "s/^$pattern //p" "$words.expected")
    for name in $pattern $names; do
        "$tools/edit" "$words.gguf" "$scratch/words.gguf" "tokenizer.ggml.pre=$name" &&
            found=$("$xformc" tokenize "$scratch/words.gguf" "$text" 2>"$scratch/err") && same "$expected" "$found" >"$scratch/out"
        verdict $? "words as $name has them"
    done
done <<'EOF'
gpt-2 phi-2 jina-es jina-de jina-v2-es jina-v2-de jina-v1-en jina-v2-code roberta-bpe gigachat a.x-4.0 mellum modern-bert exaone4 mpt jais trillion granite-docling olmo
smollm starcoder refact command-r codeshell exaone minerva-7b mellum2
llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano dbrx smaug-bpe glm4 chatglm-bpe
qwen2 deepseek-r1-qwen kormo f2llmv2 megrez stablelm2 hunyuan solar-open grok-2
default
EOF
cat >"$scratch/words.lua" <<END
return xf.model { name = "words", kind = "decoder", layers = 1, heads = 2, d_model = 16, d_ff = 16, max_len = 16,
    weights = "random", tokenizer_file = "$PWD/$words.gguf" }
END
"$xformc" info "$scratch/words.lua" 2>&1 | grep -A1 '^tokenizer' >"$scratch/out"
grep -q '^tokenizer, ids .*  words.gguf$' "$scratch/out" && grep -q '^  read as  *tokenizer.ggml.model gpt2, pre ' "$scratch/out"
verdict $? 'info names the model and the words of a GGUF tokenizer'
cat "$scratch/out"
grep -q "note: tokenizer.ggml.pre is 'default': text is split into words by llama.cpp's default patterns" "$scratch/err"
verdict $? 'the default patterns are reported'
"$tools/edit" "$words.gguf" "$scratch/words.gguf" tokenizer.ggml.pre= &&
    found=$("$xformc" tokenize "$scratch/words.gguf" "$text" 2>"$scratch/err") && same "$expected" "$found" >"$scratch/out" &&
    grep -q 'note: tokenizer.ggml.pre is missing or empty: text is split' "$scratch/err"
verdict $? 'a file without a name has the default patterns, and it is reported'
"$tools/edit" "$words.gguf" "$scratch/words.gguf" tokenizer.ggml.pre=unheard
"$xformc" tokenize "$scratch/words.gguf" "$text" >"$scratch/out" 2>"$scratch/err"
[ $? = 65 ] && grep -q "tokenizer.ggml.pre 'unheard' is not supported" "$scratch/err"
verdict $? 'a name that is not known is refused'
# With these, a text begins with the begin token, here 1, if no key says otherwise.
for name in llama-v3 falcon3 lfm2 dbrx glm4; do
    "$tools/edit" "$words.gguf" "$scratch/words.gguf" "tokenizer.ggml.pre=$name" tokenizer.ggml.bos_token_id=1
    printf '%s %s\n' $name "$("$xformc" tokenize "$scratch/words.gguf" c 2>"$scratch/err")"
done >"$scratch/out"
same 'llama-v3 1 2
falcon3 1 2
lfm2 1 2
dbrx 2
glm4 2' "$(cat "$scratch/out")"
verdict $? 'Llama 3 and its like put the first token before a text'

# ---- a chat template -----------------------------------------------------------------------------

# number N: N, below 65536, as eight bytes, little-endian.
number() { printf "$(printf '\\%03o\\%03o' $(($1 % 256)) $(($1 / 256)))\\0\\0\\0\\0\\0\\0"; }
# with_key FILE NAME TEXT: the file with one more key, a template. A comment pads it so that the
# data after it stays aligned.
with_key() {
    fill=$(((32 - (24 + ${#2} + ${#3}) % 32) % 32))
    head -c 16 "$1"
    number $(($(od -An -tu1 -j16 -N1 "$1") + 1))
    number ${#2}
    printf '%s\10\0\0\0' "$2"
    number $((${#3} + 4 + fill))
    printf "%s{#%${fill}s#}" "$3" ''
    tail -c +25 "$1"
}
template="{{ bos_token }}{% for message in messages %}
{% if message['role'] == 'user' %}
{{ '<|user|>\\n' + message['content'] + eos_token }}
{% elif message['role'] == 'system' %}
{{ '<|system|>\\n' + message['content'] + eos_token }}
{% endif %}
{% if loop.last and add_generation_prompt %}
{{ '<|assistant|>' }}
{% endif %}
{% endfor %}"
with_key "$here/llama_q8_0.gguf" tokenizer.chat_template "$template" >"$scratch/talks.gguf"
answer=$("$xformc" run "$scratch/talks.gguf" --chat -n 12 --temp 0 'the ant' 2>"$scratch/err")
wrapped=$(printf '<|user|>\nthe ant</s>\n<|assistant|>\n.')
all=$("$xformc" run "$scratch/talks.gguf" -n 12 --temp 0 "${wrapped%.}" 2>>"$scratch/err")
bare=$("$xformc" run "$here/llama_q8_0.gguf" -n 12 --temp 0 'the ant' 2>>"$scratch/err")
echo "[$answer] [$all] [$bare]" >"$scratch/out"
[ ${#answer} -ge 8 ] && [ "${all%"$answer"}" != "$all" ] && [ "${bare%"$answer"}" = "$bare" ]
verdict $? 'a chat template in the file is that of --chat'
twice='begins with <s> twice: the tokenizer already adds it to every text'
"$xformc" run "$scratch/talks.gguf" -n 2 --temp 0 '<s>the ant' >"$scratch/out" 2>"$scratch/err" && grep -q "argument 1: $twice" "$scratch/err"
verdict $? 'a text that begins with the first token gets a note that it begins twice: run'
"$xformc" tokenize "$scratch/talks.gguf" 'the ant' '<s>the ant' >"$scratch/out" 2>"$scratch/err" && [ "$(cat "$scratch/err")" = "xformc: text 2: $twice" ]
verdict $? 'a text that begins with the first token gets a note that it begins twice: tokenize'
"$xformc" run "$scratch/talks.gguf" --chat -n 2 --temp 0 'the ant' >"$scratch/out" 2>"$scratch/err" && ! grep -q twice "$scratch/err"
verdict $? 'nothing is put before a text that a template wraps'
with_key "$here/llama_q8_0.gguf" tokenizer.chat_template '{{ messages | join }}' >"$scratch/talks.gguf"
"$xformc" run "$scratch/talks.gguf" --chat 'the ant' >"$scratch/out" 2>"$scratch/err"
[ $? = 69 ] && grep -q 'the chat template cannot be run: line 1: ' "$scratch/err"
verdict $? 'one that cannot be run is reported'

# ---- split files ---------------------------------------------------------------------------------

parts=$here/split/llama
first=$parts-00001-of-00003.gguf
"$xformc" verify "$first" --dtype f32 --engine jit --against "$parts.expected.safetensors" >"$scratch/out" 2>"$scratch/err" &&
    grep -q 'all within tolerance' "$scratch/out" && grep -q '^logits ' "$scratch/out"
verdict $? 'a split file: the logits of transformers'
given=$(sed 's/; .*//' "$parts.expected") wanted=$(sed 's/.*; //' "$parts.expected")
[ "$("$xformc" run "$first" --dtype f32 --ids -n 20 "$given" 2>"$scratch/err")" = "$wanted" ]
verdict $? 'a split file: its greedy ids'
[ "$("$xformc" tokenize "$first" 'the thin ant' 2>"$scratch/err")" = '1 57 8 57 58 30 17 23' ]
verdict $? 'a split file: its tokenizer'
"$xformc" info "$first" --lua >"$scratch/split.gguf" 2>"$scratch/err" && grep -q 'name = "llama",' "$scratch/split.gguf" &&
    [ "$("$xformc" run "$scratch/split.gguf" --dtype f32 --ids -n 20 "$given" 2>"$scratch/err")" = "$wanted" ]
verdict $? 'a split file: its name, and as a spec in Lua'
"$xformc" build "$first" -q --cc cc -o "$scratch/built_split" >"$scratch/out" 2>"$scratch/err" &&
    "$scratch/built_split/llama" -n 8 'the thin ant' >"$scratch/out" 2>"$scratch/err" && "$xformc" run "$first" -n 8 'the thin ant' >"$scratch/ours" 2>>"$scratch/err" &&
    [ -s "$scratch/ours" ] && cmp "$scratch/ours" "$scratch/out"
verdict $? 'a split file: a program writes what run writes'

# parted NAME CODE MESSAGE PART: run with the parts in $scratch/parts, then restore the original
# parts.
mkdir "$scratch/parts"
parted() {
    "$xformc" run "$scratch/parts/$4" --ids '1 5' >"$scratch/out" 2>"$scratch/err"
    [ $? = "$2" ] && grep -q "$3" "$scratch/err"
    verdict $? "a split file: $1"
    rm -f "$scratch"/parts/* && cp "$parts"-*.gguf "$scratch/parts" && chmod u+w "$scratch"/parts/*
}
cp "$parts"-*.gguf "$scratch/parts" && chmod u+w "$scratch"/parts/*
parted 'another part' 65 'is part 2 of 3 of a split file; give the first part, .*llama-00001-of-00003.gguf' llama-00002-of-00003.gguf
rm "$scratch/parts/llama-00003-of-00003.gguf"
parted 'a part that is missing' 66 'it is part 3 of the split file' llama-00001-of-00003.gguf
mv "$scratch/parts/llama-00001-of-00003.gguf" "$scratch/parts/one.gguf"
parted 'another name' 65 'is the first of 3 parts of a split file, which are found only by name' one.gguf
cp "$scratch/parts/llama-00002-of-00003.gguf" "$scratch/parts/llama-00003-of-00003.gguf"
parted 'a part in place of another' 65 'llama-00003-of-00003.gguf is not part 3 of 3 of the split file' llama-00001-of-00003.gguf
"$tools/edit" "$first" "$scratch/parts/llama-00001-of-00003.gguf" split.tensors.count=13
parted 'a tensor that is missing' 65 'the parts of the split file .* have 12 tensors, not 13' llama-00001-of-00003.gguf
LC_ALL=C sed 's/blk.0.ffn_up.weight/blk.0.attn_q.weight/' "$parts-00002-of-00003.gguf" >"$scratch/parts/llama-00002-of-00003.gguf"
parted 'a tensor in two parts' 65 'is in two files' llama-00001-of-00003.gguf
"$xformc" tokenize "$parts-00002-of-00003.gguf" x >"$scratch/out" 2>"$scratch/err"
[ $? = 65 ] && grep -q 'this is part 2 of a split GGUF file; the tokenizer is in the first part' "$scratch/err"
verdict $? 'a split file: a part without the tokenizer'

# ---- damaged files -------------------------------------------------------------------------------

# refused NAME MESSAGE FILE: exits with 65 and MESSAGE.
refused() {
    timeout "$patience" "$xformc" info "$3" >"$scratch/out" 2>"$scratch/err"
    [ $? = 65 ] && grep -q "$2" "$scratch/err"
    verdict $? "$1"
}
# patched FROM TO: llama_f32 with the first FROM replaced by TO, which has the same length.
patched() { LC_ALL=C sed "s/$1/$2/" "$here/llama_f32.gguf" >"$scratch/patched.gguf"; }
bytes=$(wc -c <"$here/llama_q4_0.gguf")
for part in 5 23 40 100 700; do
    head -c $part "$here/llama_q4_0.gguf" >"$scratch/cut.gguf"
    refused "cut off after $part bytes" 'GGUF file\|damaged or too large' "$scratch/cut.gguf"
done
head -c $((bytes - 200)) "$here/llama_q4_0.gguf" >"$scratch/cut.gguf"
refused 'cut off in its last tensor' 'extends past the end of the file' "$scratch/cut.gguf"
# field FILE TENSOR BYTES: the place that many bytes after the name of a matrix, where 4 bytes are
# its rank, 16 its dimensions, 4 its type and 8 its offset.
field() { echo $(($(LC_ALL=C grep -abo "$2" "$1" | head -n 1 | cut -d : -f 1) + ${#2} + $3)); }
# with_field FILE TENSOR BYTES: FILE with standard input at that place.
with_field() { cp "$1" "$scratch/patched.gguf" && dd of="$scratch/patched.gguf" bs=1 seek="$(field "$@")" conv=notrunc 2>/dev/null; }
dd if="$here/llama_q4_0.gguf" bs=1 skip="$(field "$here/llama_q4_0.gguf" blk.0.attn_q.weight 24)" count=8 2>/dev/null |
    with_field "$here/llama_q4_0.gguf" blk.0.ffn_up.weight 24
refused 'two tensors with the same data' 'tensor "blk.0.[a-z_]*.weight" overlaps "blk.0.[a-z_]*.weight"' "$scratch/patched.gguf"
printf '\0' | with_field "$here/llama_q4_0.gguf" blk.0.ffn_up.weight 4
refused 'a dimension of 0' 'tensor "blk.0.ffn_up.weight" has a dimension of 0' "$scratch/patched.gguf"
printf '\37' | with_field "$here/llama_q4_0.gguf" blk.0.ffn_up.weight 4
refused 'rows that are not a multiple of the blocks' 'tensor "blk.0.ffn_up.weight" has rows of 31 elements, not a multiple of its block size, 32' "$scratch/patched.gguf"
patched 'llama.block_count' 'llama.block_couns'
refused 'a key that is missing' 'the key llama.block_count is missing' "$scratch/patched.gguf"
patched 'blk.0.attn_q.weight' 'blk.7.attn_q.weight'
refused 'more layers than the key says' 'llama.block_count is [1-7], but there is a tensor blk.7.attn_q.weight' "$scratch/patched.gguf"
patched 'token_embd.weight' 'token_embe.weight'
refused 'a tensor that is missing' 'token_embd.weight is missing or not a matrix' "$scratch/patched.gguf"
patched 'blk.0.attn_q.weight' 'blk.0.attn_z.weight'
refused 'a tensor of another name' 'attn_[qz]' "$scratch/patched.gguf"
patched 'blk.0.attn_v.weight' 'blk.0.attn_k.weight'
refused 'a tensor that is there twice' 'appears twice' "$scratch/patched.gguf"
"$tools/edit" "$here/llama_f32.gguf" "$scratch/patched.gguf" llama.attention.causal:7=0
refused 'a key that would change what is computed' 'llama.attention.causal must be 1; other values are not supported' "$scratch/patched.gguf"
"$xformc" info "$here/llama_freqs.gguf" >"$scratch/out" 2>"$scratch/err" && ! grep -q 'not used' "$scratch/err"
verdict $? 'factors of rotary positions are used, and not told as left over'
printf 'GGUF\1\0\0\0' >"$scratch/old.gguf" && refused 'version 1' 'GGUF version 1; 2 and 3 are supported' "$scratch/old.gguf"
printf 'GGUF\3\0\0\0\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377' >"$scratch/many.gguf"
refused 'more tensors and keys than there are bytes' 'damaged or too large' "$scratch/many.gguf"
printf 'GGUF\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' >"$scratch/empty.gguf"
refused 'no key at all' "general.architecture '' is not supported; llama, qwen2 and qwen3 are" "$scratch/empty.gguf"
