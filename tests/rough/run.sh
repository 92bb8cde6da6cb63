#!/bin/sh
# tags: slow
# The prompt under stress: models inside probes, weights files that change while a model is open,
# chunks of 20,000 lines, a small address space, SIGINT, failing streams, caught errors and exit
# codes of scripts, memory of a long session, compilers that hang, C with too much data or brackets
# nested too deep.
# usage: run.sh XFORMC
set -u
. tests/lib.sh
export XDG_STATE_HOME="$scratch/state" XDG_CACHE_HOME="$scratch/cache" TERM=xterm

# says NAME CODE OUT ERR < CHUNKS: the prompt on a pipe prints exactly OUT and exits with CODE; ERR
# is a pattern for standard error.
says() {
    cat >"$scratch/in"
    timeout "$patience" "$xformc" repl <"$scratch/in" >"$scratch/out" 2>"$scratch/err"
    found=$?
    message=$(cat "$scratch/err")
    case $message in $4) fits=1 ;; *) fits=0 ;; esac
    [ $found = "$2" ] && [ "$(cat "$scratch/out")" = "$3" ] && [ $fits = 1 ]
    verdict $? "$1"
    echo "exit $found"; cut -c1-300 "$scratch/out" "$scratch/err" | head -n 40
}

# ---- models inside models ------------------------------------------------------------------------

says 'a probe runs another model, which is freed before the first goes on' 0 '15 2
2019-05-03' '' <<'END'
m = xf.compile("specs/dates.lua", { tier = "jit" })
m:probe("encoder.0.ffn", function()
  local n = xf.compile("specs/self_attention.lua", { tier = "jit" })
  n:run{}
  n:close()
  collectgarbage()
end)
m:probe("encoder.1.ffn", function(t) rows = t:shape()[1] end)
n = xf.compile("specs/self_attention.lua", { tier = "jit" }); inner = 0
n:probe("Z", function() inner = inner + 1 end)
m:probe("decoder.0.ffn", function(t, step) if step < 3 then n:run{} end end)
answer = m("3rd of May 2019")
rows .. " " .. inner
answer
END

# ---- files that change ---------------------------------------------------------------------------

mkdir -p "$scratch/specs/dates"
fresh() { cp specs/dates.lua "$scratch/specs/" && cp specs/dates/dates.safetensors specs/dates/*.txt "$scratch/specs/dates/"; }
for change in 'truncate -s 20000 "%s"' 'printf 0123456789 | dd of="%s" bs=1 seek=300000 conv=notrunc 2>/dev/null'; do
    fresh
    # shellcheck disable=SC2059
    printf "$change" "$scratch/specs/dates/dates.safetensors" >"$scratch/change"
    says 'weights that are written to: one error, and what is open goes on' 65 '2019-05-03
2019-05-03' '*dates.safetensors changed after dates was read from it*dates.safetensors changed*' <<END
m = xf.compile("$scratch/specs/dates.lua", { tier = "jit" })
m("3rd of May 2019")
os.execute[[sleep 0.02; sh "$scratch/change"]] m:at("encoder.0.ffn")
m:verify()
m("3rd of May 2019")
END
done
fresh
says 'another file in place of the weights: what is open goes on with its own' 0 '2019-05-03
true' '' <<END
m = xf.compile("$scratch/specs/dates.lua", { tier = "jit" })
os.execute[[cd "$scratch/specs/dates"; head -c 20000 dates.safetensors >new; mv new dates.safetensors]] print(m("3rd of May 2019"))
m:at("encoder.0.ffn"):max() > 0
END

# ---- long chunks ---------------------------------------------------------------------------------

# answers KIB COMMAND…: its standard output is $answer, within KIB of memory.
# cpu_ms: the processor time that it took.
answers() {
    kib=$1
    shift
    [ -n "${XFORMC_SANITIZE:-}" ] && kib=unlimited
    (
        ulimit -v "$kib"
        timeout "$patience" "$@"
        code=$?
        times >"$scratch/times"
        exit $code
    ) >"$scratch/out" 2>"$scratch/err"
    [ $? = 0 ] && [ "$(cat "$scratch/out")" = "$answer" ]
}
cpu_ms() {
    awk 'NR == 2 { split($1, u, /[ms]/); split($2, s, /[ms]/)
                   printf "%d", 1000 * (60 * (u[1] + s[1]) + u[2] + s[2]) }' "$scratch/times"
}
# within KIB NAME COMMAND…
within() {
    kib=$1 name=$2
    shift 2
    answers "$kib" "$@"
    verdict $? "$name"
    head -c 500 "$scratch/out" "$scratch/err"
}
# chunks N: four chunks, with N lines in each.
chunks() {
    echo 'function f(x)'
    seq 1 "$1" | sed 's/.*/  x = x + 1    -- ( line & ]]/'
    printf '  return x\nend\nt = {\n'
    seq 1 "$1" | sed 's/.*/  { &, "[[ \\" ( { ", [[ end ]] },/'
    printf '}\ns = [==[\n'
    seq 1 "$1" | sed 's/.*/function ( { ]] &/'
    printf ']==]\nn = 0 +\n'
    seq 1 "$1" | sed 's/.*/1 +/'
    printf '0\nf(0) .. " " .. #t .. " " .. #s .. " " .. n\n'
}
chunks 5000 >"$scratch/short"
chunks 20000 >"$scratch/long"
# Four times the lines take at most ten times as long. Quadratic time would take sixteen times.
linear() {
    answer='5000 5000 103893 5000'
    answers 1000000 sh -c '"$0" repl <"$1"' "$xformc" "$scratch/short" || return
    few_ms=$(cpu_ms)
    answer='20000 20000 428894 20000'
    answers 1000000 sh -c '"$0" repl <"$1"' "$xformc" "$scratch/long" || return
    echo "$few_ms ms, $(cpu_ms) ms"
    [ "$(cpu_ms)" -le $((10 * few_ms)) ]
}
linear || linear || linear
verdict $? 'four chunks of 20,000 lines'
head -c 500 "$scratch/out" "$scratch/err"
printf 'for i = 1, 2 do\n  x = = 3\nend\n"on"\n' >"$scratch/long"
{ echo 'function f(x)'; seq 1 2000 | sed 's/.*/  x = x + 1    -- a line that makes it long/'; echo 'x = = 3'; seq 1 2000 | sed 's/.*/  x = x + 1  -- &/'; echo 'end'; } >>"$scratch/long"
"$xformc" repl <"$scratch/long" >"$scratch/out" 2>"$scratch/err"
[ "$(sed -n 1p "$scratch/err")" = "error: prompt:2: unexpected symbol near '='" ] && grep -qx on "$scratch/out" &&
    grep -q "^error: prompt:2002: unexpected symbol near '='$" "$scratch/err"
verdict $? 'a wrong line of a chunk is reported, of a long one too, before its end'
head -n 3 "$scratch/err"

# ---- little memory -------------------------------------------------------------------------------

# OpenBLAS's threads end only once they have their buffers, so the process must not start them
# before it needs them.
if [ -n "${XFORMC_SANITIZE:-}" ]; then
    echo 'skip a small address space (sanitizers need a large one)'
else
    answer=$("$xformc" --version)
    within 100000 'a small address space: a command comes to its end' "$xformc" --version
    answer=2019-05-03
    within 400000 'a small address space: the generic engine too' "$xformc" run specs/dates.lua --engine generic -t 2 '3rd of May 2019'
    (ulimit -v 140000; timeout "$patience" "$xformc" run specs/dates.lua --engine generic 1) >"$scratch/out" 2>"$scratch/err"
    [ $? = 69 ] && [ "$(cat "$scratch/err")" = 'error: no memory for OpenBLAS, which the generic engine needs' ]
    verdict $? 'a small address space: no room for the buffers is reported'
    cat "$scratch/err"
fi
for n in 1 2; do
    cat >"$scratch/threads.lua" <<END
local function threads() return io.open("/proc/self/status"):read("a"):match("Threads:%s*(%d+)") end
local before, m = threads(), xf.compile("specs/dates.lua", { engine = "generic", threads = $n })
print(before, m("3rd of May 2019"), threads())
END
    said=$(env -u OPENBLAS_NUM_THREADS -u GOTO_NUM_THREADS -u OMP_NUM_THREADS "$xformc" lua "$scratch/threads.lua")
    if [ ! -e /proc/self/status ]; then echo "skip the generic engine has the $n threads that it is told (no /proc)"; continue; fi
    [ "$(echo $said)" = "1 2019-05-03 $n" ]
    verdict $? "the generic engine has the $n threads that it is told, and there are none before"
    echo "$said"
done

# ---- interrupts ----------------------------------------------------------------------------------

# stopped NAME BEGUN COMMAND…: SIGINT, sent once BEGUN succeeds, ends the command with 130 and a
# message. Its standard input is the file `in`, its process id is in `id`, and it may create the
# file `begun`.
begun() { [ -e "$scratch/begun" ]; }
says_first() { grep -q first "$scratch/out"; }
interrupt_when() { await "$1" && kill -s INT "$(cat "$scratch/id")"; }
interrupted() { timeout -k 5 "$patience" sh -c 'echo $$ >"$0"; exec "$@"' "$scratch/id" "$@"; }
stopped() {
    name=$1 event=$2
    shift 2
    rm -f "$scratch/begun"
    : >"$scratch/out"
    interrupt_when "$event" &
    interrupted "$@" <"$scratch/in" >"$scratch/out" 2>"$scratch/err"
    found=$?
    wait
    [ $found = 130 ] && grep -q interrupted "$scratch/err" && ! grep -q behind "$scratch/out"
    verdict $? "$name"
    echo "exit $found"; head -c 500 "$scratch/out" "$scratch/err"
}
begins="io.open('$scratch/begun', 'w'):close()"
: >"$scratch/in"
for loop in 'while true do end' 'while true do pcall(function() while true do end end) end' \
    'while true do coroutine.resume(coroutine.create(function() while true do end end)) end' \
    'return setmetatable({}, { __tostring = function() while true do end end })' \
    'local m = xf.compile("specs/dates.lua", { tier = "jit" }) while true do pcall(m, "3rd of May 2019") end' \
    'xf.sweep("specs/dates.lua", { heads = { 1, 2, 4 } }, { seconds = 10 })'; do
    echo "$begins $loop" | sed 's/seconds = 10 /seconds = 600 /' >"$scratch/loop.lua"
    stopped "SIGINT ends a file: $loop" begun "$xformc" lua "$scratch/loop.lua"
done
printf 'print("first")\nwhile true do end\nprint("behind")\n' >"$scratch/in"
stopped 'SIGINT ends a script on a pipe, and it does not go on' says_first "$xformc" repl
printf ':load %s\nprint("behind")\n' "$scratch/loop.lua" >"$scratch/in"
stopped 'SIGINT ends a script in a command' begun "$xformc" repl
mkdir "$scratch/slow"
printf '#!/bin/sh\n[ "$1" = --version ] && { echo 1; exit 0; }\n: >"%s"\nsleep 1000\n' "$scratch/begun" >"$scratch/slow/cc"
chmod +x "$scratch/slow/cc"
echo 'xf.compile("specs/copy.lua", { engine = "native" })' >"$scratch/loop.lua"
stopped 'SIGINT ends a file that compiles' begun env PATH="$scratch/slow:$PATH" "$xformc" lua "$scratch/loop.lua"
mkfifo "$scratch/lines"
exec 3<>"$scratch/lines"
printf 'print("fi" .. "rst")\n' >&3
: >"$scratch/out"
{ interrupt_when says_first; echo 'print("behind")' >&3; } &
interrupted "$xformc" repl <"$scratch/lines" >"$scratch/out"
[ $? = 130 ] && [ "$(cat "$scratch/out")" = first ]
verdict $? 'SIGINT ends a prompt that waits for a pipe'
wait
exec 3>&-

# ---- input and output that fail ------------------------------------------------------------------

for loop in 'while true do print(1) end' 'while true do pcall(function() while true do print(1) end end) end'; do
    { { echo "$loop"; echo 'os.remove("'"$scratch"'/none")'; } | timeout "$patience" "$xformc" repl 2>"$scratch/err"; echo $? >"$scratch/code"; } | head -n 1 >/dev/null
    [ "$(cat "$scratch/code")" = 141 ] && [ ! -s "$scratch/err" ]
    verdict $? "nobody reads what is printed: $loop"
    cat "$scratch/code" "$scratch/err"
done
"$xformc" repl <"$scratch" >/dev/null 2>"$scratch/err"
[ $? = 74 ] && grep -q 'cannot read standard input: Is a directory' "$scratch/err"
verdict $? 'a standard input that is a folder'
"$xformc" repl <&- >/dev/null 2>"$scratch/err"
[ $? = 74 ] && grep -q 'cannot read standard input: Bad file descriptor' "$scratch/err"
verdict $? 'a standard input that is closed'
printf 'print(1)\nprint("a\0b")\nprint(2)\n' >"$scratch/zero.lua"
"$xformc" lua "$scratch/zero.lua" >"$scratch/out" 2>"$scratch/err"
[ $? = 65 ] && [ ! -s "$scratch/out" ] && grep -q 'zero.lua:2: error: a zero byte' "$scratch/err"
verdict $? 'a file with a zero byte'
"$xformc" repl <"$scratch/zero.lua" >"$scratch/out" 2>"$scratch/err"
[ $? = 65 ] && [ "$(cat "$scratch/out")" = '1
2' ]
verdict $? 'a line with a zero byte'
printf '\357\273\277print("with a mark")\n' >"$scratch/mark.lua"
[ "$("$xformc" lua "$scratch/mark.lua")" = 'with a mark' ]
verdict $? 'a file with a byte order mark'

# ---- caught errors and exit codes ----------------------------------------------------------------

cat >"$scratch/caught.lua" <<'END'
local good, e = pcall(function() return xf.graph("g", function(g) g.output("Y", g.relu(3)) end) end)
print(good, type(e), (e:find("relu", 1, true)) ~= nil)
good, e = pcall(xf.model, { nosuch = 1 })
print(good, type(e), select(2, e:gsub("error: ", "")), e:find("relu", 1, true))
good, e = pcall(xf.model, 3)
print(good, type(e), (e:gsub("\n.*", "")))
for i = 1, 1500 do xf.model{ name = "x", layers = 2, heads = 2, d_model = 16, d_ff = 32, kind = "decoder", vocab = 9, max_len = 4 } end
good, e = pcall(error, { })
print(xf.sweep("specs/copy.lua", { heads = { 3 } })[1].error:find("divisible") ~= nil)
END
"$xformc" lua "$scratch/caught.lua" >"$scratch/out" 2>"$scratch/err"
[ $? = 0 ] && [ ! -s "$scratch/err" ] && [ "$(tr '\t' , <"$scratch/out")" = "$(printf '%s\n' 'false,string,true' 'false,string,1,nil' "false,string,$scratch/caught.lua:5:20: error: xf.model needs a table of fields, found 3" true)" ]
verdict $? 'errors that are caught are texts of their own, and no failure'
cat "$scratch/out" "$scratch/err"
cat >"$scratch/in" <<'END'
heads = {}
for i = 1, 1200 do heads[i] = i % 2 == 0 and 3 or 2 + 2 * i end
s = xf.sweep("specs/copy.lua", { heads = heads }, { seconds = 0.0001 })
texts = 0
for i = 1, #s do texts = texts + (type(s[i].error) == "string" and s[i].error:find("divisible") and 1 or 0) end
#s .. " " .. texts
END
XFORMC_CACHE=off "$xformc" repl <"$scratch/in" >"$scratch/out" 2>"$scratch/err"
[ $? = 0 ] && grep -q '^1200 1[0-9]*$' "$scratch/out"
verdict $? 'a sweep of 1,200 rows'
cat "$scratch/out" "$scratch/err"
says 'a value of 100,000 characters in a sweep' 0 '1' '' <<'END'
s = xf.sweep("specs/copy.lua", { name = { (" "):rep(100000) .. "x" } })
text = tostring(s)
#s
END
says 'a sweep whose picture cannot be written, a tensor that cannot: the reason, and what was measured stays' 74 '1' \
    '*cannot*none/s.svg*: No such file or directory*cannot*none/t*: No such file or directory*' <<END
s = xf.sweep("specs/copy.lua", { heads = { 1 } }, { seconds = 0.0001, file = "$scratch/none/s.svg" })
#s
xf.tensor{ 1, 2 }:save("$scratch/none/t.safetensors")
END

# command CODE LINE…: a script of these lines exits with CODE and prints a message.
command() {
    code=$1
    shift
    printf '%s\n' "$@" 'm = nil' | "$xformc" repl >"$scratch/out" 2>"$scratch/err"
    [ $? = "$code" ] && [ -s "$scratch/err" ]
    verdict $? "exit $code: $*"
    cat "$scratch/err"
}
echo 'x = = 1' >"$scratch/wrong.lua"
command 65 ':hlp'
command 65 ':mem'
command 65 '?nothing'
command 65 ':bench 1 +'
command 65 ":load $scratch/wrong.lua"
command 65 ":load $scratch/zero.lua"
command 66 ":load $scratch/none.lua"
command 74 ":save $scratch"
command 2 ':load'
command 65 'm = xf.compile("specs/copy.lua", { tier = "jit" })' ':code nothing'
command 65 'm = xf.compile("specs/copy.lua", { tier = "jit" })' ':asm nothing'
command 74 'm = xf.compile("specs/copy.lua", { tier = "jit" })' ":mem $scratch/none/m.svg"
printf 'x = 7\n' >"$scratch/a ]==] b.lua"
says 'names with brackets are names' 65 '7' '*is not in the vocabulary*' <<END
:load $scratch/a ]==] b.lua
x
m = xf.compile("specs/dates.lua", { tier = "jit" })
:attn a]==]) print("no") --[==[
END

# ---- a long session ------------------------------------------------------------------------------

cat >"$scratch/life.lua" <<'END'
local function resident()
  for line in io.lines("/proc/self/status") do
    local kib = line:match("^VmRSS:%s+(%d+)")
    if kib then return tonumber(kib) end
  end
end
local function grows(name, n, most, f)
  for _ = 1, n do f() end
  collectgarbage()
  collectgarbage()
  local before = resident()
  for _ = 1, 3 * n do f() end
  collectgarbage()
  collectgarbage()
  local each = (resident() - before) / (3 * n)
  if each > most then print(name, ("%.1f KiB each"):format(each)) end
end
local m = xf.compile("specs/dates.lua", { tier = "jit" })
local weight = m:weight("encoder.0.ffn.down.weight")
grows("m(text)", 300, 1, function() m("3rd of May 2019") end)
grows("m:run", 100, 8, function() m:run({ 3, 4, 5 }, { 1, 2 }) end)
grows("m:at", 100, 8, function() m("3rd of May 2019") m:at("encoder.0.ffn") end)
grows("m:at again", 100, 8, function() m:set("encoder.0.ffn.down.weight", weight) m:at("encoder.0.ffn") end)
grows("m:weight", 100, 8, function() m:weight("encoder.0.ffn.down.weight") end)
grows("m:attention", 10, 80, function() m:attention("3rd", "/dev/null") end)
grows("m:edit", 20, 40, function() m:edit("argmax", m:code("argmax") .. "\n") end)
m:probe("encoder.0.ffn", function() end)
grows("probed", 100, 8, function() m("3rd of May 2019") end)
m:restore()
local n = 0                                 -- tensors that nobody collects by hand
for _ = 1, 3000 do n = n + #m:weight("encoder.0.ffn.down.weight") end
if resident() > 150000 then print("tensors", resident()) end
print(m("3rd of May 2019"))
END
sed 's,"/dev/null",arg[1],' "$scratch/life.lua" >"$scratch/lives.lua"
if [ -r /proc/self/status ] && [ -z "${XFORMC_SANITIZE:-}" ]; then
    timeout "$patience" "$xformc" lua "$scratch/lives.lua" "$scratch/a.svg" >"$scratch/out" 2>"$scratch/err"
    [ $? = 0 ] && [ "$(cat "$scratch/out")" = 2019-05-03 ]
    verdict $? 'a model that is queried, inspected and changed for long takes no more memory'
    cat "$scratch/out" "$scratch/err"
fi
says 'edits one after another, with helpers, are the same in the engine with taps' 0 '22222222222
22222222222
11111111111
2019-05-03
2019-05-03' '' <<'END'
m = xf.compile("specs/dates.lua", { tier = "jit" }); old = m:code("argmax")
function says(id) return (old:gsub("argmax_15.-;", "argmax_15(s->next_id, logits); if (thread == 0) s->next_id[0] = " .. id .. ";", 1)) end
m:edit("argmax", "static int mine(void)\n{\n    return 6;\n}\n" .. says("mine()"))
for i = 1, 5 do m:edit("argmax", says("mine() + " .. i % 2)) end
m("3rd of May 2019")
m:probe("encoder.0.ffn", function() end)
m("3rd of May 2019")
m:edit("argmax", says("mine()"))
m("3rd of May 2019")
m:edit("argmax", old)
m("3rd of May 2019")
m:restore()
m("3rd of May 2019")
END

# ---- compilers that hang, C with more data than memory -------------------------------------------

mkdir "$scratch/stubborn" "$scratch/silent" "$scratch/tmp"
cat >"$scratch/stubborn/cc" <<END
#!/bin/sh
[ "\$1" = --version ] && { echo 1; exit 0; }
trap '' TERM HUP
echo \$\$ >>"$scratch/pids"
while :; do sleep 1; done
END
printf '#!/bin/sh\nsleep 1000\n' >"$scratch/silent/cc"
chmod +x "$scratch/stubborn/cc" "$scratch/silent/cc"
cat >"$scratch/in" <<END
m = xf.compile("specs/copy.lua")
while not io.open("$scratch/pids") do m:run{ 1, 2, 3 } end
m:close()
m = xf.compile("specs/copy.lua"); m:run{ 1, 2, 3 }
"here"
END
PATH="$scratch/stubborn:$PATH" TMPDIR="$scratch/tmp" timeout -k 1 "$patience" "$xformc" repl <"$scratch/in" >"$scratch/out" 2>&1
[ $? = 0 ] && [ "$(tail -n 1 "$scratch/out")" = here ] && [ -z "$(ls -A "$scratch/tmp")" ]
verdict $? 'a compiler that ignores SIGTERM is killed, by m:close and at the end, and its folder goes'
cat "$scratch/out"
lives=0
for pid in $(cat "$scratch/pids"); do [ ! -e "/proc/$pid" ] || grep -q '^State:.Z' "/proc/$pid/status" || lives=1; done
[ $lives = 0 ]
verdict $? 'none of its processes lives on'
unset XFORMC_CACHE
printf 'm = xf.compile("specs/copy.lua")\n#m:run{ 1, 2, 3 } == nil\n"here"\n' >"$scratch/in"
PATH="$scratch/silent:$PATH" TMPDIR="$scratch/tmp" timeout -k 1 "$patience" "$xformc" repl <"$scratch/in" >"$scratch/out" 2>&1
[ $? != 124 ] && [ "$(tail -n 1 "$scratch/out")" = here ]
verdict $? 'a compiler that does not print its version delays nothing'
cat "$scratch/out"
export XFORMC_CACHE=off

says 'macros that end in such a depth are an error, and the session goes on' 65 'false libtcc crashes, or exceeds 2 s or 256 MiB, on the C code
2019-05-03' '*prompt:1:*libtcc crashes, or exceeds 2 s or 256 MiB, on the C code of deep*' <<'END'
macros = { "#define A0 ((((((((" }
for i = 1, 12 do macros[i + 1] = ("#define A%d A%d A%d A%d A%d"):format(i, i - 1, i - 1, i - 1, i - 1) end
macros = table.concat(macros, "\n") .. "\n"
m = xf.compile("specs/dates.lua", { tier = "jit" }); old = m:code("argmax")
good, why = pcall(m.edit, m, "argmax", (old:gsub("\n{\n", "\n{\n" .. macros .. "    int x = A12 1; (void)x;\n", 1))); print(tostring(good) .. " " .. tostring(why):gsub("^error: ", ""))
xf.compile(xf.graph("g", function(g) xf.op{ name = "deep", shape = function(x) return x end, c = macros .. "y[0] = A12 1;" } g.output("Y", g.deep(g.input("X", { 2, 2 }))) end))
m("3rd of May 2019")
END

# Three arrays of 3.6e9 bytes together, initialised or not.
says 'C with more data than is sensible is an error; what has little is compiled' 65 'false libtcc crashes, or exceeds 2 s or 256 MiB, on the C code
false libtcc crashes, or exceeds 2 s or 256 MiB, on the C code
true nil
2019-05-03' '*prompt:1:*libtcc crashes, or exceeds 2 s or 256 MiB, on the C code of large*' <<'END'
m = xf.compile("specs/dates.lua", { tier = "jit" }); old = m:code("argmax")
function with(bytes, value) local all = "" for i = 1, 3 do all = all .. "static char large" .. i .. "[" .. bytes .. "]" .. value .. "; " end return all .. "\n" .. old:gsub("\n{\n", "\n{\n    large1[0] = large2[0] + large3[0];\n", 1) end
function try(bytes, value) local good, why = pcall(m.edit, m, "argmax", with(bytes, value)) return tostring(good) .. " " .. tostring(why):gsub("^error: ", "") end
print(try(1200000000, " = {1}"))
print(try(1200000000, ""))
print(try(20000000, " = {1}"))
xf.compile(xf.graph("g", function(g) xf.op{ name = "large", shape = function(x) return x end, c = "static char d[2000000000] = {1}; y[0] = d[0];" } g.output("Y", g.large(g.input("X", { 2, 2 }))) end))
m("3rd of May 2019")
END

says 'C that is nested too deep is an error; what is not is compiled' 65 'false the C code has more than 256 nested brackets
true nil
false the C code has an expression of more than 2048 tokens
true nil
false the C code has more than 512 else branches in one function
true nil
true nil
2019-05-03' '*prompt:1:*the C code of deep has more than 256 nested brackets*' <<'END'
m = xf.compile("specs/dates.lua", { tier = "jit" }); old = m:code("argmax")
function with(c)
  local good, why = pcall(m.edit, m, "argmax", (old:gsub("\n{\n", "\n{\n    int x = " .. c .. "; (void)x;\n", 1)))
  print(tostring(good) .. " " .. tostring(why):gsub("^error: ", ""))
end
with(("("):rep(1e6) .. "1")
with(("("):rep(200) .. "1" .. (")"):rep(200))
with(("- "):rep(3000) .. "1")
with(("- "):rep(2000) .. "1")
with("0; " .. ("if (x) ; else "):rep(600) .. ";")
with("0; " .. ("if (x) ; else "):rep(500) .. ";")
with("0; /* " .. ("("):rep(1000) .. " */ const char *text = \"" .. ("["):rep(1000) .. "\"; (void)text")
m("3rd of May 2019")
xf.compile(xf.graph("g", function(g) xf.op{ name = "deep", shape = function(x) return x end, c = ("["):rep(5e4) } g.output("Y", g.deep(g.input("X", { 2, 2 }))) end))
END
