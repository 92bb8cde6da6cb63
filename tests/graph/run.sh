#!/bin/sh
# tags: golden
# Dumps of graphs. NAME.graph is the output of `xformc compile SPEC -d g`. For each NAME.lua here,
# NAME.err is the exit code and standard error of `xformc run NAME.lua --engine generic`, and
# NAME.out is its standard output.
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
    if ! "$bin" compile "$spec" -q -o "$out/folder" -d g "$@" >"$out/stdout" 2>"$out/found" || [ -s "$out/stdout" ]; then
        not_ok "$name"
        cat "$out/stdout" "$out/found"
        failed=1
    elif [ -n "$write" ]; then
        cp "$out/found" "$here/$name.graph"
    elif diff -u -L "$name.graph" -L found "$here/$name.graph" "$out/found" >"$out/diff"; then
        echo "ok $name"
    else
        not_ok "$name"
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

# result NAME: run a spec of this folder; a missing file is an empty golden
result() {
    name=$1
    (cd "$here" && "$bin" run "$name.lua" --engine generic) >"$out/$name.out" 2>"$out/stderr"
    code=$?
    { echo "exit $code"; cat "$out/stderr"; } >"$out/$name.err"
    if [ $code = 0 ] && [ ! -s "$out/stderr" ]; then : >"$out/$name.err"; fi
    for kind in err out; do
        golden=$here/$name.$kind
        if [ -n "$write" ]; then
            rm -f "$golden"
            [ ! -s "$out/$name.$kind" ] || cp "$out/$name.$kind" "$golden"
            continue
        fi
        [ -e "$golden" ] || golden=/dev/null
        diff -u -L "$name.$kind" -L found "$golden" "$out/$name.$kind"
    done >"$out/diff" 2>&1
    [ -z "$write" ] || return
    if [ -s "$out/diff" ]; then
        not_ok "$name"
        sed 's/^/# /' "$out/diff"
        failed=1
    else
        echo "ok $name"
    fi
}

for spec in "$here"/*.lua; do result "$(basename "$spec" .lua)"; done
exit $failed
