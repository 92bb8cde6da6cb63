#!/bin/sh
# Every golden of a choice of a spec: native and generic against PyTorch, every intermediate and the greedy ids. The C is
# compiled at -O1, which changes no bit and takes a third of the time. usage: slow.sh XFORMC
set -u
xformc=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
printf '#!/bin/sh\nexec cc "$@" -O1\n' >"$scratch/quick" && chmod +x "$scratch/quick"

for spec in tests/goldens/*.lua; do
    name=$(basename "$spec" .lua)
    case " awkward dv_ne_dk halves length_one longest one_head one_layer padding post_annotated post_final post_layer pre_annotated pre_layer " in
    *" $name "*) continue ;;        # tests/cli/slow.sh has these
    esac
    if "$xformc" verify "$spec" -v --cc "$scratch/quick" --against "${spec%.lua}.ref.safetensors" >"$scratch/out" 2>"$scratch/err" &&
        grep -q 'all within tolerance' "$scratch/out" && grep -q ' native ' "$scratch/out" && grep -q ' generic ' "$scratch/out" &&
        { grep -q 'kind = "encoder"' "$spec" || [ "$(grep -c '^greedy ' "$scratch/out")" -ge 2 ]; }; then
        echo "ok golden $name"
    else
        echo "not ok golden $name"
        tail -n 3 "$scratch/out"
        cat "$scratch/err"
    fi
done
