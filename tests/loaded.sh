#!/bin/sh
# Run `make test`, or only some suites, on a busy machine: alongside four busy loops and a process
# that holds 4 GB of memory. Fails if a suite fails or is unsteady.
# usage: tests/loaded.sh [BUILD [SUITE...]]
set -u
build=${1:-build} pids=
[ $# = 0 ] || shift
scratch=$(mktemp -d) || exit 74
trap 'kill $pids 2>/dev/null; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
[ -x "$build/xformc" ] || { echo "loaded.sh: run 'make test-programs' first" >&2; exit 2; }

cc -std=c11 -D_GNU_SOURCE -O1 -o "$scratch/hold" tests/loaded/programs/hold_memory.c || exit
"$scratch/hold" 4096 >"$scratch/held" &
pids=$!
while [ ! -s "$scratch/held" ] && kill -0 $pids 2>/dev/null; do sleep 0.1; done
[ -s "$scratch/held" ] || { echo "loaded.sh: cannot hold the memory" >&2; exit 1; }
for i in 1 2 3 4; do
    sh -c 'while :; do :; done' &
    pids="$pids $!"
done
if [ $# = 0 ]; then
    sh tests/run.sh "$build" test
    status=$?
    unsteady=$build/log/unsteady
else
    status=0 unsteady=
    for suite; do sh tests/run.sh --one "$build" "$suite" || status=1; done
fi
kill -0 $pids || { echo "loaded.sh: the load ended early" >&2; status=1; }
if [ -n "$unsteady" ] && [ -e "$unsteady" ]; then
    echo "loaded.sh: unsteady under load: $(tr '\n' ' ' <"$unsteady")" >&2
    status=1
fi
exit $status
