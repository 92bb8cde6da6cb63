#!/bin/sh
# Operations that a user defines in C, xf.op. leaky.out is what `run leaky.lua` prints: H by hand, exp(-v) or v / 2. usage: run.sh [--write] XFORMC
set -u
write=
[ "${1:-}" = --write ] && { write=1; shift; }
xformc=$1 here=$(dirname "$0")
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT || exit 74
verdict() { if [ "$1" = 0 ]; then echo "ok $2"; else echo "not ok $2"; fi; }

if [ -n "$write" ]; then
    "$xformc" run "$here/leaky.lua" --allow-c --engine generic >"$here/leaky.out"
    "$xformc" compile "$here/leaky.lua" --allow-c -q -o "$scratch/folder" -d gp 2>"$here/leaky.graph"
    exit 0
fi

# fails NAME WORDS < SPEC: exit 65, and the message begins with WORDS
fails() {
    cat >"$scratch/wrong.lua"
    (cd "$scratch" && timeout 60 "$xformc" run wrong.lua --allow-c >out 2>err)
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

# ---- what is computed ---------------------------------------------------------------------------------------------

for engine in generic jit native; do
    "$xformc" run "$here/leaky.lua" --allow-c --engine $engine >"$scratch/out" 2>&1 && diff -u "$here/leaky.out" "$scratch/out"
    verdict $? "a custom operation: $engine"
done
"$xformc" run "$here/leaky.lua" --allow-c -t 3 >"$scratch/out" 2>&1 && diff -u "$here/leaky.out" "$scratch/out"
verdict $? 'rows of a custom operation shared by lanes'
"$xformc" verify "$here/leaky.lua" --allow-c --json >"$scratch/out" 2>&1
good=$?
for engine in generic jit native; do grep -q "\"engine\": *\"$engine" "$scratch/out" || good=1; done
verdict $good 'verify compares a custom operation in every engine'
"$xformc" compile "$here/leaky.lua" --allow-c -q -o "$scratch/folder" -d gp 2>"$scratch/err" && diff -u "$here/leaky.graph" "$scratch/err"
verdict $? 'dumps of a custom operation'
numbers() { grep -oE -- '-?[0-9]+\.[0-9]+'; }
for form in library unrolled; do
    "$xformc" build "$here/leaky.lua" --allow-c -q --kernels=$form -o "$scratch/$form" >"$scratch/err" 2>&1 &&
        "$scratch/$form/leaky_graph" | numbers >"$scratch/values" && sed -n '/^Y/,$p' "$here/leaky.out" | numbers | diff - "$scratch/values"
    verdict $? "a program with a custom operation: $form"
done
(cd "$scratch/unrolled" && cc -std=c11 -O1 -ffreestanding -Wall -Wextra -Werror -Iruntime -c leaky_graph.c -o leaky_free.o)
verdict $? 'a custom operation is freestanding'
"$xformc" info "$here/leaky.lua" --allow-c --graph "$scratch/graph.svg" >/dev/null && grep -q '>leaky<' "$scratch/graph.svg"
verdict $? 'a custom operation in a picture'

# ---- what is refused ----------------------------------------------------------------------------------------------

for command in run compile verify info pack; do
    (cd "$scratch" && "$xformc" $command "$OLDPWD/$here/leaky.lua" >out 2>err; [ $? = 65 ] && grep -q 'only with --allow-c' err)
    verdict $? "$command without --allow-c"
done
"$xformc" run --help | grep -q -e '--allow-c'
verdict $? '--allow-c is in --help'

graph='return xf.graph("g", function(g) g.output("Y", g.mine(g.input("X", { 2, 2 }))) end)'
# with NAME PLACE LINE: line 4 of a spec, in the C of an operation
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
with 'C that does not parse'        "4:5: error: the C of mine: ';' expected" 'y[0] = x[0]'
with 'a function of libm'           "4:5: error: the C of mine: implicit declaration of function 'expf'" 'y[0] = expf(x[0]);'
with 'a function of the system'     "4:5: error: the C of mine: implicit declaration of function 'system'" 'system("true");'
with 'the same, declared'           "3:5: error: the C of mine: undefined symbol 'system'" 'int system(const char *); system("true");'
with 'an include'                   "4:5: error: the C of mine: include file 'stdlib.h' not found" '#include <stdlib.h>'
with 'an input that is written to'  "4:5: error: the C of mine: assignment of read-only location" 'x[0] = 1;'
with 'a brace too many'             "4:5: error: the C of mine: " '} int other(void) { return 1;'
# field NAME PLACE FIELDS: an operation with other fields
field() {
    fails "$1" "$2" <<END
xf.op{ $3 }
$graph
END
}
shape='shape = function(x) return x end' c='c = "y[0] = 0;"'
field 'a shape function that fails'      "1:69: error: attempt to index a nil value (field 'y')" "name = \"mine\", $c, shape = function(x) return x.y.z end"
field 'a shape function without end'     '1:1: error: spec ran for more than' "name = \"mine\", $c, shape = function(x) while true do end end"
field 'a shape of one size'              '2:50: error: the shape of mine must be {rows, columns}' "name = \"mine\", $c, shape = function(x) return { 1 } end"
field 'a shape that is not whole'        '2:50: error: the shape of mine: size 1 must be a whole number' "name = \"mine\", $c, shape = function(x) return { 1.5, 1 } end"
field 'a shape out of all bounds'        '2:50: error: mine: absurd size' "name = \"mine\", $c, shape = function(x) return { 1e6, 1e6 } end"
field 'no shape function'                '1:4: error: shape of xf.op must be a function' "name = \"mine\", $c"
field 'no C'                             '1:4: error: c of xf.op must be text' "name = \"mine\", $shape"
field 'the name of another operation'    '1:4: error: the name g.matmul is taken' "name = \"matmul\", $shape, $c"
field 'a name that is none'              '1:4: error: the name of xf.op, "a b", must be a name of C' "name = \"a b\", $shape, $c"
field 'a misspelt field'                 '1:4: error: xf.op has no field "shap"; did you mean "shape"?' "name = \"mine\", shap = 1, $c"
field 'two inputs of one name'           '1:4: error: the name "a" is taken' "name = \"mine\", inputs = { \"a\", \"a\" }, $shape, $c"
field 'an attribute that is no number'   '1:4: error: attributes of xf.op must be' "name = \"mine\", attributes = { k = \"a\" }, $shape, $c"
field 'a misspelt operation'             '2:50: error: unknown operation g.mine; did you mean g.mina?' "name = \"mina\", $shape, $c"
field 'too few inputs'                   '2:50: error: mine takes 2 values, found 1' "name = \"mine\", inputs = { \"a\", \"b\" }, $shape, $c"
fails 'an attribute that there is not' '2:50: error: mine has no attribute "slop"; did you mean "slope"?' <<END
xf.op{ name = "mine", attributes = { slope = 1 }, $shape, $c }
return xf.graph("g", function(g) g.output("Y", g.mine(g.input("X", { 2, 2 }), { slop = 2 })) end)
END

# ---- the prompt ---------------------------------------------------------------------------------------------------

says 'typed at the prompt, defined again, and nothing is lost' 65 'f32[1×2] min 0.5 max 1 mean 0.75
     0.50000    1.00000
f32[1×2] min 0.5 max 1 mean 0.75
     0.50000    1.00000
f32[1×2] min 2 max 4 mean 3
     2.00000    4.00000' '*the C of mine: implicit declaration of function*' <<'END'
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
