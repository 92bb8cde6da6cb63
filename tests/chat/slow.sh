#!/bin/sh
# tags: slow noasan
# Conversations of several turns, in every engine of `run` and in programs: ids and scores are
# bit-identical to a run without a kept cache, only new ids are evaluated, and ring buffers step
# back where they can. The ids of three turns match transformers. Also turns as arguments and lines,
# stop strings, a terminal, dates in time zones a day apart.
# usage: slow.sh XFORMC
set -u
. tests/lib.sh
here=$PWD/tests/chat
quick_cc "$scratch/cc"

# model NAME TEMPLATE FIELDS: write the spec NAME.lua and build its program.
model() {
    cat >"$scratch/$1.lua" <<END
return xf.model { name = "$1", kind = "decoder", layers = 2, heads = 2, d_model = 32, d_ff = 32, weights = "random", tokenizer_file = "$here/$2", $3 }
END
    case $3 in *dtype*) form=library ;; *) form=unrolled ;; esac        # unrolled compiles faster but supports only f32
    "$xformc" build "$scratch/$1.lua" -o "$scratch/$1" --kernels $form --cc "$scratch/cc" -q >"$scratch/log" 2>&1
    verdict $? "$1: a program"
    cat "$scratch/log"
}
# numbers KEY FILE: the list under KEY in each --json line, separated by blanks.
numbers() { sed -n "s/.*\"$1\":\[\([0-9,]*\)\].*/\1/p" "$2" | tr , ' '; }

# turns NAME SYSTEM OPTION...: run the lines as a conversation in the program NAME, with this system
# text unless it is empty.
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
    # The answers of a program that is given all of these ids at once and has no cache. Text N
    # samples from the same random stream as turn N.
    "$scratch/$name/$name" --json --ids "$@" - <"$scratch/inputs" >"$scratch/fresh"
    results() { sed 's/.*\("ids":[^]]*\]\).*\("score".*\)/\1 \2/' "$1"; }
    results "$scratch/$name.turns" >"$scratch/a"
    results "$scratch/fresh" >"$scratch/b"
    [ "$(sort -u "$scratch/a" | wc -l)" = 5 ] && cmp "$scratch/a" "$scratch/b"
    verdict $? "$name: to the bit as without what was held $system $*"
    diff "$scratch/a" "$scratch/b"
    # Each turn's input begins like the one before it, as long as the answer is read back as it was
    # generated. That prefix is kept and not fed again.
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
# fed_the_rest NAME: every turn feeds only what follows the kept prefix.
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
# This template puts the system text into the last turn, so what follows it differs in every turn.
model last mistral_v3 "seed = 6, dtype = \"int8\", $settings"
turns last 'Be brief.'
awk '{ print $1 - $2 }' "$scratch/kept" | cmp - "$scratch/fed" && [ "$(awk 'NR > 2 && $2 > 80' "$scratch/kept" | wc -l)" = 3 ]
verdict $? 'last: only what follows the turn that has the text'
paste "$scratch/kept" "$scratch/fed"

# Ring buffers of keys and values hold 128 positions more than a window: short answers can be taken
# back, long ones cannot.
ring='max_len = 2600, window = 20, position = "rotary", generation = { no_repeat_ngram_size = 2, repetition_penalty = 1.3 }'
model ring gemma "seed = 7, $ring"
turns ring '' -n 50
fed_the_rest 'ring, short answers'
turns ring '' -n 250
paste "$scratch/kept" "$scratch/fed" | awk '{ reached = $3 - $2 <= 128; right = $4 == (reached ? $1 - $2 : $1); bad += !right; anew += NR > 1 && !reached }
    END { exit !(NR == 5 && !bad && anew) }'
verdict $? 'ring: long answers, and all is fed anew'
paste "$scratch/kept" "$scratch/fed"

# ---- the conversation of transformers ------------------------------------------------------------

# A model that says nothing replays the turns of a golden.
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

# ---- run -----------------------------------------------------------------------------------------

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

# ---- at a terminal -------------------------------------------------------------------------------

# A model that generates letters only, so that its answers can be seen.
model letters chatml_preset "max_len = 300, seed = 8, generation = { max_new_tokens = 8, no_repeat_ngram_size = 2, repetition_penalty = 1.5,
  suppress_tokens = { $(seq -s , 0 66), $(seq -s , 93 282) } }"
printf 'Who?\nWhy?\n' | "$scratch/letters/letters" --chat --turns >"$scratch/out"
first=$(sed -n 1p "$scratch/out") second=$(sed -n 2p "$scratch/out")
[ "$(echo "$first$second" | tr -d a-z | wc -c)" = 1 ] && [ "${#second}" = 8 ] && [ "$second" != "$("$scratch/letters/letters" --chat 'Why?')" ]
verdict $? 'an answer that depends on what was said before'
echo "$first, $second"
pty=$(dirname "$xformc")/tests/repl/pty
for how in run program; do
    case $how in run) set -- "$xformc" run "$scratch/letters.lua" ;; *) set -- "$scratch/letters/letters" ;; esac
    printf '%s\n' '? > ' '> Who?' "? $first" '? > ' '> Why?' "? $second" '? > ' '^ D' >"$scratch/script"
    "$pty" "$scratch/script" "$@" --chat >"$scratch/screen" 2>&1
    code=$?
    if [ $code = 77 ]; then echo "skip $how: lines that are typed go on (no pseudo-terminal)"; continue; fi
    verdict $code "$how: lines that are typed go on, until Ctrl-D"
    cat "$scratch/screen"
    printf 'Who?\nWhy?\n' | "$@" --chat --turns >"$scratch/out" 2>"$scratch/err" && [ ! -s "$scratch/err" ]
    verdict $? "$how: no prompt without a terminal"
    cat "$scratch/err"
    # After a stop string, the conversation continues with the answer as it was printed.
    part=$(echo "$first" | cut -c 1-3) stop=$(echo "$first" | cut -c 4-5)
    printf 'Who?\nWhy?\n' | "$@" --chat --turns --stop "$stop" >"$scratch/out" && [ "$(sed -n 1p "$scratch/out")" = "$part" ] &&
        [ "$(sed -n 2p "$scratch/out")" != "$second" ]
    verdict $? "$how: an answer that a stop ended"
    cat "$scratch/out"
done

# ---- dates ---------------------------------------------------------------------------------------

# The text of the ids that the program read.
wrapped() { "$xformc" tokenize "$here/llama3_today" --decode "$("$@" --json | numbers input_ids /dev/stdin)"; }
# A silent model, in time zones a day apart.
model today llama3_today "max_len = 300, generation = { max_new_tokens = 1 }"
for zone in UTC-14 UTC+12; do
    TZ=$zone wrapped "$scratch/today/today" --chat hello >"$scratch/a"
    date=$(TZ=$zone LC_ALL=C date '+%d %b %Y')
    grep -qxF "Today Date: $date" "$scratch/a"
    verdict $? "today's date, $zone"
    cat "$scratch/a"
    TZ=$zone "$xformc" run "$scratch/today.lua" --chat -v hello >"$scratch/a" 2>"$scratch/score" &&
        "$xformc" run "$scratch/today.lua" --chat --date "$date" -v hello >"$scratch/b" 2>"$scratch/given" &&
        "$xformc" run "$scratch/today.lua" --chat --date '31 Feb 2031' -v hello >"$scratch/b" 2>"$scratch/other" &&
        [ "$(head -n 1 "$scratch/score")" = "$(head -n 1 "$scratch/given")" ] && [ "$(head -n 1 "$scratch/score")" != "$(head -n 1 "$scratch/other")" ]
    verdict $? "today's date of run, $zone"
    head -n 1 "$scratch/score" "$scratch/given" "$scratch/other"
done
wrapped "$scratch/today/today" --chat --date 'the 1st of May' hello | grep -qxF 'Today Date: the 1st of May'
verdict $? '--date of a program'
"$scratch/dated/dated" --json --chat hello >"$scratch/a" && "$scratch/dated/dated" --json --chat --date '26 Jul 2024' hello | cmp - "$scratch/a"
verdict $? "a template's own date"
