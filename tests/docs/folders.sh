#!/bin/sh
# The session with real folders in docs/models.md prints what the page shows. It needs
# XFORMC_TEST_DATA. usage: folders.sh XFORMC
set -u
[ $# = 1 ] || { echo "usage: XFORMC_TEST_DATA=FOLDER folders.sh XFORMC" >&2; exit 2; }
xformc=$1 page=$PWD/docs/models.md
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [ ! -d "${XFORMC_TEST_DATA:-}/stories260K" ]; then echo "skip docs/models.md: three folders, run (no XFORMC_TEST_DATA)"; exit 0; fi
verdict() { if [ "$1" = 0 ]; then echo "ok $2"; else echo "not ok $2"; failed=1; fi; }
failed=0
mkdir "$scratch/here" "$scratch/bin"
for folder in stories260K tiny-random-gpt2 bert-tiny; do ln -s "$(cd "$XFORMC_TEST_DATA/$folder" && pwd)" "$scratch/here/$folder"; done
ln -s "$xformc" "$scratch/bin/xformc"
PATH=$scratch/bin:$PATH
cd "$scratch/here" || exit 74

# The block that runs real folders: each command, and the lines up to the next one.
awk '/^```/ { if (inside && block ~ /stories260K/) printf "%s", block; inside = !inside; block = ""; next }
    inside { block = block $0 "\n" }' "$page" >"$scratch/session"
grep -q '^\$ ' "$scratch/session"
verdict $? 'docs/models.md has a session with real folders'
sed -n 's/^\$ //p' "$scratch/session" >"$scratch/commands"
while IFS= read -r command; do
    echo "\$ $command"
    sh -c "$command" </dev/null 2>&1
done <"$scratch/commands" >"$scratch/found"
diff "$scratch/session" "$scratch/found" >"$scratch/diff"
verdict $? 'docs/models.md: three folders, run'
cat "$scratch/diff"
exit $failed
