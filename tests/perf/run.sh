#!/bin/sh
# tags: slow noasan
# Names for profilers: with XFORMC_PERF_MAP, the names of jit code are written to a file. `perf`
# shows them, and those of a program built with symbols.
# usage: run.sh XFORMC
. tests/lib.sh
quick_compilers

# jit_map ARGUMENT...: run xformc with names for perf; $map is the file. Output and messages go to
# $scratch.
jit_map() {
    XFORMC_PERF_MAP=1 sh -c 'echo $$ >"$0"; exec "$@"' "$scratch/pid" "$xformc" "$@" >"$scratch/out" 2>"$scratch/err"
    status=$?
    map=/tmp/perf-$(cat "$scratch/pid").map
    return $status
}
trap 'rm -rf "$scratch"; rm -f "${map:-}"' EXIT

jit_map run specs/dates.lua '3 May 2019' && [ "$(cat "$scratch/out")" = 2019-05-03 ] && [ ! -s "$scratch/err" ]
verdict $? 'the answer is the same with names for perf'
awk 'NF != 3 || $1 !~ /^[0-9a-f]+$/ || $2 !~ /^[0-9a-f]+$/ || $2 == "0" || length($2) > 5 { bad = 1 } length($1) == length(before) && $1 "" <= before "" { bad = 1 }
    { before = $1 } END { exit bad || NR < 20 }' "$map" &&
    [ "$(grep -cE ' (encoder_layer|decoder_layer|step_body|linear_64x192_rows)$' "$map")" = 4 ] && ! grep -qE ' (rt_linear_f32|mem[a-z]*|_.*)$' "$map"
verdict $? 'the file has blocks, programs and shapes, in order, and nothing outside the compiled code'
[ "$(stat -c %a "$map")" = 600 ] && rm -f "$map"
verdict $? 'only its user can read it'
XFORMC_PERF_MAP=0 sh -c 'echo $$ >"$0"; exec "$@"' "$scratch/pid" "$xformc" run specs/dates.lua '3 May 2019' >"$scratch/out" 2>&1
[ "$(cat "$scratch/out")" = 2019-05-03 ] && [ ! -e "/tmp/perf-$(cat "$scratch/pid").map" ]
verdict $? 'XFORMC_PERF_MAP=0: no file'

# Another user could create something else in place of the file. `kept` is in /tmp, too, because a
# hard link cannot lead to another file system.
kept=$(mktemp /tmp/xformc_perf_XXXXXX) && echo kept >"$kept"
# planted NAME COMMAND: COMMAND creates "/tmp/perf-$$.map".
planted() {
    XFORMC_PERF_MAP=1 timeout "$patience" sh -c "$2"' && echo $$ >"$0.pid"; exec "$@"' "$kept" "$xformc" run specs/dates.lua '3 May 2019' \
        >"$scratch/out" 2>"$scratch/err"
    map=/tmp/perf-$(cat "$kept.pid").map
    [ "$(cat "$scratch/out" "$kept")" = "2019-05-03
kept" ] && grep -q "note: XFORMC_PERF_MAP: cannot write $map: " "$scratch/err"
    verdict $? "$1 in its place is not written, and a note says so"
    rm -f "$map" "$kept.pid"
}
planted 'a symbolic link' 'ln -s "$0" "/tmp/perf-$$.map"'
planted 'a hard link' 'ln "$0" "/tmp/perf-$$.map"'
planted 'a FIFO' 'mkfifo "/tmp/perf-$$.map"'
rm -f "$kept"

# profiled NAME PATTERN COMMAND...: perf finds samples in a function that matches; of its thousands
# of samples, dozens should be there.
profiled() {
    name=$1 pattern=$2
    shift 2
    if ! perf record -q -e cpu-clock -o "$scratch/try" true >/dev/null 2>&1; then skip "$name" 'no perf that records'; return; fi
    perf record -q -e cpu-clock -F 4000 -o "$scratch/data" "$@" <"$scratch/texts" >"$scratch/out" 2>"$scratch/err" &&
        perf report -i "$scratch/data" --stdio 2>/dev/null | grep -v '^#' >"$scratch/report"
    grep -Eq "$pattern" "$scratch/report"
    verdict $? "$name"
}
# texts N: that many texts, for `profiled`.
texts() { awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) print "3 May 2019" }' >"$scratch/texts"; }
texts 6000
XFORMC_PERF_MAP=1
export XFORMC_PERF_MAP
profiled 'perf names the functions of the jit' '\[JIT\] .* (decoder|encoder|step|linear)_' "$xformc" run specs/dates.lua
rm -f /tmp/perf-"$(perf script -i "$scratch/data" -F pid 2>/dev/null | head -n 1 | tr -d ' ')".map
"$xformc" build specs/dates.lua -q -o "$scratch/dates" && make -s -B -C "$scratch/dates" OPTIMISE='-O2 -g' LDFLAGS= dates >"$scratch/err" 2>&1
verdict $? 'a program with symbols at full speed'
texts 200
profiled 'perf names the functions of a program' ' dates  *\[\.\] (linear_|rt_tile)' "$scratch/dates/dates"
