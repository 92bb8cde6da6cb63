#!/bin/sh
# tags: slow noasan early
# Every command shown in the pages (pages.sh) and in generated/README.md runs and prints what they
# show. Small models replace third-party ones (standins.sh). With XFORMC_TEST_DATA, folders.sh runs
# the session with real folders.
# usage: slow.sh XFORMC
#
# `make test` is skipped, since it runs this suite. `make demo` writes to another folder.
set -u
. tests/lib.sh
. tests/docs/pages.sh
DEMO_FOLDER=$scratch/dates compilers=$PATH
quick_compilers
export DEMO_FOLDER

for page in $pages; do
    blocks sh "$page" >"$scratch/of_page"
    case $page in docs/models.md) ;; *) [ -s "$scratch/of_page" ] || not_ok "$page shows commands" ;; esac
    sed "s#^#$page #" "$scratch/of_page"
done >"$scratch/commands"
if [ "$(wc -l <"$scratch/commands")" -lt 30 ]; then
    not_ok "the pages show commands"
else
    echo "ok the pages show commands"
fi

# Use the reader's compiler for the demo and for the command that compares engines.
# The rest only has to run.
while IFS=' ' read -r page command; do
    path=$PATH
    case $command in
    "make test") continue ;;
    "make demo" | "build/xformc verify specs/dates.lua") path=$compilers ;;
    esac
    here=$(printf '%s\n' "$command" | sed "s#build/xformc#$xformc#g; s#generated/dates#$scratch/dates#g; s#-o build/dates#-o $scratch/other#; s#build/dates/#$scratch/other/#g")
    if PATH=$path sh -c "$here" >"$scratch/out" 2>&1 </dev/null; then
        printf 'ok %s: %s\n' "$page" "$command"
    else
        not_ok "$page: $command"
        tail -20 "$scratch/out"
    fi
done <"$scratch/commands"

# The C in README.md is a part of dates.c, apart from line breaks.
squeeze() { tr -s ' \n' ' ' | sed 's/( /(/g'; }
shown=$(awk '/^```c$/ { inside = 1; next } /^```/ { inside = 0 } inside' README.md | squeeze)
if squeeze <generated/dates/dates.c | grep -qF -- "$shown"; then
    echo "ok README.md shows a part of dates.c"
else
    not_ok "README.md shows a part of dates.c"
fi

# The spec in README.md is specs/dates.lua without the comments.
spec() { sed 's/ *--.*//' | tr -d ' \n'; }
shown=$(awk '/^```lua$/ { inside = 1; next } /^```/ { inside = 0 } inside' README.md | spec)
if [ "$(spec <specs/dates.lua)" = "$shown" ]; then
    echo "ok README.md shows specs/dates.lua"
else
    not_ok "README.md shows specs/dates.lua"
fi

# The page on emitted folders continues with that folder, and with weights that were trained later.
cp specs/dates/dates.safetensors "$scratch/tuned.safetensors"
verdict() {
    if [ "$1" = 0 ]; then printf 'ok %s\n' "$2"; else not_ok "$2"; tail -n 5 "$scratch/out"; fi
}
awk '/^```sh$/ { inside = 1; next } /^```/ { inside = 0 } inside && NF' generated/README.md \
    >"$scratch/commands"
[ -s "$scratch/commands" ]
verdict $? 'generated/README.md shows commands'
while IFS= read -r command; do
    here=$(printf '%s\n' "$command" | sed "s#build/xformc#$xformc#g
        s#generated/dates#$scratch/dates#g; s# tuned[.]# $scratch/tuned.#g")
    sh -c "$here" >"$scratch/out" 2>&1 </dev/null
    verdict $? "generated/README.md: $command"
done <"$scratch/commands"
make -s -C "$scratch/dates" libdates.so example \
    >"$scratch/out" 2>&1 &&
    (cd "$scratch/dates" && ./example) >>"$scratch/out" 2>&1 && [ -s "$scratch/dates/libdates.so" ]
verdict $? 'generated/README.md: make libNAME.so, make example'

# session PAGE WORD: the block of PAGE that begins with $ and contains WORD.
session() {
    awk -v word="$2" '
        /^```/ { if (inside && block ~ /^[$] / && index(block, word)) printf "%s", block
            inside = !inside; block = ""; next }
        inside { block = block $0 "\n" }' "$1"
}
# The last digits depend on the instruction set.
settle() { sed 's/"score":[^,]*/"score":N/; s/distance [^,]*/distance N/'; }
session generated/README.md '$ dates ' | settle >"$scratch/expected"
sed -n 's/^\$ //p' "$scratch/expected" | while IFS= read -r command; do
    printf '$ %s\n' "$command"
    PATH=$scratch/dates:$PATH sh -c "$command" 2>&1 </dev/null
done | settle >"$scratch/found"
[ -s "$scratch/expected" ] && diff "$scratch/expected" "$scratch/found" >"$scratch/out"
verdict $? 'generated/README.md: commands print what it shows'

# Commands on third-party models run on small models instead.
. tests/docs/standins.sh
mkdir "$scratch/here" "$scratch/bin"
ln -s "$xformc" "$scratch/bin/xformc"
standins "$scratch/here" "$xformc"
verdict $? 'there are small models for the pages'
awk '/^```/ { if (inside && block ~ /^xformc /) printf "%s", block
        inside = !inside; block = ""; next }
    inside { block = block $0 "\n" }' $pages >"$scratch/commands"
[ "$(wc -l <"$scratch/commands")" -ge 10 ]
verdict $? 'the pages show commands for models of other people'
while IFS= read -r command; do
    (cd "$scratch/here" && PATH=$scratch/bin:$PATH sh -c "$command") >"$scratch/out" 2>&1 </dev/null
    verdict $? "the pages: $command"
done <"$scratch/commands"

# The session with real folders, if they are there.
sh tests/docs/folders.sh "$xformc"
