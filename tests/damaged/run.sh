#!/bin/sh
# tags: slow ubsan golden
# Damaged files, wrong inputs, calls out of order and failing system calls: the exact message and
# exit code of more than 500 rows. No row leaves a partial file.
# usage: run.sh [--write] XFORMC
#
# --write rewrites the messages, including those of new rows.
#
# NAME.rows holds rows. Each runs in an empty folder with the functions of tools.sh:
#   == NAME OF THE CASE
#   $ a line of sh, or several
#   exit CODE
#   standard error, and after `> ` standard output
# Folders of the run appear as WORK, TOOLS and TOP.
. tests/lib.sh
here=tests/damaged
chmod 755 "$scratch" && trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
export xformc top scratch tools="$scratch/tools"

mkdir "$tools" "$scratch/rows"
quick_cc "$tools/cc"

# One small text model, built once: the program `word`, and `calls`, whose arguments say what to
# call.
cp "$here/programs/word.lua" "$here"/programs/*_vocabulary.txt "$tools"
"$xformc" build "$tools/word.lua" -q --slots 2 --isa portable --kernels unrolled --weights file --cc "$tools/cc" -o "$tools/word" >"$scratch/log" 2>&1 &&
    "$tools/cc" -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -Iruntime -Iruntime/kernels/simd $(ls -d runtime/*/ | sed s/^/-I/) -I"$tools/word" -o "$tools/calls" \
        "$here/programs/calls.c" "$tools/word/word.c" "$tools"/word/word_settings.c "$tools/word/word_generate.c" $(ls runtime/rt_*.c runtime/*/rt_*.c | grep -v -e rt_cli -e rt_alone) -lm -pthread >>"$scratch/log" 2>&1
verdict $? 'a model to call is built'
cat "$scratch/log"

# Split rows into files of their own: N.sh, N.name, N.expected.
split() {
    awk -v to="$scratch/rows/" '
        /^== /   { n = sprintf("%03d", ++rows); print substr($0, 4) >(to n ".name"); printf "" >(to n ".sh"); printf "" >(to n ".expected"); next }
        !rows    { next }
        /^\$ /   { print substr($0, 3) >(to n ".sh"); next }
        /^$/     { next }
                 { print >(to n ".expected") }' "$1"
}

# Run a row and write its result to N.found.
found() {
    chmod -R u+w "$scratch/work" 2>/dev/null
    rm -rf "$scratch/work"
    mkdir "$scratch/work"
    (cd "$scratch/work" && exec timeout -k 5 "$patience" sh -c '. "$top/tests/damaged/tools.sh"; . "$1"' - "$1.sh") >"$scratch/out" 2>"$scratch/err" </dev/null
    code=$?
    left=$(find "$scratch/work" -name '.xf-*')
    {
        echo "exit $code"
        cat "$scratch/err"
        sed 's/^/> /' "$scratch/out"
        [ -z "$left" ] || echo "left behind: $left"
    } | sed "s|\b[0-9a-f]\{16\}\b|HASH|g; s|/xformc-[0-9a-f]\{8\}-[0-9]*-[A-Za-z0-9]\{6\}|/xformc-XXXXXX|g" |
        sed "s|$scratch/work|WORK|g; s|$tools|TOOLS|g; s|$top/|TOP/|g" | tr '\000' '?' | grep -av '^$' >"$1.found"
}

# table_of ENDING: print $table with its rows, taking their outputs from N.ENDING.
table_of() {
    sed '/^== /,$d' "$table"
    between=
    for row in "$scratch"/rows/*.name; do
        row=${row%.name}
        printf %s "$between"
        between='
'
        echo "== $(cat "$row.name")"
        sed 's/^/$ /' "$row.sh"
        cat "$row.$1"
    done
}

all=0
for table in "$here"/*.rows; do
    rm -f "$scratch"/rows/*
    split "$table"
    for row in "$scratch"/rows/*.name; do
        row=${row%.name}
        name="$(basename "$table" .rows): $(cat "$row.name")"
        found "$row"
        all=$((all + 1))
        if grep -q '^\(> \)*skip ' "$row.found"; then
            echo "skip $name ($(sed -n 's/^\(> \)*skip //p' "$row.found"))"
            [ -z "$write" ] || cp "$row.expected" "$row.found"
        elif [ -z "$write" ]; then
            diff "$row.expected" "$row.found" >"$scratch/diff"
            verdict $? "$name"
            cat "$scratch/diff"
        fi
        { cat "$row.sh"; tail -n +2 "$row.found"; } | tr '\n' ' ' >>"$scratch/seen"
        echo >>"$scratch/seen"
    done
    if [ -n "$write" ]; then
        table_of found >"$scratch/table" && cp "$scratch/table" "$table"
    else
        table_of expected | cmp - "$table"
        verdict $? "$(basename "$table"): as --write writes it"
    fi
done
different=$(sort -u "$scratch/seen" | wc -l)
[ "$different" -ge 60 ] && [ "$different" = $all ]
verdict $? 'at least sixty rows, no two alike'
echo "$different of $all"
