#!/bin/sh
# Run the suites and count their cases; tests/README.md says how they are found.
# usage: tests/run.sh BUILD [test|targets|check|asan|ubsan|golden]     environment: JOBS, XFORMC_TIMEOUT, XFORMC_TEST_DATA
# Started again as `run.sh --one BUILD SUITE`, it runs one suite and leaves its cases and its output in BUILD/log/.
LC_ALL=C.UTF-8 XFORMC_CACHE=off
export LC_ALL XFORMC_CACHE

# Lines of a suite -> `ok NAME`, `not ok NAME`, `skip NAME`; both cmocka's TAP and the shell suites'.
cases() {
    awk '{ sub(/\r$/, "") }
        /^(not )?ok [0-9]+ # SKIP/ { sub(/^(not )?ok [0-9]+ # SKIP */, ""); print "skip " $0; next }
        /^(not )?ok /              { s = $0; sub(/^(not )?ok ([0-9]+ - )?/, "", s); print ($1 == "ok" ? "ok " : "not ok ") s; next }
        /^skip /                   { print }' "$1"
}

# What a shell suite F tests: the tool F_dump of its folder, or xformc.
subject() {
    folder=$(basename "$(dirname "$2")")
    tool=$PWD/$1/tests/$folder/${folder}_dump
    if [ -x "$tool" ]; then echo "$tool"; else echo "$PWD/$1/xformc"; fi
}

# The files of a suite in BUILD/log/, without their endings.
log_of() { echo "$1/log/$(echo "${2#"$1"/}" | tr / _)"; }

run_one() {
    build=$1 suite=$2
    log=$(log_of "$build" "$suite")
    limit=${XFORMC_TIMEOUT:-1800}
    begin=$(date +%s%N)
    case $suite in
    *.sh) timeout -k 5 "$limit" sh "$suite" "$(subject "$build" "$suite")" ;;
    *)    CMOCKA_MESSAGE_OUTPUT=tap timeout -k 5 "$limit" "./$suite" ;;
    esac >"$log.out" 2>&1 </dev/null
    status=$?
    cases "$log.out" >"$log.cases"
    failed=$(grep -c '^not ok' "$log.cases")
    planned=$(awk -F '[.][.]' '/^1[.][.][0-9]+$/ { n += $2 } END { print n + 0 }' "$log.out")
    reported=$(grep -c . "$log.cases")
    if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
        echo "not ok (stopped after $limit s)" >>"$log.cases"
    elif [ "$status" -ge 128 ] || { [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; }; then
        echo "not ok (exit status $status)" >>"$log.cases"
    elif [ "$reported" -eq 0 ] || [ "$reported" -lt "$planned" ]; then
        echo "not ok ($reported cases reported, $planned planned)" >>"$log.cases"
    fi
    ms=$(( ($(date +%s%N) - begin) / 1000000 ))
    printf '  %-44s %4d passed %3d failed  %3d.%d s\n' "${suite#"$build"/}" "$(grep -c '^ok' "$log.cases")" \
        "$(grep -c '^not ok' "$log.cases")" $((ms / 1000)) $((ms % 1000 / 100))
}

if [ "$1" = --one ]; then
    run_one "$2" "$3"
    exit 0
fi

build=${1:-build} mode=${2:-test}
case $build in /*) echo "usage: BUILD is a folder below this one" >&2; exit 2 ;; esac
if [ "$mode" = golden ]; then
    for suite in $(grep -l -e '--write' tests/*/run.sh); do
        sh "$suite" --write "$(subject "$build" "$suite")" || exit
    done
    exit 0
fi
rm -rf "$build/log" "$build/once"
mkdir -p "$build/log" "$build/once/bin"

# The compilers on the PATH of the suites compile the same text once in a run: once/cc_once.
for cc in cc gcc clang; do
    if real=$(command -v $cc); then
        printf '#!/bin/sh\nexec "%s" "%s" "%s" "$@"\n' "$PWD/$build/tests/once/cc_once" "$PWD/$build/once" "$real" >"$build/once/bin/$cc"
        chmod +x "$build/once/bin/$cc"
    fi
done
PATH=$PWD/$build/once/bin:$PATH
export PATH
left_out='' only=''
case $mode in
check) left_out='Left out of make check' XFORMC_QUICK=1 && export XFORMC_QUICK ;;
asan|ubsan) left_out='Left out of make check:' XFORMC_QUICK=1 && export XFORMC_QUICK ;;      # not what goes on `, not of make asan:`
esac
[ "$mode" != ubsan ] || only='front damaged gguf tokenizer generation'     # they read files of others
# Whether a suite is for `make test-targets`, which has no others.
is_target() { grep -q '^# tags:.* targets\( \|$\)' "$1"; }
in_mode() { if [ "$mode" = targets ]; then is_target "$1"; else ! is_target "$1"; fi; }
if [ -n "$XFORMC_TEST_DATA" ]; then
    XFORMC_TEST_DATA=$(cd "$XFORMC_TEST_DATA" && pwd) && export XFORMC_TEST_DATA || exit 66
fi

{
    # A program of an older tree may still lie in build/: each must have its source.
    for program in "$build"/tests/*/test_*; do
        name=$(echo "${program#"$build"/}" | sed 's/\..*//')
        if [ "$mode" = targets ] || { [ -n "$left_out" ] && grep -q "$left_out" "$name.c" 2>/dev/null; }; then continue; fi
        if [ -x "$program" ] && [ -e "$name.c" ]; then case $program in *.o|*.d) ;; *) echo "$program" ;; esac; fi
    done
    for suite in tests/*/slow.sh tests/*/run.sh; do
        [ -e "$suite" ] && in_mode "$suite" || continue
        case " $only " in '  ' | *" $(basename "$(dirname "$suite")") "*) ;; *) continue ;; esac
        if [ -n "$left_out" ] && { [ "${suite##*/}" = slow.sh ] || grep -q "^# $left_out" "$suite"; }; then continue; fi
        echo "$suite"
    done
} >"$build/log/suites"

# The longest first: those that say so, then slow.sh before run.sh.
{
    grep -v '/test_' "$build/log/suites" | xargs grep -l '^# Begins early' /dev/null
    sort -r "$build/log/suites"
} | awk '!seen[$0]++' | xargs -P "${JOBS:-3}" -n 1 sh "$0" --one "$build"

# What a suite printed, without the cases that are well.
show() { grep -avE '^(ok|skip) ' "$1.out" | tail -n 150; grep '^not ok (' "$1.cases"; }

# A suite that fails is run once more, alone: beside others a busy machine may have been at fault.
while read -r suite; do
    log=$(log_of "$build" "$suite")
    grep -q '^not ok' "$log.cases" || continue
    show "$log" >"$log.first"
    echo "once more:"
    sh "$0" --one "$build" "$suite" </dev/null
    grep -q '^not ok' "$log.cases" || echo "$suite" >>"$build/log/unsteady"
done <"$build/log/suites"

cat "$build"/log/*.cases >"$build/log/all" 2>/dev/null
passed=$(grep -c '^ok' "$build/log/all") failed=$(grep -c '^not ok' "$build/log/all") skipped=$(grep -c '^skip' "$build/log/all")

for log in "$build"/log/*.cases; do
    if grep -q '^not ok' "$log" 2>/dev/null; then
        printf '\n---- %s\n' "$(basename "${log%.cases}")"
        show "${log%.cases}"
    fi
done
if [ -e "$build/log/unsteady" ]; then
    while read -r suite; do
        printf '\nunsteady: %s\n' "${suite#"$build"/}"
        cat "$(log_of "$build" "$suite").first"
    done <"$build/log/unsteady"
fi
if [ "$skipped" -gt 0 ]; then
    printf '\nskipped:\n'
    sed -n 's/^skip /  /p' "$build"/log/all
fi
echo
summary="$passed passed, $failed failed"
if [ "$skipped" -gt 0 ]; then summary="$summary, $skipped skipped"; fi
echo "$summary" | tee "$build/log/summary"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
