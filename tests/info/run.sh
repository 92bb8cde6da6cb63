#!/bin/sh
# tags: slow noasan
# `xformc info`: counts of parameters, FLOPs and bytes against numbers computed by hand, limits,
# pictures, a spec without its weights, code size, stack use with gcc and clang.
# usage: run.sh XFORMC
#
# `info` reads no weights, so most cases are quick. Those of --code and of the stack compile models.
set -u
. tests/lib.sh

# check NAME COMMAND…: the command must succeed; its output is shown if it fails.
check() {
    name=$1
    shift
    if "$@" >"$scratch/said" 2>&1; then echo "ok $name"; else not_ok "$name"; sed 's/^/    /' "$scratch/said"; fi
}

# exits CODE COMMAND…: the command must exit with CODE; its output goes to out and err.
exits() {
    code=$1
    shift
    "$@" >"$scratch/out" 2>"$scratch/err"
    is=$?
    [ "$is" = "$code" ] || { echo "exit $is, expected $code"; cat "$scratch/out" "$scratch/err"; return 1; }
}

says() { exits 0 "$@" && grep -qF -- "$text" "$scratch/out" || { echo "'$text' is missing from:"; cat "$scratch/out"; return 1; }; }

# ---- numbers -------------------------------------------------------------------------------------

text="44,157,451"
heads() {
    for spec in dates gpt encoder self_attention; do "$xformc" info specs/$spec.lua | head -n 1; done >"$scratch/heads"
    diff - "$scratch/heads" <<'END'
dates: encoder of 2 layers, decoder of 2 layers, width 64, source up to 80, target up to 12
gpt: decoder of 4 layers, width 128, target up to 128
encoder: encoder of 4 layers, width 128, source up to 128
self_attention: graph
END
}
check "the first line says each stack once" heads
check "the base model has 44,157,451 parameters" says "$xformc" info specs/base.lua
"$xformc" info tests/families/t5 2>"$scratch/err" | grep -Eq '^parameters +30,288$'
verdict $? 'embeddings that an encoder and a decoder share are counted once'

cat >"$scratch/get.awk" <<'END'
# A flat list `path value` of a JSON text. No escapes but \" within strings.
function skip() { while (substr(s, i, 1) ~ /[ \t\n]/) i++ }
function text_of(    from) { from = ++i; while (substr(s, i, 1) != "\"") i += substr(s, i, 1) == "\\" ? 2 : 1; return substr(s, from, i++ - from) }
function value(path,    c, n, key, from) {
    skip(); c = substr(s, i, 1)
    if (c == "{") {
        i++; skip()
        while (substr(s, i, 1) != "}") {
            skip(); if (substr(s, i, 1) != "\"") bad()
            key = text_of(); skip(); if (substr(s, i, 1) != ":") bad()
            i++; value(path (path == "" ? "" : ".") key); skip(); if (substr(s, i, 1) == ",") i++
        }
        i++
    } else if (c == "[") {
        i++; skip(); n = 0
        while (substr(s, i, 1) != "]") { value(path "." n++); skip(); if (substr(s, i, 1) == ",") i++ }
        i++; print path ".count", n
    } else if (c == "\"") print path, text_of()
    else if (match(substr(s, i), /^(-?[0-9.e+-]+|true|false|null)/)) { from = i; i += RLENGTH; print path, substr(s, from, RLENGTH) }
    else bad()
}
function bad() { print "broken JSON at", i, substr(s, i, 20); exit 1 }
{ s = s $0 "\n" }
END { i = 1; value(""); skip(); if (i <= length(s)) bad() }
END

# json SPEC OPTION…: list its values in $scratch/json.
json() { exits 0 "$xformc" info "$@" --json && awk -f "$scratch/get.awk" "$scratch/out" >"$scratch/json" || { cat "$scratch/json"; return 1; }; }
get() { awk -v p="$1" '$1 == p { sub(/^[^ ]* /, ""); print }' "$scratch/json"; }
holds() { [ "$(get "$1")" = "$2" ] || { echo "$1 is '$(get "$1")', expected '$2'"; return 1; }; }

keys() {
    json specs/dates.lua --target cortex-m33 || return 1
    for key in name kind parameters position weights.bytes weights.data_bytes weights.missing state.bytes state.header_bytes state.slots \
        state.slot_bytes state.scratch_bytes state.tap_bytes stack_bytes code programs.0.name programs.0.tokens programs.0.keys \
        programs.0.memory_keys programs.0.flops programs.0.weight_bytes programs.0.flops_per_token programs.0.weight_bytes_per_token \
        programs.0.blocks.0.name programs.0.blocks.0.first_layer programs.0.blocks.0.layers programs.0.blocks.0.flops \
        programs.0.blocks.0.weight_bytes buffers.0.name buffers.0.where buffers.0.bytes target.name target.ram target.flash \
        target.ram_needed target.flash_needed target.fits; do
        [ -n "$(get $key)" ] || { echo "no key $key"; return 1; }
    done
    holds programs.count 2 && holds programs.0.name encode && holds programs.1.name step && holds code null && holds weights.missing false
}
check "the JSON has its documented keys" keys

sums() {
    json specs/dates.lua --slots 3 || return 1
    holds state.slots 3 || return 1
    parts=$(($(get state.header_bytes) + 3 * $(get state.slot_bytes) + $(get state.scratch_bytes) + $(get state.tap_bytes)))
    holds state.bytes $parts || return 1
    for p in 0 1; do
        n=$(get programs.$p.blocks.count) k=0 flops=0
        while [ $k -lt "$n" ]; do
            layers=$(get programs.$p.blocks.$k.layers)
            [ "$layers" = 0 ] && layers=1
            flops=$((flops + layers * $(get programs.$p.blocks.$k.flops)))
            k=$((k + 1))
        done
        holds programs.$p.flops $flops || return 1
    done
}
check "parts add up to wholes" sums

# Three words, X [3, 4]; Q, K, V by [4, 3] each: 3 * 3 rows * 2 * 4 * 3 = 216.
# Attention: 3 rows * 3 keys * 2 * (3 + 3) = 108.
check "FLOPs of the small attention are 216 + 108" sh -c "'$xformc' info specs/self_attention.lua --json | grep -q '\"flops\":324,'"

# One layer, d 4, one head, d_ff 8, vocabulary 5, no biases, root-mean-square norms, no positions.
# FLOPs by hand:
#   embedding 4; norms 3 * 8 * 4 = 96; q k v out 4 * 2 * 4 * 4 = 128;
#   feed-forward 2 * 2 * 4 * 8 = 128, relu 8; residuals 2 * 4 = 8; logits 2 * 4 * 5 = 40;
#   attention 2 * (4 + 4) = 16 for each key. Position 0: 412 + 16, position 9: 412 + 160.
# Weights read, in floats: embedding 16 (one row, padded); norms 3 * 16;
#   q k v out 4 * 64 (4 outputs padded to 16); up 64, down 128, logits 64: 576, or 2304 bytes.
cat >"$scratch/hand.lua" <<'END'
return xf.model {
  name = "hand", kind = "decoder", layers = 1, heads = 1, d_model = 4, d_ff = 8, vocab = 5, max_len = 10,
  norm = "rms", position = "none", activation = "relu", qkv_bias = false, out_bias = false, ffn_bias = false, output_bias = false,
  log_softmax = false, weights = "nowhere/hand.safetensors",
}
END
by_hand() {
    json "$scratch/hand.lua" --position 0 || return 1
    holds programs.0.flops $((412 + 16)) && holds programs.0.weight_bytes 2304 && holds programs.0.keys 1 || return 1
    json "$scratch/hand.lua" --position 9 || return 1
    holds programs.0.flops $((412 + 160)) && holds programs.0.keys 10 || return 1
    json "$scratch/hand.lua" || return 1
    holds programs.0.flops $((412 + 160)) && holds position 9
}
check "FLOPs and bytes of a model counted by hand, at each position" by_hand

# ---- without weights -----------------------------------------------------------------------------

without_weights() {
    json "$scratch/hand.lua" && holds weights.missing true && holds parameters $((5 * 4 + 3 * 4 + 4 * 16 + 2 * 32 + 5 * 4)) || return 1
    text="is missing"
    says "$xformc" info "$scratch/hand.lua"
}
check "info without the file of weights" without_weights
check "the other commands want it" exits 66 "$xformc" verify "$scratch/hand.lua"

same_without() {
    cp -r specs/dates specs/dates.lua "$scratch"
    json "$scratch/dates.lua" && cp "$scratch/out" "$scratch/with" || return 1
    rm "$scratch/dates/dates.safetensors"
    json "$scratch/dates.lua" && sed 's/"missing":true/"missing":false/' "$scratch/out" | cmp - "$scratch/with"
}
check "the same numbers with and without it" same_without

# ---- limits --------------------------------------------------------------------------------------

# The largest buffers come first, in order.
too_little_ram() {
    exits 1 "$xformc" info specs/dates.lua --max-ram 256K || return 1
    grep -q "bytes of RAM, but the target has 262,144" "$scratch/err" || { cat "$scratch/err"; return 1; }
    grep -E '^ +[0-9,]+  ' "$scratch/err" | tr -d ',' | awk '{ print $1, $2 }' >"$scratch/told"
    json specs/dates.lua || return 1
    first="$(get buffers.0.bytes) $(get buffers.0.name)"
    [ "$(head -1 "$scratch/told")" = "$first" ] || { echo "first is not $first:"; cat "$scratch/told"; return 1; }
    sort -s -rn "$scratch/told" | cmp - "$scratch/told" && [ "$(wc -l <"$scratch/told")" -ge 5 ]
}
check "too little RAM ends with 1 and names the largest buffers" too_little_ram
too_little_flash() {
    exits 1 "$xformc" info specs/dates.lua --max-flash 500K || return 1
    grep -q "bytes of flash, but the target has 512,000" "$scratch/err" && grep -q "ffn.up.weight" "$scratch/err" || { cat "$scratch/err"; return 1; }
}
check "too little flash ends with 1 and names the largest weights" too_little_flash
check "a known target that is too small" exits 1 "$xformc" info specs/dates.lua --target cortex-m4
check "what is enough is enough" exits 0 "$xformc" info specs/dates.lua --max-ram 1M --max-flash 2M --target cortex-m4
exactly() {
    json specs/dates.lua --max-ram 1 2>/dev/null
    exits 1 "$xformc" info specs/dates.lua --max-ram 1 --json
    awk -f "$scratch/get.awk" "$scratch/out" >"$scratch/json"
    needed=$(get target.ram_needed)
    holds target.fits false && exits 0 "$xformc" info specs/dates.lua --max-ram "$needed" || return 1
    exits 1 "$xformc" info specs/dates.lua --max-ram $((needed - 1))
}
check "the limit is exact" exactly
unknown_target() { exits 2 "$xformc" info specs/dates.lua --target cortex-m5 && grep -q "did you mean" "$scratch/err"; }
check "an unknown target is reported with the known ones" unknown_target
for bad in 0 x 12Q 1MM -1 99999999999G 18014398509481985K; do
    check "--max-ram $bad is refused" exits 2 "$xformc" info specs/dates.lua --max-ram=$bad
done
check "a position past the last is refused" exits 2 "$xformc" info specs/dates.lua --position 12

# ---- pictures ------------------------------------------------------------------------------------

well_formed() {
    if command -v xmllint >/dev/null; then xmllint --noout "$1"
    else
        # Without xmllint: every tag that is opened is closed.
        awk '{ s = s $0 } END { while (match(s, /<[^>]*>/)) { t = substr(s, RSTART, RLENGTH); s = substr(s, RSTART + RLENGTH)
            if (t ~ /^<\//) { sub(/^<\//, "", t); sub(/>/, "", t); if (stack[d--] != t) exit 1 }
            else if (t !~ /\/>$/) { sub(/^</, "", t); sub(/[ >].*/, "", t); stack[++d] = t } } exit d != 0 }' "$1"
    fi
}
picture() {
    exits 0 "$xformc" info "$2" "--$1" "$scratch/one.svg" -q && exits 0 "$xformc" info "$2" "--$1" "$scratch/two.svg" -q || return 1
    [ -s "$scratch/one.svg" ] && cmp "$scratch/one.svg" "$scratch/two.svg" && well_formed "$scratch/one.svg" || return 1
    ! grep -nE '"(-?nan|-?inf)|="[^"]*e[+-][0-9]' "$scratch/one.svg" || return 1
    # Lines of text that begin at x end within the picture. Characters count as half as wide as
    # high, a low estimate.
    awk '{ gsub(/[\200-\277]/, "") }
         /<svg / { match($0, /width="[0-9.]*/); width = substr($0, RSTART + 7, RLENGTH - 7) + 0 }
         /<text x="[0-9.]*" y="[0-9.]*" font-size="[0-9.]*"/ && !/text-anchor|transform/ {
             split($0, q, "\""); words = $0; gsub(/<[^>]*>|^ */, "", words)
             if (q[2] + length(words) * q[6] / 2 > width) { print; bad = 1 } } END { exit bad || !width }' "$scratch/one.svg" || return 1
    exits 0 "$xformc" info "$2" "--$1=-" && cmp "$scratch/out" "$scratch/one.svg"
}
for spec in specs/*.lua tests/specs/*.lua; do
    if [ "$spec" = tests/specs/transliteration.lua ]; then continue; fi     # its vocabularies are made by another suite
    check "the memory plan of $(basename "$spec" .lua) is drawn, well-formed, twice the same" picture memory "$spec"
    check "the graph of $(basename "$spec" .lua) is drawn, well-formed, twice the same" picture graph "$spec"
done

every_buffer() {
    exits 0 "$xformc" info specs/dates.lua --memory "$scratch/one.svg" -q -d p || return 1
    grep -E '^    [a-z0-9_]+ +at +[0-9]+, +[0-9]+ bytes' "$scratch/err" | awk '{ print $1, $4 }' >"$scratch/planned"
    [ "$(wc -l <"$scratch/planned")" -gt 40 ] || return 1
    sed -n 's/.*<title>\([a-z0-9_]*\)\( ×[0-9]*\)\{0,1\}: \([0-9,]*\) bytes.*/\1 \3/p' "$scratch/one.svg" >"$scratch/drawn"
    awk 'NR == FNR { drawn[$1]++; next } { planned[$1]++ }
         END { for (b in planned) if (drawn[b] < planned[b]) { print b, "is not drawn"; bad = 1 } exit bad }' "$scratch/drawn" "$scratch/planned"
}
check "every buffer of the plan is in the picture" every_buffer
every_node() {
    exits 0 "$xformc" info specs/base.lua --graph "$scratch/one.svg" -q || return 1
    [ "$(grep -c '>attention, 8 heads<' "$scratch/one.svg")" = 3 ] && grep -q '>×6<' "$scratch/one.svg" &&
        grep -q '>linear 512 → 2048<' "$scratch/one.svg"
}
check "three attentions and six layers are in the picture of base" every_node
check "a picture that cannot be written" exits 74 "$xformc" info specs/dates.lua --graph "$scratch/no/such.svg" -q

# ---- code and stack ------------------------------------------------------------------------------

# code SPEC: what --code says of the model, beside what size says of the library's objects.
code() {
    json "specs/$1.lua" --code --isa portable || return 1
    size=$(get code.model_bytes)
    [ "$size" -gt 1000 ] && [ "$(get code.runtime_bytes)" -gt 500 ] || { cat "$scratch/json"; return 1; }
    exits 0 "$xformc" compile "specs/$1.lua" -o "$scratch/$1" -q || return 1
    make -s -C "$scratch/$1" ISA=-DRT_PORTABLE "lib$1.a" || return 1
    whole=$(size -A "$scratch/$1"/*.o | awk '/^\.(text|rodata|data)/ { n += $2 } END { print n }')
    [ "$size" = "$whole" ] || { echo "$size, but size says $whole"; return 1; }
}
if command -v cc >/dev/null && command -v size >/dev/null; then
    for spec in self_attention dates; do check "--code measures what was compiled: $spec" code $spec; done
else echo "skip --code measures what was compiled (no cc or size)"; fi
check "--code without a compiler" exits 69 "$xformc" info specs/self_attention.lua --code --cc no-such-compiler

# The deepest stack, judging by the calls in the assembly. slow.sh covers other dtypes and forms.
stack() {
    spec=$1 cc=$2 isa=$3
    case $isa in -DRT_PORTABLE) json "$spec" --isa portable ;; *) json "$spec" ;; esac || return 1
    model=$(get name) most=$(get stack_bytes) folder=$scratch/compiled/$(get name)
    [ -d "$folder" ] || exits 0 "$xformc" compile "$spec" -o "$folder" -q || return 1
    # shellcheck disable=SC2086
    (cd "$folder" && $cc -std=c11 -O2 -ffp-contract=off -fPIC $isa -fstack-usage -Iruntime -I. -S "$model.c" -o "$model.s") || return 1
    deepest=$(awk -f tests/info/stack_depth.awk "$folder/$model.su" "$folder/$model.s") || { echo "$deepest"; return 1; }
    echo "$deepest of $most"
    [ "${deepest%% *}" -gt 64 ] && [ "${deepest%% *}" -le "$most" ]
}
isas="-DRT_PORTABLE"
if [ "$(uname -m)" = x86_64 ]; then isas="$isas -march=x86-64-v4 -march=x86-64-v3"; fi
for cc in gcc clang; do
    command -v $cc >/dev/null || { echo "skip the stack with $cc (not installed)"; continue; }
    for isa in $isas; do
        for spec in specs/dates.lua specs/encoder.lua; do
            if [ -n "${XFORMC_QUICK:-}" ] && [ "$cc $spec" != "gcc specs/encoder.lua" ]; then continue; fi
            if [ "$cc $spec" = "clang specs/dates.lua" ]; then continue; fi
            check "the stack of $(basename "$spec" .lua), $cc $isa, is within the bound" stack "$spec" $cc "$isa"
        done
    done
done
