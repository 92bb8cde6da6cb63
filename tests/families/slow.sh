#!/bin/sh
# tags: slow noasan
# Native code of every family against transformers: logits by steps, at once and in pieces, greedy ids; hidden states and vectors of encoders. Some
# by the library's kernels, the others unrolled, plain C that is compiled sooner. With no more optimisation than that takes, which changes
# no bit.
# usage: slow.sh XFORMC
set -u
. tests/lib.sh
here=tests/families
rows=$(dirname "$xformc")/tests/families/families_rows
for level in 0 1; do
    printf '#!/bin/sh\nexec %s "$@" -O%d\n' "$(command -v cc)" $level >"$scratch/cc$level" && chmod +x "$scratch/cc$level"
done
library=' bert gemma2 llama t5 '

# one REFERENCE: a line of verdict, and what was found where it is not as expected.
cat >"$scratch/one" <<END
name=\$(basename "\$1" .expected.safetensors)
model=$here/\$name
[ -d "\$model" ] || model=$here/\$name.bin
case "$library" in *" \$name "*) form= level=1 ;; *) form=unrolled level=0 ;; esac
if "$rows" "\$model" "\$1" native "$scratch/cc\$level" \$form >"$scratch/\$name.out" 2>"$scratch/\$name.err" && grep -q 'e-\|: 0' "$scratch/\$name.out"; then
    echo "ok \$name: native code as transformers \$form"
else
    echo "not ok \$name: native code as transformers \$form"
    cat "$scratch/\$name.out" "$scratch/\$name.err"
fi
END
ls $here/*.expected.safetensors | xargs -n 1 -P 2 sh "$scratch/one"

missing=$("$xformc" info --families | grep -v "^gguf " | sed 's/ .*//; s/[.]//; s/-/_/g' | while read -r name; do
    [ -e "$here/$name.expected.safetensors" ] || echo "$name"
done)
[ -z "$missing" ] && echo 'ok every family has a reference' || echo "not ok without a reference: $missing"
