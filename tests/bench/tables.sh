#!/bin/sh
# Print the tables of docs/performance.md, which are made from the committed results, the worst
# ratio first. usage: tests/bench/tables.sh            print the page
#                    tests/bench/tables.sh --write    write it
set -eu
export LC_ALL=C
page=docs/performance.md

# table FILE: a table with row, speed, fastest rival, ratio, share of the limit.
table() {
    echo '| row | xformc | fastest rival | ratio | of the limit |'
    echo '|---|---|---|---|---|'
    awk -F ' *[|] *' '$2 ~ /-t[0-9]+$/ && $5 !~ /^native/ {
        split($5, rivals, ", ")
        share = $9 == "-" ? "" : $9
        sub(/ in turns/, "", share)
        split($6, ratio, " ")
        printf "%s\t| `%s` | %s %s | %s | %s | %s |\n", ratio[1], $2, $4, $3, rivals[1], ratio[1], share
    }' "$1" | sort -n -s -k 1,1 | cut -f 2-
}

# The page, with new rows between each line <!-- NAME --> and the next <!-- end -->.
write_page() {
    while IFS= read -r line; do
        case $line in
        '<!-- end -->') inside= ;;
        '<!-- '*' -->') name=${line#<!-- }; name=${name% -->}; echo "$line"; table "tests/bench/results/$name.md"; inside=yes ;;
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
