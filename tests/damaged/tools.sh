# tools.sh: functions for the commands of the rows. Sourced by run.sh; the current folder is empty.
xformc() { "$xformc" "$@"; }

# st FILE HEADER [BYTES]: a safetensors file with that header and BYTES zero bytes of data.
st() { { length "${#2}"; printf %s "$2"; head -c "${3:-0}" /dev/zero; } >"$1"; }
# length N: N as 8 bytes, little-endian.
length() { printf "\\$(printf %03o $(($1 % 256)))\\$(printf %03o $(($1 / 256 % 256)))\\$(printf %03o $(($1 / 65536 % 256)))\\0\\0\\0\\0\\0"; }
# one NAME: a header entry: shape [1], F32, the first four bytes.
one() { printf '"%s":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}' "$1"; }
# tensor DTYPE SHAPE BEGIN END [BYTES]: write x.st with one tensor X and BYTES (default END) bytes
# of data.
tensor() { st x.st "{\"X\":{\"dtype\":\"$1\",\"shape\":$2,\"data_offsets\":[$3,$4]}}" "${5:-$4}"; }
# feed: run a graph with one input X [1, 2] on x.st.
feed() {
    echo 'return xf.graph("g", function(g) local x = g.input("X", {1, 2}); g.output("Y", g.add(x, x)) end)' >g.lua
    xformc run g.lua --input X=x.st
}
# spec FIELDS: write s.lua, the spec of a small model with these fields added.
spec() { echo "return xf.model { name = \"s\", layers = 1, heads = 1, d_model = 2, d_ff = 2, $1 }" >s.lua; }
# texts LINE...: write the vocabulary of a character model, and its spec.
texts() {
    for line; do printf '%b\n' "$line"; done >v.txt
    spec 'max_len = 4, weights = "random", tokenizer = "characters", source_vocabulary = "v.txt", target_vocabulary = "v.txt"'
}
# plain_user COMMAND...: run it as a user who is bound by file permissions.
plain_user() {
    if [ "$(id -u)" != 0 ]; then "$@"
    elif command -v setpriv >/dev/null && setpriv --reuid=65534 --clear-groups test -x "$xformc"; then setpriv --reuid=65534 --clear-groups "$@"
    else echo 'skip no other user may run this'
    fi
}
word() { "$tools/word/word" "$@"; }
calls() { "$tools/calls" "$tools/word/word.safetensors" "$@"; }
# family NAME: copy a family's small model to the folder m, or its checkpoint to m.bin; drop its
# generation settings.
family() { cp -r "$top/tests/families/$1" m 2>/dev/null || cp "$top/tests/families/$1.bin" m.bin; chmod -R u+w m* && rm -f m/generation_config.json; }
# config SED-SCRIPT: edit m/config.json.
config() { sed -i "$1" m/config.json; }
# bytes FILE AT OCTAL...: overwrite bytes of a file.
bytes() { file=$1 at=$2; shift 2; printf '%b' "$(printf '\\0%s' "$@")" | dd of="$file" bs=1 seek="$at" conv=notrunc 2>/dev/null; }
# settings JSON: a Hugging Face folder f with JSON as its generation_config.json.
settings() { cp -r "$top/tests/families/set_penalty" f && printf '%s\n' "$1" >f/generation_config.json; }
# chat NAME [JSON]: a model s.lua whose tokenizer t is a copy of tests/chat/NAME, with JSON, if
# given, as its tokenizer_config.json.
chat() {
    cp -r "$top/tests/chat/$1" t && chmod -R u+w t && [ $# = 1 ] || printf '%s\n' "$2" >t/tokenizer_config.json
    spec 'kind = "decoder", max_len = 60, weights = "random", tokenizer_file = "t", generation = { max_new_tokens = 1 }'
}
# piece TEXT TYPE [SCORE]: a piece of a SentencePiece model, of at most 99 ASCII characters; SCORE
# is 4 bytes in octal.
piece() {
    printf "\\n\\$(printf %03o $((${#1} + 9)))\\n\\$(printf %03o ${#1})"
    printf %s "$1"
    printf "\\025${3:-\\000\\000\\000\\000}\\030\\00$2"
}
# fallback: the trainer_spec of a SentencePiece model with byte_fallback.
fallback() { printf '\022\003\230\002\001'; }
# byte_words: <0x00> to <0xFF>, each followed by the type of byte pieces.
byte_words() {
    digits='0 1 2 3 4 5 6 7 8 9 A B C D E F'
    for high in $digits; do
        for low in $digits; do printf ' <0x%s%s> 6' $high $low; done
    done
}
# byte_pieces: all byte words as pieces.
byte_pieces() { set -- $(byte_words) && while [ $# != 0 ]; do piece "$1" "$2" && shift 2; done; }
# key NAME TYPE: the name of a GGUF key and the type of its value.
key() { length ${#1}; printf %s "$1"; printf "\\$(printf %03o "$2")\\000\\000\\000"; }
# list TYPE COUNT: the header of a GGUF array.
list() { printf "\\$(printf %03o "$1")\\000\\000\\000"; length "$2"; }
# words_gguf TEXT TYPE ...: a GGUF file with a SentencePiece vocabulary.
words_gguf() {
    count=$(($# / 2))
    printf 'GGUF\003\000\000\000' && length 0 && length 4
    key tokenizer.ggml.model 8 && length 5 && printf llama
    key tokenizer.ggml.scores 9 && list 6 $count && head -c $((4 * count)) /dev/zero
    key tokenizer.ggml.tokens 9 && list 8 $count
    types=
    while [ $# != 0 ]; do
        length ${#1} && printf %s "$1"
        types="$types\\00$2\\000\\000\\000"
        shift 2
    done
    key tokenizer.ggml.token_type 9 && list 5 $count && printf "$types"
}
# gguf CHANGE...: write m.gguf, a copy of llama_q8_0.gguf changed by tests/gguf/edit.c.
gguf() {
    "$(dirname "$xformc")/tests/gguf/edit" "$top/tests/gguf/files/llama_q8_0.gguf" m.gguf "$@"
}
