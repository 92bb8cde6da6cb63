#!/bin/sh
# tags: slow early golden
# The runner tests/run.sh, on a tree of small suites: modes, tags, order, counts, suites that fail
# once or twice, a single suite. Also cases.sh, loaded.sh, the total of .ci/run, the stages of `make
# test-all`, and the table of tests/README.md (suites.sh).
# usage: run.sh [--write] XFORMC
#
# --write rewrites that table.
set -u
. tests/lib.sh
if [ -n "$write" ]; then sh tests/suites.sh --write; exit; fi

# suite FILE LINE...: write a suite of these lines.
suite() {
    file=$scratch/tests/$1
    shift
    mkdir -p "${file%/*}"
    printf '%s\n' '#!/bin/sh' "$@" >"$file"
}
# Run a command in the small tree, without the environment of a test run.
in_tree() (
    cd "$scratch" && unset XFORMC_QUICK XFORMC_ALL XFORMC_TEST_DATA XFORMC_TIMEOUT && "$@" >said 2>&1
)
# The output is indented, because cases of the inner run are not cases of this suite.
show() { sed 's/^/  /' "$scratch/said"; }
sum() { tail -n 1 "$scratch/said"; }
# counts NAME SUM CODE LINE...: run a suite of these lines. Its total is SUM and the exit code is
# CODE.
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
cp tests/run.sh tests/lib.sh "$scratch/tests" && cp .ci/run "$scratch/.ci" &&
    : >"$scratch/tests/tools.sh" || exit 74
printf 'deps all test-programs lint:\ntest test-targets:\n\tsh tests/run.sh build $(@:test-%%=%%)\n' >"$scratch/Makefile"

counts 'cases that pass, fail and are skipped' '2 passed, 1 failed, 1 skipped' 1 'echo ok a' 'echo ok b' 'echo not ok c' 'echo "skip d (why)"'
same 'tests/a/run.sh: a
tests/a/run.sh: b
tests/a/run.sh: c
tests/a/run.sh: d' "$(cat "$scratch/build/cases.test")"
verdict $? 'their names are kept'
printf 'a: x of 1234\na: y\nb: z\n' >"$scratch/old" && printf 'b: z\n' >"$scratch/new" && printf 'a: x of 999\n' >"$scratch/newer" &&
    same 'a: y' "$(sh tests/cases.sh "$scratch/old" "$scratch/new" "$scratch/newer")" && ! sh tests/cases.sh "$scratch/old" "$scratch/new" >"$scratch/said" &&
    sh tests/cases.sh "$scratch/new" "$scratch/old" &&
    sh tests/cases.sh "$scratch/old" "$scratch/old" && sh tests/cases.sh /dev/null "$scratch/old"
verdict $? 'cases.sh names those that are lost'
counts 'cases in TAP' '1 passed, 1 failed, 1 skipped' 1 'echo 1..3' 'echo ok 1 - a' 'echo not ok 2 - b' 'echo "ok 3 # SKIP c"'
counts 'a plan with carriage returns' '1 passed, 1 failed' 1 "printf '1..2\\r\\nok 1 - a\\r\\n'"
counts 'a failure without a name' '1 passed, 1 failed' 1 'echo ok a' 'echo not ok'
counts 'bytes that are not text' '1 passed, 1 failed' 1 \
    "printf 'ok a\\0ok b\\0\\377\\nnot ok \\377\\n'"
counts 'no case is a failure' '0 passed, 1 failed' 1 'echo nothing'
counts 'fewer cases than planned are a failure' '1 passed, 1 failed' 1 'echo 1..2' 'echo ok 1 - a'
counts 'a bad end without a failure is one' '1 passed, 1 failed' 1 'echo ok a' 'exit 3'
counts 'so is a signal' '1 passed, 2 failed' 1 'echo ok a' 'echo not ok b' 'kill -9 $$'
grep -qx 'not ok (exit status 137)' "$scratch/said"
verdict $? 'and its status is said'
limit=1 counts 'a suite that takes too long is stopped' '1 passed, 1 failed' 1 'echo ok a' 'sleep 600'
grep -qx 'not ok (stopped after 1 s)' "$scratch/said"
verdict $? 'and that is said'

# If the runner of a suite is killed, for instance for lack of memory, xargs ends and other suites
# may never begin.
suite z/run.sh 'echo ok z'
suite y/run.sh 'echo ok y' 'kill -9 "$(cut -d " " -f 4 /proc/$PPID/stat)"'
JOBS=1 counts 'suites that were cut short or never begun are failures' \
    '2 passed, 1 failed' 1 'echo ok a'
grep -qx 'not ok (cut short)' "$scratch/said" && grep -qx 'unsteady: tests/a/run.sh' "$scratch/said"
verdict $? 'and they are named'
rm -r "$scratch/tests/y" "$scratch/tests/z"

# unwritable NAME: the previous run exited with 74.
unwritable() {
    [ $? = 74 ]
    verdict $? "$1"
    show
}
mkdir "$scratch/bin" && printf '#!/bin/sh\nexit 1\n' >"$scratch/bin/rm" &&
    chmod +x "$scratch/bin/rm"
suite a/run.sh 'echo not ok a'
in_tree env PATH="$scratch/bin:$PATH" sh tests/run.sh build test
unwritable 'a log that cannot be removed is not counted as that of this run'
suite a/run.sh 'echo ok a'
rm "$scratch/build/cases.test" && ln -s /dev/full "$scratch/build/cases.test"
in_tree sh tests/run.sh build test
unwritable 'names that cannot be kept are an error'
rm "$scratch/build/cases.test"
suite a/run.sh 'echo ok a' 'mkdir build/log/summary'
in_tree sh tests/run.sh build test
unwritable 'so is a sum'
counts 'cases that cannot be kept are a failure' '0 passed, 1 failed' 1 \
    'echo ok a' 'ln -s /dev/full build/log/tests_a_run.sh.new'

counts 'a suite that cannot write a case fails' '1 passed, 1 failed' 1 \
    '. tests/lib.sh' 'ok a' 'not_ok b >/dev/full' 'ok c'
counts 'a failure after a line without an end' '1 passed, 1 failed' 1 \
    '. tests/lib.sh' 'ok a' 'printf found' 'not_ok b' 'ok c >/dev/null'

# ---- suites that run again -----------------------------------------------------------------------
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
same 'ok a
b was late
not ok b' "$(cat "$scratch/build/log/tests_a_run.sh.first")"
verdict $? 'and all of that is kept'
rm "$scratch/runs"
limit=1 counts 'one that was stopped is run once more too' '1 passed, 0 failed' 0 'echo run >>runs' '[ $(grep -c run runs) = 2 ] || sleep 600' 'echo ok a'
same 'not ok (stopped after 1 s)' "$(sed -n '/^unsteady/{n;p;}' "$scratch/said")"
verdict $? 'and called unsteady'
counts 'one that tries fewer cases the second time fails' '1 passed, 1 failed' 1 'echo run >>fewer' 'echo ok a' \
    'if [ $(grep -c run fewer) = 1 ]; then echo not ok b; echo ok c; fi'
grep -qx 'not ok (1 cases reported, 3 the first time)' "$scratch/said" && same 0 "$(unsteady)"
verdict $? 'and that is said too'
counts 'a suite that passes runs once' '1 passed, 0 failed' 0 'echo run >>once' 'echo ok a'
same 1 "$(grep -c run "$scratch/once")" && same 0 "$(unsteady)"
verdict $? 'and is not called unsteady'

# ---- leftovers -----------------------------------------------------------------------------------
# gone FILE...: the processes whose ids are in these files end.
gone() { for id; do await [ -s "$id" ] && await ended "$(cat "$id")" || return; done; }
ended() { ! kill -0 "$1" 2>/dev/null; }
patience=20
stubborn='sh -c "trap \"\" TERM; echo \$\$ >child; exec sleep 600" &'
counts 'a suite that leaves a process behind' '1 passed, 0 failed' 0 \
    "$stubborn" 'while ! [ -s child ]; do :; done' 'echo ok a'
gone "$scratch/child"
verdict $? 'has it killed'
rm "$scratch/child"
limit=1 counts 'a suite that is stopped, whose process ignores TERM' '0 passed, 1 failed' 1 \
    "$stubborn" 'sleep 600'
gone "$scratch/child"
verdict $? 'has that killed too'
rm -f "$scratch/kept"
limit=1 counts 'so is a suite that has files' '0 passed, 1 failed' 1 \
    '. tests/lib.sh' 'echo "$scratch" >>kept' 'sleep 600'
same 2 "$(grep -c . "$scratch/kept")" && ! ls -d $(cat "$scratch/kept")
verdict $? 'and they are removed'
# stopped NAME CODE SIGNAL COMMAND...: SIGNAL, sent while a suite runs, ends the command with CODE.
stopped() {
    name=$1 wanted=$2 signal=$3
    shift 3
    rm -f "$scratch/child" "$scratch/suite"
    suite a/run.sh 'echo $$ >suite' "$stubborn" 'sleep 600'
    (cd "$scratch" && unset XFORMC_TEST_DATA && exec env --default-signal=INT "$@" >said 2>&1) &
    run=$!
    await [ -s "$scratch/suite" ] && await [ -s "$scratch/child" ] && kill -s "$signal" $run
    wait $run
    same "$wanted" $? && gone "$scratch/suite" "$scratch/child"
    verdict $? "$name"
    show
}
stopped 'TERM ends the suites' 143 TERM sh tests/run.sh build test
stopped 'so does ^C' 130 INT sh tests/run.sh build test
stopped 'TERM ends one suite alone' 143 TERM sh tests/run.sh --one build tests/a/run.sh
stopped 'TERM ends .ci/run and the suites' 143 TERM bash .ci/run
stopped 'so does ^C in .ci/run' 130 INT bash .ci/run
sed 's/limit=4500/limit=3/' .ci/run >"$scratch/.ci/short"
stopped 'so does the time limit of .ci/run' 1 CONT bash .ci/short
suite a/run.sh 'echo ok a'
in_tree sh tests/run.sh build test && same '1 passed, 0 failed' "$(sum)"
verdict $? 'the next run is as any other'
patience=600

# ---- two runs at once ----------------------------------------------------------------------------
rm -f "$scratch/suite"
suite a/run.sh 'echo ok a' 'echo $$ >suite' 'while ! [ -e go ]; do sleep 0.1; done'
(cd "$scratch" && unset XFORMC_TEST_DATA && exec sh tests/run.sh build test >first 2>&1) &
run=$!
await [ -s "$scratch/suite" ]
if has flock; then
    in_tree sh tests/run.sh build test
    [ $? = 75 ] && same 'tests/run.sh: another run is in build' "$(cat "$scratch/said")"
    verdict $? 'a second run in the same folder is refused'
    show
else
    skip 'a second run in the same folder is refused' 'no flock'
fi
: >"$scratch/go"
wait $run && same '1 passed, 0 failed' "$(tail -n 1 "$scratch/first")"
verdict $? 'and the first goes on'

# ---- one suite -----------------------------------------------------------------------------------
# one NAME CODE LINE SUITE: --one exits with CODE and prints LINE besides cases.
one() {
    in_tree sh tests/run.sh --one build "$4"
    same "$2" $? && same "$3" "$(grep -vE '^(not ok|skip|  )' "$scratch/said")"
    verdict $? "$1"
    show
}
rm -rf "$scratch/build/log"
suite a/run.sh 'echo ok a' 'echo "skip b (no tool)"' 'echo "as $1" | sed "s|$PWD|TOP|"'
one 'one suite alone' 0 'as TOP/build/xformc' tests/a/run.sh
! grep -q '^ok' "$scratch/said" && grep -q '^skip b' "$scratch/said" &&
    grep -q '^  tests/a/run.sh  *1 passed  *0 failed ' "$scratch/said" &&
    [ ! -e "$scratch/build/log" ]
verdict $? 'prints all but what passes, needs no log and leaves none'
mkdir -p "$scratch/build/tests/a" && printf '#!/bin/sh\n' >"$scratch/build/tests/a/a_dump" &&
    chmod +x "$scratch/build/tests/a/a_dump"
one 'with the tool of its folder' 0 'as TOP/build/tests/a/a_dump' tests/a/run.sh
rm -r "$scratch/build/tests"
suite a/run.sh 'echo ok a' 'echo why' 'exit 3'
one 'one that ends badly without a failure' 1 why tests/a/run.sh
grep -qx 'not ok (exit status 3)' "$scratch/said"
verdict $? 'and its status is said'
one 'one that there is not' 2 \
    'tests/run.sh: --one takes BUILD and a suite that exists' tests/never/run.sh

# loaded NAME CODE SUITE...: loaded.sh with these suites, holding little memory.
loaded() {
    name=$1 code=$2
    shift 2
    in_tree sh tests/loaded.sh build "$@"
    same "$code" $?
    verdict $? "$name"
    show
}
cp tests/loaded.sh "$scratch/tests" && mkdir -p "$scratch/tests/loaded/programs" &&
    printf '#!/bin/sh\n' >"$scratch/build/xformc" && chmod +x "$scratch/build/xformc" &&
    cat >"$scratch/tests/loaded/programs/hold_memory.c" <<'END' || exit 74
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    puts("held");
    fflush(stdout);
    for (;;) pause();
}
END
suite a/run.sh 'echo ok a'
suite b/run.sh 'echo run >>b_runs' 'echo not ok b'
loaded 'one suite under load' 0 tests/a/run.sh
loaded 'suites of which one fails' 1 tests/b/run.sh tests/a/run.sh
same 1 "$(grep -c . "$scratch/b_runs")" && grep -q ' tests/a/run.sh  *1 passed ' "$scratch/said"
verdict $? 'are not run once more, and the others run too'
rm -r "$scratch/tests/b"

suite a/run.sh '. tests/lib.sh' 'printf "%s %s\n" "$LC_ALL" "$XFORMC_CACHE"'
in_tree env -u LC_ALL XFORMC_CACHE=on sh tests/a/run.sh build/xformc &&
    same 'C.UTF-8 off' "$(cat "$scratch/said")"
verdict $? 'lib.sh sets what a run sets'

# ---- tags ----------------------------------------------------------------------------------------
rm -r "$scratch/tests/a"
# program NAME TAGS: a test program with its source.
program() {
    mkdir -p "$scratch/tests/${1%/*}" "$scratch/build/tests/${1%/*}"
    printf '/* A program. */\n%s\n' "${2:+/* tags: $2 */}" >"$scratch/tests/$1.c"
    printf '#!/bin/sh\necho "ok 1 - %s"\n' "$1" >"$scratch/build/tests/$1" && chmod +x "$scratch/build/tests/$1"
}
# runs NAME MODE SUITE...: the mode runs these suites in this order.
runs() {
    name=$1 mode=$2
    shift 2
    in_tree env JOBS=1 sh tests/run.sh build "$mode" && same "$(printf '%s\n' "$@")" "$(cat "$scratch/build/log/suites")"
    verdict $? "$name"
    show
}
suite a/run.sh '' 'echo ok a'
suite b/run.sh '# tags: ubsan golden' 'echo ok b' 'echo "ok $1"'
suite c/run.sh '# tags: slow' 'echo ok c'
suite d/run.sh '# tags: slow noasan early' 'echo ok d'
suite e/run.sh '# tags: targets' 'echo ok e'
suite a/slow.sh '# tags: noasan' 'echo ok f'
suite i/slow.sh '# tags: all early' 'echo "ok i${XFORMC_ALL:-}"'
program g/test_plain ''
program g/test_slow slow
program g/test_once early
program g/test_apart 'slow noasan'
program g/test_target targets
printf 'not a program\n' >"$scratch/build/tests/g/test_plain.o" && chmod +x "$scratch/build/tests/g/test_plain.o"
cp "$scratch/build/tests/g/test_plain" "$scratch/build/tests/g/test_gone"
g=build/tests/g
runs 'make test leaves out what has the tag targets' test tests/d/run.sh $g/test_once tests/a/slow.sh tests/c/run.sh tests/b/run.sh tests/a/run.sh \
    $g/test_slow $g/test_plain $g/test_apart
rm -r "$scratch/build/log"
in_tree sh tests/run.sh --list build test &&
    same "$(printf '%s\n' tests/d/run.sh $g/test_once tests/a/slow.sh tests/c/run.sh \
        tests/b/run.sh tests/a/run.sh $g/test_slow $g/test_plain $g/test_apart)" \
        "$(cat "$scratch/said")" && [ ! -e "$scratch/build/log" ]
verdict $? '--list prints them and runs nothing'
show
runs 'make check leaves out what has the tag targets' check $g/test_once tests/a/slow.sh tests/b/run.sh tests/a/run.sh $g/test_plain
runs 'make asan leaves out what has the tag targets' asan $g/test_once tests/c/run.sh tests/b/run.sh tests/a/run.sh $g/test_slow $g/test_plain
runs 'make ubsan runs programs, and suites with its tag' ubsan $g/test_once tests/b/run.sh $g/test_slow $g/test_plain
runs 'make test-targets runs what has it, and nothing else' targets tests/e/run.sh $g/test_target
runs 'make test-all runs every suite' all tests/i/slow.sh tests/d/run.sh $g/test_once tests/a/slow.sh tests/e/run.sh tests/c/run.sh tests/b/run.sh \
    tests/a/run.sh $g/test_target $g/test_slow $g/test_plain $g/test_apart
grep -qx 'ok i1' "$scratch/build/log.all/all"
verdict $? 'and tells them so'
cmp "$scratch/build/log/all" "$scratch/build/log.all/all" &&
    grep -qx tests/e/run.sh "$scratch/build/log.targets/suites"
verdict $? 'a run keeps the logs of other modes'
suite a/run.sh '' 'echo "ok a${XFORMC_QUICK:-}${XFORMC_ALL:-}"'
in_tree env XFORMC_QUICK=1 XFORMC_ALL=1 sh tests/run.sh build test
grep -qx 'ok a' "$scratch/build/log/all"
verdict $? 'make test takes neither mark from outside'
in_tree sh tests/run.sh build golden && same 'ok b
ok --write' "$(cat "$scratch/said")"
verdict $? 'make golden starts the suites with its tag with --write'

# fault NAME MESSAGE [MODE]: the run exits with 2, prints only MESSAGE, and runs nothing.
fault() {
    rm -rf "$scratch/build/log"
    in_tree sh tests/run.sh build "${3:-test}"
    [ $? = 2 ] && same "$2" "$(cat "$scratch/said")" && [ ! -e "$scratch/build/log" ]
    verdict $? "$1"
    show
}
suite a/run.sh '# tags: slow quick' 'echo ok a'
fault 'an unknown tag is an error' 'tests/a/run.sh:2: unknown tag "quick"'
fault 'in every mode' 'tests/a/run.sh:2: unknown tag "quick"' targets
suite a/run.sh '' 'echo ok a'
program g/test_plain slo
fault 'in a program too' 'tests/g/test_plain.c:2: unknown tag "slo"'
program g/test_plain ''
for line in '#tags: slow' '# tag: slow' '# Tags: slow' '#tags slow' '#  tags: slow'; do
    suite a/run.sh "$line" 'echo ok a'
    fault "a line of tags in another form: $line" \
        "tests/a/run.sh:2: not a line \`tags: TAG...\`: $line"
done
suite a/run.sh '' 'echo ok a'
fault 'a mode that there is not' 'tests/run.sh: there is no mode tset' tset
in_tree env JOBS=some sh tests/run.sh build test
[ $? = 2 ] && same 'tests/run.sh: JOBS must be a number, not some' "$(cat "$scratch/said")"
verdict $? 'JOBS that is not a number'
mkdir "$scratch/few" && mv "$scratch/tests/e" "$scratch/tests/g" "$scratch/few"
fault 'a mode without suites' 'tests/run.sh: the mode targets has no suites' targets
mv "$scratch/few/e" "$scratch/few/g" "$scratch/tests" && rmdir "$scratch/few"

# ---- the table of tests/README.md ----------------------------------------------------------------
# table FILE: the table between the marker lines of a page.
table() { sed -n '/^<!-- suites -->$/,/^<!-- end of suites -->$/{/^<!--/d;p;}' "$1"; }
sh tests/suites.sh >"$scratch/suites" && table tests/README.md | diff - "$scratch/suites"
verdict $? 'tests/README.md has the table of suites.sh'

mkdir -p "$scratch/few/tests/a" "$scratch/few/tests/b" && cp tests/suites.sh "$scratch/few/tests" || exit 74
printf '#!/bin/sh\n# tags: slow\n# One thing.\n# A | B. usage: run.sh XFORMC\n#\n# More.\n' >"$scratch/few/tests/b/run.sh"
printf '#!/bin/sh\n# Another.\n# usage: slow.sh XFORMC\n' >"$scratch/few/tests/b/slow.sh"
printf '/* tags: slow */\n/* test_x.c: Two\n * lines. */\n#include "x.h"\n' >"$scratch/few/tests/a/test_x.c"
printf '/* test_y.c: First.\n *\n * More. */\n' >"$scratch/few/tests/a/test_y.c"
printf 'before\n<!-- suites -->\nold\n<!-- end of suites -->\nbehind\n' >"$scratch/few/tests/README.md"
(cd "$scratch/few" && sh tests/suites.sh --write) && same 'before
<!-- suites -->
| suite | what it tests |
|---|---|
| `a/test_x.c` | Two lines. |
| `a/test_y.c` | First. |
| `b/run.sh` | One thing. A \| B. |
| `b/slow.sh` | Another. |
<!-- end of suites -->
behind' "$(cat "$scratch/few/tests/README.md")"
verdict $? 'a row is the first paragraph of the first comment'
printf '#!/bin/sh\n# tags: slow\nset -u\n' >"$scratch/few/tests/b/run.sh"
printf '#include "x.h"\n/* test_x.c: Too late. */\n' >"$scratch/few/tests/a/test_x.c"
said=$(cd "$scratch/few" && sh tests/suites.sh 2>&1)
[ $? = 1 ] && same 'tests/a/test_x.c:1: no first comment
tests/b/run.sh:1: no first comment' "$said"
verdict $? 'a suite without a first comment is an error'

# ---- .ci/run -------------------------------------------------------------------------------------
rm -r "$scratch/tests"/[a-i] "$scratch/build/tests"
suite a/run.sh '' 'echo ok here' 'echo "skip more (no tool)"'
suite b/run.sh '# tags: targets' 'echo ok there' 'echo "skip elsewhere (no tool)"'
suite c/slow.sh '# tags: all' 'echo ok sweep'
in_tree bash .ci/run && same '2 passed, 0 failed, 2 skipped' "$(sum)"
verdict $? '.ci/run ends with the sum of both'
grep -qxE 'stages: deps [0-9]+ s, make [0-9]+ s, test-programs [0-9]+ s, rest of tools [0-9]+ s, lint [0-9]+ s, test [0-9]+ s, test-targets [0-9]+ s; [0-9]+ s in all' \
    "$scratch/said"
verdict $? '.ci/run says how long each stage took'
show
echo 'echo not ok never' >>"$scratch/tests/b/run.sh"
in_tree bash .ci/run
[ $? = 1 ] && same '2 passed, 1 failed, 2 skipped' "$(sum)"
verdict $? '.ci/run fails where one of them does'
show
suite b/run.sh '# tags: targets' 'echo ok there' 'mkdir build/log/summary'
in_tree bash .ci/run
[ $? = 1 ] && same '1 passed, 1 failed, 1 skipped' "$(sum)"
verdict $? '.ci/run fails where the sum of one of them is lost'
show

suite a/run.sh '' 'echo run >>late' 'echo ok here' '[ $(grep -c run late) = 2 ]'
suite b/run.sh '# tags: targets' 'echo ok there'
mkdir -p "$scratch/build/tests/g" && program g/test_once targets
printf '#!/bin/sh\necho run >>later\necho ok b\n[ $(grep -c run later) = 2 ]\n' \
    >"$scratch/build/tests/g/test_once"
in_tree bash .ci/run && same 'unsteady: tests/a/run.sh
unsteady: tests/g/test_once
3 passed, 0 failed' "$(tail -n 3 "$scratch/said")"
verdict $? '.ci/run names unsteady suites before its sum'
show

# ---- tools.sh ------------------------------------------------------------------------------------
# tools STATUS: how often apt-get is started if each call exits with STATUS and no tool is
# installed.
tools() {
    mkdir -p "$scratch/few/bin" && rm -f "$scratch/calls"
    for command in sh cat env; do ln -sf "$(command -v $command)" "$scratch/few/bin"; done
    printf '#!/bin/sh\necho 0\n' >"$scratch/few/bin/id"
    printf '#!/bin/sh\necho call >>"%s"\nexit %s\n' "$scratch/calls" "$1" \
        >"$scratch/few/bin/timeout"
    cp "$scratch/few/bin/timeout" "$scratch/few/bin/apt-get"
    chmod +x "$scratch/few/bin/"*
    (PATH=$scratch/few/bin && sh tests/tools.sh)
    grep -c call "$scratch/calls"
}
same 2 "$(tools 124)" && [ "$(tools 100)" -gt 20 ]
verdict $? 'tools.sh leaves a mirror that hangs alone, and asks one that lacks a package for each'

# ---- the Makefile --------------------------------------------------------------------------------
# A compiler that fails with half of its output written, as if its wrapper had been stopped.
mkdir -p "$scratch/half/tests" && cp Makefile "$scratch/half" &&
    cp -R tests/once "$scratch/half/tests" || exit 74
cat >"$scratch/half/cc" <<'END'
#!/bin/sh
for word; do
    if [ "${last-}" = -o ]; then echo half >"$word"; exit 1; fi
    last=$word
done
END
chmod +x "$scratch/half/cc"
program=build/tests/once/cc_once
! make -C "$scratch/half" CC="$scratch/half/cc" "$program" >"$scratch/said" 2>&1 &&
    grep -q 'LINK  build' "$scratch/said" && [ ! -e "$scratch/half/$program" ]
verdict $? 'make keeps nothing half made'
show

# In place of make and run.sh: a script that fails if its target or mode is in $fail.
mkdir -p "$scratch/stages/tests" && cp Makefile "$scratch/stages" &&
    : >"$scratch/stages/tests/deps.sh" || exit 74
cat >"$scratch/stages/tests/run.sh" <<'END'
case $1 in build*) shift ;; esac
echo "$1" >>ran
case " $fail " in *" $1 "*) exit 1 ;; esac
END
echo 'sh tests/run.sh loaded' >"$scratch/stages/tests/loaded.sh"
# stages NAME TARGET FAIL CODE RAN: if the stages FAIL fail, make TARGET exits with CODE and runs
# the stages RAN.
stages() {
    rm -f "$scratch/stages/ran"
    fail=$3 make -C "$scratch/stages" make='sh tests/run.sh' "$2" >"$scratch/said" 2>&1
    same "$4" $? && same "test-programs $5 " "$(tr '\n' ' ' <"$scratch/stages/ran")"
    verdict $? "$1"
    show
}
stages 'make test-all runs every stage' test-all '' 0 'all loaded asan fuzz'
stages 'also behind those that fail' test-all 'all asan' 2 'all loaded asan fuzz'
grep -qx 'make test-all: failed: all asan' "$scratch/said"
verdict $? 'and names them'
stages 'make asan runs make ubsan' asan '' 0 'asan ubsan'
stages 'also behind a suite that fails' asan asan 2 'asan ubsan'
stages 'and fails where that fails' asan ubsan 2 'asan ubsan'
