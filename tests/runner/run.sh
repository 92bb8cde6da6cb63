#!/bin/sh
# The runner of the suites: tests/run.sh and .ci/run on a tree of small suites: what they count, and the suites that fail
# once or twice. usage: run.sh XFORMC
set -u
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT || exit 74
verdict() { if [ "$1" = 0 ]; then echo "ok $2"; else echo "not ok $2"; fi; }
same() { [ "$1" = "$2" ] || { printf 'expected:\n%s\nfound:\n%s\n' "$1" "$2"; return 1; }; }

# suite FILE LINE...: a suite of these lines.
suite() {
    file=$scratch/tests/$1
    shift
    mkdir -p "${file%/*}"
    printf '%s\n' '#!/bin/sh' "$@" >"$file"
}
# Inside the tree, as if nobody had started it from a run of tests.
in_tree() (
    cd "$scratch" && unset XFORMC_QUICK XFORMC_TEST_DATA XFORMC_TIMEOUT MAKEFLAGS MAKELEVEL && "$@" >said 2>&1
)
# The output is indented: the cases of the inner run are not cases of this suite.
show() { sed 's/^/  /' "$scratch/said"; }
sum() { tail -n 1 "$scratch/said"; }
# counts NAME SUM CODE LINE...: a suite of these lines, what is counted of it, and the exit code.
counts() {
    name=$1 wanted=$2 code=$3
    shift 3
    suite a/run.sh "$@"
    in_tree env XFORMC_TIMEOUT="${limit:-60}" sh tests/run.sh build test
    same "$code" $? && same "$wanted" "$(sum)"
    verdict $? "$name"
    show
}
unsteady() { grep -c '^unsteady: ' "$scratch/said"; }

mkdir -p "$scratch/.ci" "$scratch/tests" "$scratch/build"
cp tests/run.sh "$scratch/tests" && cp .ci/run "$scratch/.ci" && : >"$scratch/tests/tools.sh" || exit 74
printf 'lint:\ntest test-targets:\n\tsh tests/run.sh build $(@:test-%%=%%)\n' >"$scratch/Makefile"

counts 'cases that pass, fail and are skipped' '2 passed, 1 failed, 1 skipped' 1 'echo ok a' 'echo ok b' 'echo not ok c' 'echo "skip d (why)"'
counts 'cases in TAP' '1 passed, 1 failed, 1 skipped' 1 'echo 1..3' 'echo ok 1 - a' 'echo not ok 2 - b' 'echo "ok 3 # SKIP c"'
counts 'no case is a failure' '0 passed, 1 failed' 1 'echo nothing'
counts 'fewer cases than planned are a failure' '1 passed, 1 failed' 1 'echo 1..2' 'echo ok 1 - a'
counts 'a bad end without a failure is one' '1 passed, 1 failed' 1 'echo ok a' 'exit 3'
counts 'so is a signal' '1 passed, 2 failed' 1 'echo ok a' 'echo not ok b' 'kill -9 $$'
limit=1 counts 'a suite that takes too long is stopped' '1 passed, 1 failed' 1 'echo ok a' 'sleep 600'
grep -qx 'not ok (stopped after 1 s)' "$scratch/said"
verdict $? 'and that is said'

# ---- once more -----------------------------------------------------------------------------------
counts 'a suite that fails twice fails' '1 passed, 1 failed' 1 'echo ok a' 'echo run >>runs' 'echo "b was $(grep -c run runs)"' 'echo not ok b'
same 2 "$(grep -c run "$scratch/runs")" && same 0 "$(unsteady)" && grep -qx 'b was 2' "$scratch/said"
verdict $? 'it was run twice, and what it printed last is shown'
rm "$scratch/runs"
counts 'a suite that fails once counts as it was the second time' '2 passed, 0 failed' 0 \
    'echo run >>runs' 'echo ok a' 'if [ $(grep -c run runs) = 1 ]; then echo "b was late"; echo not ok b; else echo ok b; fi'
same 'unsteady: tests/a/run.sh
b was late
not ok b

2 passed, 0 failed' "$(sed -n '/^unsteady/,$p' "$scratch/said")"
verdict $? 'it is called unsteady, with what it printed first, before the sum'
rm "$scratch/runs"
limit=1 counts 'one that was stopped is run once more too' '1 passed, 0 failed' 0 'echo run >>runs' '[ $(grep -c run runs) = 2 ] || sleep 600' 'echo ok a'
same 'not ok (stopped after 1 s)' "$(sed -n '/^unsteady/{n;p;}' "$scratch/said")"
verdict $? 'and called unsteady'
counts 'a suite that passes runs once' '1 passed, 0 failed' 0 'echo run >>once' 'echo ok a'
same 1 "$(grep -c run "$scratch/once")" && same 0 "$(unsteady)"
verdict $? 'and is not called unsteady'

# ---- .ci/run -------------------------------------------------------------------------------------
suite b/run.sh '# tags: targets' 'echo ok there' 'echo "skip elsewhere (no tool)"'
in_tree bash .ci/run && same '2 passed, 0 failed, 1 skipped' "$(sum)"
verdict $? '.ci/run ends with the sum of both'
show
echo 'echo not ok never' >>"$scratch/tests/b/run.sh"
in_tree bash .ci/run
[ $? = 1 ] && same '2 passed, 1 failed, 1 skipped' "$(sum)"
verdict $? '.ci/run fails where one of them does'
show
