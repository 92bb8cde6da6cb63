#!/bin/sh
# Masks and biases of g.attention: goldens in every engine (references by make_goldens.py), illegal
# values (in specs and files, at the prompt and in emitted C), rows that attend to nothing, computed
# masks, caches.
# usage: run.sh XFORMC
set -u
. tests/lib.sh
quick_compilers
here=$(dirname "$0")
export XDG_STATE_HOME="$scratch/state" XDG_CACHE_HOME="$scratch/cache"

# fails NAME CODE PATTERN COMMAND...: exits with CODE and prints nothing on stdout; PATTERN, as for
# `case`, matches stderr.
fails() {
    name=$1 code=$2 pattern=$3
    shift 3
    "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    found=$?
    case $(cat "$scratch/err") in $pattern) fits=1 ;; *) fits=0 ;; esac
    [ $found = "$code" ] && [ $fits = 1 ] && [ ! -s "$scratch/out" ]
    verdict $? "$name"
    echo "exit $found"; cat "$scratch/err"
}

# says NAME CODE OUT ERR < CHUNKS: the prompt prints exactly OUT and exits with CODE; ERR is a
# pattern for standard error.
says() {
    "$xformc" repl >"$scratch/out" 2>"$scratch/err"
    found=$?
    case $(cat "$scratch/err") in $4) fits=1 ;; *) fits=0 ;; esac
    [ $found = "$2" ] && [ "$(cat "$scratch/out")" = "$3" ] && [ $fits = 1 ]
    verdict $? "$1"
    echo "exit $found"; cat "$scratch/out" "$scratch/err"
}

# ---- goldens of PyTorch --------------------------------------------------------------------------

for spec in "$here"/*.lua; do
    "$xformc" verify "$spec" --engine jit --against "${spec%.lua}.ref.safetensors" -v >"$scratch/out" 2>"$scratch/err" &&
        grep -q '^weights  *jit, 2 threads' "$scratch/out" && grep -q '^out  *generic, no taps' "$scratch/out" &&
        grep -q 'all within tolerance' "$scratch/out"
    verdict $? "golden $(basename "$spec" .lua)"
    tail -n 3 "$scratch/out"; cat "$scratch/err"
done
for spec in mask_and_bias by_head; do
    [ -z "${XFORMC_QUICK:-}" ] || continue      # the compilers take a long time
    "$xformc" verify "$here/$spec.lua" --against "$here/$spec.ref.safetensors" -v >"$scratch/out" 2>"$scratch/err" &&
        grep -q '^weights  *native (unrolled), no taps' "$scratch/out" && grep -q 'all within tolerance' "$scratch/out"
    verdict $? "golden $spec in every engine"
    tail -n 3 "$scratch/out"; cat "$scratch/err"
done

# ---- illegal values ------------------------------------------------------------------------------

# spec NAME MASK BIAS: two heads of width 2, 2 queries, 3 keys.
spec() {
    cat >"$scratch/$1.lua" <<END
local inf, nan = math.huge, 0/0
return xf.graph("$1", function(g)
  local q, k = g.input("q", { 2, 4 }, { 1,2,3,4, 5,6,7,8 }), g.input("k", { 3, 4 }, { 1,1,2,2, 3,3,4,4, 5,5,6,6 })
  local mask = g.input("mask", { 2, 3 }, $2)
  local bias = g.input("bias", { 2, 2, 3 }, $3)
  local out, weights = g.attention(q, k, k, mask, bias, { heads = 2 })
  g.output("weights", weights)
  g.output("out", out)
end)
END
}
ones='{ 1,1,1, 1,1,1 }' none='{ 0,0,0, 0,0,0, 0,0,0, 0,0,0 }'
help='a mask must be 1 where a query may attend and 0 where it may not; to add numbers such as -inf to scores, use a bias*'
spec masked "$ones" "$none"
wrong() {
    spec wrong "$2" "$3"
    fails "$1" 65 "$scratch/wrong.lua:[45]:$4" "$xformc" run "$scratch/wrong.lua" --engine "$5"
}
wrong 'a spec: a mask to be added' '{ 0,0,-1e9, 0,0,0 }' "$none" "18: error: mask?1, 3? is -1e+09: $help" jit
wrong 'a spec: a mask of -inf' '{ 1,1,1, 1,-inf,0 }' "$none" "18: error: mask?2, 2? is -inf: $help" generic
wrong 'a spec: half a mask' '{ 1,1,1, 1,1,0.5 }' "$none" "18: error: mask?2, 3? is 0.5: $help" generic
wrong 'a spec: a bias of NaN' "$ones" '{ 0,0,0, 0,0,0, 0,nan,0, 0,0,0 }' '18: error: values of bias: number 8 (nan) is not a finite float*' jit
wrong 'a spec: a bias of +inf' "$ones" '{ 0,0,0, 0,0,0, 0,0,0, 0,0,inf }' '18: error: values of bias: number 12 (inf) is not a finite float*' jit
wrong 'a spec: numbers that overflow to -inf' "$ones" '{ -1e39,0,0, 0,0,0, 0,0,0, 0,0,0 }' '18: error: values of bias: number 1 (-1e+39) is not a finite float*' jit
cat >"$scratch/wrong.lua" <<'END'
return xf.graph("wrong", function(g)
  local x = g.input("x", { 1, 2 }, { 1, -math.huge })
  g.output("y", g.relu(x))
end)
END
fails 'a spec: -inf in what is not a bias' 65 '*wrong.lua:2:15: error: values of x: number 2 (-inf) is not a finite float*' "$xformc" run "$scratch/wrong.lua"
shape() { sed "$1" "$scratch/masked.lua" >"$scratch/wrong.lua"; }
shape 's/"bias", { 2, 2, 3 }/"bias", { 4, 3 }/'
fails 'a bias of another shape' 65 '*error: attention: the bias is 4 × 3, expected 2 × 3 (queries × keys) or 2 × 2 × 3 (heads × queries × keys)*' "$xformc" run "$scratch/wrong.lua"
shape 's/"bias", { 2, 2, 3 }/"bias", { 3, 2, 2 }/'
fails 'a bias of too many heads' 65 '*error: attention: the bias is 3 × 2 × 2, expected 2 × 3 (queries × keys) or 2 × 2 × 3 (heads × queries × keys)*' "$xformc" run "$scratch/wrong.lua"
shape 's/"mask", { 2, 3 }/"mask", { 3, 2 }/'
fails 'a mask of another shape' 65 '*error: attention: the mask is 3 × 2, expected 2 × 3 (queries × keys)*' "$xformc" run "$scratch/wrong.lua"
shape 's/g.attention(q, k, k, mask, bias/g.attention(q, k, k, mask, bias, bias/'
fails 'one value too many' 65 '*error: attention takes at most 5 values; unexpected argument 6*' "$xformc" run "$scratch/wrong.lua"

# numbers FILE NAME SHAPE N VALUE...: a safetensors file. A VALUE is the four bytes of a float, in
# octal.
numbers() { file=$1 name=$2 shape=$3 n=$4; shift 4
    head="{\"$name\":{\"dtype\":\"F32\",\"shape\":$shape,\"data_offsets\":[0,$((4 * n))]}}"
    while [ $((${#head} % 8)) != 0 ]; do head="$head "; done
    { printf "\\$(printf %o ${#head})\\0\\0\\0\\0\\0\\0\\0%s" "$head"; for word in "$@"; do printf "$word"; done; } >"$file"; }
zero='\0\0\0\0' one='\0\0\200\77' lowest='\0\0\200\377' nan='\0\0\300\177' billion='\50\153\156\316'
numbers "$scratch/mask.st" mask '[2,3]' 6 $one $one $one $one $billion $one
fails '--input: a mask to be added' 65 "$scratch/mask.st: error: mask?2, 2? is -1e+09: $help" "$xformc" run "$scratch/masked.lua" --input mask="$scratch/mask.st"
fails '--input of attention' 65 "$scratch/mask.st: error: mask?2, 2? is -1e+09: $help" "$xformc" attention "$scratch/masked.lua" --input mask="$scratch/mask.st"
fails 'a reference' 65 "$scratch/mask.st: error: mask?2, 2? is -1e+09: $help" "$xformc" verify "$scratch/masked.lua" --engine jit --against "$scratch/mask.st"
numbers "$scratch/bias.st" bias '[2,2,3]' 12 $zero $zero $zero $zero $zero $zero $zero $zero $zero $nan $zero $zero
fails '--input: a bias of NaN' 65 "$scratch/bias.st: error: bias?2, 2, 1? is nan: a bias must be finite, or -inf where a query may not attend*" \
    "$xformc" run "$scratch/masked.lua" --input bias="$scratch/bias.st"
numbers "$scratch/bias.st" bias '[2,2,3]' 12 $zero $zero $zero $zero $zero $zero $zero $zero $zero $lowest $lowest $lowest
for engine in jit generic native; do
    "$xformc" run "$scratch/masked.lua" --engine $engine --input bias="$scratch/bias.st" >"$scratch/out" 2>"$scratch/err" &&
        [ "$(tail -n 1 "$scratch/out" | tr -s ' ')" = ' 5.00000 5.00000 0.00000 0.00000' ] && [ ! -s "$scratch/err" ]
    verdict $? "a row whose every key is -inf is zeros: $engine"
    cat "$scratch/out" "$scratch/err"
done

says 'the prompt: masks and biases that are given' 65 '0.0
0.0' "*mask?1, 2? is -1e+09: $help*bias?1, 2, 3? is inf: a bias must be finite*input bias takes 2 × 2 × 3 numbers, found 2*" <<END
m = xf.compile("$scratch/masked.lua")
m:run{ mask = { 1,0,0, 0,0,0 } }.weights[1][2][1]
m:run{ mask = { 1,-1e9,0, 0,0,0 } }
m:run{ bias = { { { 0,0,0 }, { 0,0,1/0 } }, { { 0,0,0 }, { 0,0,0 } } } }
m:run{ bias = { 1, 2 } }
return m:run{ bias = { { { 0,0,0 }, { -1/0,-1/0,-1/0 } }, { { 0,0,0 }, { 0,0,0 } } } }.out[2][1]
END

# ---- computed masks ------------------------------------------------------------------------------

# computed NAME NUMBERS: the mask is relu(NUMBERS + { 0,0, 0,-1 }). Results stored in its place must
# not hide illegal values.
computed() {
    cat >"$scratch/$1.lua" <<END
return xf.graph("$1", function(g)
  local x = g.input("x", { 2, 2 }, { 1,2, 3,4 })
  local mask = g.name("mask", g.relu(g.add(g.input("a", { 2, 2 }, $2), g.input("b", { 2, 2 }, { 0,0, 0,-1 }))))
  local out = g.attention(x, x, x, mask)
  g.output("out", out)
  g.output("other", g.gate(g.activation(mask, { kind = "gelu" }), x, { kind = "silu" }))
end)
END
}
computed good '{ 0,1, 1,1 }'
computed bad '{ 0,1, 2,1 }'
for engine in jit generic native; do
    "$xformc" run "$scratch/good.lua" --engine $engine >"$scratch/out" && [ "$(tail -n 6 "$scratch/out" | head -n 3 | tr -s ' \n' ' ')" = 'out [2, 2] 3.00000 4.00000 1.00000 2.00000 ' ]
    verdict $? "a mask that is computed: $engine"
    fails "a computed mask that is none: $engine" 65 "error: mask?2, 1? is 2: $help" "$xformc" run "$scratch/bad.lua" --engine $engine
done
"$xformc" verify "$scratch/good.lua" --engine jit >"$scratch/out" 2>"$scratch/err" && grep -q 'all within tolerance' "$scratch/out" &&
    grep -q "^note: verify: using the spec's own inputs" "$scratch/err"
verdict $? 'verify of a computed mask'
fails 'verify of a computed mask that is none' 65 "*error: jit: mask?2, 1? is 2: $help" "$xformc" verify "$scratch/bad.lua" --engine jit
says 'the prompt: a computed mask that is not a mask' 65 '' "*mask?2, 1? is 2: $help*" <<END
xf.compile("$scratch/bad.lua"):run()
END

# ---- emitted C -----------------------------------------------------------------------------------

for form in library unrolled; do
    "$xformc" build "$scratch/masked.lua" -q --kernels=$form --weights=file -o "$scratch/$form" >"$scratch/err" 2>&1 &&
        cc -std=c11 -Wall -Wextra -Werror -I"$scratch/$form" -I"$scratch/$form/runtime" "$here/programs/set_inputs.c" "$scratch/$form/libmasked.a" \
            -lm -pthread -o "$scratch/set_inputs" 2>>"$scratch/err" && "$scratch/set_inputs" "$scratch/$form/masked.safetensors"
    verdict $? "emitted C: what it may not read is not an answer: $form"
    cat "$scratch/err"
done
"$xformc" build "$scratch/bad.lua" -q -o "$scratch/bad" >"$scratch/err" 2>&1
fails 'a program with a computed mask that is none' 65 'error: a mask with a number other than 0 and 1*' "$scratch/bad/bad"
spec lowest "$ones" '{ 0,0,-inf, -inf,-inf,-inf, 0,0,0, 0,0,0 }'
"$xformc" build "$scratch/lowest.lua" -q -o "$scratch/lowest" >"$scratch/err" 2>&1 && "$scratch/lowest/lowest" >"$scratch/out" &&
    [ "$(sed -n 2p "$scratch/out" | tr -s ' ')" = ' [0.00000, 0.00000, 6.00000, 6.00000]' ]
verdict $? 'a program with -inf of its spec'
cat "$scratch/err" "$scratch/out"

# ---- caches --------------------------------------------------------------------------------------

# ALiBi over a sequence, one row at a time and as a whole.
for engine in jit generic; do
    says "steps over caches with a bias by head are one run of the whole: $engine" 0 'true
true' '' <<END
function graph(name, rows, caches)
  return xf.compile(xf.graph(name, function(g)
    local x, n = g.input("X", { rows, 8 }), 19
    local function project(name) return g.matmul(x, g.param(name, { 8, 8 })) end
    local k, v = project("W_K"), project("W_V")
    if caches then k, v = g.append(g.cache("K", { n, 8 }), k), g.append(g.cache("V", { n, 8 }), v) end
    g.output("Z", (g.attention(project("W_Q"), k, v, nil, g.input("B", { 2, rows, n }), { heads = 2, causal = not caches or nil })))
  end), { engine = "$engine" })
end
all, bias, rows = {}, { {}, {} }, {}
for r = 1, 19 do
  rows[r] = {}
  for i = 1, 8 do rows[r][i] = math.sin(r * 7 + i * i); all[#all + 1] = rows[r][i] end
  for h = 1, 2 do
    bias[h][r] = {}
    for j = 1, 19 do bias[h][r][j] = (r == 5 or j == 3) and -math.huge or -0.3 * h * math.abs(r - j) end
  end
end
whole, steps = graph("whole", 19, false):run{ X = all, B = bias }.Z, graph("steps", 1, true)
far = 0
for r = 1, 19 do far = math.max(far, (steps:run{ X = rows[r], B = { { bias[1][r] }, { bias[2][r] } } }.Z[1]):distance(whole[r])) end
print(far <= 1e-5)
return whole[5]:max() == 0 and whole[5]:min() == 0
END
done
