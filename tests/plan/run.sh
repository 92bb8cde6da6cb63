#!/bin/sh
# The goldens of the plan floor: each NAME.plan is what `BIN compile SPEC -d p` shows of a spec.
#   run.sh BIN            compare
#   run.sh --write BIN    write the goldens again
write=
[ "$1" = --write ] && { write=1; shift; }
[ $# = 1 ] || { echo "usage: run.sh [--write] BIN" >&2; exit 2; }
bin=$1 here=$(dirname "$0")
out=$(mktemp -d) && trap 'rm -rf "$out"' EXIT || exit 74
failed=0

# golden NAME SPEC [OPTION...]
golden() {
    name=$1 spec=$2
    shift 2
    if ! "$bin" compile "$spec" -q -o "$out/folder" -d p "$@" >"$out/stdout" 2>"$out/found" || [ -s "$out/stdout" ]; then
        echo "not ok $name"
        cat "$out/stdout" "$out/found"
        failed=1
    elif [ -n "$write" ]; then
        cp "$out/found" "$here/$name.plan"
    elif diff -u -L "$name.plan" -L found "$here/$name.plan" "$out/found" >"$out/diff"; then
        echo "ok $name"
    else
        echo "not ok $name"
        cat "$out/diff"
        failed=1
    fi
    rm -rf "$out/folder"
}

golden dates            specs/dates.lua
golden self_attention   specs/self_attention.lua
golden two_attentions   tests/specs/two_attentions.lua
golden different_layers tests/specs/different_layers.lua
for name in post_layer dv_ne_dk awkward halves; do golden $name tests/goldens/$name.lua; done
golden awkward_tapped   tests/goldens/awkward.lua --taps --slots 3
golden self_attention_tapped specs/self_attention.lua --taps
exit $failed
