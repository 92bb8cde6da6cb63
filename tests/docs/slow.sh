#!/bin/sh
# tags: slow noasan early
# Every command that README.md shows in a block of sh is run here, from the top folder, as a reader would. usage: run.sh XFORMC
# `make test` is what is running; `make demo` writes its folder elsewhere.
set -u
. tests/lib.sh
DEMO_FOLDER=$scratch/dates
export DEMO_FOLDER

awk '/^```sh$/ { inside = 1; next } /^```/ { inside = 0 } inside && NF' README.md >"$scratch/commands"
if [ "$(wc -l <"$scratch/commands")" -lt 8 ]; then
    echo "not ok README.md shows commands"
else
    echo "ok README.md shows commands"
fi

while IFS= read -r command; do
    case $command in
    "make test") continue ;;
    esac
    here=$(printf '%s\n' "$command" | sed "s#build/xformc#$xformc#g; s#generated/dates#$scratch/dates#g; s#-o build/dates#-o $scratch/other#; s#build/dates/#$scratch/other/#g")
    if sh -c "$here" >"$scratch/out" 2>&1 </dev/null; then
        echo "ok README.md: $command"
    else
        echo "not ok README.md: $command"
        tail -20 "$scratch/out"
    fi
done <"$scratch/commands"

# What README.md shows of dates.c is a part of it, but for line breaks.
squeeze() { tr -s ' \n' ' ' | sed 's/( /(/g'; }
shown=$(awk '/^```c$/ { inside = 1; next } /^```/ { inside = 0 } inside' README.md | squeeze)
if squeeze <generated/dates/dates.c | grep -qF -- "$shown"; then
    echo "ok README.md shows a part of dates.c"
else
    echo "not ok README.md shows a part of dates.c"
fi

# Its spec is specs/dates.lua without the comments.
spec() { sed 's/ *--.*//' | tr -d ' \n'; }
shown=$(awk '/^```lua$/ { inside = 1; next } /^```/ { inside = 0 } inside' README.md | spec)
if [ "$(spec <specs/dates.lua)" = "$shown" ]; then
    echo "ok README.md shows specs/dates.lua"
else
    echo "not ok README.md shows specs/dates.lua"
fi
