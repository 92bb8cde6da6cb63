#!/bin/sh
# tags: slow noasan early
# Goldens that combine many options: native code agrees with generic and is bit-identical to jit,
# which run.sh compares with PyTorch.
# usage: slow.sh XFORMC
set -u
. tests/lib.sh
quick_cc "$scratch/quick"

for spec in $(for name in awkward like_gemma2 like_t5 like_whisper causal_layers window_both; do echo "tests/goldens/$name.lua"; done); do
    name=$(basename "$spec" .lua)
    if "$xformc" verify "$spec" -v --cc "$scratch/quick" >"$scratch/out" 2>"$scratch/err" &&
        grep -q 'all within tolerance' "$scratch/out" && [ "$(grep -c ' native .* jit .* 0  ok$' "$scratch/out")" -ge 10 ]; then
        echo "ok same bits $name"
    else
        not_ok "same bits $name"
        tail -n 3 "$scratch/out"
        cat "$scratch/err"
    fi
done
