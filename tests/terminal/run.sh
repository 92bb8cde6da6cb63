#!/bin/sh
# `run` and the prompt on a pseudo-terminal: typing, completion, Ctrl-C, Ctrl-D, a long paste,
# history (also with two prompts open), a sweep, an oversized screen.
# usage: run.sh XFORMC
set -u
. tests/lib.sh
pty=$(dirname "$xformc")/tests/repl/pty
export XDG_STATE_HOME="$scratch/state" XDG_CACHE_HOME="$scratch/cache" TERM=xterm

. "$(dirname "$0")/begin.sh"

# types NAME < SCRIPT
types() {
    cat >"$scratch/script"
    "$pty" "$scratch/script" "$xformc" repl >"$scratch/screen" 2>&1
    verdict $? "terminal: $1"
    cat "$scratch/screen"
}
cat >"$scratch/script" <<'END'
? too large for the line editor
? >
> x = 40
? >
. y = 1
^ c
? ^C
> for i = 1, 1 do
? >>
> print(x + 2) end
? 42
> :quit
END
[ -n "${XFORMC_SANITIZE:-}" ] && kib=unlimited || kib=2000000
(ulimit -v "$kib"; PTY_SIZE=65535x65535 "$pty" "$scratch/script" "$xformc" repl) >"$scratch/screen" 2>&1
verdict $? 'terminal: 65,535 rows and columns: lines are read without the editor'
cat "$scratch/screen"
cat >"$scratch/script" <<'END'
? >
> 3rd of May 2019
? 2019-05-03
? >
^ D
END
"$pty" "$scratch/script" "$xformc" run specs/dates.lua >"$scratch/screen" 2>&1
verdict $? 'terminal: run prompts for each line'
cat "$scratch/screen"
types 'a greeting, an answer, the end' <<'END'
? :help lists the commands.
? >
> m = xf.compile("specs/dates.lua")
> m("3rd of May 2019")
? 2019-05-03
? >
> :quit
END
types 'a chunk over lines, an error, Ctrl-D' <<'END'
? >
> for i = 1, 2 do
? >>
> print("line " .. i)
> end
? line 1
? line 2
> nothing.at = "all"
? attempt to index a nil value
? >
> 6 * 7
? 42
? >
^ D
END
types 'Ctrl-D gives up a chunk that goes on, and ends the session before one' <<'END'
? >
> for i = 1, 2 do
? >>
^ D
? >
> 6 * 7
? 42
? >
> f(
? >>
^ D
? >
> "al" .. "so"
? also
? >
^ D
END
printf '? >\n> for i = 1, 2 do\n? >>\n^ D\n? >\n> 6 * 7\n? 42\n? >\n^ D\n' >"$scratch/script"
PTY_SIZE=65535x65535 "$pty" "$scratch/script" "$xformc" repl >"$scratch/screen" 2>&1
verdict $? 'terminal: Ctrl-D without the editor too'
types 'completion of names, fields, commands' <<'END'
? >
. xf.comp
^ I
? ile
>
? >
> m = xf.compile("specs/dates.lua")
? >
> m("1 May 2001")
? 2001-05-01
? >
. m:atten
^ I
? ion
^ U
? >
. :hel
^ I
? p
>
? Tab completes
> :quit
END
# A compiler that starts, runs another program, and never ends.
mkdir -p "$scratch/bin" "$scratch/tmp"
cat >"$scratch/bin/cc" <<END
#!/bin/sh
case \$1 in --version) exec $(command -v cc) --version ;; esac
sleep 1000 &
echo \$\$ \$! >>"$scratch/pids"
wait
END
chmod +x "$scratch/bin/cc"
PATH_BEFORE=$PATH
export PATH="$scratch/bin:$PATH" TMPDIR="$scratch/tmp" XFORMC_CACHE=off
types 'Ctrl-C stops a compiler that is waited for, and loses nothing' <<END
? >
> kept = "ke" .. "pt"; m = xf.compile("specs/copy.lua", { tier = "jit" }); print("comp" .. "iled")
? compiled
? >
> print("wai" .. "ting"); n = xf.compile("specs/copy.lua", { engine = "native" })
? waiting
w $scratch/pids
^ C
? interrupted
? >
> kept
? kept
? >
> print("no" .. "thing", n, m:run{ 1, 2, 3 } ~= nil)
? nothing
> :quit
END
lives=0
for pid in $(cat "$scratch/pids"); do [ ! -e "/proc/$pid" ] || grep -q '^State:.Z' "/proc/$pid/status" || lives=1; done
[ -s "$scratch/pids" ] && [ $lives = 0 ] && [ -z "$(ls -A "$scratch/tmp")" ]
verdict $? 'terminal: nothing of that compiler is left'
rm -f "$scratch/bin/cc"
export PATH="$PATH_BEFORE"
unset TMPDIR

types 'Ctrl-C stops Lua, and a model that runs, and loses nothing' <<'END'
? >
> kept = "ke" .. "pt"; print("fi" .. "rst")
? first
? >
> print("be" .. "gun"); while true do end
? begun
^ C
? interrupted
? >
> m = xf.compile("specs/gpt.lua"); print("comp" .. "iled")
? compiled
? >
> print("run" .. "ning"); while true do m:run{ 1, 2, 3 } end
? running
^ C
? interrupted
? >
> kept
? kept
? >
> print("ins" .. "ide"); coroutine.wrap(function() while true do end end)()
? inside
^ C
? interrupted
? >
> print("mea" .. "sured"); m:bench(300)
? measured
^ C
? interrupted
? >
> #m:run{ 1, 2, 3 }.logits + 39
? 42
? >
. half a line
^ C
? >
> :quit
END
rm -f "$scratch/part.svg"
export PTY_SHOW=1
# Widths have four digits; two might match part of a time. All rows would take an hour.
types 'a sweep shows each row when it is measured; Ctrl-C keeps those that are' <<END
? >
> widths = {} for i = 1, 4000 do widths[i] = 1060 + i end
? >
> s = xf.sweep("specs/copy.lua", { d_ff = widths }, { seconds = 1, file = "$scratch/part.svg" })
? median, µs
? 1061
? 1062
^ C
? interrupted:
? of 4000 rows were measured
? >
> "kept", #s >= 2 and #s < 4000 and s[2].median_us > 0 and not s[1].error
? kept
? true
? >
> xf.sweep("specs/copy.lua", { d_ff = { 1071 } }, { seconds = 0.001 })
? median, µs
? 1071
? >
> print("be" .. "gun"); while true do end
? begun
^ C
? interrupted
? >
> :quit
END
[ "$(grep -o 'd_ff 106[0-9]' "$scratch/part.svg" | sort -u | head -n 2 | tr '\n' ' ')" = 'd_ff 1061 d_ff 1062 ' ] && ! grep -q 'd_ff 5060' "$scratch/part.svg"
verdict $? 'terminal: the bars of the rows that were measured'
[ "$(grep -c 'median, µs' "$scratch/screen")" = 2 ]
verdict $? 'terminal: the table of a sweep is there once'
unset PTY_SHOW
seq 1 400 | sed 's/.*/a = (a or 0) + 1 -- a long line that is pasted with many others, number &/; s/^/> /' >"$scratch/paste"
{ echo '? >'; cat "$scratch/paste"; printf '> "sum " .. a\n? sum 400\n> :quit\n'; } | types 'a long paste'
types 'history comes back' <<'END'
? >
^ P
^ P
? sum
^ U
> :quit
END
[ -s "$XDG_STATE_HOME/xformc/history" ]
verdict $? 'the history is kept in XDG_STATE_HOME'

# Another prompt starts and ends while this one is open. Each line is saved at once, so a signal
# loses none.
printf '? >\n> of_the_other = 1\n? >\n> :quit\n' >"$scratch/other"
cat >"$scratch/script" <<END
? >
> of_this = 1
? >
> os.execute("'$pty' '$scratch/other' '$xformc' repl >/dev/null 2>&1") and "the other " .. "ended"
? the other ended
> later_of_this = 1
? >
> os.execute("kill -HUP \$PPID")
END
"$pty" "$scratch/script" "$xformc" repl >"$scratch/screen" 2>&1
[ $? = 77 ] || { grep -q 'the other ended' "$scratch/screen" && grep -q 'of_the_other' "$XDG_STATE_HOME/xformc/history" &&
    grep -q 'later_of_this' "$XDG_STATE_HOME/xformc/history"; }
verdict $? 'the history has the lines of two prompts, even of one that a signal ended'
cat "$scratch/screen"
