#!/bin/sh
# tags: slow noasan early
# Tiers of the prompt: native code replaces the jit in mid-sequence with identical bits; pinned
# tiers, waiting, failing compilers, 100 models, every way to exit. The cache of compiled models:
# which commands use it, damaged entries, entries writable by other users, and how `cache` lists and
# clears them.
# usage: slow.sh XFORMC
#
# cc is a script that counts its runs, does not optimise, and records whether two of its runs
# overlap. It does not end while the file `hold` exists.
set -u
. tests/lib.sh
pty=$(dirname "$xformc")/tests/repl/pty
mkdir -p "$scratch/bin" "$scratch/tmp"
quick_cc "$scratch/quick"
cat >"$scratch/bin/cc" <<END
#!/bin/sh
case " \$* " in *' --version '*) exec $(command -v cc) --version ;; esac
trap 'rmdir "$scratch/lock"; exit 143' TERM
mkdir "$scratch/lock" 2>/dev/null || echo two >>"$scratch/two"
while [ -e "$scratch/hold" ]; do sleep 0.05; done
case " \$* " in *' -shared '*) echo run >>"$scratch/runs" ;; esac
"$scratch/quick" "\$@" &
wait \$!
code=\$?
rmdir "$scratch/lock"
exit \$code
END
chmod +x "$scratch/bin/cc"
export PATH="$scratch/bin:$PATH" TMPDIR="$scratch/tmp" XDG_CACHE_HOME="$scratch/cache" XDG_STATE_HOME="$scratch/state" TERM=xterm
unset XFORMC_CACHE
cache=$scratch/cache/xformc

# runs N: exactly N libraries were compiled since the last call.
runs() {
    found=$(cat "$scratch/runs" 2>/dev/null | wc -l)
    rm -f "$scratch/runs"
    [ "$found" -eq "$1" ] || { echo "$found compilations, expected $1"; return 1; }
}
empty() { [ -z "$(ls -A "$scratch/tmp")" ] && [ ! -d "$scratch/lock" ]; }
# lua NAME CODE OUT ERR [COMPILATIONS] < FILE: it prints exactly OUT and exits with CODE; ERR is a
# pattern for its messages.
lua() {
    cat >"$scratch/in.lua"
    "$xformc" lua $flags "$scratch/in.lua" >"$scratch/out" 2>"$scratch/err"
    code=$?
    message=$(cat "$scratch/err")
    case $message in $4) fits=1 ;; *) fits=0 ;; esac
    [ $code = "$2" ] && [ "$(cat "$scratch/out")" = "$3" ] && [ $fits = 1 ] && empty && runs "${5:-0}"
    verdict $? "$1"
    echo "exit $code"; cat "$scratch/out" "$scratch/err"; ls -A "$scratch/tmp"
}
flags=

lua 'at once by the jit, then in native code, to the same bits' 0 'jit
2019-05-03
native
2019-05-03
jit
true
0.0
native' '' 1 <<'END'
m = xf.compile("specs/dates.lua")
pinned = xf.compile("specs/dates.lua", { tier = "jit" })
print(m.tier) print(m("3rd of May 2019"))
before = m:generate{ 5, 6, 7, 8 }
print(m:wait()) print(m("3rd of May 2019")) print(pinned:wait())
after, other = m:generate{ 5, 6, 7, 8 }, pinned:generate{ 5, 6, 7, 8 }
print(#other > 0 and table.concat(before, " ") == table.concat(other, " ") and table.concat(after, " ") == table.concat(other, " "))
print(m:run{ 5, 6 }.log_probs:distance(pinned:run{ 5, 6 }.log_probs))
print(m.tier)
END
lua 'the second time it is there at the first call' 0 'native
2019-05-03' '' 0 <<'END'
m = xf.compile("specs/dates.lua")
print(m.tier) print(m("3rd of May 2019"))
END
lua 'waited for; another model is compiled' 0 'native
native
true' '' 1 <<'END'
print(xf.compile("specs/dates.lua", { tier = "native" }).tier)
m = xf.compile("specs/self_attention.lua", { tier = "native", threads = 2 })
print(m.tier)
print(m:run{ X = { 1,1,1,1, 1,1,1,1, 1,1,1,1 } }.Z:distance(xf.tensor({ 2,2,2, 2,2,2, 2,2,2 }, { 3, 3 })) < 1e-6)
END
printf 'm = xf.compile("specs/dates.lua", { tier = "native" }) m:time() print(m)\n' >"$scratch/in.lua"
"$xformc" lua "$scratch/in.lua" >"$scratch/out" && grep -Eq '^native, cached +[0-9]+\.[0-9]+ ms$' "$scratch/out" &&
    grep -q '^dates, native (cc): ' "$scratch/out" && runs 0
verdict $? 'm:time() tells how it came'
cat "$scratch/out"
lua 'engine = "native" comes from the cache; other sizes do not' 0 'native
10
native' '' 1 <<'END'
m = xf.compile("specs/dates.lua", { engine = "native" })
print(m.tier) print(#m:generate({ 5, 6, 7, 8 }, 10))
print(xf.compile("specs/dates.lua", { slots = 2, tier = "native" }).tier)
END
lua 'a sweep is pinned' 0 'true' '' 0 <<'END'
r = xf.sweep("specs/copy.lua", { heads = { 2, 4 } }, { seconds = 0.04 })
print(r[1].median_us > 0 and r[2].median_us > 0)
END
lua 'what is changed goes back to the jit, and what is restored to native code; a probe needs it not' 0 'native
true
native 2019-05-03
jit false
native 2019-05-03
native' '' 0 <<'END'
m = xf.compile("specs/dates.lua", { tier = "native" })
print(m.tier)
print(m:code("argmax"):find("argmax(", 1, true) ~= nil and #m:weight("encoder.0.ffn.up.weight") > 0)
m:probe("encoder.0.ffn", function(t) seen = t end)
a = m("3rd of May 2019")
print((seen and m.tier) .. " " .. a)
m:probe("encoder.0.ffn")
m:set("encoder.0.ffn.up.weight", m:weight("encoder.0.ffn.up.weight"):scaled(-3))
print(m.tier .. " " .. tostring(m("3rd of May 2019") == "2019-05-03"))
m:restore()
print(m.tier .. " " .. m("3rd of May 2019"))
print(m:wait())
END
lua 'both an engine and a tier' 65 '' '*give engine or tier, not both*' <<'END'
xf.compile("specs/dates.lua", { engine = "jit", tier = "native" })
END
lua 'a tier that there is not' 65 '' "*tier: expected jit or native, found generic*" <<'END'
xf.compile("specs/dates.lua", { tier = "generic" })
END

# ---- commands that use the cache -----------------------------------------------------------------

answer() { [ "$("$xformc" run specs/dates.lua --engine native "$@" '3rd of May 2019')" = 2019-05-03 ]; }
answer && runs 0 && empty
verdict $? 'run --engine native takes it from there'
answer --cc cc && runs 1
verdict $? 'run --cc compiles anew'
"$xformc" verify specs/self_attention.lua --engine native --cc cc >/dev/null && runs 4 &&
    "$xformc" verify specs/self_attention.lua --engine native --cc cc >/dev/null && runs 4
verdict $? 'verify compiles anew, each form with taps and without'
XFORMC_CACHE=off answer && runs 1
verdict $? 'XFORMC_CACHE=off compiles anew'
LDFLAGS=-Wl,-O1 answer && runs 1 && LDFLAGS=-Wl,-O1 answer && runs 0
verdict $? 'linker options are part of the key'
printf '#!/bin/sh\ncase " $* " in *" --version "*) echo another; exit 0 ;; esac\nexec %s "$@"\n' "$scratch/bin/cc" >"$scratch/cc2"
mkdir "$scratch/bin2" && mv "$scratch/cc2" "$scratch/bin2/cc" && chmod +x "$scratch/bin2/cc"
PATH="$scratch/bin2:$PATH" answer && runs 1 && answer && runs 0
verdict $? 'and the compiler'

# ---- damaged entries -----------------------------------------------------------------------------

"$xformc" cache --clear && "$xformc" cache | grep -q "^0 bytes of " && answer && runs 1 && answer && runs 0
verdict $? 'cleared, compiled, kept'
entry=$(ls "$cache"/dates-*.so)
cp "$entry" "$scratch/whole"
# damaged NAME: whatever is wrong with the entry, the answer is right and a good entry replaces it.
damaged() {
    answer && runs 1 && cmp -s "$entry" "$scratch/whole" && answer && runs 0
    verdict $? "$1"
}
head -c 20000 "$scratch/whole" >"$entry"; damaged 'cut short'
: >"$entry"; damaged 'empty'
{ head -c 30000 "$scratch/whole"; printf 'XXXX'; tail -c +30005 "$scratch/whole"; } >"$entry"
[ "$(wc -c <"$entry")" = "$(wc -c <"$scratch/whole")" ]; verdict $? 'the damage has the same size'
damaged 'four bytes changed'
echo mine >"$scratch/mine"
rm "$entry"; ln -s "$scratch/mine" "$entry"
answer && runs 1 && [ "$(cat "$scratch/mine")" = mine ] && [ ! -L "$entry" ] && cmp -s "$entry" "$scratch/whole"
verdict $? 'a link in its place is replaced, and what it points to stays'
rm "$entry"; mkdir "$entry"
answer && runs 1; verdict $? 'a folder in its place'
rmdir "$entry" && answer && runs 1
# Not a library, but followed by the right hash.
cat >"$scratch/forge.lua" <<'END'
local text, h = "no library at all", -3750763034362895579
for i = 1, #text do h = (h ~ text:byte(i)) * 1099511628211 end
local f = io.open(arg[1], "wb")
f:write(text, ("xformc %016x\n"):format(h))
f:close()
END
"$xformc" lua "$scratch/forge.lua" "$entry"; damaged 'no library'
"$xformc" lua "$scratch/forge.lua" "$entry"
lua 'no library, at the prompt' 0 'jit
native' '' 1 <<'END'
m = xf.compile("specs/dates.lua")
print(m.tier) print(m:wait())
END
cmp -s "$entry" "$scratch/whole"
verdict $? 'a whole one took its place'

# ---- entries that other users may write ----------------------------------------------------------

[ "$(stat -c %a "$cache")" = 700 ] && [ "$(stat -c %a "$entry")" = 600 ]
verdict $? 'the folder and its entries are the user'"'"'s alone'
stat -c '%a %n' "$cache" "$entry"
# unsafe NAME PATH WHY: a note says WHY, and the model is compiled again.
not_used='it is not used as the cache'
unsafe() {
    what=$not_used
    [ "$2" = "$cache" ] || what='it is ignored and rebuilt'
    answer 2>"$scratch/err" && runs 1 && [ "$(cat "$scratch/err")" = "note: $2 $3, so $what" ]
    verdict $? "$1"
    cat "$scratch/err"
}
others='is writable by other users' foreign='belongs to another user'
chmod 602 "$entry"; unsafe 'an entry that others may write is not used' "$entry" "$others"
answer && runs 0 && [ "$(stat -c %a "$entry")" = 600 ]; verdict $? 'and a safe one takes its place'
chmod 770 "$cache"; unsafe 'nor is a folder that others may write' "$cache" "$others"
answer 2>/dev/null && runs 1 && [ "$(stat -c %a "$cache")" = 770 ]; verdict $? 'and stays as it is'
chmod 755 "$cache"; answer && runs 0; verdict $? 'one that others may read is used'
rm "$entry"; answer && runs 1 && [ "$(stat -c %a "$cache")" = 700 ]
verdict $? 'and is closed when something is kept there'
if [ "$(id -u)" = 0 ]; then
    chown 65534 "$entry"; unsafe 'an entry of another user is not used' "$entry" "$foreign"
    chown 65534 "$cache"; unsafe 'nor is a folder of another user' "$cache" "$foreign"
    chown 0 "$cache"
    answer && runs 0; verdict $? 'given back, it is'
else
    echo 'skip entries of another user (only root may make some)'
fi

# ---- list and clear ------------------------------------------------------------------------------

printf 'mine\n' >"$cache/notes.txt"
"$xformc" cache >"$scratch/out"
[ "$(wc -l <"$scratch/out")" = 2 ] && grep -Eq '^dates-[0-9a-f]{16}\.so +[0-9.]+ KiB +[0-9]+ (s|min)$' "$scratch/out"
verdict $? 'cache lists name, size, age'
touch -d '3 days ago' "$entry"
"$xformc" cache | grep -q ' 3 d$' && answer && "$xformc" cache | grep -Eq ' [0-9]+ (s|min)$' && runs 0
verdict $? 'the age is the time since it was last used'
bytes=$(wc -c <"$entry" | tr -d ' ')
"$xformc" cache --json | grep -Eq "^\{\"folder\":\"$cache\",\"most_bytes\":[0-9]+,\"entries\":\[\{\"name\":\"dates-[0-9a-f]{16}\.so\",\"kind\":\"library\",\"bytes\":$bytes,\"used\":[0-9]+\}\]\}$"
verdict $? 'cache --json'
"$xformc" cache --clear >"$scratch/out" 2>&1 && [ ! -s "$scratch/out" ] && [ "$(ls "$cache")" = notes.txt ]
verdict $? 'cache --clear removes what is ours'
XFORMC_CACHE=off "$xformc" cache >"$scratch/out" 2>"$scratch/err" && [ ! -s "$scratch/out" ] && grep -q 'XFORMC_CACHE is off' "$scratch/err"
verdict $? 'cache, when it is off'
: >"$scratch/file"
XDG_CACHE_HOME="$scratch/file" answer 2>"$scratch/err" && [ ! -s "$scratch/err" ] && runs 1 && empty
verdict $? 'a cache that cannot be written'
"$xformc" cache more 2>/dev/null; [ $? = 2 ]
verdict $? 'cache takes no argument'

# ---- compilers that are missing or fail ----------------------------------------------------------

mkdir "$scratch/none"
for tool in sh make rm cmp; do ln -s "$(command -v $tool)" "$scratch/none/$tool"; done
cat >"$scratch/stays" <<'END'
m = xf.compile("specs/dates.lua")
print(m:wait()) print(m("3rd of May 2019"))
m:time()
END
# without NAME PATTERN: the model stays on the jit, silently; -v and m:time() say why.
without() {
    env PATH="$scratch/none" "$xformc" lua "$scratch/stays" >"$scratch/out" 2>"$scratch/err"
    [ $? = 0 ] && [ "$(head -n 2 "$scratch/out")" = 'jit
2019-05-03' ] && [ ! -s "$scratch/err" ] && tail -n 1 "$scratch/out" | grep -q "^native  *$2\$" &&
        env PATH="$scratch/none" "$xformc" lua -v "$scratch/stays" 2>&1 >/dev/null | grep -q "^note: dates stays on the jit: $2\$" && empty
    verdict $? "$1"
    cat "$scratch/out" "$scratch/err"
}
without 'no compiler' "the C compiler 'cc' is not installed"
printf 'xf.compile("specs/dates.lua", { tier = "native" })\n' >"$scratch/in.lua"
env PATH="$scratch/none" "$xformc" lua "$scratch/in.lua" >"$scratch/out" 2>"$scratch/err"
[ $? = 69 ] && [ ! -s "$scratch/out" ] && grep -q "error: no native code for dates: the C compiler 'cc' is not installed$" "$scratch/err" && empty
verdict $? 'no compiler to wait for'
cat "$scratch/err"
printf '#!/bin/sh\ncase $1 in --version) echo broken; exit 0 ;; esac\nexit 1\n' >"$scratch/none/cc" && chmod +x "$scratch/none/cc"
without 'a compiler that fails' 'cc did not build libdates.so, without a message'
printf '#!/bin/sh\ncase $1 in --version) echo broken; exit 0 ;; esac\necho "in a file"; echo "dates.c:3:1: error: no sense"; exit 1\n' >"$scratch/none/cc"
without 'a compiler that says what fails' 'cc did not build libdates.so: dates.c:3:1: error: no sense'
env PATH="$scratch/none" "$xformc" lua "$scratch/in.lua" >"$scratch/out" 2>"$scratch/err"
[ $? = 69 ] && [ ! -s "$scratch/out" ] && grep -q 'error: no native code for dates: cc did not build libdates.so: dates.c:3:1: error: no sense$' "$scratch/err" && empty
verdict $? 'a compiler that says what fails, waited for'
cat "$scratch/err"
rm "$scratch/none/make"
without 'no make' "the build tool 'make' is not installed"
ln -s "$(command -v make)" "$scratch/none/make"
TMPDIR=$scratch/gone without 'TMPDIR is not there' "cannot create the temporary folder $scratch/gone/xformc-[A-Za-z0-9-]*: No such file or directory"

# ---- leftovers -----------------------------------------------------------------------------------

rm -f "$scratch/two" "$scratch/runs"
cat >"$scratch/many.lua" <<'END'
local spec, kept = xf.spec("specs/copy.lua"), {}
for i = 1, 100 do
  local m = xf.compile(spec{ d_ff = 16 * i })
  assert(m.tier == "jit")
  m:run{ 1, 2, 3 }
  if i % 3 == 0 then m:close() else kept[#kept + 1] = m end
end
print(kept[#kept]:wait())
END
"$xformc" lua "$scratch/many.lua" >"$scratch/out" 2>"$scratch/err"
code=$?
[ $code = 0 ] && [ "$(cat "$scratch/out")" = native ] && [ ! -s "$scratch/err" ] && empty && [ ! -e "$scratch/two" ]
verdict $? '100 models: one is compiled at a time, and nothing is left'
echo "exit $code"; cat "$scratch/out" "$scratch/err"; ls -A "$scratch/tmp"
rm -f "$scratch/runs"

# The program ends in different ways while cc runs. begun: cc has started. gone: nothing is left.
begun() { await [ -d "$scratch/lock" ]; }
gone() { await empty || { ls -A "$scratch/tmp"; return 1; }; }
: >"$scratch/hold"
export XFORMC_COMPILE_ANEW=1
cat >"$scratch/long.lua" <<'END'
local m = xf.compile("specs/gpt.lua")
local function lock() return os.rename(arg[1], arg[1]) end
repeat m:run{ 1, 2 } until lock()
if arg[2] then os.exit(tonumber(arg[2])) end
while true do m:run{ 1, 2 } end
END
"$xformc" lua "$scratch/long.lua" "$scratch/lock" 7; [ $? = 7 ] && empty
verdict $? 'os.exit ends the compiler'
for signal in TERM HUP KILL; do
    "$xformc" lua "$scratch/long.lua" "$scratch/lock" 2>/dev/null & pid=$!
    begun && kill -$signal $pid && ! wait $pid 2>/dev/null && gone
    verdict $? "SIG$signal ends the compiler"
done
rm -f "$scratch/runs" "$scratch/hold"

# Ctrl-C stops the running code, not the compiler in the background.
printf '? >\n> 1\n? 1\n> :quit\n' >"$scratch/script"
"$pty" "$scratch/script" "$xformc" repl >/dev/null
if [ $? = 77 ]; then
    echo 'skip Ctrl-C on a terminal (no pseudo-terminals)'
    exit 0
fi
: >"$scratch/hold"
cat >"$scratch/script" <<END
? >
> m = xf.compile("specs/copy.lua"); print("comp" .. "iled " .. m.tier)
? compiled jit
! rm "$scratch/hold"
? >
> print("lo" .. "op"); while true do m:run{ 1, 2, 3 } end
? loop
^ C
? interrupted
? >
> print("is " .. m:wait())
? is native
? >
> print("mea" .. "sured"); m:bench(300)
? measured
^ C
? interrupted
? >
! : >"$scratch/hold"
> n = xf.compile("specs/gpt.lua"); print("wai" .. "ting"); n:wait()
? waiting
^ C
? interrupted
? >
> n.tier
? jit
> :quit
END
"$pty" "$scratch/script" "$xformc" repl >"$scratch/screen" 2>&1 && runs 1 && empty
verdict $? 'terminal: Ctrl-C ends no compiler, stops native code between two calls, and waiting'
cat "$scratch/screen"
