#!/bin/sh
# Conversations of several turns, of run and of programs: the ids and scores of a run that knows nothing of what was said before, the ids
# that are fed anew and no other, limits, dates, a terminal. Texts of templates: test_chat. usage: slow.sh XFORMC
set -u
xformc=$1 here=$PWD/tests/chat
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
verdict() { if [ "$1" = 0 ]; then echo "ok $2"; else echo "not ok $2"; fi; }
printf '#!/bin/sh\nexec %s "$@" -O1\n' "$(command -v cc)" >"$scratch/cc" && chmod +x "$scratch/cc"

# model NAME TEMPLATE FIELDS: a spec NAME.lua, and its program.
model() {
    cat >"$scratch/$1.lua" <<END
return xf.model { name = "$1", kind = "decoder", layers = 2, heads = 2, d_model = 32, d_ff = 32, weights = "random", tokenizer_file = "$here/$2", $3 }
END
    "$xformc" build "$scratch/$1.lua" -o "$scratch/$1" --cc "$scratch/cc" -q >"$scratch/log" 2>&1
    verdict $? "$1: a program"
    cat "$scratch/log"
}
# numbers KEY FILE: of each line of --json that list, with blanks between.
numbers() { sed -n "s/.*\"$1\":\[\([0-9,]*\)\].*/\1/p" "$2" | tr , ' '; }

# turns NAME SYSTEM OPTION...: lines of a conversation, in the program NAME, with that system's text, where it is not empty.
lines='What is the capital?
And of Italy?

Today is {{ the }} é 🙂
Why?'
turns() {
    name=$1 system=$2
    shift 2
    printf '%s\n' "$lines" | "$scratch/$name/$name" --chat --turns --json -v ${system:+--system "$system"} "$@" >"$scratch/$name.turns" 2>"$scratch/$name.timed"
    verdict $? "$name: five turns $system $*"
    numbers input_ids "$scratch/$name.turns" >"$scratch/inputs"
    # What a program answers that is given all of these ids at once, and nothing before.
    while read -r ids; do "$scratch/$name/$name" --json --ids "$@" "$ids"; done <"$scratch/inputs" >"$scratch/fresh"
    results() { sed 's/.*\("ids":[^]]*\]\).*\("score".*\)/\1 \2/' "$1"; }
    results "$scratch/$name.turns" >"$scratch/a"
    results "$scratch/fresh" >"$scratch/b"
    [ "$(sort -u "$scratch/a" | wc -l)" = 5 ] && cmp "$scratch/a" "$scratch/b"
    verdict $? "$name: to the bit as without what was held $system $*"
    diff "$scratch/a" "$scratch/b"
    # Each turn's input begins as the one before, so far as its answer is read as it was written; what is held of it is not fed again.
    numbers ids "$scratch/$name.turns" | paste -d '|' "$scratch/inputs" - | awk -F '|' '{
        n = split($1, new, " "); kept = 0
        while (kept < held && kept < n - 2 && new[kept + 1] == old[kept + 1]) kept++
        print n, kept, held + 0
        m = split($2, answer, " ")
        for (i = 1; i <= n; i++) old[i] = new[i]
        for (i = 1; i < m; i++) old[n + i] = answer[i]
        held = n + m - 1
    }' >"$scratch/kept"
    sed -n 's/.*prompt eval time.* \([0-9]*\) tokens (.*/\1/p' "$scratch/$name.timed" >"$scratch/fed"
}
# What was fed, of a model without rings.
fed_the_rest() {
    awk '{ print $1 - $2 }' "$scratch/kept" | cmp - "$scratch/fed" && [ "$(awk 'NR > 1 { n += $2 } END { print (n >= 300) }' "$scratch/kept")" = 1 ]
    verdict $? "$1: only the rest is fed"
    paste "$scratch/kept" "$scratch/fed"
}

settings='max_len = 700, generation = { max_new_tokens = 40, no_repeat_ngram_size = 2, repetition_penalty = 1.3 }'
model tools chatml_tools "seed = 3, $settings"
turns tools ''
fed_the_rest tools
turns tools '' --temp 1 -s 7
fed_the_rest 'tools --temp'
turns tools 'Be brief.'
fed_the_rest 'tools --system'
model pieces llama2 "seed = 4, norm = \"rms\", position = \"rotary\", $settings"
turns pieces 'Be brief.'
fed_the_rest pieces
model dated llama3_dated "seed = 5, $settings"
turns dated ''
fed_the_rest dated
# The system's text stands in the last turn, so that what comes behind it differs in every one.
model last mistral_v3 "seed = 6, dtype = \"int8\", $settings"
turns last 'Be brief.'
awk '{ print $1 - $2 }' "$scratch/kept" | cmp - "$scratch/fed" && [ "$(awk 'NR > 2 && $2 > 80' "$scratch/kept" | wc -l)" = 3 ]
verdict $? 'last: only what is behind the turn that has the text'
paste "$scratch/kept" "$scratch/fed"

# Rings of keys and values that hold 128 positions more than a window: short answers are taken back, long ones are not.
ring='max_len = 2600, window = 20, position = "rotary", generation = { no_repeat_ngram_size = 2, repetition_penalty = 1.3 }'
model ring gemma "seed = 7, $ring"
turns ring '' -n 50
fed_the_rest 'ring, short answers'
turns ring '' -n 250
paste "$scratch/kept" "$scratch/fed" | awk '{ reached = $3 - $2 <= 128; right = $4 == (reached ? $1 - $2 : $1); bad += !right; anew += NR > 1 && !reached }
    END { exit !(NR == 5 && !bad && anew) }'
verdict $? 'ring: long answers, and all is fed anew'
paste "$scratch/kept" "$scratch/fed"

# ---- the conversation that transformers writes -------------------------------------------------------------------

# A model that says nothing: the turns of a golden.
model silent chatml_preset "max_len = 300, generation = { max_new_tokens = 1, suppress_tokens = { 0, 1, $(seq -s , 3 282) } }"
gold=$(grep -F '"system": null, "turns": ["What is the capital?", "", "And of Italy?", "", "4"]' "$here/chatml_preset.gold" |
    sed 's/.*"ids": \[\([0-9, ]*\)\].*/\1/' | tr -d ,)
printf 'What is the capital?\nAnd of Italy?\n4\n' >"$scratch/said"
"$scratch/silent/silent" --chat --turns --json <"$scratch/said" >"$scratch/out" && [ -n "$gold" ] && [ "$(numbers input_ids "$scratch/out" | tail -n 1)" = "$gold" ]
verdict $? 'the ids of three turns'
echo "expected $gold"
cat "$scratch/out"
"$scratch/silent/silent" --chat --turns --json 'What is the capital?' 'And of Italy?' 4 >"$scratch/words" && cmp "$scratch/out" "$scratch/words"
verdict $? 'words go on too'
"$scratch/silent/silent" --chat --turns --json -p 'What is the capital?' 'And of Italy?' - <<END >"$scratch/words" && cmp "$scratch/out" "$scratch/words"
4
END
verdict $? '-p, a word, a line'
"$scratch/silent/silent" --chat --json <"$scratch/said" >"$scratch/lines" && "$scratch/silent/silent" --chat --json 4 >"$scratch/words" &&
    [ "$(wc -l <"$scratch/lines")" = 3 ] && tail -n 1 "$scratch/lines" | cmp - "$scratch/words"
verdict $? 'without --turns each line is a conversation of its own'

# ---- run ---------------------------------------------------------------------------------------------------------

printf '%s\n' "$lines" >"$scratch/lines"
for name in tools ring last; do
    case $name in ring) set -- -n 250 ;; last) set -- --system 'Be brief.' ;; *) set -- ;; esac
    "$scratch/$name/$name" --chat --turns "$@" <"$scratch/lines" >"$scratch/program" 2>"$scratch/err" && [ "$(wc -l <"$scratch/program")" -ge 5 ]
    verdict $? "$name: a program"
    for engine in jit generic native; do
        case $engine in native) cc="--cc $scratch/cc" ;; *) cc= ;; esac
        "$xformc" run "$scratch/$name.lua" --engine $engine $cc --chat --turns "$@" <"$scratch/lines" >"$scratch/run" 2>"$scratch/err"
        cmp "$scratch/program" "$scratch/run" && [ ! -s "$scratch/err" ]
        verdict $? "$name: the same by run, $engine"
        cat "$scratch/err"
    done
    "$scratch/$name/$name" --chat --turns --stream "$@" <"$scratch/lines" | cmp - "$scratch/program"
    verdict $? "$name: with --stream too"
done
