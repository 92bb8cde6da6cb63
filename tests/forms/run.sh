#!/bin/sh
# tags: slow
# Options and spec fields that choose the form of emitted C, and the values that they reject. A
# state for fewer threads is smaller. Graphs of 3,000 operations compile.
# usage: run.sh XFORMC
set -u
. tests/lib.sh
shown="$scratch/out $scratch/err"
: >"$scratch/out" >"$scratch/err"
compile() { "$xformc" compile "$@" -q >"$scratch/out" 2>"$scratch/err"; }
# refuses CODE MESSAGE ARGUMENT...: exits with CODE, prints MESSAGE as a line of stderr, and prints
# nothing on stdout.
refuses() {
    code=$1 message=$2
    shift 2
    "$xformc" "$@" >"$scratch/out" 2>"$scratch/err"
    [ $? = "$code" ] && grep -qxF -e "$message" "$scratch/err" && [ ! -s "$scratch/out" ]
    verdict $? "$* ends with $code"
}

# ---- options -------------------------------------------------------------------------------------

refuses 2 "xformc: --isa portable,avx512: 'portable' runs wherever 'avx512' does, so 'avx512' after it is never chosen" \
    compile specs/dates.lua --isa portable,avx512
refuses 2 "xformc: --isa avx512,avx2,avx512vnni,portable: 'avx512' runs wherever 'avx512vnni' does, so 'avx512vnni' after it is never chosen" \
    compile specs/dates.lua --isa avx512,avx2,avx512vnni,portable
refuses 2 "xformc: --isa avx512,avx512: 'avx512' is listed twice" compile specs/dates.lua --isa avx512,avx512
sets=$(sed -n 's/^KERNEL_SET(\([^,]*\),.*/, \1/p' runtime/kernels/simd/instruction_sets.def | tr -d '\n' | sed 's/\(.*\),/\1 or/')
refuses 2 "xformc: --isa : expected native$sets" compile specs/dates.lua --isa avx512,
refuses 2 "xformc: --isa avx51: expected native$sets; did you mean 'avx512'?" compile specs/dates.lua --isa avx51,portable
refuses 2 'xformc: --isa avx512,avx2,native,portable,neon: at most 4 instruction sets fit into one program' compile specs/dates.lua --isa avx512,avx2,native,portable,neon
refuses 69 'error: xformc has no kernels for neon, or this processor cannot run them' run specs/dates.lua --engine jit --isa neon
refuses 2 'xformc: --unroll 0: expected a whole number from 1 to 64' compile specs/dates.lua --unroll 0
refuses 2 'xformc: --unroll needs --kernels=unrolled' compile specs/dates.lua --unroll 8
refuses 2 'xformc: --unroll-layers maybe: expected on or off' compile specs/dates.lua --unroll-layers maybe
refuses 2 'xformc: --max-threads 0: expected a whole number from 1 to 256' compile specs/dates.lua --max-threads 0
refuses 2 'error: --threads 3: the model was compiled for at most 2; see --max-threads' run specs/self_attention.lua --max-threads 2 -t 3 --cc 'gcc'

# ---- one instruction set: a setting of the Makefile ----------------------------------------------

compile specs/dates.lua -o "$scratch/one" --isa avx512 && compile specs/dates.lua -o "$scratch/any" --isa portable && compile specs/dates.lua -o "$scratch/usual"
grep -qx 'ISA    = -mavx512f -mavx512bw .*' "$scratch/one/Makefile" && grep -qx 'ISA    = -DRT_PORTABLE' "$scratch/any/Makefile" &&
    [ "$(diff -rq "$scratch/one" "$scratch/usual" | wc -l)" = 1 ] && [ "$(diff -rq "$scratch/any" "$scratch/usual" | wc -l)" = 1 ]
verdict $? 'one instruction set changes only a setting of the Makefile'

# ---- layers and factors, in the spec and on the command line -------------------------------------

cat >"$scratch/spec.lua" <<'END'
return xf.model {
  name = "tiny", kind = "decoder", layers = 3, heads = 2, d_model = 16, d_ff = 24, vocab = 11, max_len = 8, weights = "random",
  unroll = { layers = false, factor = 5 },
}
END
sed 's/unroll = .*//' "$scratch/spec.lua" >"$scratch/usual.lua"
sed 's/unroll = .*/layers = 17,/; s/layers = 3,//' "$scratch/spec.lua" >"$scratch/deep.lua"
# count PATTERN FOLDER ENDING: the number of lines that match in FOLDER/tinyENDING.
count() { grep -c -e "$1" "$scratch/$2/tiny$3"; }
compile "$scratch/spec.lua" -o "$scratch/spec" --kernels unrolled && compile "$scratch/usual.lua" -o "$scratch/plain" --kernels unrolled &&
    compile "$scratch/deep.lua" -o "$scratch/deep" && compile "$scratch/deep.lua" -o "$scratch/calls" --unroll-layers on &&
    compile "$scratch/spec.lua" -o "$scratch/flags" --kernels unrolled --unroll-layers on --unroll 4
verdict $? 'a spec with its own form is compiled'
[ "$(count layer++ spec .c)" = 5 ] && [ "$(count layer++ plain .c)" = 0 ] && [ "$(count 'decoder_layer(j, 2, thread' plain .c)" = 2 ]
verdict $? 'unroll.layers of the spec is a loop, else there is a call for each layer'
[ "$(count layer++ deep .c)" = 5 ] && [ "$(count layer++ calls .c)" = 0 ] && [ "$(count 'decoder_layer(j, 16, thread' calls .c)" = 2 ]
verdict $? 'over 16 layers are a loop, unless they are asked for'
grep -q 'unrolled by 5[.]' "$scratch/spec/tiny_kernels.h" && grep -q 'i += 5, a += 80' "$scratch/spec/tiny_kernels.h"
verdict $? 'unroll.factor of the spec is the factor'
tail -n +2 "$scratch/flags/tiny.c" >"$scratch/flags.c" && tail -n +2 "$scratch/plain/tiny.c" | cmp - "$scratch/flags.c" &&
    cmp "$scratch/flags/tiny_kernels.h" "$scratch/plain/tiny_kernels.h"
verdict $? 'the command line overrides the spec'
cmp "$scratch/spec/tiny.safetensors" "$scratch/plain/tiny.safetensors"
verdict $? 'weights are packed alike: a program takes those of another form'

grep -q '^    float \*const norm_0 = s->scratch; *\/\* \[80\]\[64\] \*\/$' "$scratch/usual/dates.c" &&
    grep -qxF '    float *const self_q = self_qkv, *const self_k = self_qkv + 64, *const self_v = self_qkv + 128;' "$scratch/usual/dates.c" && ! grep 'AT_[A-Z_]*\(NORM\|FFN\|SCRATCH\)' "$scratch/usual/dates.c"
verdict $? 'buffers of a block are laid out in its function, with offset and shape'
has_line() { grep -qxF "    $1" "$scratch/usual/dates.c" || { echo "no line '$1'"; return 1; }; }
has_line 'float self_k[2][4][1][16][16];' && has_line 'XF_ALIGN(64) float encoder_x[80][64];                       /* rows between encoder layers */' && has_line 'float *const x = s->encoder_x[0];' &&
    has_line 'const struct encoder_layer *const w = (const void *)(j->weights + W_ENCODER_LAYER(layer));'
verdict $? 'slots and states are structs'
has_line 'struct { struct panel_64 q[4], k[4], v[4]; } self_qkv;      /* 64 -> 64 | 64 | 64 */' &&
    has_line 'linear_64x192_rows(self_qkv, norm_0, &w->self_qkv, mine);' && has_line 'norm_64_rows(norm_1, x, w->norm_1, mine);'
verdict $? 'weights are structs, and linears in one operation are one member'
compile specs/dates.lua -o "$scratch/narrow" --dtype int8 &&
    grep -qxF 'struct panel_int8_64 { float bias[16]; rt_f16 scale[2][16]; uint8_t weight[2][8][16][4]; };' "$scratch/narrow/dates.c"
verdict $? 'panels of bytes have their factors by name'

# ---- number of threads ---------------------------------------------------------------------------

bytes() { sed -n 's/^#define DATES_STATE_BYTES *//p' "$scratch/$1/dates.h"; }
compile specs/dates.lua -o "$scratch/threads" --max-threads 1 && grep -q '^#define DATES_MAX_THREADS  *1 ' "$scratch/threads/dates.h" &&
    grep -q '^#define DATES_MAX_THREADS  *16 ' "$scratch/usual/dates.h" && [ "$(bytes threads)" -lt "$(bytes usual)" ]
verdict $? 'a state with room for one thread is smaller'
[ "$(grep -c 'thread\|barrier\|rt_team' "$scratch/threads/dates.c")" = 2 ] && [ "$(grep -c rt_barrier "$scratch/usual/dates.c")" -ge 20 ]
verdict $? 'with one thread the C has nothing about threads but NAME_threads'
for name in gpt encoder self_attention multi_head; do
    "$xformc" verify specs/$name.lua --max-threads 1 -t 1 --engine jit >"$scratch/out" 2>&1 || fault="$name: $(cat "$scratch/out")"
done
for options in '--engine jit --dtype int8' '--engine jit --dtype int4 --kv-dtype f16' '--engine jit --kv-dtype int8' '--engine native --kernels unrolled'; do
    # shellcheck disable=SC2086
    "$xformc" verify specs/sums.lua --max-threads 1 -t 1 $options >"$scratch/out" 2>&1 || fault="$options: $(cat "$scratch/out")"
done
[ -z "${fault-}" ] || { echo "$fault"; false; }
verdict $? 'and the same results, of every kind of model'
compile specs/dates.lua -o "$scratch/lanes" --lanes 1 && cmp -s "$scratch/lanes/dates.h" "$scratch/threads/dates.h" &&
    cmp -s "$scratch/lanes/dates.c" "$scratch/threads/dates.c"
verdict $? '--lanes is an older name of --max-threads'
"$xformc" compile specs/encoder.lua -o "$scratch/one_slot" >"$scratch/out" 2>&1 &&
    "$xformc" compile specs/encoder.lua -o "$scratch/three_slots" --slots 3 >"$scratch/out" 2>&1 &&
    grep -q 'note: --slots 3 has no effect: a model without a decoder has one slot' "$scratch/out" &&
    diff -r "$scratch/one_slot" "$scratch/three_slots" >"$scratch/diff"
verdict $? 'an encoder alone has one slot, whatever --slots says'
"$xformc" info specs/dates.lua --max-threads 1 --json >"$scratch/out" 2>"$scratch/err" && grep -qF "$(bytes threads)" "$scratch/out"
verdict $? 'info reports it'

# ---- weights as C: names that differ only in punctuation -----------------------------------------

cat >"$scratch/names.lua" <<'END'
return xf.graph("names", function(g)
  local x = g.input("X", {2, 3}, { 1,2,3, 4,5,6 })
  for _, name in ipairs { "a.b", "a_b", "a_b_2", "head", "int", "t_int" } do x = g.matmul(x, g.param(name, {3, 3})) end
  g.output("Y", x)
end)
END
quick_cc "$scratch/quick"
for weights in literal file; do
    "$xformc" build "$scratch/names.lua" -q --kernels unrolled --weights $weights --cc "$scratch/quick" -o "$scratch/$weights" >"$scratch/out" 2>"$scratch/err"
    verdict $? "parameters a.b and a_b: --weights=$weights is built"
done
(cd "$scratch/file" && make -s example CC="$scratch/quick" && ./example) >"$scratch/expected" 2>"$scratch/err"
"$scratch/literal/names" | cmp - "$scratch/expected" && [ -s "$scratch/expected" ] &&
    grep -q 'float a_b\[' "$scratch/literal/names_weights.c" && grep -q 'float a_b_2_2\[' "$scratch/literal/names_weights.c"
verdict $? 'and both give the same numbers'
# weights_of VALUES: build a graph that multiplies its input by VALUES, with weights as C.
weights_of() {
    printf 'return xf.graph("product", function(g) g.output("Y", g.matmul(g.input("X", {1, 1}, {1}), g.param("w", {1, 4}, { %s }))) end)\n' \
        "$1" >"$scratch/product.lua"
    rm -rf "$scratch/product"
    "$xformc" build "$scratch/product.lua" -q --weights literal --cc "$scratch/quick" -o "$scratch/product" >"$scratch/out" 2>"$scratch/err"
}
weights_of '2000000, 1234567, 1e9, -16777216' && "$scratch/product/product" >"$scratch/out" &&
    grep -q '2000000, 1234567, 1e+09f, -16777216' "$scratch/product/product_weights.c" &&
    grep -q '2000000.* 1234567.*-16777216' "$scratch/out"
verdict $? 'large integers are C constants'

# ---- many operations -----------------------------------------------------------------------------

# All of the same shape; then each with a shape of its own, because its scale differs.
for scale in 0.5 i/4096; do
    cat >"$scratch/many.lua" <<END
return xf.graph("many", function(g)
  local x = g.input("X", {2, 4}, { 1,2,3,4, 5,6,7,8 })
  for i = 1, 3000 do x = g.attention(x, x, x, nil, { scale = $scale }) end
  g.output("Y", x)
end)
END
    timeout "$patience" "$xformc" compile "$scratch/many.lua" -q -o "$scratch/many" >"$scratch/out" 2>"$scratch/err" &&
        [ "$(grep -c 'softmax(' "$scratch/many/many.c")" = 3000 ]
    verdict $? "3000 attentions with a scale of $scale are compiled"
    echo "functions: $(grep -c '^static inline void attention' "$scratch/many/many_kernels.h")"
done
[ "$(grep -c '^static inline void attention' "$scratch/many/many_kernels.h")" = 3000 ]
verdict $? '3000 shapes of one kernel have a function each'
