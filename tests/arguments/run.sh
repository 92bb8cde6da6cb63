#!/bin/sh
# Every function of the prompt and of specs rejects a surplus argument and a wrong type. Also
# options of graphs and axes of tensors. A tensor saved as .npy has the bytes that NumPy writes
# (list.npy, matrix.npy and cube.npy, by make_npy.py).
# usage: run.sh XFORMC
set -u
. tests/lib.sh
here=$PWD/tests/arguments
export XDG_STATE_HOME="$scratch/state" XDG_CACHE_HOME="$scratch/cache"

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

# ---- surplus arguments ---------------------------------------------------------------------------

# Each line is a call and, after ==>, its error message. Every call fails, and the next one still
# runs.
cat >"$scratch/calls" <<'END'
t:sum(1, 2) ==> t:sum([axis]): unexpected argument 2, 2
t:sum("x") ==> t:sum([axis]): axis must be a whole number, found "x"
t:mean(1.5) ==> t:mean([axis]): axis must be a whole number, found 1.5
t:min(1, nil, t) ==> t:min([axis]): unexpected argument 2, nothing
t:max(t) ==> t:max([axis]): axis must be a whole number, found a tensor
t:argmax(1, 2) ==> t:argmax([axis]): unexpected argument 2, 2
t:shape(1) ==> t:shape(): unexpected argument 1, 1
t:table("x") ==> t:table(): unexpected argument 1, "x"
t:slice() ==> t:slice(from[, to[, dimension]]): from must be a whole number, found nothing
t:slice(1, 2, 1, 5) ==> t:slice(from[, to[, dimension]]): unexpected argument 4, 5
t:scaled(1, 1, 2, 1, {}) ==> t:scaled(factor[, from[, to[, dimension]]]): unexpected argument 5, a table
t:distance(t, t) ==> t:distance(other): unexpected argument 2, a tensor
t:distance(5) ==> t:distance(other): other must be a tensor, found 5
t:save("x.npy", true) ==> t:save(file): unexpected argument 2, true
t:save("x.npy\0y") ==> a NUL at byte 6 of the string
t:save() ==> t:save(file): file must be a string, found nothing
m:run({}, {}, 5) ==> m:run([inputs[, target]]): unexpected argument 3, 5
m:run("x") ==> m:run([inputs[, target]]): inputs must be a tensor or a table of numbers, found "x"
m:run({}, { 1 }) ==> m:run([inputs]): unexpected argument 2, a table; g is a graph
m:reset(1) ==> m:reset(): unexpected argument 1, 1
m:names(1) ==> m:names(): unexpected argument 1, 1
m:at() ==> m:at(name): name must be a string, found nothing
m:at("Y", 2) ==> m:at(name): unexpected argument 2, 2
m:at(5) ==> m:at(name): name must be a string, found 5
m:wait(1) ==> m:wait(): unexpected argument 1, 1
m:at("Y\0z") ==> a NUL at byte 2 of the string
m:weight("W\0z") ==> a NUL at byte 2 of the string
xf.compile(s, { isa = "native\0z" }) ==> a NUL at byte 7 of the string
m:close(1) ==> m:close(): unexpected argument 1, 1
m:attention("x.svg", "y.svg", {}, 1) ==> m:attention([question[, file[, options]]]): unexpected argument 4, 1
m:attention({}, {}) ==> m:attention: argument 1 is a table; options come last
m:verify("x", 1) ==> m:verify([file]): unexpected argument 2, 1
m:bench(0.001, 1) ==> m:bench([seconds]): unexpected argument 2, 1
m:measure("x") ==> m:measure([seconds]): seconds must be a number, found "x"
m:time(1) ==> m:time(): unexpected argument 1, 1
m:probe("Y", print, 1) ==> m:probe(name[, function]): unexpected argument 3, 1
m:probe("Y", 1) ==> m:probe(name[, function]): function must be a function, found 1
m:code("x", 1) ==> m:code(function): unexpected argument 2, 1
m:edit("x", "y", 1) ==> m:edit(function, new): unexpected argument 3, 1
m:weight("W", 1) ==> m:weight(name): unexpected argument 2, 1
m:weights(1) ==> m:weights(): unexpected argument 1, 1
m:set("W", { 1 }, 1) ==> m:set(name, numbers): unexpected argument 3, 1
m:restore(1) ==> m:restore(): unexpected argument 1, 1
m:heads("x", 1) ==> m:heads(block): unexpected argument 2, 1
m:ablate("x", 1, 2) ==> m:ablate(block[, head]): unexpected argument 3, 2
m:generate({ 1 }, 1, 2) ==> m:generate(question[, most[, options]]): options must be a table, found 2
m:generate({ 1 }, 1, {}, 3) ==> m:generate(question[, most[, options]]): unexpected argument 4, 3
m("a", "b", "c") ==> m([question[, second[, options]]]): options must be a table, found "c"
m("a", "b", {}, 1) ==> m([question[, second[, options]]]): unexpected argument 4, 1
m(5) ==> m([question[, second[, options]]]): question must be a string or a tensor or a table of numbers, found 5
xf.spec("x", {}, 1) ==> xf.spec(file[, options]): unexpected argument 3, 1
xf.spec("x", { weight = "y" }) ==> xf.spec has no option 'weight'; did you mean 'weights'?
xf.compile() ==> xf.compile(spec[, options]): spec must be given, found nothing
xf.compile(s, {}, 1) ==> xf.compile(spec[, options]): unexpected argument 3, 1
xf.last(1) ==> xf.last(): unexpected argument 1, 1
xf.tensor({ 1 }, { 1 }, 2) ==> xf.tensor(numbers[, sizes]): unexpected argument 3, 2
xf.load("x", "y", "z") ==> xf.load(file[, name]): unexpected argument 3, "z"
xf.bars("t", "u", { 1 }, { 1 }, "f", 1) ==> xf.bars(title, unit, labels, numbers, file): unexpected argument 6, 1
xf.sweep(s, { seed = { 1 } }, {}, 7) ==> xf.sweep([spec, ]grid[, options]): unexpected argument 4, 7
xf.model({}, 5) ==> xf.model takes a table of fields; unexpected argument 2, 5
xf.op({}, 5) ==> xf.op takes a table; unexpected argument 2, 5
s({}, 5) ==> a spec takes a table of changes; unexpected argument 2, 5
build(nil, 5) ==> xf.graph takes a name, a function and a table of options; unexpected argument 4, 5
build(5) ==> the options of xf.graph must be a table, found 5
build({ heads = 5 }) ==> a graph has no field "heads", only name, weights, seed, dtype and kv_dtype
build({ name = "x" }) ==> the name of xf.graph is its first argument, not an option
with(function(g, x) g.output("z", x, 5) end) ==> g.output takes a name and a value; unexpected argument 3, 5
with(function(g, x) g.name("z", x, x) end) ==> g.name takes a name and a value; unexpected argument 3, a graph's value
with(function(g, x) g.input("i", { 1, 1 }, { 1 }, 5) end) ==> g.input takes a name, a shape and values; unexpected argument 4, 5
with(function(g, x) g.param("p", { 1, 1 }, { 1 }, 5) end) ==> g.param takes a name, a shape and values; unexpected argument 4, 5
with(function(g, x) g.cache("c", { 1, 1 }, 5) end) ==> g.cache takes a name and {capacity, width}; unexpected argument 3, 5
with(function(g, x) g.relu(x, 5) end) ==> argument 2 of g.relu must be a value of the graph, found 5
with(function(g, x) g.relu(x, {}, x) end) ==> argument 2 of g.relu must be a value of the graph, found a table
xf.compile(with(function(g, x) g.relu(x, x) end)) ==> relu takes at most 1 value; unexpected argument 2, X
xf.compile(with(function(g, x) g.attention(x, x, x, x, x, x) end)) ==> attention takes at most 5 values; unexpected argument 6, X
END
{
    cat <<'END'
t = xf.tensor{ { 1, 2 }, { 3, 4 } }
build = function(...) return xf.graph("g", function(g) g.output("Y", g.matmul(g.input("X", { 1, 1 }), g.param("W", { 1, 1 }))) end, ...) end
with = function(f) return xf.graph("g", function(g) local x = g.input("X", { 1, 1 }); g.output("Y", g.relu(x)); f(g, x) end) end
s = build(); m = xf.compile(s, { tier = "jit" })
END
    sed 's/ ==> .*//' "$scratch/calls"
} | (cd "$scratch" && "$xformc" repl) >"$scratch/out" 2>"$scratch/err"
[ $? = 65 ] && [ ! -s "$scratch/out" ]
verdict $? 'errors alone, and exit 65'
cat "$scratch/out"
grep -o 'error: .*' "$scratch/err" | sed 's/^error: //; s/^prompt:1: //' >"$scratch/found"
sed 's/.* ==> //' "$scratch/calls" >"$scratch/expected"
while read -r line; do
    call=${line%% ==> *} words=${line#* ==> }
    grep -qxF -e "$words" "$scratch/found"
    verdict $? "refused: $call"
done <"$scratch/calls"
[ "$(wc -l <"$scratch/found")" = "$(wc -l <"$scratch/calls")" ] && diff "$scratch/expected" "$scratch/found"
verdict $? 'each call has its error, in order'

# Every function of the prompt is in the list above.
"$xformc" repl >"$scratch/out" 2>"$scratch/err" <<'END'
local m = xf.compile(xf.graph("g", function(g) g.output("Y", g.relu(g.input("X", { 1, 1 }))) end)); for name in pairs(getmetatable(m).__methods) do print("m:" .. name .. "(") end
for name in pairs(getmetatable(xf.tensor{ 1 }).__methods) do print("t:" .. name .. "(") end
for name, f in pairs(xf) do if type(f) == "function" then print("xf." .. name .. "(") end end
END
missing=$(while read -r name; do grep -qF -e "$name" "$scratch/calls" || [ "$name" = 'xf.graph(' ] || echo "$name"; done <"$scratch/out")
[ "$(wc -l <"$scratch/out")" -ge 30 ] && [ -z "$missing" ]
verdict $? 'every function is tried'
echo "$missing"; cat "$scratch/err"
says 'a nil at the end is nothing' 0 '10.0
2
{}' '' <<'END'
t = xf.tensor{ { 1, 2 }, { 3, 4 } }
t:sum(nil, nil)
#t:slice(1, 2, nil, nil)
return "{}"
END

# ---- options of graphs ---------------------------------------------------------------------------

says 'a graph takes its weights and its seed' 0 'true
true
true
2.0 3.0' '' <<END
cd = "$scratch/"
xf.tensor({ 2, 3 }, { 1, 2 }):save(cd .. "w.safetensors")
build = function(o) return xf.graph("g", function(g) g.output("Y", g.matmul(g.input("X", { 1, 1 }, { 1 }), g.param("tensor", { 1, 2 }))) end, o) end
function y(o) return xf.compile(build(o), { tier = "jit" }):run().Y end
y{ seed = 1 }:distance(y{ seed = 1 }) == 0
y{ seed = 1 }:distance(y{ seed = 2 }) > 0
y():distance(xf.compile(build{ seed = 2 }{ seed = 1 }, { tier = "jit" }):run().Y) == y():distance(y{ seed = 1 })
table.concat(y{ weights = cd .. "w.safetensors" }[1]:table(), " ")
END

# ---- axes ----------------------------------------------------------------------------------------

says 'sums, means, extremes and places along an axis' 0 '{5.0,7.0,9.0} {6.0,15.0} {2.5,3.5,4.5} {2.0,5.0}
{4.0,5.0,6.0} {3.0,6.0} {1.0,2.0,3.0} {1.0,4.0}
{2.0,2.0,2.0} {3.0,3.0} {5.0,7.0,9.0} {6.0,15.0}
6.0 3.0 1.0 2.0 3.0
{6.0,8.0,10.0,12.0} 2 2 | {4.0,6.0,12.0,14.0} 2 2 | {3.0,7.0,11.0,15.0} 2 2
{1.0,1.0} {2.0,2.0} {2.0,2.0}
16777218.0 16777218.0
1.0 3' '' <<'END'
function row(t) return "{" .. table.concat(t:table(), ",") .. "}" end
t = xf.tensor{ { 1, 2, 3 }, { 4, 5, 6 } }
row(t:sum(1)) .. " " .. row(t:sum(2)) .. " " .. row(t:mean(1)) .. " " .. row(t:mean(2))
row(t:max(1)) .. " " .. row(t:max(2)) .. " " .. row(t:min(1)) .. " " .. row(t:min(2))
row(t:argmax(1)) .. " " .. row(t:argmax(2)) .. " " .. row(t:sum(-2)) .. " " .. row(t:sum(-1))
t[1]:sum(1) .. " " .. t[1]:max(1) .. " " .. t[1]:min(1) .. " " .. t[1]:mean(1) .. " " .. t[1]:argmax(1)
c = xf.tensor({ 1, 2, 3, 4, 5, 6, 7, 8 }, { 2, 2, 2 })
row(c:sum(1)) .. " " .. table.concat(c:sum(1):shape(), " ") .. " | " .. row(c:sum(2)) .. " " .. table.concat(c:sum(2):shape(), " ") .. " | " .. row(c:sum(3)) .. " " .. table.concat(c:sum(3):shape(), " ")
n = xf.tensor{ { 0/0, 1 }, { 2, 0/0 } } return row(n:argmax(1) - xf.tensor{ 1, 0 }) .. " " .. row(xf.tensor{ { 1, 2, 2 }, { 0, 5, 5 } }:argmax(2)) .. " " .. row(n:max(1) * 0 + 2)
big = xf.tensor({ 16777216, 1, 1 }, { 1, 3 }) return big:sum() .. " " .. big:sum(2)[1]
xf.tensor{ 5, 0/0, 7 }:argmax() - 2.0 .. " " .. xf.tensor{ 0/0, 5, 7 }:argmax()
END
says 'axes that a tensor does not have' 65 '' '*t:sum: a tensor of 2 × 3 has no axis 3; axes are 1 to 2, or -1 (the last) to -2*t:max: *no axis 0;*t:argmax: *no axis -3;*' <<'END'
t = xf.tensor{ { 1, 2, 3 }, { 4, 5, 6 } }
t:sum(3)
t:max(0)
t:argmax(-3)
END

# ---- tensor files --------------------------------------------------------------------------------

says 'a file is written as its ending says' 65 '' '*t:save: x.txt: the file name must be NAME.safetensors or NAME.npy*t:save: npy: the file name must*t:save: .npy: the file name must*' <<END
values = { 1.5, -2, 3e-5, 4, 5, 1e30, -0.0, 8, 9, 10, 11, 12 }
for name, shape in pairs{ list = { 12 }, matrix = { 3, 4 }, cube = { 2, 3, 2 } } do xf.tensor(values, shape):save("$scratch/" .. name .. ".npy") end
xf.tensor(values):save("$scratch/list.safetensors")
if xf.load("$scratch/list.safetensors", "tensor"):distance(xf.tensor(values)) ~= 0 then print("differs") end
xf.tensor(values):save("x.txt")
xf.tensor(values):save("npy")
xf.tensor(values):save(".npy")
END
[ ! -e x.txt ] && [ ! -e npy ] && [ ! -e .npy ]
verdict $? 'a file that is refused is not written'
for name in list matrix cube; do
    cmp "$here/$name.npy" "$scratch/$name.npy"
    verdict $? "NumPy's bytes: $name"
done
