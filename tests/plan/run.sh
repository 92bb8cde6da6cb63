#!/bin/sh
# The goldens of the plan floor: each NAME.plan is what `BIN compile SPEC -d kp` shows of a spec.
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
    if ! "$bin" compile "$spec" -q -o "$out/folder" -d kp "$@" >"$out/stdout" 2>"$out/found" || [ -s "$out/stdout" ]; then
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
# Of that, -d k shows the operations, -d p what memory there is.
for letter in k p; do
    [ -z "$write" ] || break
    case $letter in k) of='<-\|-- lanes meet' ;; p) of=' at \|^state\|^weights' ;; esac
    grep -e "^block\|$of" "$here/dates.plan" >"$out/part"
    if "$bin" compile specs/dates.lua -q -o "$out/folder_$letter" -d $letter 2>"$out/found" && diff "$out/part" "$out/found"; then echo "ok -d $letter"
    else
        echo "not ok -d $letter"
        failed=1
    fi
done
golden self_attention   specs/self_attention.lua
golden two_attentions   tests/specs/two_attentions.lua
golden different_layers tests/specs/different_layers.lua
for name in post_layer dv_ne_dk awkward halves; do golden $name tests/goldens/$name.lua; done
golden awkward_tapped   tests/goldens/awkward.lua --taps --slots 3
golden self_attention_tapped specs/self_attention.lua --taps
exit $failed
