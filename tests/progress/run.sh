#!/bin/sh
# tags: slow
# The progress line at a terminal and how it ends: build, compile, pack, verify, bench, tune, run
# and :asm; after an interrupt, on a narrow terminal. With -q, TERM=dumb or without a terminal there
# is no such line.
# usage: run.sh XFORMC
set -u
. tests/lib.sh
pty=$(dirname "$xformc")/tests/repl/pty
export XDG_STATE_HOME="$scratch/state" XDG_CACHE_HOME="$scratch/cache" TERM=xterm xformc scratch
unset NO_COLOR
escape=$(printf '\033')
. tests/terminal/begin.sh

# A compiler that finishes the model's own C only once the file `go` exists, and a quick one.
# Neither optimises.
mkdir "$scratch/slow" "$scratch/quick"
quick_cc "$scratch/quick/cc"
printf '#!/bin/sh\ncase " $* " in *dates.c* | *attention.c*) while [ ! -e "%s" ]; do sleep 0.05; done ;; esac\nexec %s "$@"\n' \
    "$scratch/go" "$scratch/quick/cc" >"$scratch/slow/cc"
chmod +x "$scratch/slow/cc"
usual=$PATH

# screen COMMANDS: run shell commands on a terminal. $scratch/screen gets the output, with a new
# line for each carriage return and <K> for its escapes. $script says what to do meanwhile.
: >"$scratch/none"
script=$scratch/none
screen() {
    PTY_SHOW=1 "$pty" "$script" sh -c "$1" | sed "s/$escape\[K/<K>/g" | tr '\r' '\n' | sed '1d; $d' | grep . >"$scratch/screen"
}
shows() { grep -q -e "$2" "$scratch/screen"; verdict $? "$1"; cat "$scratch/screen"; }

# ---- on a terminal -------------------------------------------------------------------------------

PATH=$scratch/slow:$usual
script=$scratch/script
printf '%s\n' '? build: compiling dates.c with cc, ' "! : >'$scratch/go'" >"$script"
screen '"$xformc" build specs/dates.lua --kernels unrolled -o "$scratch/a folder"'
shows 'build: what it does' '^<K>build: compiling dates.c with cc$'
shows 'build: for how long' '^<K>build: compiling dates.c with cc, [0-9]* s$'
shows 'build: what it made, in what time, and how it is run' \
    "^<K>built dates: program [0-9.]* [KM]iB, [0-9.]* s; run it: '$scratch/a folder/dates' 'text'\$"
[ "$(tail -n 1 "$scratch/screen" | cut -c 1-8)" = '<K>built' ] && "$scratch/a folder/dates" '3rd of May 2019' | grep -qx 2019-05-03
verdict $? 'build: nothing after that, and it does run'
rm "$scratch/go"
printf '%s\n' '? build: compiling self_attention.c with cc' '^ C' '? ends with' >"$script"
screen 'trap : INT; "$xformc" build specs/self_attention.lua -o "$scratch/stopped"; echo "ends with $?"'
grep -A 9 '^<K>build: compiling' "$scratch/screen" | sed '/^<K>build/d' | head -n 2 | tr '\n' ' ' | grep -q '<K>ends with 130' && [ ! -e "$scratch/stopped/self_attention" ]
verdict $? 'build: an interrupt clears the line'
cat "$scratch/screen"
cat >"$scratch/script" <<END
? >
> m = xf.compile("specs/self_attention.lua", { tier = "jit", notes = false })
> :asm graph
? :asm: compiling self_attention.c with cc
! : >"$scratch/go"
? ret
? >
! rm "$scratch/go"
> :asm graph
? :asm: compiling self_attention.c with cc
^ c
? >
> "goes " .. "on"
? goes on
> :quit
END
PTY_SHOW=1 "$pty" "$scratch/script" "$xformc" repl >"$scratch/out" 2>&1
verdict $? ':asm: what it does; Ctrl-C stops it'
cat "$scratch/out"
! grep -q 'did not compile' "$scratch/out"
verdict $? ':asm: an interrupt is not a fault of the compiler'
PATH=$scratch/quick:$usual
script=$scratch/none

cat >"$scratch/large.lua" <<END
return xf.model { name = "large", kind = "decoder", layers = 1, heads = 8, d_model = 512, d_ff = 512, max_len = 8, vocab = 9000, weights = "random" }
END
screen '"$xformc" pack "$scratch/large.lua" -o "$scratch/large.safetensors"'
shows 'pack: how much is done' '^<K>pack: packing weights, 0 %$'
shows 'pack: what comes next' "^<K>$scratch/large.safetensors: weights for large, [0-9.]* MiB, [0-9.]* s; use them: large --weights $scratch/large.safetensors\$"
screen '"$xformc" compile specs/self_attention.lua -o "$scratch/c"'
shows 'compile: what comes next' "^<K>$scratch/c: C for self_attention, weights [0-9.]* KiB, [0-9.]* s; build it: make -C $scratch/c\$"
screen '"$xformc" verify specs/self_attention.lua --engine jit >"$scratch/table"'
shows 'verify: what it does' '^<K>verify: opening generic$'
shows 'verify: its end' '^<K>verify: done, [0-9.]* s$'
"$xformc" verify specs/self_attention.lua --engine jit 2>"$scratch/err" | cmp - "$scratch/table" && [ ! -s "$scratch/err" ]
verdict $? 'verify: the table is that of a file'
screen '"$xformc" bench specs/self_attention.lua --engine jit -r 1 -t 1 --seconds 0.01 >"$scratch/table"'
shows 'bench: what it does' '^<K>bench: probing the machine$'
shows 'bench: what it measures' '^<K>bench: run, jit, 1 thread, repetition 1 of 1$'
screen '"$xformc" tune specs/self_attention.lua -r 1 --seconds 0.001 -o "$scratch/tune.lua" >"$scratch/table"'
shows 'tune: what it measures' '^<K>tune: run, linears: .*, round 1 of 1$'
shows 'tune: what comes next' "^<K>$scratch/tune.lua: [0-9]* non-default choices* for self_attention, [0-9.]* s; use it: xformc build specs/self_attention.lua --tune $scratch/tune.lua\$"
screen '"$xformc" run specs/self_attention.lua --engine native'
shows 'run: a compiler that works for it' '^<K>run: compiling self_attention.c with cc'
[ "$(grep -v '^<K>run: ' "$scratch/screen" | head -n 1)" = '<K>W_Q [4, 3]' ]
verdict $? 'run: nothing is left before an answer'
PTY_SIZE=24x20 screen '"$xformc" pack "$scratch/large.lua" -o "$scratch/large.safetensors"'
[ "$(sed -n 's/^<K>pack: //p' "$scratch/screen" | awk '{ n = length($0) + 6; if (n > 19) bad = 1 } END { print NR && !bad }')" = 1 ]
verdict $? 'a line is no longer than a narrow terminal'
cat "$scratch/screen"
screen '"$xformc" pack specs/none.lua'
grep -q '^<K>.*error:.*specs/none.lua' "$scratch/screen" && [ "$(tail -n 1 "$scratch/screen" | cut -c 1-8)" != '<K>pack:' ]
verdict $? 'an error stands alone'
cat "$scratch/screen"

# ---- nothing is shown ----------------------------------------------------------------------------

screen '"$xformc" pack specs/dates.lua -q -o "$scratch/w"'
[ ! -s "$scratch/screen" ]
verdict $? '-q: nothing'
for term in dumb ''; do
    screen "TERM=$term "'"$xformc" pack specs/dates.lua -o "$scratch/w"'
    [ "$(cat "$scratch/screen")" = "$scratch/w: weights for dates" ]
    verdict $? "TERM=$term: the line of files"
    cat "$scratch/screen"
done
for words in "pack specs/dates.lua -o $scratch/w=$scratch/w: weights for dates" "compile specs/dates.lua -o $scratch/d=$scratch/d: C for dates" \
    "build specs/dates.lua --kernels unrolled -o $scratch/d=$scratch/d/dates: built" 'verify specs/self_attention.lua --engine jit=' \
    'run specs/dates.lua --engine generic 3/5/19='; do
    "$xformc" ${words%%=*} >"$scratch/out" 2>"$scratch/err"
    [ $? = 0 ] && [ "$(cat "$scratch/err")" = "${words#*=}" ]
    verdict $? "no terminal: ${words%% *} says what it said"
    cat "$scratch/err"
done
