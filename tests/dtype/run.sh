#!/bin/sh
# tags: slow noasan
# Weights as bf16, int8 and int4, by option, spec and tensor: jit, native and programs are
# bit-identical to generic, packed files have the expected types, and `verify` reports the accuracy
# lost. bf16 folders are bit-identical to f32. Keys and values as f16 and int8: the engines agree,
# and are within a derived bound of PyTorch. Also options and errors; with XFORMC_TEST_DATA, also
# stories260K.
# usage: run.sh XFORMC
set -u
. tests/lib.sh
quick_compilers

# fails NAME CODE TEXT COMMAND...: exits with CODE and prints TEXT on stderr and nothing on stdout.
fails() {
    name=$1 code=$2 text=$3
    shift 3
    "$@" >"$scratch/out" 2>"$scratch/err"
    found=$?
    [ $found = "$code" ] && [ ! -s "$scratch/out" ] && grep -qF -- "$text" "$scratch/err"
    verdict $? "$name"
    [ $found = "$code" ] || { echo "exit $found, expected $code"; cat "$scratch/err"; }
}

# ---- engines -------------------------------------------------------------------------------------

# Each kind of operation with weights, in jit and generic. modern_decoder, which combines many, runs
# with all compilers.
for spec in tests/goldens/head_tied.lua tests/goldens/hf_llama.lua tests/goldens/hf_t5_gated.lua specs/self_attention.lua; do
    "$xformc" verify "$spec" --dtype int4 --engine jit >"$scratch/out" 2>&1
    verdict $? "$(basename "$spec" .lua), int4: jit as generic"
    tail -n 1 "$scratch/out"
done
for spec in tests/goldens/kind_*.lua tests/goldens/hf_*.lua tests/goldens/head_*.lua tests/goldens/gated*.lua tests/goldens/embed_*.lua \
    tests/goldens/window*.lua tests/specs/windows.lua tests/specs/modern_decoder.lua specs/self_attention.lua; do
    "$xformc" verify "$spec" --dtype int8 --engine jit >"$scratch/out" 2>&1
    verdict $? "$(basename "$spec" .lua), int8: jit as generic"
    tail -n 1 "$scratch/out"
done
# bf16 rounds only the weights, so generic and emitted code agree as in f32.
for spec in tests/goldens/head_tied.lua tests/goldens/hf_llama.lua tests/goldens/gated.lua tests/goldens/embed_norm.lua tests/specs/windows.lua \
    specs/self_attention.lua; do
    "$xformc" verify "$spec" --dtype bf16 --engine jit >"$scratch/out" 2>&1
    verdict $? "$(basename "$spec" .lua), bf16: jit as generic"
    tail -n 1 "$scratch/out"
done
# numbers FOLDER OPTION...: the jit gives the same numbers, in all their digits, with each of three
# dtypes.
numbers() {
    folder=$1
    shift
    for dtype in f32 bf16 file; do
        "$xformc" run "tests/families/$folder" --ids --dtype $dtype "$@" "1 5 9 3" 2>/dev/null >"$scratch/numbers.$dtype" && [ -s "$scratch/numbers.$dtype" ] &&
            cmp "$scratch/numbers.f32" "$scratch/numbers.$dtype" || return 1
    done
}
numbers sentence --raw && numbers llama_old --temp 0 --json && numbers gpt2 --temp 0 --json
verdict $? 'folders whose matrices are bf16: --dtype bf16, and file, give the bits of f32'
"$xformc" compile tests/families/llama_old --dtype file -q -o "$scratch/stored" -d p 2>"$scratch/out" && grep -q 'embed.table .*panels-bf16' "$scratch/out" &&
    ! grep -q panels-f32 "$scratch/out"
verdict $? 'of such a folder, file packs bf16'
spec=tests/specs/modern_decoder.lua
"$xformc" verify $spec --dtype int8 >"$scratch/out" 2>&1 && grep -q 'native (.*)  *jit  *0  *0  *ok' "$scratch/out"
verdict $? 'modern_decoder, int8: native code gives the bits of the jit, of both compilers and of every thread'
tail -n 1 "$scratch/out"
# Each compared with generic: int4 and portable int8 by the jit, bf16 as native code. The next model
# has int4 as native code.
for case in int4,native,jit int8,portable,jit bf16,native,native; do
    dtype=${case%%,*} isa=${case#*,} engine=${case##*,}
    isa=${isa%,*}
    if ! "$xformc" run specs/dates.lua --isa $isa 1 >/dev/null 2>&1; then echo "skip $dtype, $isa (this processor lacks it)"; continue; fi
    case $engine in native) set -- --cc cc ;; *) set -- --engine $engine ;; esac
    "$xformc" verify $spec --dtype $dtype --isa $isa "$@" >"$scratch/out" 2>&1
    verdict $? "modern_decoder, $dtype, $isa: $engine as generic"
    tail -n 1 "$scratch/out"
done

# ---- many rows -----------------------------------------------------------------------------------

for case in int4,tests/specs/modern_decoder.lua; do
    spec=${case#*,} dtype=${case%%,*}
    name=$(basename "$spec" .lua)
    upper=$(printf '%s' "$name" | tr 'a-z' 'A-Z')
    folder=$scratch/$name
    "$xformc" compile -q "$spec" --dtype $dtype --slots 3 -o "$folder" && make -s -C "$folder" "lib$name.a" &&
        cc -std=c11 -O1 -Wall -Wextra -Werror -I"$folder" -I"$folder/runtime" -DMODEL="$name" -DHEADER="\"$name.h\"" -DVOCAB="${upper}_VOCAB" \
            -DSTRIDE="${upper}_LOGITS_STRIDE" -DSCORES="$(scores "$folder/$name.h")" \
            -o "$folder/rows" tests/rows/programs/rows.c "$folder/lib$name.a" -lm -pthread
    verdict $? "$name, $dtype: builds"
    "$folder/rows" "$folder/$name.safetensors" "$scratch/state" | sed "s/ok /ok $name, $dtype: /"
done

# ---- programs ------------------------------------------------------------------------------------

dates=$scratch/dates
"$xformc" build specs/dates.lua --dtype int8 -q -o "$dates"
verdict $? 'a program is built'
[ "$("$dates/dates" '3rd of May 2019')" = 2019-05-03 ] && "$dates/dates" --check >/dev/null && "$dates/dates" --selftest >/dev/null
verdict $? 'it answers, its weights are intact, and it computes what was packed'
[ "$("$xformc" run specs/dates.lua --dtype int8 '3rd of May 2019')" = 2019-05-03 ] &&
    [ "$("$xformc" run specs/dates.lua --dtype int8 --engine generic '3rd of May 2019')" = 2019-05-03 ]
verdict $? 'so do jit and generic'
head -c 4000 "$dates/dates.safetensors" | grep -aq '"encoder.0.ffn.up.weight":{"dtype":"U8","shape":\[16,1152\]'
verdict $? 'the packed file says U8 and how many'
head -c 4000 "$dates/dates.safetensors" | grep -aq '"encoder.0.norm.0.gain":{"dtype":"F32"'
verdict $? 'norms stay F32'
"$xformc" pack specs/dates.lua --dtype int8 -q -o "$scratch/again" && cmp "$scratch/again" "$dates/dates.safetensors"
verdict $? 'pack writes the same file'
"$xformc" pack specs/dates.lua -q -o "$scratch/f32" && ! "$dates/dates" --weights "$scratch/f32" x >/dev/null 2>"$scratch/err" &&
    grep -q 'not the weights that this model was compiled for' "$scratch/err"
verdict $? 'weights of another dtype are refused'
cp "$dates/dates.safetensors" "$scratch/changed" && printf '\377' | dd of="$scratch/changed" bs=1 seek=200000 conv=notrunc 2>/dev/null
"$dates/dates" --weights "$scratch/changed" --check >/dev/null 2>&1
[ $? = 65 ]
verdict $? 'a changed byte is found'
"$xformc" build specs/dates.lua --dtype int8 --weights literal -q -o "$scratch/literal" && grep -q 'unsigned char encoder_0_ffn_up_weight\[18432\]' "$scratch/literal/dates_weights.c" &&
    [ "$("$scratch/literal/dates" '3rd of May 2019')" = 2019-05-03 ]
verdict $? 'weights as C text'
sed 's/"dates",/"dates", dtype = "int8",/; s#"dates/dates#"'"$PWD"'/specs/dates/dates#' specs/dates.lua >"$scratch/dates.lua"
"$xformc" pack "$scratch/dates.lua" -q -o "$scratch/by_spec" && cmp "$scratch/by_spec" "$dates/dates.safetensors" &&
    "$xformc" pack "$scratch/dates.lua" --dtype f32 -q -o "$scratch/by_option" && cmp "$scratch/by_option" "$scratch/f32"
verdict $? 'dtype in a spec means the same as the option, which overrides it'

"$xformc" compile specs/dates.lua --dtype bf16 -q -o "$scratch/halves" && size=$(wc -c <"$scratch/halves/dates.safetensors") && [ "$size" -lt 560000 ] &&
    head -c 4000 "$scratch/halves/dates.safetensors" | grep -aq '"encoder.0.ffn.up.weight":{"dtype":"BF16","shape":\[16,33,32\]' &&
    head -c 4000 "$scratch/halves/dates.safetensors" | grep -aq '"encoder.0.norm.0.gain":{"dtype":"F32"'
verdict $? 'bf16: the packed file says so, and is half as large'
[ "$("$xformc" run specs/dates.lua --dtype bf16 '3rd of May 2019')" = 2019-05-03 ] &&
    [ "$("$xformc" run specs/dates.lua --dtype bf16 --engine generic '3rd of May 2019')" = 2019-05-03 ]
verdict $? 'bf16 answers, by jit and generic'
# A tied table is packed once: the embedding reads its rows from the panels.
"$xformc" compile tests/specs/modern_decoder.lua --dtype int8 -q -o "$scratch/tied" -d p 2>&1 | grep -c 'decoder.embed.table.*panels-int8' | grep -qx 1
verdict $? 'a tied table is packed once'

# ---- by tensor -----------------------------------------------------------------------------------

# spec DTYPE: specs/dates.lua with that dtype.
spec() { sed "s/\"dates\",/\"dates\", dtype = $1,/"'; s#"dates/dates#"'"$PWD"'/specs/dates/dates#' specs/dates.lua >"$scratch/mixed.lua"; }
spec '{ default = "int8", ["*.ffn"] = "int4", ["decoder.1.ffn.down"] = "bf16", ["decoder.0.self_attn.k"] = "bf16", ["output"] = "f32", ["encoder.embed"] = "f32" }'
"$xformc" verify "$scratch/mixed.lua" --engine jit >"$scratch/out" 2>&1 && [ "$("$xformc" run "$scratch/mixed.lua" '3rd of May 2019')" = 2019-05-03 ]
verdict $? 'four dtypes in one model: jit as generic, and it answers'
tail -n 1 "$scratch/out"
"$xformc" info "$scratch/mixed.lua" --json >"$scratch/out" && grep -q '"name":"output.weight","where":"panels-f32"' "$scratch/out" &&
    grep -q '"name":"encoder.{}.ffn.up.weight","where":"panels-int4, 2 layers"' "$scratch/out" && grep -q '"name":"encoder.embed.table","where":"table-f32"' "$scratch/out" &&
    grep -q '"name":"decoder.1.ffn.down.weight","where":"panels-bf16"' "$scratch/out" && grep -q '"name":"decoder.0.ffn.down.weight","where":"panels-int4"' "$scratch/out" &&
    grep -q '"name":"decoder.0.self_attn.k.weight","where":"panels-bf16"' "$scratch/out" && grep -q '"name":"decoder.0.self_attn.q.weight","where":"panels-int8"' "$scratch/out" &&
    "$xformc" info "$scratch/mixed.lua" | grep -q '^  bf16 .* 2 matrices$' && "$xformc" info "$scratch/mixed.lua" --lua | grep -qF '["decoder.1.ffn.down"] = "bf16"'
verdict $? 'info says what each is packed as'
"$xformc" compile "$scratch/mixed.lua" -q -o "$scratch/mixed" && grep -q "^ [*] Weights: [0-9]* parameters as f32, bf16, int8 and int4, [0-9]* bytes," "$scratch/mixed/dates.c"
verdict $? 'so does the emitted text'
# Without biases, it explains the order of the weights of each dtype.
# panels OPTION...: that comment in the text of the story.
panels() {
    "$xformc" compile "$@" -q -o "$scratch/story" || return
    awk '/^\/\* Linears are panels/ { on = 1 } on { sub(/^ \* /, ""); printf "%s%s", n++ ? " " : "", $0 } /\*\/$/ { on = 0 }' "$scratch/story/story.c"
}
sed 's/"story",/"story", dtype = { ["*.ffn"] = "bf16" },/' specs/story.lua >"$scratch/mixed_story.lua"
begin='/* Linears are panels of sixteen outputs:' f32='W[out][in] is [out / 16][in][out % 16]' bf16='[out / 16][in / 2][out % 16][in % 2]'
same "$begin $f32. */" "$(panels specs/story.lua)"
verdict $? 'it explains panels of f32'
same "$begin in bf16, W[out][in] is $bf16. */" "$(panels specs/story.lua --dtype bf16)"
verdict $? 'of bf16'
same "$begin in f32, $f32, in bf16 $bf16. */" "$(panels "$scratch/mixed_story.lua")"
verdict $? 'and of both'
"$xformc" pack "$scratch/mixed.lua" --dtype f32 -q -o "$scratch/option" && cmp "$scratch/option" "$scratch/f32"
verdict $? '--dtype overrides all patterns'
# The content hash and the tensors do not depend on how the dtype was given: as default and option,
# or as patterns only.
spec '{ default = "int8", ["*.ffn.up"] = "int4" }'
"$xformc" pack "$scratch/mixed.lua" -q -o "$scratch/by_pattern" && "$xformc" pack specs/dates.lua --dtype int4 -q -o "$scratch/by_word" &&
    cmp "$scratch/by_pattern" "$scratch/by_word"
verdict $? 'patterns that say what int4 says pack the same file'
spec '{ ["*"] = "bf16" }'
"$xformc" pack "$scratch/mixed.lua" -q -o "$scratch/by_pattern" && "$xformc" pack specs/dates.lua --dtype bf16 -q -o "$scratch/by_word" &&
    cmp "$scratch/by_pattern" "$scratch/by_word"
verdict $? 'and so does one for all'
spec "{ [\"$(printf '%070d' 0 | tr 0 '*')\"] = \"bf16\" }"
"$xformc" pack "$scratch/mixed.lua" -q -o "$scratch/by_pattern" && cmp "$scratch/by_pattern" "$scratch/by_word"
verdict $? 'a pattern of 70 characters'
spec '{ ["encodr.*.ffn"] = "int4" }'
fails 'a pattern without a matrix' 65 'mixed.lua:4:30: error: dtype: no linear or embedding matches "encodr.*.ffn"' "$xformc" info "$scratch/mixed.lua"
spec '{ ["encoder.position"] = "int8" }'
fails 'a pattern of a table that is not a matrix' 65 'no linear or embedding matches "encoder.position"' "$xformc" info "$scratch/mixed.lua"
spec '{ ["encoder.*.up"] = "int8", ["encoder.*.ff*"] = "int4" }'
fails 'two patterns, none closer' 65 'dtype: "encoder.*.up" and "encoder.*.ff*" both match encoder.0.ffn.up.weight, and neither is more specific' \
    "$xformc" info "$scratch/mixed.lua"
spec '{ ["encoder.0"] = "int9" }'
fails 'an unknown word' 65 'error: dtype["encoder.0"] cannot be "int9"; the choices are' "$xformc" info "$scratch/mixed.lua"

# ---- the prompt, bench ---------------------------------------------------------------------------

cat >"$scratch/look.lua" <<'END'
local spec = xf.spec("specs/dates.lua")
local m = xf.compile(spec, { dtype = "int8", tier = "jit" })
local n = xf.compile(spec{ dtype = "int8" }, { tier = "jit" })
local w = m:weight("encoder.0.ffn.up.weight")
print(m("3rd of May 2019"), n("3rd of May 2019"))
m:set("encoder.0.ffn.up.weight", w)
print(tostring(m:weight("encoder.0.ffn.up.weight")) == tostring(w))
local b = xf.compile(spec, { dtype = "bf16", tier = "jit" })
local name, rounded = "encoder.0.ffn.up.weight", b:weight("encoder.0.ffn.up.weight")
print(b:weight(name):max(), n:weight("encoder.0.ffn.up.bias"):max() == b:weight("encoder.0.ffn.up.bias"):max())
b:set(name, rounded)
print(tostring(b:weight(name)) == tostring(rounded), b("3rd of May 2019"))
print(pcall(xf.compile, spec, { dtype = "int9" }))
END
"$xformc" lua "$scratch/look.lua" >"$scratch/out" 2>&1
printf '2019-05-03\t2019-05-03\ntrue\n0.474609375\ttrue\ntrue\t2019-05-03\nfalse\tdtype: expected f32, bf16, int8, int4 or file, found int9\n' | diff - "$scratch/out"
verdict $? 'at the prompt: by option and by spec, weights out and in, an unknown one'
"$xformc" bench specs/dates.lua --dtype int8 --engine jit -t 1 -r 1 --seconds 0.05 --json 2>/dev/null | grep -q '"dtype":"int8"'
verdict $? 'bench says the dtype'
[ "$("$xformc" run specs/dates.lua --dtype int4 '3rd of May 2019')" = 2019-05-03 ] &&
    "$xformc" compile specs/dates.lua --dtype int4 -q -o "$scratch/int4" && [ "$(wc -c <"$scratch/int4/dates.safetensors")" -lt 270000 ]
verdict $? 'four bits answer too, in fewer bytes'

# ---- cost in accuracy ----------------------------------------------------------------------------

# at_most NAME LIMIT COMMAND...: the last line of `verify` reports a loss of at most LIMIT points or
# per cent.
at_most() {
    name=$1 limit=$2
    shift 2
    "$@" >"$scratch/out" 2>&1 && tail -n 1 "$scratch/out" | tee -a "$scratch/costs" | awk -v limit="$limit" '
        /^accuracy: / { lost = -$(NF - 1) } /^perplexity / { lost = substr($(NF - 1), 2) + 0 } { print }
        END { exit !(lost != "" && lost <= limit) }'
    verdict $? "$name"
}
for model in dates sums brackets; do
    at_most "$model: bf16 loses nothing" 0 \
        "$xformc" verify specs/$model.lua --dtype bf16 --engine jit --task specs/$model/heldout.tsv
    at_most "$model: int8 loses at most 0.2 points of right answers" 0.2 \
        "$xformc" verify specs/$model.lua --dtype int8 --engine jit --task specs/$model/heldout.tsv
    at_most "$model: int4 loses at most 1 point" 1 "$xformc" verify specs/$model.lua --dtype int4 --engine jit --task specs/$model/heldout.tsv
done
# The rows of docs/quantization.md: correct answers with f32, bf16, int8, int4, and bytes of
# weights.
for model in dates sums brackets; do
    for dtype in f32 bf16 int8 int4; do
        "$xformc" info specs/$model.lua --dtype $dtype | sed -n 's/^weights, bytes *\([0-9,]*\) .*/\1/p'
    done | paste -sd' ' | sed "s/^/\`$model\`, bytes of weights | /; s/\([0-9]\) /\1 | /g"
done >"$scratch/bytes"
[ "$(grep -c . "$scratch/bytes")" = 3 ] && ! sed 's/^/| /; s/$/ |/' "$scratch/bytes" | grep -vxFf docs/quantization.md
verdict $? 'docs/quantization.md: bytes of weights'
awk '/^accuracy/ { f32 = $9; of = $5; right = right " | " $3 }
    $2 == "int4" { print "| `" model[++n] "`, correct out of " of " | " f32 right " |"; right = "" }
    BEGIN { split("dates sums brackets", model) }' "$scratch/costs" |
    sed ':again; s/\([0-9]\)\([0-9][0-9][0-9]\) /\1,\2 /; t again' >"$scratch/right"
[ "$(grep -c . "$scratch/right")" = 3 ] && ! grep -vxFf docs/quantization.md "$scratch/right"
verdict $? 'docs/quantization.md: correct answers'
stories=${XFORMC_TEST_DATA:-/nonexistent}/stories260K
if [ -d "$stories" ]; then
    for seed in 1 2 3 4 5 6 7 8; do
        "$xformc" run "$stories/stories260K.bin" --tokenizer "$stories/tok512.bin" --temp 1 -s $seed -n 256 'Once upon a time'
    done >"$scratch/stories"
    at_most 'stories260K: the perplexity of what it tells grows by at most 0.5 % with int8' 0.5 "$xformc" verify "$stories/stories260K.bin" \
        --tokenizer "$stories/tok512.bin" --dtype int8 --engine jit --perplexity "$scratch/stories"
    at_most 'stories260K: by at most 0.1 % with bf16' 0.1 "$xformc" verify "$stories/stories260K.bin" \
        --tokenizer "$stories/tok512.bin" --dtype bf16 --engine jit --perplexity "$scratch/stories"
    at_most 'stories260K: by at most 5 % with int4' 5 "$xformc" verify "$stories/stories260K.bin" \
        --tokenizer "$stories/tok512.bin" --dtype int4 --engine jit --perplexity "$scratch/stories"
    "$xformc" run "$stories/stories260K.bin" --tokenizer "$stories/tok512.bin" --dtype int8 --temp 0 -n 40 'Once upon a time' >"$scratch/out" &&
        [ "$(head -c 90 "$scratch/out")" = "$(head -c 90 "$stories/expected_greedy_200.txt")" ]
    verdict $? 'stories260K: int8 begins the same story'
else
    echo 'skip stories260K (no XFORMC_TEST_DATA)'
fi
printf 'once\tLABEL_0\n' >"$scratch/labels"
"$xformc" verify tests/vectors/cross_bert --dtype int8 --engine jit --task "$scratch/labels" >"$scratch/out" 2>&1
! grep 'kv-dtype' "$scratch/out"
verdict $? 'the task of an encoder is measured without a note about --kv-dtype'
"$xformc" verify specs/sums.lua --dtype int8 --engine jit --task specs/sums/heldout.tsv --json 2>&1 | tr -d '\n' |
    grep -q '"accuracy": \[{"dtype": "int8", "right": [0-9]*, "texts": 2000}, {"dtype": "f32", "right": 2000, "texts": 2000}\]}$'
verdict $? 'verify --json has the accuracy of both'
printf 'no tab\n' >"$scratch/bad"
fails 'a task without answers' 65 'bad:1: error: expected a text and its answer, separated by a tab' "$xformc" verify specs/dates.lua --engine jit --task "$scratch/bad"
fails 'a task of an xf.graph' 2 'error: --task: self_attention does not read text' "$xformc" verify specs/self_attention.lua --engine jit --task "$scratch/bad"
fails 'the perplexity of an encoder-decoder' 2 'error: --perplexity: dates is not a decoder-only model with a subword tokenizer' \
    "$xformc" verify specs/dates.lua --engine jit --perplexity "$scratch/bad"
fails 'no such file' 66 'none' "$xformc" verify specs/dates.lua --engine jit --task "$scratch/none"

# ---- f16 and int8 keys and values ----------------------------------------------------------------

# Self-attention, cross-attention, ring buffers, a graph's caches, grouped and rotary keys:
# bit-identical, and compared with PyTorch.
quick_cc "$scratch/cc"
for kv in f16 int8; do
    for spec in tests/goldens/hf_t5_gated tests/goldens/hf_llama tests/goldens/window tests/goldens/post_layer; do
        "$xformc" verify $spec.lua --kv-dtype $kv --engine jit >"$scratch/out" 2>&1 &&
            "$xformc" verify $spec.lua --kv-dtype $kv --engine jit --against $spec.ref.safetensors >>"$scratch/out" 2>&1
        verdict $? "$(basename $spec), keys and values of $kv: jit as generic, and as PyTorch within what rounding may do"
        grep '^verify:' "$scratch/out"
    done
    "$xformc" verify tests/ops/steps.lua --allow-c --kv-dtype $kv --engine jit >"$scratch/out" 2>&1
    verdict $? "caches of a graph, of $kv: jit as generic"
    for spec in window hf_llama post_layer; do
        "$xformc" verify tests/goldens/$spec.lua --kv-dtype $kv --cc "$scratch/cc" >"$scratch/out" 2>&1 &&
            grep -q 'native (.*unrolled)' "$scratch/out" && grep -q 'native (.*)  *jit  *0  *0  *ok' "$scratch/out"
        verdict $? "$spec, $kv: native code to the bit, its unrolled form within what rounding may do"
        tail -n 1 "$scratch/out"
    done
    for engine in jit generic; do
        [ "$("$xformc" run specs/sums.lua --engine $engine --kv-dtype $kv --beam 3 '86+369=')" = '86+369=455' ]
        verdict $? "$engine: a search over caches of $kv"
    done
    "$xformc" pack specs/dates.lua --kv-dtype $kv -q -o "$scratch/half" && cmp -s "$scratch/half" "$scratch/f32"
    [ $? = 1 ] && ! "$dates/dates" --weights "$scratch/half" x >/dev/null 2>&1
    verdict $? "weights are packed for one kind of cache, not for $kv: the self-test says what it computes"
    "$xformc" bench specs/gpt.lua --kv-dtype $kv --engine jit -t 1 -r 1 --seconds 0.05 --json 2>/dev/null |
        grep -q "\"type_k\":\"$kv\",\"type_v\":\"$kv\""
    verdict $? "bench says $kv as llama-bench does"
    at_most "sums: caches of $kv lose no right answer" 0 "$xformc" verify specs/sums.lua --kv-dtype $kv --engine jit --task specs/sums/heldout.tsv
    at_most "dates: caches of $kv lose no right answer" 0 "$xformc" verify specs/dates.lua --kv-dtype $kv --engine jit --task specs/dates/heldout.tsv
done
# A cache without layers, whose size is not a multiple of 64 bytes, at the end of a slot.
sed 's/{ 20, 8 }/{ 20, 5 }/g; s/{ 1, 8 }, { .* })$/{ 1, 5 }, { 1, 0, -1, 2, 1 })/; s/{ 8, 8 }/{ 5, 5 }/; s/heads = 2/heads = 1/; s/g.rotary(\(project([^)]*)\), options)/\1/' \
    tests/ops/steps.lua >"$scratch/odd.lua"
for kv in f16 int8; do
    "$xformc" verify "$scratch/odd.lua" --allow-c --kv-dtype $kv --engine jit >"$scratch/out" 2>&1
    verdict $? "caches of a graph of odd sizes, $kv"
    tail -n 1 "$scratch/out"
done
# Neither an encoder nor this graph has a cache, so --kv-dtype changes nothing.
for spec in encoder self_attention; do
    for kv in f32 int8; do "$xformc" compile specs/$spec.lua --kv-dtype $kv -q -o "$scratch/${spec}_$kv" 2>/dev/null; done
    diff -r "$scratch/${spec}_f32" "$scratch/${spec}_int8" >"$scratch/out"
    verdict $? "$spec is the same with every --kv-dtype"
    head -n 5 "$scratch/out"
done
slot() { "$xformc" info "$@" | awk '$1 == 1 && $2 == "slot" { gsub(",", "", $3); print $3 }'; }
# 4 layers of 4 heads, 128 positions: a key and a value of 32 numbers, with a scale each in int8.
[ "$(slot specs/gpt.lua --kv-dtype f16)" = 262144 ] && [ "$(slot specs/gpt.lua)" = 524288 ] && [ "$(slot specs/gpt.lua --kv-dtype int8)" = 147456 ]
verdict $? 'a slot has half the bytes, or a quarter and the scales'
cat >"$scratch/look.lua" <<'END'
local spec = xf.spec("specs/sums.lua")
for kv, word in pairs({ f16 = "rt_f16", int8 = "int8_t" }) do
  local m, n = xf.compile(spec, { kv_dtype = kv, tier = "jit" }), xf.compile(spec{ kv_dtype = kv }, { tier = "jit" })
  for _, model in ipairs({ m, n, xf.compile(spec, { tier = "jit" }) }) do
    print(model("86+369="), tostring(model:code("decoder_layer")):find(word) ~= nil)
  end
end
print(pcall(xf.compile, spec, { kv_dtype = "f17" }))
END
"$xformc" lua "$scratch/look.lua" >"$scratch/out" 2>&1
kinds='86+369=455\ttrue\n86+369=455\ttrue\n86+369=455\tfalse\n'
printf "$kinds${kinds}false\tkv_dtype: expected f32, f16 or int8, found f17\n" | diff - "$scratch/out"
verdict $? 'at the prompt: by option and by spec, an unknown one'
no_cache() { "$xformc" info "$@" 2>&1 >"$scratch/out" | grep -q "note: $word: the model has no KV cache" && ! grep -q 'KV cache, as' "$scratch/out"; }
sed '$s/^end)$/end, { kv_dtype = "int8" })/' specs/self_attention.lua >"$scratch/no_cache.lua"
word='--kv-dtype has no effect'
no_cache specs/encoder.lua --kv-dtype f16 && no_cache specs/self_attention.lua --kv-dtype int8 && word='kv_dtype has no effect' && no_cache "$scratch/no_cache.lua"
verdict $? 'an encoder or a graph has no cache: a note'
cat "$scratch/out"
if [ -d "$stories" ]; then
    for kv in 'f16 0.05' 'int8 0.5'; do
        at_most "stories260K: perplexity grows by at most ${kv#* } % with caches of ${kv% *}" "${kv#* }" "$xformc" verify "$stories/stories260K.bin" \
            --tokenizer "$stories/tok512.bin" --kv-dtype "${kv% *}" --engine jit --perplexity "$scratch/stories"
    done
fi
# A key beyond 65504 saturates as f16, and a note says so once. Without one there is no note.
cp -r tests/families/llama "$scratch/cut_keys"
file=$scratch/cut_keys/model.safetensors
header=$(od -An -tu8 -N8 "$file" | tr -d ' ')
first=$(head -c $((8 + header)) "$file" | tail -c "$header" | sed 's/.*"model.layers.1.self_attn.k_proj.weight":{[^}]*"data_offsets":\[\([0-9]*\),.*/\1/')
printf '\050\153\156\116' | dd of="$file" bs=1 seek=$((8 + header + first)) conv=notrunc 2>/dev/null       # 1e9
"$xformc" build "$scratch/cut_keys" --kv-dtype f16 -q --cc "$scratch/cc" -o "$scratch/cut_program" 2>"$scratch/err"
verdict $? 'caches of f16 that saturate: a program'
cat "$scratch/err"
for engine in generic jit program; do
    who="$xformc run $scratch/cut_keys --kv-dtype f16 --engine $engine"
    [ $engine = program ] && who="$scratch/cut_program/cut_keys"
    for options in '' '--temp 1' '--json'; do
        printf '5 9 33\n5 9\n' | $who --ids -n 3 $options >"$scratch/out" 2>"$scratch/err"
        [ $? = 0 ] && [ "$(cat "$scratch/err")" = 'cut_keys: note: keys or values were clamped to 65504, the largest f16; use an f32 KV cache' ]
        verdict $? "caches of f16 that saturate: $engine $options"
        cat "$scratch/err"
    done
done
"$xformc" run "$scratch/cut_keys" --ids -n 3 '5 9 33' >"$scratch/out" 2>"$scratch/err" &&
    "$xformc" run tests/families/llama --kv-dtype f16 --ids -n 3 '5 9 33' >>"$scratch/out" 2>>"$scratch/err" && [ ! -s "$scratch/err" ]
verdict $? 'caches of f32, and of f16 that hold all values: no note'
cat "$scratch/err"
# int8 keys and values have their own scales, so none is too large.
for engine in generic jit; do
    printf '5 9 33\n5 9\n' | "$xformc" run "$scratch/cut_keys" --kv-dtype int8 --engine $engine --ids -n 3 >"$scratch/out" 2>"$scratch/err" &&
        [ ! -s "$scratch/err" ] && [ "$(wc -l <"$scratch/out")" -eq 2 ]
    verdict $? "caches of int8 do not saturate: $engine"
    cat "$scratch/err"
done
echo "m = xf.compile('$scratch/cut_keys', { kv_dtype = 'f16' }) m('5 9 33')" >"$scratch/saturated.lua"
"$xformc" lua "$scratch/saturated.lua" 2>&1 | grep -q 'cut_keys: keys or values were clamped to 65504'
verdict $? 'caches of f16 that saturate: at the prompt'
"$xformc" lua "$scratch/saturated.lua"
fails 'an unknown kv-dtype' 2 "--kv-dtype f15: expected f32, f16 or int8; did you mean 'f16'?" "$xformc" run specs/dates.lua --kv-dtype f15 x

# ---- rejected ------------------------------------------------------------------------------------

fails 'an unknown dtype' 2 "--dtype int9: expected f32, bf16, int8, int4 or file; did you mean 'int8'?" "$xformc" run specs/dates.lua --dtype int9 x
fails 'unrolled kernels' 69 'error: --kernels unrolled supports only f32 weights, and the dtype is int8; use --kernels library, or --dtype f32' \
    "$xformc" compile specs/dates.lua --dtype int8 --kernels unrolled -o "$scratch/unrolled"
[ ! -e "$scratch/unrolled" ]
verdict $? 'of what is refused nothing is written'
