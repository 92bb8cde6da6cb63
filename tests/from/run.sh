#!/bin/sh
# `--from`, in every command that reads a spec, takes the weights from another file. The weights
# that the spec names need not exist.
# usage: run.sh XFORMC
set -u
. tests/lib.sh
quick_compilers
export XDG_STATE_HOME="$scratch/state" XDG_CACHE_HOME="$scratch/cache"

sed 's|weights = "dates/dates.safetensors"|weights = "gone.safetensors"|' specs/dates.lua >"$scratch/dates.lua"
cp -r specs/dates/*.txt "$scratch/" 2>/dev/null
from=$PWD/specs/dates/dates.safetensors text='3rd of May 2019'
grep -q gone "$scratch/dates.lua" || echo 'not ok the spec names weights that are not there'
[ "$("$xformc" run "$scratch/dates.lua" --from "$from" "$text" 2>"$scratch/err")" = 2019-05-03 ]
verdict $? 'run --from'
cat "$scratch/err"
sed "s|weights = .*|weights = \"random\", source_vocabulary = \"$PWD/specs/dates/source_vocabulary.txt\", target_vocabulary = \"$PWD/specs/dates/target_vocabulary.txt\",|" specs/dates.lua >"$scratch/random.lua"
[ "$("$xformc" run "$scratch/random.lua" --from "$from" "$text" 2>"$scratch/err")" = 2019-05-03 ]
verdict $? 'run --from overrides random weights'
cat "$scratch/err"
"$xformc" build "$scratch/dates.lua" -q --from "$from" -o "$scratch/dates" >"$scratch/err" 2>&1 && [ "$("$scratch/dates/dates" "$text")" = 2019-05-03 ]
verdict $? 'build --from'
cat "$scratch/err"
"$xformc" compile specs/dates.lua -q --weights=file -o "$scratch/own" &&
    "$xformc" compile "$scratch/dates.lua" -q --weights=file --from "$from" -o "$scratch/files" &&
    cmp "$scratch/files/dates.safetensors" "$scratch/own/dates.safetensors"
verdict $? 'compile --from'
head -n 20 specs/dates/heldout.tsv >"$scratch/task.tsv"
"$xformc" verify "$scratch/dates.lua" --engine jit --from "$from" --dtype int8 --task "$scratch/task.tsv" >"$scratch/out" 2>"$scratch/err" &&
    grep -q '^accuracy: int8 20 of 20 (100.00 %), f32 20 of 20' "$scratch/out"
verdict $? 'verify --from'
tail -n 2 "$scratch/out"; cat "$scratch/err"
"$xformc" bench "$scratch/dates.lua" --engine jit --from "$from" -r 1 -t 1 --seconds 0.01 --json 2>"$scratch/err" | grep -q '"rows"'
verdict $? 'bench --from'
cat "$scratch/err"
"$xformc" tune "$scratch/dates.lua" --from "$from" -r 2 -t 1 --seconds 0.001 -q -o "$scratch/tuned.lua" 2>"$scratch/err" && grep -q xf.tune "$scratch/tuned.lua"
verdict $? 'tune --from'
cat "$scratch/err"
"$xformc" info "$scratch/dates.lua" --from "$from" --json >"$scratch/out" 2>&1 && ! "$xformc" info "$scratch/dates.lua" --from "$scratch/none" >"$scratch/out" 2>&1
verdict $? 'info --from'
"$xformc" attention "$scratch/dates.lua" --from "$from" "$text" >"$scratch/out" 2>"$scratch/err" && grep -q '2019-05-03' "$scratch/out"
verdict $? 'attention --from'
cat "$scratch/err"
[ "$(printf 'm("%s")\nxf.compile(spec{ weights = "random" }):weight("encoder.0.ffn.up.weight"):distance(m:weight("encoder.0.ffn.up.weight")) > 0.1\n' "$text" |
    "$xformc" repl "$scratch/dates.lua" --from "$from" 2>"$scratch/err" | sed 1d | grep -v '^dates, ')" = "2019-05-03
true" ]
verdict $? 'repl --from, until the weights are changed'
cat "$scratch/err"
for command in run build verify bench tune info attention compile pack; do
    word=
    [ $command = attention ] && word=x
    "$xformc" $command "$scratch/dates.lua" $word --from "$scratch/none.safetensors" >"$scratch/out" 2>"$scratch/err"
    [ $? = 66 ] && grep -q '^error: cannot open .*/none.safetensors: No such file' "$scratch/err"
    verdict $? "$command --from no file"
    cat "$scratch/err"
done
"$xformc" repl --from "$from" >"$scratch/out" 2>"$scratch/err" </dev/null
[ $? = 2 ] && grep -q 'no SPEC was given' "$scratch/err"
verdict $? 'repl --from without a spec'
