#!/bin/sh
# Compare the speed of two threads with that of one, from the smallest models up, and list the worst
# ratio first. You can add your own models. It checks nothing. Run it on an idle machine; the model
# of 1.1 billion parameters needs 5 GB of memory.
# usage: tests/bench/threads.sh XFORMC [SPEC...]
set -eu
xformc=$1
shift
echo '| model | test | 1 thread, t/s | 2 threads | ratio |'
echo '|---|---|---|---|---|'
for spec in specs/dates.lua specs/sums.lua specs/encoder.lua specs/story.lua tests/bench/story_15m.lua \
            tests/bench/llama_1b.lua "$@"; do
    "$xformc" bench "$spec" -t 1,2 --engine jit --seconds 0.3 -r 7 --format csv
done | awk -F , '
    /^build_commit/ { for (i = 1; i <= NF; i++) at[$i] = i; next }
    {
        gsub(/"/, "")
        row = $at["model_type"] " | " $at["test"]
        if ($at["n_threads"] == 1) one[row] = $at["median_ts"]
        else printf "%.2f\t| %s | %.0f | %.0f | %.2f |\n", $at["median_ts"] / one[row], row, one[row], $at["median_ts"], $at["median_ts"] / one[row]
    }' | sort -n | cut -f 2-
