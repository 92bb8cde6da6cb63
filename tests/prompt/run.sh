#!/bin/sh
# tags: slow
# Values at the prompt: weights in their original shape, tensors and arithmetic, answers to texts,
# verify and bench without side effects, names, options, completion, files and saved sessions,
# Ctrl-C.
# usage: run.sh XFORMC
set -u
. tests/lib.sh
quick_compilers
pty=$(dirname "$xformc")/tests/repl/pty
export XDG_STATE_HOME="$scratch/state" XDG_CACHE_HOME="$scratch/cache" TERM=xterm

# says NAME CODE OUT ERR < CHUNKS: the prompt prints exactly OUT and exits with CODE; ERR is a
# pattern for standard error.
says() {
    cat >"$scratch/in"
    "$xformc" repl <"$scratch/in" >"$scratch/out" 2>"$scratch/err"
    found=$?
    message=$(cat "$scratch/err")
    case $message in $4) fits=1 ;; *) fits=0 ;; esac
    [ $found = "$2" ] && [ "$(cat "$scratch/out")" = "$3" ] && [ $fits = 1 ]
    verdict $? "$1"
    echo "exit $found"; cat "$scratch/out" "$scratch/err"
}
# notes NAME LINES [COUNT] < CHUNKS: the prompt exits with 0, LINES are those of its output that
# begin with `= `, and standard error has COUNT lines, by default none.
notes() {
    cat >"$scratch/in"
    "$xformc" repl <"$scratch/in" >"$scratch/out" 2>"$scratch/err"
    [ $? = 0 ] && [ "$(sed -n 's/^= //p' "$scratch/out")" = "$2" ] && [ "$(wc -l <"$scratch/err")" = "${3:-0}" ]
    verdict $? "$1"
    grep '^= ' "$scratch/out"; cat "$scratch/err"
}

# ---- weights and tensors -------------------------------------------------------------------------

says 'a tensor of weights has the shape that the spec gives it' 65 '4 3
0.0 0.0
true
true
true' '*W_Q must be 4 × 3, found 3 × 4*W_Q takes 4 × 3 numbers, found 2*did you mean*W_Q*input X must be 3 × 4, found 2 × 2*' <<'END'
m = xf.compile("specs/self_attention.lua"); z = m:run().Z
values = { 1,0,1, 1,0,0, 0,1,0, 0,1,1 }
table.concat(m:weight("W_Q"):shape(), " ")
m:set("W_Q", values)
m:weight("W_Q"):distance(xf.tensor(values, { 4, 3 })) .. " " .. m:run().Z:distance(z)
m:set("W_Q", { { 1,0,1 }, { 1,0,0 }, { 0,1,0 }, { 0,1,2 } })
m:run().Z:distance(z) > 0
return (m:at("X")[1][3] * 0 + m:weight("W_Q")[4][3]) == 2
m:set("W_Q", xf.tensor(values, { 3, 4 }))
m:set("W_Q", { 1, 2 })
m:set("W_q", values)
m:run{ X = { { 1, 2 }, { 3, 4 } } }
g = xf.compile(xf.graph("both", function(g)
  local x, w = g.input("X", { 2, 2 }, { 1,0, 0,1 }), g.param("W", { 2, 2 }, { 1,2, 3,4 })
  g.output("Y", g.add(g.matmul(x, w), g.matmul(g.relu(x), w)))
end))
g:set("W", { { 0, 1 }, { 0, 0 } })
g:run().Y:distance(xf.tensor{ { 0, 2 }, { 0, 0 } }) == 0
END
says 'tensors print what they hold; nested tables are a shape' 65 'f32[2×2] min 1 max 4 mean 2.5
     1.00000    2.00000
     3.00000    4.00000
f32[2×2] min -3.4e+38 max 4 mean -8.5e+37
   1.0000e-08     2.00000
  -3.4000e+38     4.00000
f32[2×1] min inf max inf mean inf, 2 not finite
         inf
         nan' '*a row of 1 after rows of 2*mixed with tables*mixed with tables*sizes do not match*' <<'END'
xf.tensor{ { 1, 2 }, { 3, 4 } }
xf.tensor({ { 1e-8, 2 }, { -3.4e38, 4 } })
t = xf.tensor{ { 1/0 }, { 0/0 } }
(tostring(t):gsub("mean %a+", "mean inf"))
xf.tensor{ { 1, 2 }, { 3 } }
xf.tensor{ { 1, 2 }, 3 }
xf.tensor{ 1, { 2 } }
xf.tensor({ 1, 2, 3 }, { 2, 2 })
END
says 'tensors and numbers are computed with' 65 'f32[2×2] min -4 max -1 mean -2.5
    -1.00000   -2.00000
    -3.00000   -4.00000
true true true true true true 1.0' '*t + u: the shapes 2 × 2 and 2 differ*t:distance(u): the shapes 2 × 2 and 2 differ*a tensor cannot be combined with a string*' <<'END'
t = xf.tensor{ { 1, 2 }, { 3, 4 } }; function same(a, b) return tostring(a:distance(b) == 0) end
-t
same(t + t, 2 * t) .. " " .. same(1 - t, -(t - 1)) .. " " .. same(t * t / t, t) .. " " .. same(t / 2, t * 0.5) .. " " .. same(12 / t, xf.tensor{ { 12, 6 }, { 4, 3 } }) .. " " .. same(1 + t, t + 1) .. " " .. (t - 1)[1][2]
t + xf.tensor{ 1, 2 }
t:distance(xf.tensor{ 1, 2 })
t + "x"
END

# ---- answers -------------------------------------------------------------------------------------

says 'a text is answered by every kind of model, as by run' 65 "$("$xformc" run specs/sums.lua '12+34=')
12+34=4
8
$("$xformc" run specs/brackets.lua '[]{}')
f32[1×2]
$("$xformc" run specs/gpt.lua '1 2 3')
60 60 217
2019" '*maximum number of ids, at least 1*id 500 is not in the vocabulary of gpt (0 to 255)*id 1.5 is not in the vocabulary of gpt*' <<'END'
m = xf.compile("specs/sums.lua")
m("12+34=")
m:generate("12+34=", 1)
m:generate("12+34=", 0)
m("12+34=") return #m:at("decoder.0.self_attn.weights")[1]
m = xf.compile("specs/brackets.lua")
m("[]{}")
(tostring(m:run{ 1, 4, 5 }.vector):gsub(" .*", ""))
m = xf.compile("specs/gpt.lua")
m("1 2 3")
m:generate("1 2 3", 3)
m{ 500 }
m{ 1.5 }
xf.compile("specs/dates.lua"):generate("3rd of May 2019", 4)
END

# ---- asking and measuring ------------------------------------------------------------------------

notes 'verify, bench and measure leave the question and the sequence as they were' '0.0 15
0.0
0.0' <<'END'
m = xf.compile("specs/dates.lua")
m("3rd of May 2019")
a = m:at("encoder.0.self_attn.weights"); m:verify(); m:measure(0.001)
print("= " .. m:at("encoder.0.self_attn.weights"):distance(a) .. " " .. #a[1])
function steps()
  return xf.compile(xf.graph("steps", function(g)
    local x = g.input("X", { 1, 8 })
    local function project(name) return g.matmul(x, g.param(name, { 8, 8 })) end
    local keys = g.append(g.cache("K", { 20, 8 }), project("W_K"))
    local values = g.append(g.cache("V", { 20, 8 }), project("W_V"))
    g.output("Z", (g.attention(project("W_Q"), keys, values, { heads = 2 })))
  end), { tier = "jit" })
end
function x(i) local t = {}; for k = 1, 8 do t[k] = math.sin(i * k) end; return { X = t } end
a = steps(); b = steps()
for i = 1, 3 do a:run(x(i)); b:run(x(i)) end
a:verify(); a:measure(0.001)
print("= " .. a:at("Z"):distance(b:at("Z")))
for i = 4, 6 do u = a:run(x(i)).Z; v = b:run(x(i)).Z end
print("= " .. u:distance(v))
END
notes 'verify of a changed model: with the same weights; edits and probes are noted' 'true
true' 1 <<'END'
m = xf.compile("specs/dates.lua")
m:ablate("decoder.0.ffn")
print("= " .. tostring(m:verify()))
m:restore(); m:edit("argmax", m:code("argmax")); m:probe("encoder.1.ffn", function() end)
print("= " .. tostring(m:verify()))
END
grep -q '^note: dates was changed: C of argmax, probes; the generic engine runs without these changes$' "$scratch/err"
verdict $? 'what the generic engine lacks is reported once'
printf 'm = xf.compile(xf.graph("g", function(g) g.output("Y", g.relu(g.input("X", { 2, 2 }))) end))\nm:bench(0.2)\n' | "$xformc" repl >"$scratch/out" 2>&1
awk '/ µs \|/ { if (n++ && $1 - last < 0.0099) bad = 1; last = $1 } /^ *more \|/ { more++ } { sum += /\|/ ? $NF : 0; if (/ runs,/) { split($0, w, " "); runs = 0; for (i in w) if (w[i + 1] == "runs,") runs = w[i] } }
    END { exit bad || n > 10 || more > 1 || n + more < 2 || sum != runs }' "$scratch/out"
verdict $? 'the histogram has no bin finer than the clock, and all runs'
cat "$scratch/out"
says 'm:restore undoes weights, C and probes, and native code comes back' 0 'native jit jit
2019-05-03 0
native 2019-05-03
native' '' <<'END'
m = xf.compile("specs/dates.lua"); before = m:wait(); seen = 0
m:ablate("encoder.0.ffn"); changed = m.tier
m:probe("encoder.1.ffn", function(t) seen = seen + 1; return t:scaled(0) end)
m:edit("argmax", function(t) return (t:gsub("argmax_15%(s%->next_id, logits%)", "*s->next_id = 2")) end)
before .. " " .. changed .. " " .. m.tier
m:restore()
m("3rd of May 2019") .. " " .. seen
m:wait() .. " " .. m("3rd of May 2019")
m:restore() pcall(m.edit, m, "nothing", "") return m.tier
END

# ---- names, options, help ------------------------------------------------------------------------

says 'all names, in order, those of layers as one' 0 'X
Q
K
V
scores
weights
Z
45 true
decoder.{0..1}.ffn.down.weight
{0,2}' '' <<'END'
xf.compile("specs/self_attention.lua"):names()
m = xf.compile("specs/dates.lua"); n = m:names(); lines = {}
for line in tostring(n):gmatch("[^\n]+") do lines[#lines + 1] = line end
#lines .. " " .. tostring(lines[3] == "encoder.{0..1}.norm.0" and n[3] == "encoder.0.norm.0" and n[#n] == "log_probs")
tostring(m:weights()):match("decoder.{0..1}.ffn.down.weight")
tostring(setmetatable({ "e.0.x", "e.2.x" }, getmetatable(n))):match("{.*}")
END
says 'unknown options, errors with the line of the user' 65 'nil
true' "*prompt:1: m:attention has no option 'haed'; did you mean 'head'?
*prompt:1: engine: expected jit, native or generic, found jitt
*prompt:1: engine: expected a string, found a number
*prompt:1: xf.compile takes its options in a table, found a string
*prompt:1: expected a model, found a string; call methods with a colon*
*prompt:1: xf.sweep has no option 'secnods'; did you mean 'seconds'?
*prompt:1: xf.sweep takes a spec and *
*prompt:1: dates has no block 'encoder.0.self_attx'; expected encoder.{0..1}.self_attn, *
*prompt:1: m:ablate takes the name of a block*" <<'END'
m = xf.compile("specs/dates.lua")
x = m:attention("x", { haed = 9 })
x = xf.compile("specs/dates.lua", { engine = "jitt" })
x = xf.compile("specs/dates.lua", { engine = 4 })
x = xf.compile("specs/dates.lua", "jit")
x = m.at("x")
x = xf.sweep(xf.spec("specs/dates.lua"), { heads = { 4 } }, { secnods = 0.001 })
x = xf.sweep(7, { heads = { 4 } })
m:ablate("encoder.0.self_attx") x = 1
m:ablate() x = 1
print(tostring(xf.sweep(xf.spec("specs/dates.lua"), { d_model = { "x" } }, { seconds = 0.001 })):match("%[xf%]"))
xf.sweep(xf.spec("specs/dates.lua"), { heads = { 3 } }, { seconds = 0.001 })[1].error:find("specs/dates.lua:5:", 1, true) == 1
END
! grep -q '\[xf\]\|prelude\|#-1' "$scratch/err"
verdict $? 'no message names Lua of our own'
says 'help on members and commands' 65 '  :code   [FUNCTION]   the emitted C of one function
t:distance(u)
    max |t - u| / max |u|
m.tier   m:wait()
    What runs the model now: jit, native or generic; wait for native code' "*no help on 'nothing'*unexpected symbol near ']'" <<'END'
:help :code
?t:distance
?tier
?nothing
:time ]
END
notes ':time takes statements' '5 3' <<'END'
:time x = 5 for i = 1, 3 do y = i end
print("= " .. x .. " " .. y)
END
for name in xf.sweep sweep m:probe m:set xf.tensor tensor; do echo "?$name" | "$xformc" repl 2>&1 | grep -q "[.:({]" || echo "$name"; done >"$scratch/unknown"
[ ! -s "$scratch/unknown" ]
verdict $? 'help on what is documented'
cat "$scratch/unknown"
printf 'x = xf.sweep(xf.spec("specs/gpt.lua"), { heads = { 2 } }, { file = "%s", seconds = 0.001 })\n' "$scratch/s.svg" | "$xformc" repl && grep -q '<title>gpt: median time of a run' "$scratch/s.svg"
verdict $? 'the bars of a sweep name its model'

# ---- selections ----------------------------------------------------------------------------------

says 'a wrong choice is reported with the choices there are' 65 '4
4' "*dates has no block 'encoder.9.self_attn'; expected encoder.{0..1}.self_attn, encoder.{0..1}.ffn, decoder.{0..1}.self_attn,*
*encoder.0.self_attn has heads 0 to 3
*dates has no attention 'encoder.0.ffn'; expected encoder.{0..1}.self_attn, decoder.{0..1}.self_attn, decoder.{0..1}.cross_attn
*dates has no attention 'decoder.2.self_attn'; expected encoder.{0..1}*
*'encoder.7.ffn' (m:names() lists all tensors); encoder has layers 0 to 1*
*'decoder.7.ffn.up.weight' (m:weights() lists all weights); decoder has layers 0 to 1*
*'decoder.7.ffn'; decoder has layers 0 to 1*
*kind: expected encoder, decoder or cross, found cros
*note: encoder: layers 0 to 1, heads 0 to 3; decoder: layers 0 to 1, heads 0 to 3; cross: layers 0 to 1, heads 0 to 3
*note: decoder: layers 0 to 3, heads 0 to 3
*note: this xf.graph has head 0, no layers and no kinds
*n is the number of tokens to generate; it needs a decoder and a text
*n: expected a whole number from 1 to 1048576
*this needs the jit, the default engine" <<'END'
m = xf.compile("specs/dates.lua"); m("3rd of May 2019")
m:heads("encoder.0.self_attn")
m:ablate("encoder.9.self_attn")
m:ablate("encoder.0.self_attn", 4)
m:ablate("encoder.0.ffn", 0)
m:heads("decoder.2.self_attn")
m:at("encoder.7.ffn")
m:weight("decoder.7.ffn.up.weight")
m:probe("decoder.7.ffn", print)
m:attention("3 May 2019", { kind = "cros" })
m:attention("3 May 2019", { layer = 2 })
g = xf.compile("specs/gpt.lua"); g:run{ 1, 2 }; g:attention{ kind = "cross" }
xf.compile("specs/self_attention.lua"):attention{ head = 1 }
g:attention{ n = 3 }
m:attention("3 May 2019", { n = 0 })
m = xf.compile("specs/dates.lua", { engine = "generic" })
m:heads("encoder.0.self_attn")
m:ablate("encoder.0.self_attn")
END
rm -f "$scratch/graph.svg" "$scratch/both.svg"
says 'a graph has no text: one argument is the file' 65 '' '*self_attention is a graph and does not read text; call m:attention() or m:attention("file.svg")*' <<END
s = xf.compile("specs/self_attention.lua")
s:attention("$scratch/graph.svg")
s:attention(nil, "$scratch/both.svg")
s:attention("a text")
END
tail -n 1 "$scratch/graph.svg" | grep -q '</svg>' && cmp "$scratch/graph.svg" "$scratch/both.svg"
verdict $? 'the picture of a graph, whichever way its file is given'
says 'C that is wrong is reported with its lines' 65 '' "*: error: identifier expected
    int x = ;
    int y = 1;
*implicit declaration of function 'foo'
{
    foo(1);" <<'END'
m = xf.compile("specs/dates.lua", { tier = "jit" })
m:edit("argmax", "static void argmax(const job *j, int thread, int threads)\n{\n    int x = ;\n    int y = 1;\n}")
m:edit("argmax", "static void argmax(const job *j, int thread, int threads)\n{\n    foo(1);\n}")
END
says 'a model lists its changes' 0 'nil
C of argmax
C of argmax, probes, weights
nil
weights' '' <<'END'
m = xf.compile("specs/dates.lua", { tier = "jit" })
function changed() return tostring(m):match("; changed: (.*)$") end
changed()
m:edit("argmax", function(t) return (t:gsub("int threads%)", "int threads /* mine */)", 1)) end)
changed()
m:ablate("encoder.0.self_attn", 1); m:probe("encoder.0.ffn", function() end)
changed()
m:restore()
changed()
m:ablate("encoder.0.self_attn", 1)
changed()
END
says 'a tensor is read only' 65 '1.0' '*prompt:2: tensors are read-only*m:set*prompt:1: tensors are read-only*' <<'END'
t = xf.tensor{ 1, 2 }
do
t[1] = 5 end
t.x = 1
t[1]
END
for level in x 5 -1; do
    printf '1 + 1\nm = xf.compile("specs/copy.lua")\n' | XFORMC_DEBUG=$level "$xformc" repl >"$scratch/out" 2>"$scratch/err"
    [ "$(cat "$scratch/out" "$scratch/err")" = "2
note: XFORMC_DEBUG=$level: the levels are 0 (off) to 4" ]
    verdict $? "XFORMC_DEBUG=$level is noted, once"
    cat "$scratch/err"
done

# ---- files ---------------------------------------------------------------------------------------

# A session with bare expressions, as :save writes it: the whole file is not valid Lua.
printf 'x = 5\nx\na = { { 1, 2 } }\na[1][2]\nxf.tensor{ 1, 3 }:distance(xf.tensor{ 1, 2 })\nlong = 3\n  + 4\nlong\nfor i = 1, 2 do\n  print(i)\nend\n' >"$scratch/typed"
"$xformc" repl <"$scratch/typed" >"$scratch/expected" 2>/dev/null
{ cat "$scratch/typed"; echo ":save $scratch/session.lua"; } | grep -v '+ 4' | "$xformc" repl >/dev/null 2>&1
printf ':load %s\n' "$scratch/session.lua" | "$xformc" repl >"$scratch/out" 2>"$scratch/err"
[ $? = 0 ] && [ "$(cat "$scratch/out")" = '5
2
0.5
3
1
2' ] && [ ! -s "$scratch/err" ]
verdict $? ':load runs a session that :save wrote'
cat "$scratch/out" "$scratch/err"
"$xformc" lua "$scratch/typed" >"$scratch/out" 2>"$scratch/err"
[ $? = 0 ] && [ "$(sed 's/^3$/7/' "$scratch/expected")" = "$(cat "$scratch/out")" ] && grep -qx 7 "$scratch/out" && [ ! -s "$scratch/err" ]
verdict $? 'xformc lua prints values as the prompt does, even of a chunk of two lines'
cat "$scratch/out" "$scratch/err"
# lua_file NAME CODE OUT ERR < TEXT
lua_file() {
    cat >"$scratch/f.lua"
    (cd "$scratch" && "$xformc" lua f.lua) >"$scratch/out" 2>"$scratch/err"
    [ $? = "$2" ] && [ "$(cat "$scratch/out")" = "$3" ] && [ "$(cat "$scratch/err")" = "$4" ]
    verdict $? "$1"
    cat "$scratch/out" "$scratch/err"
}
lua_file 'an error of a session is reported at its line, and what follows runs' 65 '5
6' "error: f.lua:3: attempt to index a nil value (global 'nothing')
f.lua:6:3: error: unknown field \"headz\"; did you mean \"heads\"?
  headz = 3 }
  ^" <<'END'
x = 5
x
nothing.y = 1

xf.model{ name = "x",
  headz = 3 }
x + 1
END
lua_file 'what is an error in both ways runs nothing' 65 '' "error: f.lua:4: syntax error near 'end'" <<'END'
x = 5
x
for i = 1, 2 do
  x end
END
lua_file 'the end of a file comes too soon' 65 '' "error: f.lua:3: 'end' expected (to close 'do' at line 2) near <eof>" <<'END'
x
do
  x = 1
END
lua_file 'locals of a file that is Lua live to its end' 0 '7' '' <<'END'
local x = 7
print(x)
END
lua_file 'files that load themselves' 65 "$(yes 5 | head -n 16)" 'error: f.lua: files load each other more than 16 levels deep' <<'END'
5
:load f.lua
END
# A session of 5,000 lines.
awk 'BEGIN { print "x = 0\nx"; for (i = 0; i < 5000; i++) print "x = x + 1"; print "x" }' | lua_file 'a long session' 0 '0
5000' ''

# ---- on a terminal -------------------------------------------------------------------------------

. "$(dirname "$0")/../terminal/begin.sh"
# types NAME COMMAND… < SCRIPT: run the command on a pseudo-terminal, with the input of SCRIPT.
types() {
    name=$1
    shift
    cat >"$scratch/script"
    "$pty" "$scratch/script" "$@" >"$scratch/screen" 2>&1
    verdict $? "terminal: $name"
    cat "$scratch/screen"
}
types 'letters that are not ASCII, in every locale; Home, End, Ctrl-Left' env LC_ALL=C "$xformc" repl <<'END'
? >
> #"ä" + 40
? 42
> "M" .. "äy" .. "x"
? Mäyx
? >
. 2 + 2
^ [
. [1~
. 1
^ [
. [4~
> 0
? 32
? >
. 40 2
^ [
. [1;5D
> +
? 42
> :quit
END
types 'completion: tensors, weights, blocks, functions of the model before the colon; paths, fields, members' "$xformc" repl <<'END'
? >
> n = xf.compile("specs/self_attention.lua"); m = xf.compile("specs/dates.lua"); s = xf.spec("specs/dates.lua"); print("do" .. "ne")
? done
? >
. n:at("Q
^ I
^ I
^ U
. m:at("decoder.1.cross_attn.we
^ I
? ights
^ U
? >
. n:weight("W
^ I
? _
^ I
? W_K  W_Q  W_V
^ U
? >
. m:probe("log_
^ I
? probs
^ U
? >
. m:edit("argm
^ I
? ax
^ U
? >
. :code argm
^ I
? ax
^ U
? >
. m:ablate("decoder.1.c
^ I
? ross_attn
^ U
? >
. :load specs/dat
^ I
? es
^ U
? >
. xf.compile("specs/brackets.
^ I
? lua
^ U
? >
. s{ d_model = 8, act
^ I
? ivation
^ U
? >
. m.
^ I
? compile_ms  name  parameters  spec  state_bytes  tier
^ U
> :quit
END
types 'completion: words of fields and options, options, fields of stacks and grids' "$xformc" repl <<'END'
? >
> s = xf.spec("specs/dates.lua"); m = xf.compile(s); print("re" .. "ady")
? ready
? >
. s{ activation = "ge
^ I
? lu
^ U
? >
. xf.model{ d_model = 8, norm = "r
^ I
? ms
^ U
? >
. s{ encoder = { layers = 2, position = { "rota
^ I
? ry
^ U
? >
. s{ decoder = { kv_h
^ I
? eads
^ U
? >
. xf.compile(s, { eng
^ I
? ine
^ U
? >
. xf.compile(s{ heads = 8 }, { tier = "nat
^ I
? ive
^ U
? >
. xf.compile("specs/dates.lua", { dtype = "int
^ I
? int4  int8
^ U
? >
. m:attention("1 May", { kind = "cr
^ I
? oss
^ U
? >
. m:attention{ la
^ I
? yer
^ U
? >
. xf.sweep(s, { activ
^ I
? ation
^ U
? >
. xf.sweep(s, { heads = { 2, 4 } }, { sec
^ I
? onds
^ U
? >
. s{ weights = "specs/dates/da
^ I
? tes.safetensors
^ U
> :quit
END
tab=$(printf '\t')
PTY_SHOW=1 types 'a tab that is pasted is a tab, and room at the beginning of a line' "$xformc" repl <<END
? >
> ("a${tab}b"):byte(2) + 30
? 39
? >
> for i = 1, 2 do
? >>
> $tab${tab}print("round " .. i)
? >>
^ I
. if i == 2 then print("typ" .. "ed") end
>
? >>
> end
? round 1
? round 2
? typed
? >
> :quit
END
! grep -q coroutine "$scratch/screen"
verdict $? 'terminal: a tab before the first word opens no list'
types 'Ctrl-C twice leaves C that never ends' "$xformc" repl <<'END'
? >
> kept = "ke" .. "pt"; m = xf.compile("specs/dates.lua"); m:edit("argmax", function(t) return (t:gsub("{\n", "{\n    while (1) { }\n", 1)) end); print("go" .. "es on")
? goes on
> print("be" .. "gun"); m("3rd of May 2019")
? begun
^^
^ C
? interrupted
> m:restore()
> kept
? kept
> m("3rd of May 2019")
? 2019-05-03
> :quit
END
PTY_ENDS=130 types 'Ctrl-C once more ends what nothing can stop, with 130' "$xformc" repl <<'END'
? >
> print("be" .. "gun"); ("a"):rep(60):find(("a*"):rep(60) .. "b")
? begun
^^
^^
? again to quit xformc
^ C
END
