#!/bin/sh
# tags: targets
# Every patch of docs/contributing.md, applied to one copy of the tree: an activation, an operation,
# a family, a format, an instruction set, an option and a command. Each gives the expected results
# and touches as many files as the page says.
# usage: run.sh XFORMC
set -u
. tests/lib.sh
page=docs/contributing.md
copy=$scratch/tree

# The patches below the heading $1.
patches() {
    awk -v heading="## $1" '/^## / { inside = tolower($0) == tolower(heading) }
        inside && /^```diff$/ { block = 1; next }
        /^```$/ { block = 0 }
        block' "$page"
}

mkdir "$copy" && cp -R Makefile compiler runtime "$copy" && mkdir "$copy/tests" && cp -R tests/kernels "$copy/tests"

# One walk-through for each row of the page's table.
awk -F ' *[|] *' '/^\| (a|an) / { print $3, $2 }' "$page" >"$scratch/walks"
[ -s "$scratch/walks" ]
verdict $? 'the page has a table of walks'
while read -r wanted walk; do
    patches "$walk" >"$scratch/patch"
    found=$(sed -n 's|^+++ b/||p' "$scratch/patch" | grep -v '^tests/' | sort -u | wc -l)
    [ "$found" -eq "$wanted" ] || { echo "$found files, the table says $wanted"; false; }
    verdict $? "$walk: as many files as the table says"
    patch -d "$copy" -p1 --fuzz=0 --no-backup-if-mismatch <"$scratch/patch" >"$scratch/out" 2>&1 || { cat "$scratch/out"; false; }
    verdict $? "$walk: the patches apply"
done <"$scratch/walks"

# The Makefile knows the new instruction set only on x86-64, so other machines do not build it.
set=avxvnni bytes=build/tests/kernels/test_linear_int8.avxvnni
case $(uname -m) in x86_64) ;; *) set='' bytes='' ;; esac
quick_build "$copy" build/xformc build/tests/kernels/test_activations.native $bytes \
    >"$scratch/out" 2>&1
good=$?
verdict $good 'the copy is built'
[ $good = 0 ] || { tail -n 20 "$scratch/out"; exit 0; }
xformc=$copy/build/xformc
# Compile emitted code without inlining, too: no bit depends on it.
mkdir "$scratch/bin" && quick_cc "$scratch/bin/cc" cc '-O1 -Dalways_inline=unused' &&
    PATH=$scratch/bin:$PATH
"$copy/build/tests/kernels/test_activations.native" >"$scratch/out" 2>&1 || { cat "$scratch/out"; false; }
verdict $? 'the new activation against libm'

# Run the rest as two groups at the same time, each with a folder of its own.
mkdir "$scratch/1" "$scratch/2"
(
scratch=$scratch/1

# ---- the activation and the operation ------------------------------------------------------------

cat >"$scratch/walks.lua" <<'SPEC'
return xf.graph("walks", function(g)
  local x = g.input("X", { 2, 3 }, { -2, 0.5, 3, 1, -0.25, 4 })
  local y = g.input("Y", { 2, 3 }, { 1, 1, 1, 0.5, 0.5, 0.5 })
  g.output("D", g.subtract(x, y))
  g.output("H", g.activation(x, { kind = "hard_tanh" }))
end)
SPEC
# D is computed by hand; H follows.
expected='-3.00000 -0.50000 2.00000 0.50000 -0.75000 3.50000 -1.00000 0.50000 1.00000 1.00000 -0.25000 1.00000'
results() { sed -n '/^D /,$p' "$1" | grep -oE -- '-?[0-9]+\.[0-9]+' | tr '\n' ' ' | sed 's/ $//'; }
for engine in generic jit native; do
    "$xformc" run "$scratch/walks.lua" --engine $engine >"$scratch/out" 2>"$scratch/err" && [ "$(results "$scratch/out")" = "$expected" ] ||
        { cat "$scratch/out" "$scratch/err"; false; }
    verdict $? "numbers of the new operation and activation: $engine"
done
"$xformc" verify "$scratch/walks.lua" >"$scratch/out" 2>&1 && grep -q 'all within tolerance' "$scratch/out" || { cat "$scratch/out"; false; }
verdict $? 'verify: all engines and forms agree on them'
"$xformc" ops | grep -A 1 '^  g.subtract(a, b) -> y$' | grep -q '^      a - b$'
verdict $? 'the new operation is listed with its value'
"$xformc" compile "$scratch/walks.lua" -q --kernels unrolled -o "$scratch/plain" && grep -q 'y = a - b' "$scratch/plain/walks_kernels.h"
verdict $? 'the emitted comment is the value in the table'

# ---- the family: Llama with the other layout of rotary positions ---------------------------------

cp -R tests/families/llama "$scratch/helium"
sed -i 's/"model_type": "llama"/"model_type": "helium"/' "$scratch/helium/config.json"
"$xformc" info --families | grep -q '^helium  *Helium$'
verdict $? 'the new family is listed'
"$xformc" verify "$scratch/helium" >"$scratch/out" 2>&1 && grep -q 'all within tolerance' "$scratch/out" || { cat "$scratch/out"; false; }
verdict $? 'verify: a folder of the new family'
"$xformc" info tests/families/llama --lua | sed 's/^  d_ff/  rope_layout = "interleaved",\n  d_ff/' >"$scratch/turned.lua"
found=$("$xformc" run "$scratch/helium" --ids '1 5 9 3') wanted=$("$xformc" run "$scratch/turned.lua" --ids '1 5 9 3')
[ -n "$found" ] && [ "$found" = "$wanted" ] && [ "$found" != "$("$xformc" run tests/families/llama --ids '1 5 9 3')" ] ||
    { echo "expected $wanted, found $found"; false; }
verdict $? 'ids of the new family are those of its spec'
) >"$scratch/1.out" 2>&1 &
(
scratch=$scratch/2

# ---- the command and its option ------------------------------------------------------------------

"$xformc" shapes specs/sums.lua >"$scratch/out" 2>&1 && grep -q '^decoder.0.self_attn.q.weight \[64, 64\]$' "$scratch/out" || { cat "$scratch/out"; false; }
verdict $? 'the new command'
listed=$(sed 's/.*\[//; s/\]//' "$scratch/out" | awk -F ', ' '{ n = 1; for (i = 1; i <= NF; i++) n *= $i; all += n } END { print all }')
found=$("$xformc" shapes specs/sums.lua --total)
[ -n "$found" ] && [ "$found" = "$listed" ] || { echo "expected $listed, found $found"; false; }
verdict $? 'the new option'
"$xformc" info specs/sums.lua --total >"$scratch/out" 2>&1
[ $? = 2 ] && grep -q 'info does not take --total; shapes does' "$scratch/out" && "$xformc" shapes --help | grep -q -- '--total' || { cat "$scratch/out"; false; }
verdict $? 'the new option is refused elsewhere, and in --help'

# ---- the format: f16, whose rounding changes no date ---------------------------------------------

"$xformc" verify specs/dates.lua --dtype f16 >"$scratch/out" 2>&1 && grep -q 'all within tolerance' "$scratch/out" ||
    { tail -n 5 "$scratch/out"; false; }
verdict $? 'verify: a model in the new format'
"$xformc" compile specs/dates.lua --dtype f16 -q -o "$scratch/halves" -d p 2>"$scratch/plan" && grep -q 'panels-f16' "$scratch/plan" &&
    grep -q 'rt_linear_f16(&shape' "$scratch/halves/dates_kernels.h"
verdict $? 'its weights are packed in the new format'
"$xformc" help compile -v | tr -s ' \n' ' ' | grep -q 'bf16, f16, int8' &&
    "$xformc" fields | tr -s ' \n' ' ' | grep -q 'bf16 and f16: rounded'
verdict $? 'its word is in --help and in the list of fields'
for engine in generic jit native; do
    [ "$("$xformc" run specs/dates.lua --dtype f16 --engine $engine '3rd of May 2019' 2>"$scratch/err")" = 2019-05-03 ] || { cat "$scratch/err"; false; }
    verdict $? "answers of the new format: $engine"
done

# ---- the instruction set: AVX2 with one instruction for products of bytes ------------------------

skip_set() { for name; do echo "skip $name ($why)"; done; }
dates() { printf '%s\n' '3rd of May 2019' 'Tuesday, February 29, 2000' '12/31/1999'; }
answers() { dates | "$scratch/$1/dates" --json; }
compiled='avxvnni: its instruction is in the emitted program' kernels='avxvnni: kernels of bytes against plain C'
same='avxvnni: the bits of avx2'
if [ -z "$set" ]; then
    why='another processor' && skip_set "$compiled" "$kernels" "$same"
    exit 0
fi
for isa in avx2 $set; do "$xformc" build specs/dates.lua -q --dtype int8 --isa $isa -o "$scratch/$isa" || verdict 1 "$isa: dates are built"; done
objdump -d "$scratch/$set/dates.o" | grep -q vpdpbusd && ! objdump -d "$scratch/avx2/dates.o" | grep -q vpdpbusd
verdict $? "$compiled"
"$scratch/$set/dates" --selftest >"$scratch/out" 2>&1
good=$?
if [ $good != 0 ] && grep -q 'this processor lacks' "$scratch/out"; then
    why='this processor has no AVX-VNNI' && skip_set "$kernels" "$same"
    exit 0
fi
[ $good = 0 ] || cat "$scratch/out"
verdict $good 'avxvnni: the self-test'
"$copy/$bytes" >"$scratch/out" 2>&1 || { cat "$scratch/out"; false; }
verdict $? "$kernels"
[ -n "$(answers $set)" ] && [ "$(answers $set)" = "$(answers avx2)" ] && "$scratch/$set/dates" --info | grep -q 'compiled for *avxvnni'
verdict $? "$same"
) >"$scratch/2.out" 2>&1 &
wait
cat "$scratch/1.out" "$scratch/2.out"
