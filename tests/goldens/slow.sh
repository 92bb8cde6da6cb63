#!/bin/sh
# Goldens in which many choices meet: native code against PyTorch, the generic engine and, to the bit, the jit. The C is
# compiled at -O1, which changes no bit and takes a third of the time. usage: slow.sh XFORMC
set -u
xformc=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
printf '#!/bin/sh\nexec cc "$@" -O1\n' >"$scratch/quick" && chmod +x "$scratch/quick"

for spec in tests/goldens/like_*.lua tests/goldens/grouped_relative.lua tests/goldens/halves.lua tests/goldens/position_rotary_wide.lua; do
    name=$(basename "$spec" .lua)
    if "$xformc" verify "$spec" -v --cc "$scratch/quick" --against "${spec%.lua}.ref.safetensors" >"$scratch/out" 2>"$scratch/err" &&
        grep -q 'all within tolerance' "$scratch/out" && grep -q ' native ' "$scratch/out"; then
        echo "ok native golden $name"
    else
        echo "not ok native golden $name"
        tail -n 3 "$scratch/out"
        cat "$scratch/err"
    fi
    if "$xformc" verify "$spec" -v --cc "$scratch/quick" >"$scratch/out" 2>"$scratch/err" &&
        grep -q 'all within tolerance' "$scratch/out" && [ "$(grep -c ' native .* jit .* 0  ok$' "$scratch/out")" -ge 10 ]; then
        echo "ok same bits $name"
    else
        echo "not ok same bits $name"
        tail -n 3 "$scratch/out"
        cat "$scratch/err"
    fi
done
