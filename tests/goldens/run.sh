#!/bin/sh
# Every golden: jit and generic compute the same intermediate tensors and greedy ids as PyTorch.
# usage: run.sh XFORMC
#
# NAME.lua is the spec, NAME.safetensors has its weights, and NAME.ref.safetensors has PyTorch's
# tensors.
set -u
. tests/lib.sh
ids_of() { if grep -q 'kind = "encoder"' "$1"; then echo 0; else echo 2; fi; }

for spec in tests/goldens/*.lua; do
    name=$(basename "$spec" .lua)
    if "$xformc" verify "$spec" -v --engine jit --against "${spec%.lua}.ref.safetensors" >"$scratch/out" 2>"$scratch/err" &&
        grep -q 'all within tolerance' "$scratch/out" && grep -q ' jit ' "$scratch/out" && grep -q ' generic ' "$scratch/out" &&
        [ "$(grep -c '^greedy ' "$scratch/out")" -ge "$(ids_of "$spec")" ]; then
        echo "ok golden $name"
    else
        not_ok "golden $name"
        tail -n 3 "$scratch/out"
        cat "$scratch/err"
    fi
done
