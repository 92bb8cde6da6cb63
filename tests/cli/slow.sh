#!/bin/sh
# verify: what it finds and what it does not, every golden against PyTorch's numbers; and a trained model of others.
xformc=$1 top=$PWD
tools=$(dirname "$xformc")/tests/cli
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT || exit 74
verdict() { if [ "$1" = 0 ]; then echo "ok $2"; else echo "not ok $2"; fi; }
unset MAKEFLAGS MFLAGS MAKELEVEL

# fails NAME CODE PATTERN COMMAND...: nothing on stdout, and all of stderr fits a pattern as those of `case`.
fails() {
    name=$1 code=$2 pattern=$3
    shift 3
    "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    found=$?
    message=$(cat "$scratch/err")
    case $message in $pattern) fits=1 ;; *) fits=0 ;; esac
    [ $found = "$code" ] && [ $fits = 1 ] && [ ! -s "$scratch/out" ]
    verdict $? "$name"
    echo "exit $found: $message"
}

golden=tests/goldens/pre_layer
"$xformc" verify $golden.lua --cc cc --json >"$scratch/json" 2>"$scratch/err" && "$tools/json_keys" verify <"$scratch/json" &&
    grep -q '"generic"' "$scratch/json"
verdict $? 'verify --json has the keys'

# The same model with one weight 1 % off.
mkdir "$scratch/off"
cp $golden.lua "$scratch/off"
for where in encoder.layers.1.feed_forward.w_2.weight=encoder.1.ffn decoder.layers.0.self_attn.linears.0.weight=decoder.0.self_attn.q; do
    "$tools/perturb" $golden.safetensors "$scratch/off/pre_layer.safetensors" "${where%=*}" 1.01 &&
        "$xformc" verify "$scratch/off/pre_layer.lua" --engine native --cc cc --against $golden.ref.safetensors >"$scratch/out" 2>"$scratch/err"
    [ $? = 1 ] && grep -q "^verify: first departs: ${where#*=} (native (cc) against pre_layer.ref.safetensors): " "$scratch/out"
    verdict $? "verify finds 1 % in ${where%=*}"
    tail -n 2 "$scratch/out"
done
"$xformc" verify "$scratch/off/pre_layer.lua" --cc cc --against $golden.ref.safetensors --json >"$scratch/json" 2>"$scratch/err"
[ $? = 1 ] && "$tools/json_keys" verify <"$scratch/json" && grep -q 'first departs: decoder.0.self_attn.q' "$scratch/err"
verdict $? 'verify --json names it on stderr'
fails 'verify against no file' 66 '*cannot open *' "$xformc" verify $golden.lua --cc cc --against "$scratch/none"
fails 'verify against a file of weights' 65 '*it has no tensor "source"*' "$xformc" verify $golden.lua --cc cc --against $golden.safetensors
"$xformc" verify $golden.lua --cc cc --json >/dev/full 2>"$scratch/err"
[ $? = 74 ] && [ -s "$scratch/err" ]
verdict $? 'verify on a full disk'

# ---- goldens of the documents' model; tests/goldens/slow.sh has those of every choice ---------------------------------

# -O1 changes no bit and takes a third of the time.
printf '#!/bin/sh\nexec cc "$@" -O1\n' >"$scratch/quick" && chmod +x "$scratch/quick"
for case in awkward dv_ne_dk halves length_one longest one_head one_layer padding post_annotated post_final post_layer pre_annotated pre_layer; do
    spec=tests/goldens/$case.lua golden=tests/goldens/$case
    "$xformc" verify "$spec" -v --cc "$scratch/quick" --against "$golden.ref.safetensors" >"$scratch/out" 2>"$scratch/err" &&
        grep -q 'all within tolerance' "$scratch/out" && grep -q '^greedy .*native' "$scratch/out" && grep -q '^greedy .*generic' "$scratch/out"
    verdict $? "verify --against: ${golden##*/}"
    tail -n 2 "$scratch/out"
    cat "$scratch/err"
done

name='transliteration answers as its authors say'
data=$XFORMC_TEST_DATA/transliteration
for engine in native jit generic; do
    if [ -z "$XFORMC_TEST_DATA" ]; then echo "skip $name, $engine (XFORMC_TEST_DATA is not set)"; continue; fi
    if [ ! -d "$data" ]; then echo "skip $name, $engine (no $data)"; continue; fi
    cp "$top/tests/specs/transliteration.lua" "$scratch" && ln -sfn "$data" "$scratch/transliteration"
    "$xformc" run "$scratch/transliteration.lua" -v --engine $engine 'آتزمون' 'آتشيسون' >"$scratch/out" 2>"$scratch/err" &&
        [ "$(tr '\n' ' ' <"$scratch/out")" = 'atzmon achison ' ] &&
        grep -q '^atzmon: sum of log-probabilities -1\.0617$' "$scratch/err" && grep -q '^achison: sum of log-probabilities -1\.1136$' "$scratch/err"
    verdict $? "$name, $engine"
    cat "$scratch/out" "$scratch/err"
done
