#!/bin/sh
# The date model, from its spec to answers: compile, build, run, measure.
# usage: tests/demo.sh XFORMC
# Set DEMO_FOLDER to write the program to a folder other than generated/dates.
set -eu
xformc=$1
out=${DEMO_FOLDER:-generated/dates}
heldout=specs/dates/heldout.tsv
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

show() { printf '\n$ %s\n' "$*"; "$@"; }
now() { date +%s%N; }

show "$xformc" compile specs/dates.lua -o "$out"
show "$xformc" build specs/dates.lua -o "$out"

cat >"$scratch/questions" <<'TEXTS'
Wednesday, 23rd of September 1999
23 Sep 1999
September 23, 1999
3rd of May 2019
1999-9-23
09/23/1999
Wednesday, the twenty-third of September nineteen ninety-nine
the first of January two thousand and one
TEXTS
printf '\n$ %s < questions\n' "$out/dates"
"$out/dates" <"$scratch/questions" >"$scratch/answers"
paste "$scratch/questions" "$scratch/answers" | awk -F '\t' '{ printf "  %-62s -> %s\n", $1, $2 }'

# All held-out dates on one thread. The memory is the kernel's high-water mark, read while the
# program runs.
cut -f 1 "$heldout" >"$scratch/texts"
printf '\n$ %s --threads 1 < %s\n' "$out/dates" "first column of $heldout"
begin=$(now)
"$out/dates" --threads 1 <"$scratch/texts" >"$scratch/answers" &
pid=$!
while kill -0 "$pid" 2>/dev/null; do
    sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status" >"$scratch/now" 2>/dev/null || true
    if [ -s "$scratch/now" ]; then cp "$scratch/now" "$scratch/peak"; fi
    sleep 0.02
done
wait "$pid"
ns=$(($(now) - begin))

cut -f 2 "$heldout" | paste - "$scratch/answers" | awk -F '\t' -v ns="$ns" '
    { right += $1 == $2 }
    END {
        printf "  %d of %d right (%.2f %%)\n", right, NR, 100 * right / NR
        printf "  %.0f dates per second on one thread (%.2f s)\n", NR / ns * 1e9, ns / 1e9
    }'
bytes() { sed -n "s/^#define DATES_$1_BYTES *\\([0-9]*\\).*/\\1/p" "$out/dates.h"; }
awk -v peak="$(cat "$scratch/peak" 2>/dev/null || echo 0)" -v state="$(bytes STATE)" -v weights="$(bytes WEIGHTS)" 'BEGIN {
    if (peak) printf "  %.1f MiB of memory at most, including libc;  ", peak / 1024; else printf "  "
    printf "%.0f KiB of state, %.2f MiB of weights\n", state / 1024, weights / 1048576
}'

# The sums model has a program of its own. It is decoder-only, like the Llama family.
sums=$(dirname "$out")/sums
heldout=specs/sums/heldout.tsv
show "$xformc" build specs/sums.lua -o "$sums"
show "$sums/sums" 123+456= 999+999= 7+5=
cut -f 1 "$heldout" | "$sums/sums" --threads 1 >"$scratch/answers"
printf '\n$ %s --threads 1 < %s\n' "$sums/sums" "first column of $heldout"
paste "$heldout" "$scratch/answers" | awk -F '\t' '
    { split($1, n, /[+=]/); right += $3 == $1 (n[1] + n[2]) }
    END { printf "  %d of %d sums right (%.2f %%)\n", right, NR, 100 * right / NR }'

# A classifier tells whether brackets are balanced. It is encoder-only, like BERT.
brackets=$(dirname "$out")/brackets
heldout=specs/brackets/heldout.tsv
show "$xformc" build specs/brackets.lua -o "$brackets"
show "$brackets/brackets" '[]{({})}' '[]{({)}}'
printf '\n$ %s --threads 1 < %s\n' "$brackets/brackets" "first column of $heldout"
cut -f 1 "$heldout" | "$brackets/brackets" --threads 1 | paste "$heldout" - | awk -F '\t' '
    { split($4, answer, " "); right += answer[1] == $2 }
    END { printf "  %d of %d texts right (%.2f %%)\n", right, NR, 100 * right / NR }'
