# lib.sh: shared by the shell suites. A suite begins with `. tests/lib.sh`, in the top folder.
# lib.sh sets
#   xformc    the program under test, the suite's argument
#   top       the top folder
#   scratch   a folder of the suite's own, removed at its end
#   write     1 if the suite was started as `run.sh --write XFORMC`, else empty
write=
if [ "${1:-}" = --write ]; then write=1 && shift; fi
[ $# = 1 ] || { echo "usage: $0 XFORMC" >&2; exit 2; }
top=$PWD
case $1 in /*) xformc=$1 ;; *) xformc=$top/$1 ;; esac
LC_ALL=C.UTF-8 XFORMC_CACHE=off        # suites compile; they do not reuse results
XFORMC_TEAM=always                      # threads share even the work of small models
export LC_ALL XFORMC_CACHE XFORMC_TEAM
unset MAKEFLAGS MFLAGS MAKELEVEL
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT || exit 74
trap 'exit 130' INT             # a shell ended by a signal does not run the EXIT trap
trap 'exit 143' TERM HUP

# A case: ok NAME, not_ok NAME, skip NAME REASON. If cases cannot be written, the suite ends. not_ok
# starts a new line, whatever was printed before it.
ok() { printf 'ok %s\n' "$1" || exit 74; }
not_ok() { printf '\nnot ok %s\n' "$1" || exit 74; }
skip() { printf 'skip %s (%s)\n' "$1" "$2" || exit 74; }

# verdict STATUS NAME: a case that passes if STATUS is 0. If it fails, the files that the suite
# lists in `shown` are printed.
shown=
verdict() { if [ "$1" = 0 ]; then ok "$2"; else not_ok "$2"; for file in $shown; do cat "$file"; done; fi; }

# has COMMAND: true if it is on the PATH.
has() { command -v "$1" >/dev/null 2>&1; }

# same EXPECTED FOUND: true if the texts are equal and not empty.
same() { [ -n "$1" ] && [ "$1" = "$2" ] || { printf 'expected:\n%s\nfound:\n%s\n' "$1" "$2"; false; }; }

# upper NAME: prints NAME in upper case, as in macros.
upper() { printf %s "$1" | tr a-z A-Z; }

# scores HEADER: prints `scores` or `logits`, as the model names the call for its decoder's output.
scores() { if grep -q '_scores(' "$1"; then echo scores; else echo logits; fi; }

# answer_defines FOLDER NAME: prints the macros that tell tests/forms/programs/answer.c about an
# emitted model, from its header. The suite writes the calls of a graph to calls.h.
answer_defines() {
    printf '%s' "-DMODEL=$2 -DMODEL_UPPER=$(upper "$2") -DMODEL_H=\"$2.h\""
    if grep -q _MAX_SOURCE "$1/$2.h"; then printf ' -DHAS_ENCODER'; fi
    if grep -q _MAX_TARGET "$1/$2.h"; then printf ' -DHAS_DECODER -DSCORES=%s' "$(scores "$1/$2.h")"; fi
    if grep -q "${2}_run(" "$1/$2.h"; then printf ' -DGRAPH_CALLS="calls.h"'; fi
}

# Seconds after which a command that must end counts as hanging. A busy machine may need minutes.
patience=600

# await COMMAND...: retry the command until it succeeds. Fails after about $patience seconds.
await() {
    tries=0
    until "$@"; do
        [ $((tries += 1)) -lt $((20 * patience)) ] || return 1
        sleep 0.05
    done
}

# sweep SAMPLE ALL: prints ALL in `make test-all`, else SAMPLE.
sweep() { if [ -n "${XFORMC_ALL:-}" ]; then echo "$2"; else echo "$1"; fi; }

# quick_cc FILE [COMPILER [FLAGS]]: write a compiler that neither optimises nor inlines kernels,
# whatever its options: no bit depends on that. Models compile ten times faster but run slowly. In
# `make test-all` it uses -O1 and inlines. If FLAGS are given, it uses them instead.
quick_cc() {
    quick=${3:-$(sweep '-O0 -Dalways_inline=unused' -O1)}
    printf '#!/bin/sh\nexec "%s" "$@" %s\n' "$(command -v "${2:-cc}")" "$quick" >"$1" && chmod +x "$1"
}

# quick_compilers: make cc, gcc and clang on the PATH quick ones.
quick_compilers() {
    mkdir "$scratch/quick_compilers" || return
    for cc in cc gcc clang; do
        if has $cc; then quick_cc "$scratch/quick_compilers/$cc" $cc; fi
    done
    PATH=$scratch/quick_compilers:$PATH
}

# quick_build FOLDER TARGET...: make targets in a copy of the tree, in a third of the time. Kernels
# are not inlined, so they run slowly.
quick_build() {
    folder=$1
    shift
    make -s -C "$folder" -j"$(nproc)" CFLAGS=-O1 \
        SANITIZE_KERNELS='-O0 -Dalways_inline=unused' "$@"
}
