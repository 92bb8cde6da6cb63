# tools.sh: what the commands of the rows may call. Read by run.sh; the current folder is empty.
xformc() { "$xformc" "$@"; }

# st FILE HEADER [BYTES]: a safetensors file of that header, and so many zero bytes of data.
st() { { length "${#2}"; printf %s "$2"; head -c "${3:-0}" /dev/zero; } >"$1"; }
# length N: N as 8 bytes, little-endian.
length() { printf "\\$(printf %03o $(($1 % 256)))\\$(printf %03o $(($1 / 256 % 256)))\\$(printf %03o $(($1 / 65536 % 256)))\\0\\0\\0\\0\\0"; }
# one NAME: a header's entry, [1] of F32 in the first four bytes.
one() { printf '"%s":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}' "$1"; }
# tensor DTYPE SHAPE BEGIN END: the file x.st of one tensor X and as many bytes of data as END says.
tensor() { st x.st "{\"X\":{\"dtype\":\"$1\",\"shape\":$2,\"data_offsets\":[$3,$4]}}" "${5:-$4}"; }
# feed: run the graph of one input X [1, 2] on x.st.
feed() {
    echo 'return xf.graph("g", function(g) local x = g.input("X", {1, 2}); g.output("Y", g.add(x, x)) end)' >g.lua
    xformc run g.lua --input X=x.st
}
# spec FIELDS: the spec of a small model with these fields added, into s.lua.
spec() { echo "return xf.model { name = \"s\", layers = 1, heads = 1, d_model = 2, d_ff = 2, $1 }" >s.lua; }
# texts LINE...: the vocabulary files of a model of characters, and its spec.
texts() {
    for line; do printf '%b\n' "$line"; done >v.txt
    spec 'max_len = 4, weights = "random", tokenizer = "characters", source_vocabulary = "v.txt", target_vocabulary = "v.txt"'
}
# Run a command as somebody whom the permissions of files bind.
plain_user() {
    if [ "$(id -u)" != 0 ]; then "$@"
    elif command -v setpriv >/dev/null && setpriv --reuid=65534 --clear-groups test -x "$xformc"; then setpriv --reuid=65534 --clear-groups "$@"
    else echo 'skip no other user may run this'
    fi
}
word() { "$tools/word/word" "$@"; }
calls() { "$tools/calls" "$tools/word/word.safetensors" "$@"; }
# family NAME: the folder m, or the checkpoint m.bin, a copy of a family's small one.
family() { cp -r "$top/tests/families/$1" m 2>/dev/null || cp "$top/tests/families/$1.bin" m.bin; chmod -R u+w m* && rm -f m/generation_config.json; }
# config SED-SCRIPT: m/config.json, changed.
config() { sed -i "$1" m/config.json; }
# bytes FILE AT OCTAL...: overwrite bytes of a file.
bytes() { file=$1 at=$2; shift 2; printf '%b' "$(printf '\\0%s' "$@")" | dd of="$file" bs=1 seek="$at" conv=notrunc 2>/dev/null; }
# A Hugging Face folder f whose generation_config.json is $1.
settings() { cp -r "$top/tests/families/set_penalty" f && printf '%s\n' "$1" >f/generation_config.json; }
# chat NAME [JSON]: a model s.lua whose tokenizer t is a copy of tests/chat/NAME, its tokenizer_config.json, where it is given, $2.
chat() {
    cp -r "$top/tests/chat/$1" t && chmod -R u+w t && [ $# = 1 ] || printf '%s\n' "$2" >t/tokenizer_config.json
    spec 'kind = "decoder", max_len = 60, weights = "random", tokenizer_file = "t", generation = { max_new_tokens = 1 }'
}
# piece TEXT TYPE [SCORE]: a piece of a SentencePiece model, of at most 99 ASCII characters; the
# score as its 4 bytes in octal.
piece() {
    printf "\\n\\$(printf %03o $((${#1} + 9)))\\n\\$(printf %03o ${#1})"
    printf %s "$1"
    printf "\\025${3:-\\000\\000\\000\\000}\\030\\00$2"
}
# fallback: the trainer_spec of a SentencePiece model that says byte_fallback.
fallback() { printf '\022\003\230\002\001'; }
# byte_words: <0x00> to <0xFF>, each with the type of bytes.
byte_words() {
    digits='0 1 2 3 4 5 6 7 8 9 A B C D E F'
    for high in $digits; do
        for low in $digits; do printf ' <0x%s%s> 6' $high $low; done
    done
}
# byte_pieces: the same as pieces.
byte_pieces() { set -- $(byte_words) && while [ $# != 0 ]; do piece "$1" "$2" && shift 2; done; }
# key NAME TYPE: the name of a GGUF key, and the type of its value.
key() { length ${#1}; printf %s "$1"; printf "\\$(printf %03o "$2")\\000\\000\\000"; }
# list TYPE COUNT: the head of an array.
list() { printf "\\$(printf %03o "$1")\\000\\000\\000"; length "$2"; }
# words_gguf TEXT TYPE ...: a GGUF file of a SentencePiece vocabulary.
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
# gguf CHANGE...: m.gguf, a copy of the model llama_q8_0.gguf with changes by tests/gguf/edit.c.
gguf() {
    "$(dirname "$xformc")/tests/gguf/edit" "$top/tests/gguf/files/llama_q8_0.gguf" m.gguf "$@"
}
