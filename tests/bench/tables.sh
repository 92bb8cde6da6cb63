#!/bin/sh
# Print docs/performance.md with tables made from the committed results: rows with peers, worst
# ratio first, and the steps of `bench --ablate`.
# usage: tests/bench/tables.sh            print the page
#        tests/bench/tables.sh --write    write it
set -eu
export LC_ALL=C
page=docs/performance.md

# table FILE: a table with row, speed, fastest rival, ratio, share of the limit.
table() {
    echo '| row | xformc | fastest rival | ratio | of the limit |'
    echo '|---|---|---|---|---|'
    awk -F ' *[|] *' '$2 ~ /-t[0-9]+$/ && $5 !~ /^(native|cp) / {
        split($5, rivals, ", ")
        share = $9 == "-" ? "" : $9
        sub(/ in turns/, "", share)
        split($6, ratio, " ")
        printf "%s\t| `%s` | %s %s | %s | %s | %s |\n", ratio[1], $2, $4, $3, rivals[1], ratio[1], share
    }' "$1" | sort -n -s -k 1,1 | cut -f 2-
}

# steps COLUMN...: the factor of each step of `bench --ablate` over the step before. A column is
# MODEL:TEST:TITLE, of results/steps/MODEL.json.
steps() {
    for column in "$@"; do
        rest=${column#*:}
        awk -v test="${rest%%:*}" -v title="${rest#*:}" '
            function member(name,    s) {
                if (!match($0, "\"" name "\":\"?[^,\"}]*")) return ""
                s = substr($0, RSTART, RLENGTH)
                sub(/^"[^"]*":"?/, "", s)
                return s
            }
            # Three digits, or all digits before the point.
            function speed(x) { x += 0; return x < 10 ? sprintf("%.2f", x) : x < 100 ? sprintf("%.1f", x) : grouped(sprintf("%.0f", x)) }
            function grouped(s) {
                return length(s) < 4 ? s : grouped(substr(s, 1, length(s) - 3)) "," substr(s, length(s) - 2)
            }
            BEGIN { print "title\t" title }
            member("test") == test && member("step") == "generic" { print "generic\t" speed(member("median_ts")) }
            member("test") == test && member("step") != "generic" {
                print member("step") "\t" sprintf("%.2f", member("ratio_before"))
                all = member("ratio_generic")
            }
            END { print "all steps\t" sprintf("%.2f", all) }' "tests/bench/results/steps/${column%%:*}.json"
    done | awk -F '\t' '
        BEGIN {
            words["generic"] = "generic, tokens/s: OpenBLAS, operation by operation"
            words["constant shapes"] = "constant shapes: plain C, weights in panels"
            words["tiles"] = "tiles: kernels for several rows and panels"
            words["vectors"] = "vectors: AVX-512 instead of SSE2"
            words["fusion"] = "fusion: sums, activations and gates inside linears"
            words["threads"] = "threads: two instead of one"
            words["bf16"] = "bf16 weights"
            words["int8"] = "int8 weights, products of integers"
            words["int4"] = "int4 weights"
        }
        $1 == "title" { columns++ }
        !($1 in line) { order[++n] = $1; line[$1] = "| " ($1 in words ? words[$1] : $1 == "title" ? "step" : $1) " |" }
        { line[$1] = line[$1] " " $2 " |" }
        END {
            for (i = 1; i <= n; i++) {
                print line[order[i]]
                if (i > 1) continue
                printf "|---|"
                for (c = 1; c <= columns; c++) printf "---|"
                print ""
            }
        }'
}

# The page, with new rows between each line <!-- NAME --> and the next <!-- end -->.
write_page() {
    while IFS= read -r line; do
        case $line in
        '<!-- end -->') inside= ;;
        '<!-- '*' -->') name=${line#<!-- }; name=${name% -->}; echo "$line"; inside=yes
            case $name in
            steps) steps 'dates:enc:`dates` enc' 'dates:dec:`dates` dec' 'story:pp512:260 K, pp512' 'story:tg128:260 K, tg128' \
                         'story_15m:pp128:15 M, pp128' 'story_15m:tg32:15 M, tg32' \
                         'llama_1b:pp64:1.1 B, pp64' 'llama_1b:tg64:1.1 B, tg64' 'encoder:b8x128:`encoder` b8x128' ;;
            *) table "tests/bench/results/$name.md" ;;
            esac ;;
        esac
        [ -n "${inside-}" ] || printf '%s\n' "$line"
    done <$page
}

case ${1-} in
'') write_page ;;
--write)
    scratch=$(mktemp)
    trap 'rm -f "$scratch"' EXIT
    write_page >"$scratch"
    cat "$scratch" >$page ;;
*) echo "usage: $0 [--write]" >&2; exit 2 ;;
esac
