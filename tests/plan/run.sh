#!/bin/sh
# tags: golden
# Dumps of plans: each NAME.plan is the output of `xformc compile SPEC -d kp`.
# usage: run.sh [--write] XFORMC
#
# --write rewrites the goldens.
. tests/lib.sh
bin=$xformc here=$(dirname "$0") out=$scratch
failed=0

# golden NAME SPEC [OPTION...]
golden() {
    name=$1 spec=$2
    shift 2
    if ! "$bin" compile "$spec" -q -o "$out/folder" -d kp "$@" >"$out/stdout" 2>"$out/found" || [ -s "$out/stdout" ]; then
        not_ok "$name"
        cat "$out/stdout" "$out/found"
        failed=1
    elif [ -n "$write" ]; then
        cp "$out/found" "$here/$name.plan"
    elif diff -u -L "$name.plan" -L found "$here/$name.plan" "$out/found" >"$out/diff"; then
        echo "ok $name"
    else
        not_ok "$name"
        cat "$out/diff"
        failed=1
    fi
    rm -rf "$out/folder"
}

golden dates            specs/dates.lua
# From that golden, -d k shows the operations and -d p the memory.
for letter in k p; do
    [ -z "$write" ] || break
    case $letter in k) of='<-\|-- threads meet' ;; p) of=' at \|^state\|^weights' ;; esac
    grep -e "^block\|$of" "$here/dates.plan" >"$out/part"
    if "$bin" compile specs/dates.lua -q -o "$out/folder_$letter" -d $letter 2>"$out/found" && diff "$out/part" "$out/found"; then echo "ok -d $letter"
    else
        not_ok "-d $letter"
        failed=1
    fi
done
golden self_attention   specs/self_attention.lua
golden two_attentions   tests/specs/two_attentions.lua
golden different_layers tests/specs/different_layers.lua
for name in post_layer dv_ne_dk awkward halves; do golden $name tests/goldens/$name.lua; done
golden awkward_tapped   tests/goldens/awkward.lua --taps --slots 3
golden self_attention_tapped specs/self_attention.lua --taps

# streamed YES_OR_NO NAME COMMAND...: does one row read the weights as one stream?
streamed() {
    want=$1 name=$2
    shift 2
    found=no
    "$@" -d p >/dev/null 2>"$out/found" && grep -q '^weights of [0-9]* bytes, read in one stream by a call of one row$' "$out/found" && found=yes
    if [ $found = "$want" ]; then echo "ok $name"; else
        not_ok "$name"
        failed=1
    fi
}
if [ -z "$write" ]; then
    streamed yes 'a decoder of 110 MB is read in one stream' "$bin" info specs/base.lua
    streamed no 'a decoder of 1 MB is not' "$bin" info specs/dates.lua
    streamed no 'nor an encoder, which reads many rows at once' "$bin" info specs/encoder.lua
    "$bin" compile specs/base.lua -q -o "$out/folder" && grep -q '\.has_bias = 1, \.one_stream = 1 }' "$out/folder/base_kernels.h"
    if [ $? = 0 ]; then echo 'ok and its linears are reported'; else
        not_ok 'and its linears are reported'
        failed=1
    fi
fi
exit $failed
