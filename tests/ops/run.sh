#!/bin/sh
# tags: slow noasan golden
# Operations that a spec defines in C (xf.op): every engine and form, threads, --allow-c, faulty C,
# wrong shapes, the prompt. Graphs with caches: step by step against one run over the whole
# sequence, a full cache, reset, misuse.
# usage: run.sh [--write] XFORMC
#
# leaky.out is the output of `run leaky.lua`. H is computed by hand: exp(-v) or v / 2.
set -u
. tests/lib.sh
quick_compilers
here=$(dirname "$0")

if [ -n "$write" ]; then
    "$xformc" run "$here/leaky.lua" --allow-c --engine generic >"$here/leaky.out"
    "$xformc" compile "$here/leaky.lua" --allow-c -q -o "$scratch/folder" -d gkp 2>"$here/leaky.graph"
    "$xformc" compile "$here/steps.lua" --allow-c -q -o "$scratch/folder2" -d gkp 2>"$here/steps.graph"
    exit 0
fi

# fails NAME WORDS < SPEC: exits with 65, and the message begins with wrong.lua:WORDS
fails() {
    cat >"$scratch/wrong.lua"
    (cd "$scratch" && timeout "$patience" "$xformc" run wrong.lua --allow-c >out 2>err)
    found=$?
    message=$(cat "$scratch/err")
    case $message in "wrong.lua:$2"*) fits=1 ;; *) fits=0 ;; esac
    [ $found = 65 ] && [ ! -s "$scratch/out" ] && [ $fits = 1 ]
    verdict $? "$1"
    echo "exit $found"; cat "$scratch/err"
}

# says NAME CODE OUT ERR < CHUNKS: as in repl/run.sh
says() {
    "$xformc" repl ${5:-} >"$scratch/out" 2>"$scratch/err"
    found=$?
    message=$(cat "$scratch/err")
    case $message in $4) fits=1 ;; *) fits=0 ;; esac
    [ $found = "$2" ] && [ "$(cat "$scratch/out")" = "$3" ] && [ $fits = 1 ]
    verdict $? "$1"
    echo "exit $found"; cat "$scratch/out" "$scratch/err"
}

# ---- results -------------------------------------------------------------------------------------

for engine in generic jit native; do
    "$xformc" run "$here/leaky.lua" --allow-c --engine $engine >"$scratch/out" 2>&1 && diff -u "$here/leaky.out" "$scratch/out"
    verdict $? "a custom operation: $engine"
done
"$xformc" run "$here/leaky.lua" --allow-c -t 3 >"$scratch/out" 2>&1 && diff -u "$here/leaky.out" "$scratch/out"
verdict $? 'rows of a custom operation shared by threads'
"$xformc" verify "$here/leaky.lua" --allow-c --json >"$scratch/out" 2>&1
good=$?
for engine in generic jit native; do grep -q "\"engine\": *\"$engine" "$scratch/out" || good=1; done
verdict $good 'verify compares a custom operation in every engine'
"$xformc" compile "$here/leaky.lua" --allow-c -q -o "$scratch/folder" -d gkp 2>"$scratch/err" && diff -u "$here/leaky.graph" "$scratch/err"
verdict $? 'dumps of a custom operation'
"$xformc" verify "$here/merged.lua" --allow-c >"$scratch/out" 2>&1 && grep -Eq '^verify: [0-9]+ comparisons, all within tolerance' "$scratch/out"
verdict $? 'operations on parts of a merged product, in every engine'
cat "$scratch/out"
numbers() { grep -oE -- '-?[0-9]+\.[0-9]+'; }
for form in library unrolled; do
    "$xformc" build "$here/leaky.lua" --allow-c -q --kernels=$form -o "$scratch/$form" >"$scratch/err" 2>&1 &&
        "$scratch/$form/leaky_graph" | numbers >"$scratch/values" && sed -n '/^Y/,$p' "$here/leaky.out" | numbers | diff - "$scratch/values"
    verdict $? "a program with a custom operation: $form"
done
# The user's lines stay unchanged, however long: a comment after code, a macro over two lines, a
# comment before code.
cat >"$scratch/long.lua" <<'END'
xf.op{
  name = "twice", shape = function(x) return x end,
  c = [[
    for (int r = begin; r < end; r++)
      for (int i = 0; i < x_columns; i++) {
        float v = x[r * x_stride + i];  // a remark that is too long for a line, and goes on, and on, and then, v = 100; at its end
        #define CHANGE(a) do { (a) = (a) + 1; (a) = (a) - 1; (a) = (a) + 2; (a) = (a) - 2; } while (0); \
            (a) = (a) * 2; (a) = (a) * 1; (a) = (a) * 1; (a) = (a) * 1; (a) = (a) * 1; (a) = (a) * 1; (a) = (a) * 1
        /* first */ v = v + 0; v = v + 0; v = v + 0; v = v + 0; v = v + 0; v = v + 0; v = v + 0; v = v + 0; /* last */
        CHANGE(v);
        y[r * y_stride + i] = v;
      }
  ]] }
return xf.graph("long_op", function(g) g.output("Z", g.twice(g.input("X", { 1, 3 }, { 1, 2, 3 }))) end)
END
for form in library unrolled; do
    "$xformc" build "$scratch/long.lua" --allow-c --kernels $form -q -o "$scratch/long.$form" &&
        "$scratch/long.$form/long_op" | grep -qxF 'Z            [2.00000, 4.00000, 6.00000]' &&
        grep -qF '// a remark that is too long for a line, and goes on, and on, and then, v = 100; at its end' "$scratch/long.$form/long_op_kernels.h"
    verdict $? "the lines of an xf.op stay as they are, however long: $form"
done
"$xformc" verify "$scratch/long.lua" --allow-c >"$scratch/out" 2>&1
verdict $? 'and compute the same in every engine'
(cd "$scratch/unrolled" && cc -std=c11 -O1 -ffreestanding -Wall -Wextra -Werror -Iruntime -c leaky_graph.c -o leaky_free.o)
verdict $? 'a custom operation is freestanding'
"$xformc" info "$here/leaky.lua" --allow-c --graph "$scratch/graph.svg" >/dev/null && grep -q '>leaky<' "$scratch/graph.svg"
verdict $? 'a custom operation in a picture'
"$xformc" info "$here/leaky.lua" --allow-c | grep -qx '  FLOPs do not include the spec'\''s own operations: leaky, outer' &&
    "$xformc" info "$here/leaky.lua" --allow-c --json | grep -q '"flops_not_counted_of":\["leaky","outer"\]' &&
    ! "$xformc" info specs/self_attention.lua | grep -q 'do not include'
verdict $? 'the FLOPs of a custom operation are not known'

# ---- rejected ------------------------------------------------------------------------------------

for command in run compile verify info pack; do
    (cd "$scratch" && "$xformc" $command "$OLDPWD/$here/leaky.lua" >out 2>err; [ $? = 65 ] && grep -q 'only with --allow-c' err)
    verdict $? "$command without --allow-c"
done
"$xformc" help run -v | grep -q -e '--allow-c'
verdict $? '--allow-c is in --help'

graph='return xf.graph("g", function(g) g.output("Y", g.mine(g.input("X", { 2, 2 }))) end)'
# with NAME PLACE LINE: LINE is line 4 of the spec, in the C of an operation; the error is at PLACE
with() {
    fails "$1" "$2" <<END
xf.op{ name = "mine", shape = function(x) return x end,
  c = [[
    int k = 0; (void)k;
    $3
  ]] }
$graph
END
}
with 'C that does not parse'        "4:5: error: the C code of mine: ';' expected" 'y[0] = x[0]'
with 'a function of libm'           "4:5: error: the C code of mine: implicit declaration of function 'expf'" 'y[0] = expf(x[0]);'
with 'a function of the system'     "4:5: error: the C code of mine: implicit declaration of function 'system'" 'system("true");'
with 'the same, declared'           "3:5: error: the C code of mine: undefined symbol 'system'" 'int system(const char *); system("true");'
with 'an include'                   "4:5: error: the C code of mine: include file 'stdlib.h' not found" '#include <stdlib.h>'
with 'an input that is written to'  "4:5: error: the C code of mine: assignment of read-only location" 'x[0] = 1;'
with 'a brace too many'             "4:5: error: the C code of mine: " '} int other(void) { return 1;'
# Messages of the linker do not say which operation they are about.
fails 'an undefined function of the second operation' "7:5: error: the C code of second: undefined symbol 'system'" <<'END'
xf.op{ name = "first", shape = function(x) return x end,
  c = [[
    for (int i = 0; i < x_rows * x_columns; i++) y[i] = x[i];
  ]] }
xf.op{ name = "second", shape = function(x) return x end,
  c = [[
    int system(const char *); system("true");
  ]] }
return xf.graph("g", function(g) g.output("Y", g.second(g.first(g.input("X", { 2, 2 })))) end)
END
# libtcc accepts some C that a C compiler rejects.
cat >"$scratch/twice.lua" <<END
xf.op{ name = "mine", shape = function(x) return x end, c = [[ int f(int a, int a); y[0] = x[0]; ]] }
return xf.graph("g", function(g) g.output("Y", g.mine(g.input("X", { 1, 2 }))) end)
END
"$xformc" build "$scratch/twice.lua" --allow-c -q -o "$scratch/twice" >"$scratch/out" 2>"$scratch/err"
[ $? = 65 ] && grep -q 'int f(int a, int a)' "$scratch/err" && [ "$(tail -n 1 "$scratch/err")" = 'error: cc did not build g, which contains the C of an xf.op; see above' ]
verdict $? 'C of an operation that only the C compiler rejects'
cat "$scratch/err"
# field NAME PLACE FIELDS: an operation with other fields
field() {
    fails "$1" "$2" <<END
xf.op{ $3 }
$graph
END
}
shape='shape = function(x) return x end' c='c = "y[0] = 0;"'
field 'a shape function that fails'      "1:69: error: attempt to index a nil value (field 'y')" "name = \"mine\", $c, shape = function(x) return x.y.z end"
field 'a shape function without end'     '1:1: error: the spec ran more than' "name = \"mine\", $c, shape = function(x) while true do end end"
field 'a shape of one size'              '2:50: error: the shape of mine must be {rows, columns}' "name = \"mine\", $c, shape = function(x) return { 1 } end"
field 'a shape that is not whole'        '2:50: error: the shape of mine: size 1 must be a whole number' "name = \"mine\", $c, shape = function(x) return { 1.5, 1 } end"
field 'a shape out of all bounds'        '2:50: error: mine: 1e+12 elements, with rows padded' "name = \"mine\", $c, shape = function(x) return { 1e6, 1e6 } end"
field 'no shape function'                '1:4: error: shape of xf.op must be a function' "name = \"mine\", $c"
field 'no C'                             '1:4: error: c of xf.op must be a string' "name = \"mine\", $shape"
field 'the name of another operation'    '1:4: error: g.matmul already exists' "name = \"matmul\", $shape, $c"
field 'a name that is none'              '1:4: error: the name of xf.op, "a b", must be a C identifier' "name = \"a b\", $shape, $c"
field 'a misspelt field'                 '1:4: error: xf.op has no field "shap"; did you mean "shape"?' "name = \"mine\", shap = 1, $c"
field 'two inputs of one name'           '1:4: error: the name "a" is already used' "name = \"mine\", inputs = { \"a\", \"a\" }, $shape, $c"
field 'an attribute that is not a number'   '1:4: error: attributes of xf.op must be' "name = \"mine\", attributes = { k = \"a\" }, $shape, $c"
field 'a misspelt operation'             '2:50: error: unknown operation g.mine; did you mean g.mina?' "name = \"mina\", $shape, $c"
field 'too few inputs'                   '2:50: error: mine takes 2 values, found 1' "name = \"mine\", inputs = { \"a\", \"b\" }, $shape, $c"
for width in 1 2; do
    heads=
    [ $width = 1 ] || heads=', heads = 2'
    fails "an annotated norm of width 1$heads" '2:20: error: norm: a width of 1 is too small for the annotated norm' <<END
return xf.graph("narrow", function(g)
  g.output("Y", (g.norm(g.input("X", { 2, $width }), g.param("a", { 1 }), g.param("b", { 1 }), { kind = "annotated"$heads })))
end)
END
done
fails 'an attribute that there is not' '2:50: error: mine has no attribute "slop"; did you mean "slope"?' <<END
xf.op{ name = "mine", attributes = { slope = 1 }, $shape, $c }
return xf.graph("g", function(g) g.output("Y", g.mine(g.input("X", { 2, 2 }), { slop = 2 })) end)
END

# ---- the prompt ----------------------------------------------------------------------------------

says 'typed at the prompt, defined again, and nothing is lost' 65 'f32[1×2] min 0.5 max 1 mean 0.75
     0.50000    1.00000
f32[1×2] min 0.5 max 1 mean 0.75
     0.50000    1.00000
f32[1×2] min 2 max 4 mean 3
     2.00000    4.00000' '*the C code of mine: implicit declaration of function*' <<'END'
function define(expression)
  xf.op{ name = "mine", shape = function(x) return x end, c = "for (int i = begin * y_stride; i < begin * y_stride + 2; i++) y[i] = " .. expression .. ";" }
  return xf.graph("g", function(g) g.output("Y", g.mine(g.input("X", { 1, 2 }, { 1, 2 }))) end)
end
m = xf.compile(define("x[i] / 2"))
m:run().Y
m = xf.compile(define("half(x[i])"))
m:run().Y
xf.compile(define("2 * x[i]")):run().Y
END
says 'a spec from a file is sandboxed at the prompt' 65 '1' '*only with --allow-c*' <<END
xf.compile("$here/leaky.lua")
1
END
says 'unless --allow-c says otherwise' 0 'f32[3×3] min -3.9 max 28.12 mean 4.339
    10.15034   -0.94145   -0.20921
    -3.39145   28.11663   -3.90043
     0.33158   -2.45834   11.35335' '' --allow-c <<END
xf.compile("$here/leaky.lua"):run().Z
END

# ---- a sequence row by row -----------------------------------------------------------------------

"$xformc" compile "$here/steps.lua" --allow-c -q -o "$scratch/folder2" -d gkp 2>"$scratch/err" && diff -u "$here/steps.graph" "$scratch/err"
verdict $? 'dumps of caches'
"$xformc" verify "$here/steps.lua" --allow-c >"$scratch/out" 2>&1 && grep -q '^verify: .* all within tolerance' "$scratch/out"
verdict $? 'verify takes several steps'
cat "$scratch/out"
# One run over the whole sequence, without caches. The params are the same, since random ones depend
# on name and seed.
cat >"$scratch/whole.lua" <<'END'
return xf.graph("whole", function(g)
  local x = g.input("X", { 20, 8 })
  local function project(name) return g.matmul(x, g.param(name, { 8, 8 })) end
  local options = { heads = 2, causal = true }
  local z = g.attention(g.rotary(project("W_Q"), { heads = 2 }), g.rotary(project("W_K"), { heads = 2 }),
                        g.activation(project("W_V"), { kind = "relu2" }), options)
  g.output("Z", z)
end)
END
for engine in generic jit native; do
    says "20 steps are one run of 20 rows, no more fit, and the last is there to be looked at: $engine" 65 'true
0.0
true' '*the caches of steps have no room for another run: 20 rows fit*' --allow-c <<END
rows, all = {}, {}
for r = 1, 20 do rows[r] = {}; for i = 1, 8 do rows[r][i] = math.sin(r * 7 + i * i); all[#all + 1] = rows[r][i] end end
steps, whole = xf.compile("$here/steps.lua", { engine = "$engine" }), xf.compile("$scratch/whole.lua", { engine = "$engine" })
z = whole:run{ X = all }.Z
function worst() local far = 0; for r = 1, 20 do far = math.max(far, steps:run{ X = rows[r] }.Z[1]:distance(z[r])) end return far end
worst() <= 1e-5
steps:run{ X = rows[1] }
steps:at("Z")[1]:distance(steps:at("Z")[1]) + math.max(0, steps:at("Z")[1]:distance(z[20]) - 1e-5)
steps:reset()
worst() <= 1e-5
END
done
says 'a look, a measurement and a change lose no step' 0 'true
true' '' --allow-c <<END
m = xf.compile("$here/steps.lua"); n = xf.compile("$here/steps.lua")
m:run{ X = { 1, 2, 3, 4, 5, 6, 7, 8 } }; n:run{ X = { 1, 2, 3, 4, 5, 6, 7, 8 } }
m:at("weights"); m:at("Z"); n:names()
m:run().Z:distance(n:run().Z) == 0
m:at("weights")[1][1][2] > 0 and m:at("weights")[1][1][3] == 0
END
"$xformc" build "$here/steps.lua" --allow-c -q -o "$scratch/steps" >"$scratch/err" 2>&1 && cat >"$scratch/steps/many.c" <<'END'
#include <string.h>

#include "steps.h"
#include "rt_weights.h"

static steps_state state;

int main(int argc, char **argv)
{
    steps model = { 0 };
    RtWeights weights;
    float z[2][8];
    if (argc != 2 || rt_weights_open(&weights, argv[1]) || steps_bind(&model, weights.data, weights.bytes) != RT_OK) return 1;
    for (int again = 0; again < 2; again++) {
        const float x[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
        steps_reset(&state);
        for (int i = 0; i < 20; i++) {
            steps_set_X(&state, x);
            if (steps_run(&model, &state) != RT_OK) return 2;
        }
        if (steps_run(&model, &state) != RT_TOO_LONG) return 3;
        steps_get_Z(&state, z[again]);
    }
    return memcmp(z[0], z[1], sizeof z[0]) ? 4 : 0;
}
END
(cd "$scratch/steps" && cc -std=c11 -Wall -Wextra -Werror -Iruntime -o many many.c libsteps.a -pthread -lm && ./many steps.safetensors)
verdict $? 'a program runs step by step until its caches are full'

# graph NAME PLACE LINES: LINES of a builder start at line 4 of the spec; the error is at PLACE
graph() {
    fails "$1" "$2" <<END
return xf.graph("g", function(g)
  local x, w = g.input("X", { 1, 8 }), g.param("W", { 8, 8 })
  local k, v = g.cache("K", { 4, 8 }), g.cache("V", { 4, 8 })
  $3
  g.output("Z", g.relu(x))
end)
END
}
graph 'a cache that nothing reads'      '3:18: error: cache: no g.attention reads "K"' 'g.append(v, x)'
graph 'a cache as a value'              '4:15: error: add: the cache "K" can only be appended to' 'local y = g.add(k, x)'
graph 'what is appended as a value'     '4:15: error: relu: the result of g.append' 'local y = g.relu(g.append(k, x))'
graph 'two appends to one cache'        '4:15: error: append: line 4 already appends to the cache "K"' 'local a = g.append(k, x); local b = g.append(k, x)'
graph 'an append to a value'            '4:5: error: append: input 1 must be a cache' 'g.append(x, x)'
graph 'rows that do not fit'            '4:5: error: append: 5 rows do not fit in the smallest cache, which has room for 4' 'g.append(k, g.input("Y", { 5, 8 }))'
graph 'another width'                   '4:5: error: append: dimension 2 of input 2 is 7' 'g.append(k, g.input("Y", { 1, 7 }))'
graph 'appends of different rows'       '4:15: error: append: 2 rows, but an earlier g.append or g.rotary has 1' 'local a = g.append(k, x); local b = g.append(v, g.input("Y", { 2, 8 }))'
graph 'keys without values in a cache'  '4:15: error: attention: keys and values must both come from g.append' 'local z = g.attention(x, g.append(k, x), x)'
graph 'one cache as keys and values'    '4:41: error: attention: the cache "K" cannot hold both keys and values' 'local a = g.append(k, x); local z = g.attention(x, a, a)'
graph 'keys of a cache'                 '4:15: error: attention: the "keys" option does not apply to caches' 'local z = g.attention(x, g.append(k, x), g.append(v, x), { keys = 2 })'
