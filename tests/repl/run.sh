#!/bin/sh
# The prompt on a pipe and with files: chunks, values, errors, specs, tensors, sweeps, pictures,
# assembly, saved sessions; probes, ablation, edits of C and of weights; XFORMC_DEBUG.
# tests/terminal tests the prompt on a terminal.
# usage: run.sh XFORMC
set -u
. tests/lib.sh
quick_compilers
export XDG_STATE_HOME="$scratch/state" XDG_CACHE_HOME="$scratch/cache" TERM=xterm

# says NAME CODE OUT ERR < CHUNKS: the prompt on a pipe prints exactly OUT and exits with CODE; ERR
# is a pattern for standard error.
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

says 'an expression, a statement, values' 0 '3
hello
{ 1, 2, "x", a = 3 }
3' '' <<'END'
1 + 2
x = "hello"
x
{ 1, 2, "x", a = 3 }
x = 3 return x
END
says 'nil is a value where one is asked for; what has no results prints nothing' 0 'nil
1
2
nil
s
nil
nil' '' <<'END'
nil
1, 2, nil, "s"
nothing
f = function() return nil end
f()
x = nil
(function() end)()
return
END
says '_ is the last value' 0 '42
43' '' <<'END'
42
_ + 1
END
says 'a chunk goes on over lines' 0 '1
2
done' '' <<'END'
for i = 1, 2 do
  print(i)
end
(function()
  return "done"
end)()
END
says 'an error loses nothing' 65 '1
1' '*error: prompt:1: attempt to index a nil value*' <<'END'
a = 1
a
b.c = 2
a
END
says 'an incomplete chunk at the end' 65 '' "*<eof>*" <<'END'
for i = 1, 2 do
END
says 'fields without effect are noted, but not by a sweep' 0 '2
2' 'prompt:1:22: note: rope_theta has no effect: positions are not "rotary"*' <<'END'
spec = xf.spec("specs/dates.lua")
m = xf.compile(spec{ rope_theta = 500 })
n = xf.compile(spec{ rope_theta = 600 })
n = xf.compile(spec{ rope_theta = 700 }, { notes = false })
#xf.sweep(spec{ rope_theta = 800 }, { heads = { 1, 2 } }, { seconds = 0.001 })
#xf.sweep(spec, { weights = { "random" }, layers = { 1, 2 } }, { seconds = 0.001 })
END
grep -c 'has no effect' "$scratch/err" | grep -qx 2
verdict $? 'each once'
says 'a text is answered' 0 '2019-05-03
2001-12-31' '' <<'END'
m = xf.compile("specs/dates.lua")
m("3rd of May 2019")
m("31 Dec 2001")
END
says 'a tensor has a shape, parts, numbers' 0 'f32[4×15×15]
4 15 15
f32[1×2] min 0.01251 max 0.1051 mean 0.05882
     0.10512    0.01251
true
15' '' <<'END'
m = xf.compile("specs/dates.lua"); m("3rd of May 2019")
t = m:at("encoder.0.self_attn.weights")
(tostring(t):gsub(" .*", ""))
table.concat(t:shape(), " ")
t[1]:slice(2, 2):slice(1, 1, 2):max() > 0.05 and t[1]:slice(2, 2):slice(1, 2, 2)
math.abs(t[4][15]:sum() - 1) < 1e-6
#t[1]
END
says 'a tensor out of range' 65 '' '*index 5 is outside the range 1 to 4*index 0 is outside the range 1 to 4*' <<'END'
m = xf.compile("specs/dates.lua"); m("3rd of May 2019")
m:at("encoder.0.self_attn.weights")[5]
m:at("encoder.0.self_attn.weights")[0]
END
says 'a misspelt tensor, option, method, command' 65 '' "*did you mean 'encoder.0.self_attn.weights'*has no option 'engin'; did you mean 'engine'*a model has no 'runn'*no command :hlp (:help lists all commands); did you mean :help?*" <<'END'
m = xf.compile("specs/dates.lua"); m("3rd of May 2019")
m:at("encoder.0.self_attn.wieghts")
xf.compile("specs/dates.lua", { engin = "jit" })
m:runn()
:hlp
END
says 'a wrong spec shows its place' 65 '' '*prompt:1:23: error: unknown field "headz"; did you mean "heads"?
xf.model{ name = "x", headz = 3 }
                      ^*d_model (64) is not divisible by heads (7)*' <<'END'
xf.model{ name = "x", headz = 3 }
xf.compile(xf.spec("specs/dates.lua"){ heads = 7 })
END
says 'a spec that is not there' 66 '' '*cannot open specs/none.lua*' <<'END'
xf.compile("specs/none.lua")
END
says 'a hostile spec stays in its sandbox' 65 'true
1' "*attempt to index a nil value (global 'os')*" <<END
io.open("$scratch/hostile.lua", "w"):write('os.remove("x") return xf.model{}'):close()
xf.compile("$scratch/hostile.lua")
1
END
says 'specs print themselves' 0 'spec dates: layers 2, heads 8, d_model 64, d_ff 256 (specs/dates.lua)
graph g: inputs 1, params 0, outputs 1 (prompt)' '' <<'END'
xf.spec("specs/dates.lua"){ heads = 8 }
xf.graph("g", function(g) g.output("Y", g.relu(g.input("X", { 2, 2 }))) end)
END
printf 'm = xf.compile("specs/dates.lua")\nm:ablate("decoder.1.cross_attn")\nm:time()\n' | "$xformc" repl >"$scratch/out" 2>&1
tail -n 1 "$scratch/out" | grep -q '^native  *no: changed models run on the jit$'
verdict $? 'm:time says why there is no native code'
says 'a spec with changes' 0 'true
true
2019-05-03' '' <<'END'
spec = xf.spec("specs/dates.lua")
m = xf.compile(spec); n = xf.compile(spec{ activation = "gelu" })
m:run{ 3, 4, 5 }.log_probs:distance(m:run{ 3, 4, 5 }.log_probs) == 0
m:run({ 3, 4, 5 }, { 1, 2 }).log_probs:distance(n:run({ 3, 4, 5 }, { 1, 2 }).log_probs) > 0
m("3rd of May 2019")
END
"$xformc" repl >"$scratch/out" <<'END'
spec = xf.spec("specs/dates.lua")
a = xf.compile(spec); b = xf.compile(spec{ activation = "gelu" })
b:time()
END
grep -q '^pack (reused) ' "$scratch/out" && [ "$(grep -c ' ms$' "$scratch/out")" -ge 6 ]
verdict $? 'the phases are reported; packing is reused when only choices change'

says 'several models side by side; a closed one' 65 '2019-05-03
f32[2×256]
2019-05-03' '*the model was closed*' <<'END'
a = xf.compile("specs/dates.lua"); b = xf.compile("specs/gpt.lua"); c = xf.compile("specs/dates.lua", { engine = "generic" })
a("3rd of May 2019")
(tostring(b:run{ 5, 6 }.logits):gsub(" .*", ""))
a:close()
c("3rd of May 2019")
a("x")
END
says 'generation' 0 'true
8' '' <<'END'
m = xf.compile("specs/gpt.lua")
ids = m:generate({ 1, 2, 3 }, 8)
ids[1] == ({ m:run{ 1, 2, 3 }.logits[3]:argmax() })[1] - 1
#ids
END
says 'bad ids, bad texts' 65 '' '*id 300 is not in the vocabulary of gpt (0 to 255)*no ids were given*is not in the vocabulary*' <<'END'
m = xf.compile("specs/gpt.lua")
m:run{ 300 }
m:run{}
xf.compile("specs/dates.lua")("☃")
END

# The worked example of the documentation, typed in.
says 'the worked example' 0 'f32[3×3] min 1.919 max 2.954 mean 2.271
     2.75619    1.91873    1.91873
     2.95377    1.98459    1.98459
     2.95377    1.98459    1.98459
f32[3×3] min 0 max 4 mean 1.667
     0.00000    2.00000    1.00000
     4.00000    0.00000    2.00000
     2.00000    2.00000    2.00000
f32[1×3×3] min 3 max 12 mean 8.333
     3.00000    6.00000    6.00000
     6.00000   12.00000   12.00000
     6.00000   12.00000   12.00000' '' <<'END'
s = xf.compile(xf.graph("self_attention", function(g)
  local x = g.input("X", { 3, 4 }, { 1,0,1,0,  0,2,0,2,  1,1,1,1 })
  local q = g.name("Q", g.matmul(x, g.param("W_Q", { 4, 3 }, { 1,0,1, 1,0,0, 0,1,0, 0,1,1 })))
  local k = g.name("K", g.matmul(x, g.param("W_K", { 4, 3 }, { 0,1,1, 1,0,1, 0,1,0, 1,0,0 })))
  local v = g.name("V", g.matmul(x, g.param("W_V", { 4, 3 }, { 0,0,1, 1,1,0, 0,1,0, 1,0,1 })))
  local z, w, scores = g.attention(q, k, v)
  g.output("Z", z)
  g.name("scores", scores)
  g.output("weights", w)
end))
s:at("Z")
s:at("K")
s:at("scores")
END
says 'another input' 65 'true' '*the graph has no input*takes 3 × 4 numbers, found 2*' <<'END'
m = xf.compile("specs/self_attention.lua")
m:run{ X = { 1,1,1,1, 1,1,1,1, 1,1,1,1 } }.Z:distance(xf.tensor({ 2,2,2, 2,2,2, 2,2,2 }, { 3, 3 })) < 1e-6
m:run{ Y = { 1 } }
m:run{ X = { 1, 2 } }
END
"$xformc" repl >"$scratch/out" <<'END'
m = xf.compile("tests/goldens/pre_layer.lua")
m:verify("tests/goldens/pre_layer.ref.safetensors")
END
tail -n 1 "$scratch/out" | grep -qx true && grep -q 'all within tolerance' "$scratch/out"
verdict $? 'verify against a reference'
# A tensor that xf.load cannot read is an error if it is requested, and is left out otherwise.
head='{"eight":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]},"whole":{"dtype":"I64","shape":[1],"data_offsets":[4,12]},
"real":{"dtype":"F32","shape":[1],"data_offsets":[12,16]}}'
{ printf "\\$(printf %03o ${#head})\0\0\0\0\0\0\0%s" "$head"; printf '\0\0\0\0\1\0\0\0\0\0\0\0\0\0\200\77'; } >"$scratch/unread.safetensors"
says 'xf.load names the fault of a tensor that it does not read' 65 '{ real = f32[1] min 1 max 1 mean 1
     1.00000 }' "*'eight' has dtype other, *'whole' has dtype I64, *has no tensor 'six'*" <<END
xf.load("$scratch/unread.safetensors")
xf.load("$scratch/unread.safetensors", "eight")
xf.load("$scratch/unread.safetensors", "whole")
xf.load("$scratch/unread.safetensors", "six")
END
printf 'm = xf.compile("specs/dates.lua")\nm("3rd of May 2019")\nm:at("encoder.0.ffn"):save("%s")\nxf.load("%s", "encoder.0.ffn"):distance(m:at("encoder.0.ffn"))\n' \
    "$scratch/t.safetensors" "$scratch/t.safetensors" | "$xformc" repl >"$scratch/out" 2>"$scratch/err"
[ "$(tail -n 1 "$scratch/out")" = 0.0 ] && [ ! -s "$scratch/err" ]
verdict $? 'a tensor is saved and loaded'

printf 'm = xf.compile("specs/dates.lua")\nm:attention("3rd of May 2019", "%s")\n:mem %s\n:graph %s\n:code argmax\n:asm argmax\n:bench 0.02\n:attn 3rd of May 2019\n' \
    "$scratch/a.svg" "$scratch/m.svg" "$scratch/g.svg" | "$xformc" repl >"$scratch/out" 2>"$scratch/err"
[ $? = 0 ] && [ ! -s "$scratch/err" ] && for f in a m g; do tail -n 1 "$scratch/$f.svg" | grep -q '</svg>' || exit 1; done
verdict $? 'pictures as files'
grep -q '^static void argmax(const job \*j' "$scratch/out"
verdict $? ':code shows a function'
grep -Eq '^argmax:$' "$scratch/out" && grep -Eq '^.ret' "$scratch/out"
verdict $? ':asm shows what the compiler makes of it'
mkdir "$scratch/empty" && printf '#!/bin/sh\nfor word; do [ "$last" != -o ] || echo "other:" >"$word"; last=$word; done\n' >"$scratch/empty/cc"
chmod +x "$scratch/empty/cc"
printf 'm = xf.compile("specs/dates.lua")\n:asm argmax\n' | PATH=$scratch/empty:$PATH "$xformc" repl >"$scratch/removed.out" 2>"$scratch/removed"
[ $? = 65 ] && [ ! -s "$scratch/removed.out" ] && grep -q "the C compiler removed 'argmax'" "$scratch/removed"
verdict $? ':asm without the function in the assembly'
grep -Eq 'runs?, minimum [0-9.]+ µs, median [0-9.]+ µs$' "$scratch/out" && grep -q '█' "$scratch/out"
verdict $? ':bench has a minimum, a median, a histogram'
grep -q 'layer 1' "$scratch/out" && grep -q 'head 3' "$scratch/out"
verdict $? ':attn draws in the terminal'
printf 'print(xf.sweep(xf.spec("specs/gpt.lua"), { heads = { 2, 3, 4 }, d_ff = { 64, 128 } }, { file = "%s", seconds = 0.001 }))\n' "$scratch/sweep.svg" |
    "$xformc" repl >"$scratch/out" 2>"$scratch/err"
[ $? = 0 ] && [ "$(wc -l <"$scratch/out")" = 7 ] && [ "$(grep -c 'd_model (128) is not divisible by heads (3)' "$scratch/out")" = 2 ] &&
    [ "$(grep -c '<rect' "$scratch/sweep.svg")" -ge 4 ]
verdict $? 'xf.sweep: a row for each combination, and bars'
cat "$scratch/out" "$scratch/err"

echo '=xf.sweep("specs/copy.lua", { dtype = { "f32", { ["decoder.*"] = "int8" } } }, { seconds = 0.001 })' | "$xformc" repl >"$scratch/out" 2>"$scratch/err"
grep -q '^f32 ' "$scratch/out" && grep -q '^{ \["decoder\.\*"\] = "int8" }  ' "$scratch/out"
verdict $? 'xf.sweep: a table among the values is printed as in a spec'
says 'a sweep of the last model or of a model takes options; a wrong row says one line' 65 '2
specs/gpt.lua:4:26: error: d_model (128) is not divisible by heads (3)
2 jit
true' "*has no option 'second'; did you mean 'seconds'*xf.sweep takes a spec and*xf.sweep takes a spec and*" <<'END'
m = xf.compile("specs/gpt.lua")
s = xf.sweep(m, { heads = { 2, 3 } }, { seconds = 0.001 })
#s
s[2].error
s = xf.sweep({ heads = { 2, 4 } }, { seconds = 0.001, tier = "jit" }); return #s .. " jit"
not tostring(xf.sweep(m, { heads = { 3 } })):find("\n.*\n")
xf.sweep({ heads = { 2 } }, { second = 0.001 })
xf.sweep(3, { heads = { 2 } })
xf.sweep({ heads = { 2 } }, { seconds = 0.001 }, {})
END

# ---- experiments ---------------------------------------------------------------------------------

says 'a probe sees a tensor while the model runs' 0 '2019-05-03 11
1 4 1 15 true
0' '' <<'END'
m = xf.compile("specs/dates.lua"); calls = 0
m:probe("decoder.1.cross_attn.weights", function(t, step)
  calls = calls + 1
  if step == 1 then first = { step, t:shape()[1], t:shape()[2], t:shape()[3], math.abs(t:sum() - 4) < 1e-5 } end
end)
m("3rd of May 2019") .. " " .. calls
("%d %d %d %d %s"):format(table.unpack(first))
m:probe("decoder.1.cross_attn.weights"); calls = 0; m("3rd of May 2019")
calls
END
# A change at one token of a prompt changes the answer as if each token were read alone.
says 'a probe sees every token of a prompt, in m:generate too' 0 '1 2 3 4 5 6 7 8 9
true true true true
4 true' '' <<'END'
m = xf.compile("specs/gpt.lua"); prompt = { 1, 2, 3, 4, 5, 6 }
function first() return ({ m:run(prompt).logits[6]:argmax() })[1] - 1 end
plain = m:generate(prompt, 4); first_plain = first(); steps = {}
m:probe("decoder.0.ffn", function(t, step) steps[#steps + 1] = step; if step == 3 then return t:scaled(-300) end end)
changed = m:generate(prompt, 4); seen = table.concat(steps, " ")
seen
function eq(a, b) return table.concat(a, " ") == table.concat(b, " ") end
text = m("1 2 3 4 5 6"); first_changed = first()
return table.concat({ tostring(not eq(plain, changed)), tostring(changed[1] == first_changed), tostring(text:find(" ", 1, true) ~= nil and text:match("%d+") == tostring(changed[1])), tostring(first_plain == plain[1]) }, " ")
m:probe("decoder.0.ffn"); again = m:generate(prompt, 4)
#again .. " " .. tostring(eq(plain, again))
END
says 'a probe changes a tensor: the same as the block without weights' 0 'true true true' '' <<'END'
m = xf.compile("specs/dates.lua")
function out() return m:run({ 3, 4, 5 }, { 1, 2 }).log_probs end
a = out()
m:probe("encoder.0.ffn", function(t) return t:scaled(0) end); b = out()
m:probe("encoder.0.ffn"); c = out()
m:ablate("encoder.0.ffn"); d = out()
m:restore(); e = out()
tostring(b:distance(a) > 0.01) .. " " .. tostring(b:distance(d) == 0) .. " " .. tostring(a:distance(c) == 0 and a:distance(e) == 0)
END
says 'a head without its columns is a head that is ablated' 0 'true' '' <<'END'
m = xf.compile("specs/dates.lua")
function out() return m:run({ 3, 4, 5 }, { 1, 2 }).log_probs end
a = out()
m:ablate("decoder.1.cross_attn", 1); b = out(); m:restore()
m:probe("decoder.1.cross_attn.context", function(t) return t:scaled(0, 17, 32, 2) end); c = out()
b:distance(c) < 1e-6 and a:distance(b) > 1e-4
END
says 'an error in a probe, a probe of nothing, of what nobody reads' 65 '2019-05-03' "*stop here*did you mean 'encoder.0.ffn'*cannot be changed*" <<'END'
m = xf.compile("specs/dates.lua")
m:probe("encoder.0.ffn", function(t) error("stop here") end)
m("3rd of May 2019")
m:probe("encoder.0.fffn", print)
m:probe("encoder.0.ffn")
m:probe("encoder.0.self_attn.weights", function(t) return t end)
m("3rd of May 2019")
m:probe("encoder.0.self_attn.weights")
m("3rd of May 2019")
END
says 'the C of a function is changed, the sequence goes on' 65 '2019-05-03
true
0
2019-05-03' "*implicit declaration of function 'foo'*there is no function 'nothing'*" <<'END'
m = xf.compile("specs/dates.lua"); old = m:code("argmax")
m("3rd of May 2019")
old:find("argmax_15(s->next_id, logits)", 1, true) ~= nil
m:edit("argmax", function(text) return (text:gsub("argmax_15%(s%->next_id, logits%)", "*s->next_id = 2")) end)
#m:generate({ 3, 4, 5 })
m:edit("argmax", "static void argmax(const job *j, int thread, int threads)\n{\n    foo(1);\n}")
m:edit("nothing", "")
m:edit("argmax", old)
m("3rd of May 2019")
END
says ':code shows what runs' 0 'static void argmax(const job *j, int thread, int threads /* mine */)
2 true' '' <<'END'
m = xf.compile("specs/dates.lua", { tier = "jit" })
m:edit("argmax", function(text) return (text:gsub("int threads%)", "int threads /* mine */)", 1)) end)
print(m:code("argmax"):match("[^\n]*"))
ids, all = m:generate({ 3, 4, 5 }, 2), m:generate{ 3, 4, 5 }
#ids .. " " .. tostring(ids[1] == all[1] and ids[2] == all[2] and #all > 2)
END
printf 'm = xf.compile("specs/dates.lua", { tier = "jit" })\nm:edit("argmax", function(t) return (t:gsub("int threads%%)", "int threads /* mine */)", 1)) end)\n:code argmax\n' | "$xformc" repl >"$scratch/out" 2>&1
[ "$(sed -n 1,2p "$scratch/out")" = '/* The first maximum of the logits. */
static void argmax(const job *j, int thread, int threads /* mine */)' ]
verdict $? ':code shows a function with its comment, as it was edited'
cat "$scratch/out"
says 'a tensor of weights is changed in only one model' 65 'true true true' '*takes 64 × 256 numbers, found 1*has no weights*' <<'END'
m = xf.compile("specs/dates.lua"); n = xf.compile("specs/dates.lua"); w = m:weight("encoder.0.ffn.down.weight")
function out(m) return m:run({ 3, 4, 5 }, { 1, 2 }).log_probs end
a = out(m)
m:set("encoder.0.ffn.down.weight", w:scaled(1.01)); b = out(m); c = out(n)
m:set("encoder.0.ffn.down.weight", w); d = out(m)
tostring(a:distance(b) > 0) .. " " .. tostring(a:distance(c) == 0) .. " " .. tostring(a:distance(d) == 0)
m:set("encoder.0.ffn.down.weight", { 1 })
m:set("encoder.0.ffn.down.wait", { 1 })
END
says 'a probe cannot close, change or ask the model that runs' 65 '2019-05-03' '*is busy*is busy*is busy*is busy*' <<'END'
m = xf.compile("specs/dates.lua")
m:probe("encoder.0.ffn", function() m:close() end) m("3rd of May 2019")
m:probe("encoder.0.ffn", function() m:probe("encoder.0.ffn") end) m("3rd of May 2019")
m:probe("encoder.0.ffn", function() m:edit("argmax", m:code("argmax")) end) m("3rd of May 2019")
m:probe("encoder.0.ffn", function() m("4 May 1999") end) m("3rd of May 2019")
m:probe("encoder.0.ffn")
m("3rd of May 2019")
END
says 'an edit is there for a probe too; a probe of a coroutine; a probe that fails with nil' 65 '00000000000
00000000000
00000000000' '*the probe of encoder.0.ffn failed*' <<'END'
m = xf.compile("specs/dates.lua")
m:edit("argmax", function(s) return (s:gsub("argmax_15.-;", "argmax_15(s->next_id, logits); if (thread == 0) s->next_id[0] = 5;", 1)) end)
m("3rd of May 2019")
coroutine.wrap(function() m:probe("encoder.0.ffn", function() end) print(m("3rd of May 2019")) end)()
do collectgarbage() end
m("3rd of May 2019")
m:probe("encoder.0.ffn", function() error() end)
m("3rd of May 2019")
END
echo '?xf' | "$xformc" repl >"$scratch/out" 2>"$scratch/err" && head -n 1 "$scratch/out" | grep -q '^xf.spec(' && ! grep -q 'table: ' "$scratch/out"
verdict $? '?xf describes xf and does not print it'

says 'invalid values are refused' 65 '5
true
true' "*the tensor is empty*tables of numbers are nested more than 4 deep*sizes do not match*expected a whole number from 1 to 16*expected a whole number from 0 to 4095*a NUL at byte 2*there is no function ''*not finite*" <<'END'
xf.tensor({}):argmax()
t = {}; t[1] = t; xf.tensor(t)
xf.tensor({}, { 65536, 65536, 65536, 65536 })
xf.compile("specs/dates.lua", { threads = 4294967297 })
m = xf.compile("specs/dates.lua"); m:attention("3 May 2019", { head = 2^32 })
m("a\0b")
m:code("")
xf.bars("x", "y", { "a" }, { 0/0 }, "f.svg")
s = xf.sweep(xf.spec("specs/dates.lua"), { heads = { 4, 3, "x", 0, -1 } }, { seconds = 0.001 })
#s
s[1].median_us > 0 and s[2].error ~= nil and s[3].error ~= nil and s[4].error ~= nil and s[5].error ~= nil
s[3].parameters == nil
END
"$xformc" repl >"$scratch/out" 2>"$scratch/err" <<'END'
m = xf.compile("tests/goldens/awkward.lua")
for _, name in ipairs(m:weights()) do
  local before = m:weight(name)
  m:set(name, before:scaled(2))
  if m:weight(name):distance(before:scaled(2)) ~= 0 then print(name, "is not what was set") end
  m:set(name, before)
end
print(#m:weights())
END
[ $? = 0 ] && [ ! -s "$scratch/err" ] && [ "$(cat "$scratch/out")" -ge 40 ]
verdict $? 'every tensor of weights is what was set, at awkward sizes'
cat "$scratch/out" "$scratch/err"

XFORMC_DEBUG=2 "$xformc" run specs/dates.lua '3rd of May 2019' 2>"$scratch/err" | grep -qx 2019-05-03 &&
    grep -Eq '^dates: plan [0-9.]+ ms, emit [0-9.]+ ms, compile [0-9.]+ ms, pack [0-9.]+ ms$' "$scratch/err" &&
    grep -Eq '^rt_linear_f32 +encoder\.0\.ffn\.hidden +\[15×256\] +[0-9.]+ µs +[0-9.]+ GFLOP/s +[0-9.]+ GB/s +[0-9.]+ %$' "$scratch/err" &&
    ! grep -q 'static void' "$scratch/err"
verdict $? 'XFORMC_DEBUG=2 has a line for each operation'
head -n 3 "$scratch/err"
XFORMC_DEBUG=4 "$xformc" run specs/self_attention.lua 2>"$scratch/err" >/dev/null && grep -q '^static void ' "$scratch/err"
verdict $? 'XFORMC_DEBUG=4 has the C text'
XFORMC_DEBUG=1 "$xformc" run specs/self_attention.lua 2>"$scratch/err" >/dev/null && [ "$(wc -l <"$scratch/err")" = 1 ]
verdict $? 'XFORMC_DEBUG=1 has only the passes'

printf 'x = 1\nbad.y = 2\ny = 2\n:save %s\n' "$scratch/session.lua" | "$xformc" repl >/dev/null 2>&1
[ "$(cat "$scratch/session.lua")" = 'x = 1
y = 2' ]
verdict $? ':save writes what ran'
printf 'z = 7\n' >"$scratch/load.lua"
printf ':load %s\nz\n' "$scratch/load.lua" | "$xformc" repl 2>&1 | grep -qx 7
verdict $? ':load runs a file'

# A script.
printf '#!/usr/bin/env xformc\nlocal m = xf.compile(arg[1])\nprint(m(arg[2]))\n' >"$scratch/ask.lua"
[ "$("$xformc" lua "$scratch/ask.lua" specs/dates.lua '3rd of May 2019')" = 2019-05-03 ]
verdict $? 'xformc lua runs a file with its arguments'
{ printf '\357\273\277' && cat "$scratch/ask.lua"; } >"$scratch/marked.lua"
[ "$("$xformc" lua "$scratch/marked.lua" specs/dates.lua '3rd of May 2019')" = 2019-05-03 ]
verdict $? 'a byte order mark before #!'
printf 'print(1)\nerror("stop")\n' >"$scratch/stop.lua"
"$xformc" lua "$scratch/stop.lua" >"$scratch/out" 2>"$scratch/err"
[ $? = 65 ] && grep -q 'stop.lua:2: stop$' "$scratch/err"
verdict $? 'xformc lua tells the line of an error'
"$xformc" lua "$scratch/none.lua" 2>"$scratch/err"
[ $? = 66 ]
verdict $? 'xformc lua of a file that is not there'

# 1,000 rounds of compile and free.
cat >"$scratch/rounds.lua" <<'END'
local function resident()
  for line in io.lines("/proc/self/status") do
    local kb = line:match("^VmRSS:%s+(%d+)")
    if kb then return tonumber(kb) end
  end
end
local spec = xf.spec("specs/copy.lua")
local function rounds(n)
  for i = 1, n do
    local m = xf.compile(spec)
    if i % 100 == 1 then m:run{ 1, 2, 3 } end
    m:close()
  end
  collectgarbage()
  collectgarbage()
end
rounds(200)
local before = resident()
rounds(1000)
print(resident() - before)
END
if [ -r /proc/self/status ]; then
    "$xformc" lua "$scratch/rounds.lua" >"$scratch/out" 2>"$scratch/err"
    [ $? = 0 ] && [ "$(cat "$scratch/out")" -lt 4096 ]
    verdict $? '1,000 rounds of compile and free take no more memory'
    cat "$scratch/out" "$scratch/err"
fi
says 'a closed model, an invalid dimension' 65 '' '*the model was closed*dimension -9223372036854775808 is outside the range 1 to 1*' <<'END'
m = xf.compile("specs/self_attention.lua"); m:close()
m.tier
xf.tensor{ 1, 2 }:slice(1, 1, math.mininteger)
END
