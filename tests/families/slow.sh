#!/bin/sh
# tags: slow noasan
# Native code of every family (of every folder in `make test-all`) against transformers: logits step
# by step, in one call and in pieces, greedy ids; hidden states and vectors of encoders
# (families_rows.c). Some models use the library's kernels, the others the unrolled form.
# usage: slow.sh XFORMC
set -u
. tests/lib.sh
here=tests/families
rows=$(dirname "$xformc")/tests/families/families_rows
quick_cc "$scratch/cc"
library=' bert gemma2 llama t5 '

# one REFERENCE: print a verdict, and the output if it is not as expected.
cat >"$scratch/one" <<END
name=\$(basename "\$1" .expected.safetensors)
model=$here/\$name
[ -d "\$model" ] || model=$here/\$name.bin
case "$library" in *" \$name "*) form= ;; *) form=unrolled ;; esac
if "$rows" "\$model" "\$1" native "$scratch/cc" \$form >"$scratch/\$name.out" 2>"$scratch/\$name.err" && grep -q 'e-\|: 0' "$scratch/\$name.out"; then
    echo "ok \$name: native code as transformers \$form"
else
    echo "not ok \$name: native code as transformers \$form"
    cat "$scratch/\$name.out" "$scratch/\$name.err"
fi
END
# One folder for each family, and features that its small folder lacks: another head, a window, a T5
# with three dimensions. The other folders differ in names, files and numbers, which `run.sh`
# compares with transformers.
families=$("$xformc" info --families | sed '/^$/,$d' | grep -v "^gguf " | sed 's/ .*//; s/[.]//; s/-/_/g')
sample="$families bert_classifier roberta_masked mistral_full qwen2_window t5_three gpt_neox_in_turn"
for name in $(sweep "$sample" "$(cd $here && ls ./*.expected.safetensors | sed 's/^..//; s/[.]expected.*//')"); do
    [ ! -e "$here/$name.expected.safetensors" ] || echo "$here/$name.expected.safetensors"
done | xargs -n 1 -P 2 sh "$scratch/one"

missing=$(for name in $families; do [ -e "$here/$name.expected.safetensors" ] || echo "$name"; done)
[ -z "$missing" ] && echo 'ok every family has a reference' || not_ok "without a reference: $missing"
