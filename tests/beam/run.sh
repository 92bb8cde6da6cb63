#!/bin/sh
# tags: slow noasan
# `xformc run --beam`: generic, jit and native give the same answer, and -v lists the sequences,
# best first. JSON has every sequence. One beam gives the greedy answer. Extra slots change nothing.
# Wrong options are errors.
# usage: run.sh XFORMC
. tests/lib.sh
tools=$(dirname "$xformc")/tests/cli
quick_cc "$scratch/quick"

# fails NAME CODE MESSAGE COMMAND...: exits with CODE and prints MESSAGE on stderr and nothing on
# stdout.
fails() {
    name=$1 code=$2 message=$3
    shift 3
    "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    found=$?
    [ $found = "$code" ] && [ ! -s "$scratch/out" ] && [ "$(head -n 1 "$scratch/err")" = "$message" ]
    verdict $? "$name"
    echo "exit $found: $(cat "$scratch/err")"
}

# ---- xformc run ----------------------------------------------------------------------------------

decoder=tests/specs/modern_decoder.lua both=tests/specs/t5_like.lua
for engine in generic jit native; do
    cc=; if [ $engine = native ]; then cc="--cc $scratch/quick"; fi
    if [ $engine = native ] && [ -n "$XFORMC_QUICK" ]; then continue; fi
    for spec in specs/dates.lua $decoder $both; do
        text='4 9 3'; if [ $spec = specs/dates.lua ]; then text='3rd of May 2019'; fi
        name=$(basename $spec .lua)
        "$xformc" run $spec --engine $engine $cc --beam 4 --length-penalty 0.6 -v "$text" >"$scratch/$name.$engine" 2>"$scratch/said" &&
            grep -v 'time =' "$scratch/said" >"$scratch/err" && [ "$(wc -l <"$scratch/err")" = 4 ] && sed 's/.*: score \([^,]*\),.*/\1/' "$scratch/err" | sort -c -g -r &&
            [ "$(sed -n '1s/: score.*//p' "$scratch/err")" = "$(cat "$scratch/$name.$engine")" ] && cmp "$scratch/$name.generic" "$scratch/$name.$engine"
        verdict $? "run --beam 4 of $name, $engine: the best, and with -v four in order"
        cat "$scratch/err"
    done
done
[ "$(cat "$scratch/dates.generic")" = 2019-05-03 ]
verdict $? 'run --beam 4 answers a date'
"$xformc" run specs/dates.lua --engine generic --beam 3 --json 'Sept 23, 1999' '€' >"$scratch/json" 2>"$scratch/err"
[ $? = 65 ] && "$tools/json_keys" beams <"$scratch/json" && [ "$(grep -o '"sum":' "$scratch/json" | wc -l)" = 3 ] && grep -q '"answer":"1999-09-23","ids":\[' "$scratch/json"
verdict $? 'run --beam --json has every sequence with its ids and scores'
cat "$scratch/json"
"$xformc" run $decoder --beam 4 --early-stopping true -v '4 9 3' >"$scratch/true" 2>&1 && "$xformc" run $decoder --beam 4 --slots 7 '4 9 3' >"$scratch/seven" &&
    "$xformc" run $decoder --beam 4 '4 9 3' | cmp - "$scratch/seven"
verdict $? 'run --beam with more slots than beams'
for spec in $decoder $both tests/goldens/other_marks.lua specs/dates.lua; do
    text='4 9 3'; if [ $spec = specs/dates.lua ]; then text='May 3rd, 2019'; fi
    [ "$("$xformc" run $spec --beam 1 "$text")" = "$("$xformc" run $spec "$text")" ] && [ -n "$("$xformc" run $spec "$text")" ]
    verdict $? "run --beam 1 of $(basename $spec .lua) is greedy"
done

fails 'fewer slots than beams' 2 'xformc: --slots 2: too few for --beam 4; each beam needs a slot' "$xformc" run $both --beam 4 --slots 2 '4 9'
for n in 0 129 x ''; do fails "--beam '$n'" 2 "xformc: --beam $n: expected a whole number from 1 to 128" "$xformc" run $both --beam "$n" 4; done
for a in x 11 nan ''; do fails "--length-penalty '$a'" 2 "xformc: --length-penalty $a: expected a number from -10 to 10" "$xformc" run $both --beam 2 --length-penalty "$a" 4; done
fails '--early-stopping of another word' 2 "xformc: --early-stopping tru: expected false, true or never; did you mean 'true'?" "$xformc" run $both --beam 2 --early-stopping tru 4
fails '--length-penalty alone' 2 'error: --length-penalty needs --beam 2 or more' "$xformc" run $both --length-penalty 1 4
fails '--early-stopping alone' 2 'error: --early-stopping needs --beam 2 or more' "$xformc" run $both --early-stopping true 4
fails '--length-penalty of one beam' 2 'error: --length-penalty needs --beam 2 or more' "$xformc" run $both --beam 1 --length-penalty 1 4
fails 'an xf.graph' 2 'error: --beam: an xf.graph generates nothing' "$xformc" run specs/self_attention.lua --beam 2
