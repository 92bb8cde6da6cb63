#!/bin/sh
# Run the suites and count their cases. tests/README.md says how suites are found, and what their
# tags mean.
# usage: tests/run.sh BUILD [test|check|targets|all|asan|ubsan|golden]
#        tests/run.sh --list BUILD MODE       the suites of a mode, in their order
#        tests/run.sh --one BUILD SUITE       one suite: its output without the cases that pass
# environment: JOBS, XFORMC_TIMEOUT (seconds per suite), XFORMC_TEST_DATA
LC_ALL=C.UTF-8 XFORMC_CACHE=off XFORMC_TEAM=always
export LC_ALL XFORMC_CACHE XFORMC_TEAM
unset MAKEFLAGS MFLAGS MAKELEVEL       # set by the make that runs this

# Convert a suite's output, cmocka's TAP or the lines of a shell suite, to `ok NAME`, `not ok NAME`
# and `skip NAME`.
cases() {
    tr '\000' ' ' <"$1" | awk '{ sub(/\r$/, "") }
        /^(not )?ok [0-9]+ # SKIP/ { sub(/^(not )?ok [0-9]+ # SKIP */, ""); print "skip " $0; next }
        /^(not )?ok /              { s = $0; sub(/^(not )?ok ([0-9]+ - )?/, "", s); print ($1 == "ok" ? "ok " : "not ok ") s; next }
        /^not ok$/                 { print }
        /^skip /                   { print }'
}

# The program that a shell suite in the folder F tests: F_dump if F has that program, else xformc.
subject() {
    folder=$(basename "$(dirname "$2")")
    tool=$PWD/$1/tests/$folder/${folder}_dump
    if [ -x "$tool" ]; then echo "$tool"; else echo "$PWD/$1/xformc"; fi
}

# The path of a suite's files in $logs, without their endings.
log_of() { echo "$logs/$(echo "${2#"$1"/}" | tr / _)"; }

run_one() {
    build=$1 suite=$2
    log=$(log_of "$build" "$suite")
    limit=${XFORMC_TIMEOUT:-${XFORMC_ALL:+14400}}          # sweeps take hours
    limit=${limit:-1800}
    begin=$(date +%s%N)
    case $suite in
    *.sh) set -- sh "$suite" "$(subject "$build" "$suite")" ;;
    *)    set -- env CMOCKA_MESSAGE_OUTPUT=tap "./$suite" ;;
    esac
    # timeout creates a process group that neither ^C nor TERM reaches. Kill what is left of it.
    group=
    trap 'kill -TERM $group; wait $group; kill -KILL -$group; exit 143' INT TERM HUP
    timeout -k 5 "$limit" "$@" >"$log.out" 2>&1 </dev/null &
    group=$!
    wait $group
    status=$?
    kill -KILL -$group 2>/dev/null
    trap - INT TERM HUP
    rm -f "$log.cases"
    cases "$log.out" >"$log.new" || return
    failed=$(grep -c '^not ok' "$log.new")
    planned=$(awk -F '[.][.]' '/^1[.][.][0-9]+\r?$/ { n += $2 } END { print n + 0 }' "$log.out")
    reported=$(grep -c . "$log.new")
    seconds=$((($(date +%s%N) - begin) / 1000000000))
    late=$((limit > 0 && seconds >= limit))
    if [ "$status" -eq 124 ] || { [ "$status" -eq 137 ] && [ $late = 1 ]; }; then
        echo "not ok (stopped after $limit s)" >>"$log.new"
    elif [ "$status" -ge 128 ] || { [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; }; then
        echo "not ok (exit status $status)" >>"$log.new"
    elif [ "$reported" -eq 0 ] || [ "$reported" -lt "$planned" ]; then
        echo "not ok ($reported cases reported, $planned planned)" >>"$log.new"
    fi && mv "$log.new" "$log.cases" || return
    ms=$(( ($(date +%s%N) - begin) / 1000000 ))
    printf '  %-44s %4d passed %3d failed  %3d.%d s\n' "${suite#"$build"/}" "$(grep -c '^ok' "$log.cases")" \
        "$(grep -c '^not ok' "$log.cases")" $((ms / 1000)) $((ms % 1000 / 100))
}

# True if a suite was counted to its end and nothing failed. There is no .cases file if its runner
# was killed.
well() { [ -e "$1.cases" ] && ! grep -q '^not ok' "$1.cases"; }

if [ "$1" = --one ]; then
    if [ $# != 3 ] || [ ! -e "$3" ]; then
        echo "$0: --one takes BUILD and a suite that exists" >&2
        exit 2
    fi
    # Do not write to BUILD/log: another run in BUILD may be using it.
    logs=$(mktemp -d) && trap 'rm -rf "$logs"' EXIT || exit 74
    log=$(log_of "$2" "$3")
    run_one "$2" "$3" >"$log.sum" || exit 74
    grep -av '^ok ' "$log.out"
    grep -a '^not ok (' "$log.cases"
    cat "$log.sum" || exit 74
    well "$log"
    exit
fi
# A run starts this for each suite. Its cases and its output go to BUILD/log/.
if [ "$1" = --count ]; then
    logs=$2/log
    run_one "$2" "$3"
    exit 0
fi

# Every suite with its source, `SOURCE SUITE`: slow.sh first, then run.sh, then the programs. BUILD
# may still contain a program of an older tree, so each must have its source.
sources() {
    for file in slow.sh run.sh; do
        for suite in tests/*/$file; do
            if [ -e "$suite" ]; then echo "$suite $suite"; fi
        done | sort -r
    done
    for program in "$build"/tests/first "$build"/tests/*/test_*; do
        name=${program#"$build"/}
        name=${name%%.*}.c
        case $program in *.o|*.d) continue ;; esac
        if [ -x "$program" ] && [ -e "$name" ]; then echo "$name $program"; fi
    done | sort -r
}

# choose MODE: of these lines, the suites of a mode, those tagged `early` first. Tags are in one of
# the first ten lines of a source: `# tags: TAG...`, in C `/* tags: TAG... */`.
choose() {
    awk -v mode="$1" '
        BEGIN { split("slow noasan early targets all ubsan golden", words, " ")
            for (i in words) known[words[i]] = 1 }
        function read_tags(file,    line, number, n, i, list) {
            delete tagged
            while (number++ < 10 && (getline line <file) > 0) {
                if (line !~ /^(# |\/\* )tags:/) {
                    if (tolower(line) ~ /^(#|\/\*)[ \t]*tags?[ \t]*:/ || line ~ /^#tags?/) {
                        printf "%s:%d: not a line `tags: TAG...`: %s\n", file, number, line \
                            >"/dev/stderr"
                        failed = 1
                    }
                    continue
                }
                sub(/^[^:]*:/, "", line)
                sub(/ *\*\/$/, "", line)
                n = split(line, list, " ")
                for (i = 1; i <= n; i++) if (list[i] in known) tagged[list[i]] = 1
                else {
                    printf "%s:%d: unknown tag \"%s\"\n", file, number, list[i] >"/dev/stderr"
                    failed = 1
                }
            }
            close(file)
        }
        # Programs have no --write, and run under ubsan without a tag.
        function wanted(is_program) {
            if (mode == "golden") return "golden" in tagged
            if (mode == "all") return 1
            if ("all" in tagged) return 0
            if (mode == "targets") return "targets" in tagged
            if ("targets" in tagged) return 0
            if (mode == "check") return !("slow" in tagged)
            if (mode == "asan") return !("noasan" in tagged)
            if (mode == "ubsan") return !("noasan" in tagged) && (is_program || "ubsan" in tagged)
            return 1
        }
        { read_tags($1) }
        wanted($1 ~ /[.]c$/) { if ("early" in tagged) print $2; else later[++n] = $2 }
        END { for (i = 1; i <= n; i++) print later[i]; exit failed }'
}

list=
if [ "$1" = --list ]; then list=1 && shift; fi
build=${1:-build} mode=${2:-test} logs=${1:-build}/log
case $build in /*) echo "$0: BUILD must be a folder below this one" >&2; exit 2 ;; esac
case $mode in test|check|targets|all|asan|ubsan|golden) ;; *) echo "$0: there is no mode $mode" >&2; exit 2 ;; esac
case ${JOBS:-3} in *[!0-9]*) echo "$0: JOBS must be a number, not $JOBS" >&2; exit 2 ;; esac
suites=$(sources | choose "$mode") || exit 2
[ -n "$suites" ] || { echo "$0: the mode $mode has no suites" >&2; exit 2; }
if [ -n "$list" ]; then
    printf '%s\n' $suites || exit 74
    exit 0
fi
if [ "$mode" = golden ]; then
    for suite in $suites; do
        sh "$suite" --write "$(subject "$build" "$suite")" || exit
    done
    exit 0
fi
# Two runs in one BUILD would remove each other's logs. The lock ends with this process.
mkdir -p "$build" && touch "$build/running" || exit 74
exec 9>"$build/running"
if command -v flock >/dev/null && ! flock -n 9; then
    echo "$0: another run is in $build" >&2
    exit 75
fi
# An older log that stays, or a new one that cannot be written, would make the counts wrong.
# BUILD/log is the log of the last run; those of other modes stay in BUILD/log.MODE.
rm -rf "$build/log" "$build/log.$mode" "$build/once" &&
    mkdir -p "$build/log.$mode" "$build/once/bin" && ln -s "log.$mode" "$build/log" || exit 74
printf '%s\n' $suites >"$build/log/suites" || exit 74

# In a run the compilers on the suites' PATH compile the same text only once (once/cc_once).
for cc in cc gcc clang; do
    if real=$(command -v $cc); then
        printf '#!/bin/sh\nexec "%s" "%s" "%s" "$@"\n' "$PWD/$build/tests/once/cc_once" "$PWD/$build/once" "$real" >"$build/once/bin/$cc"
        chmod +x "$build/once/bin/$cc"
    fi
done
PATH=$PWD/$build/once/bin:$PATH
export PATH
unset XFORMC_QUICK XFORMC_ALL          # only the mode decides which cases run
case $mode in check|asan|ubsan) XFORMC_QUICK=1 && export XFORMC_QUICK ;; all) XFORMC_ALL=1 && export XFORMC_ALL ;; esac
if [ -n "$XFORMC_TEST_DATA" ]; then
    XFORMC_TEST_DATA=$(cd "$XFORMC_TEST_DATA" && pwd) && export XFORMC_TEST_DATA || exit 66
fi

# apart COMMAND...: run it in a process group of its own, so that ^C and TERM end it.
apart() {
    timeout 0 "$@" <"$build/log/suites" 9>&- &
    group=$!
    wait $group
    group=
}
stop() {
    trap '' INT TERM HUP
    if [ -n "$group" ]; then
        kill -TERM $group 2>/dev/null
        wait $group
        tries=0
        while kill -0 -$group 2>/dev/null && [ $((tries += 1)) -le 80 ]; do sleep 0.1; done
    fi
    exit "$1"
}
group=
trap 'stop 130' INT
trap 'stop 143' TERM HUP
apart xargs -P "${JOBS:-3}" -n 1 sh "$0" --count "$build"

# show OUTPUT CASES: the end of a suite's output, without the cases that passed or were skipped.
show() {
    if [ -e "$1" ]; then grep -avE '^(ok|skip) ' "$1"; fi | tail -n 150
    if [ -e "$2" ]; then grep -a '^not ok (' "$2"; else echo 'not ok (cut short)'; fi
}

# reported CASES: the number of cases that the suite itself reported.
reported() { if [ -e "$1" ]; then grep -avc '^not ok (' "$1"; else echo 0; fi; }

# Run a failed suite once more, alone: a busy machine may have been at fault.
while read -r suite; do
    log=$(log_of "$build" "$suite")
    if well "$log"; then continue; fi
    # Keep its files of the first run, if there are any.
    if [ -e "$log.out" ]; then mv "$log.out" "$log.first" || exit 74; fi
    if [ -e "$log.cases" ]; then mv "$log.cases" "$log.first_cases" || exit 74; fi
    echo "once more:"
    apart sh "$0" --count "$build" "$suite"
    # A case that failed and is not run again would be lost.
    first=$(reported "$log.first_cases") again=$(reported "$log.cases")
    if well "$log" && [ "$again" -lt "$first" ]; then
        echo "not ok ($again cases reported, $first the first time)" >>"$log.cases" || exit 74
    fi
    if well "$log"; then echo "$suite" >>"$build/log/unsteady"; fi
done <"$build/log/suites"

find "$build/log/" -name '*.cases' -exec cat {} + >"$build/log/all" || exit 74
short=0
while read -r suite; do
    [ -e "$(log_of "$build" "$suite").cases" ] || short=$((short + 1))
done <"$build/log/suites"
while read -r suite; do
    [ -e "$(log_of "$build" "$suite").cases" ] || continue
    sed "/^skip /s/ ([^(]*)\$//; s/^skip //; s/^ok //; s/^not ok //; s|^|${suite#"$build"/}: |" "$(log_of "$build" "$suite").cases"
done <"$build/log/suites" | sort >"$build/cases.$mode" || exit 74
passed=$(grep -c '^ok' "$build/log/all") failed=$(grep -c '^not ok' "$build/log/all") skipped=$(grep -c '^skip' "$build/log/all")
failed=$((failed + short))

for suite in $(sort "$build/log/suites"); do
    log=$(log_of "$build" "$suite")
    if ! well "$log"; then
        printf '\n---- %s\n' "$(basename "$log")"
        show "$log.out" "$log.cases"
    fi
done
if [ -e "$build/log/unsteady" ]; then
    while read -r suite; do
        printf '\nunsteady: %s\n' "${suite#"$build"/}"
        log=$(log_of "$build" "$suite")
        show "$log.first" "$log.first_cases"
    done <"$build/log/unsteady"
fi
if [ "$skipped" -gt 0 ]; then
    printf '\nskipped:\n'
    sed -n 's/^skip /  /p' "$build"/log/all
fi
echo
summary="$passed passed, $failed failed"
if [ "$skipped" -gt 0 ]; then summary="$summary, $skipped skipped"; fi
echo "$summary" | tee "$build/log/summary" || exit 74
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
