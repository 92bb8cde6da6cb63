#!/bin/sh
# tags: slow noasan
# Beam search in generated programs gives the answers of `run`. With four beams, 99 % of 1,000
# held-out dates are right. A C program searches over the slots of an emitted library.
# usage: slow.sh XFORMC
. tests/lib.sh
quick_cc "$scratch/quick" cc -O1        # it answers thousands of lines
decoder=tests/specs/modern_decoder.lua both=tests/specs/t5_like.lua

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

# ---- generated programs --------------------------------------------------------------------------

build() { "$xformc" build "$1" -q --kernels unrolled --cc "$scratch/quick" --slots "$2" -o "$scratch/$3" || not_ok "$3 is built"; }
build specs/dates.lua 4 dates4
build $decoder 4 decoder
build $both 4 both
build specs/dates.lua 1 dates1
build specs/encoder.lua 1 encoder
"$scratch/dates4/dates" --beam 4 --json 'Sept 23, 1999' '' >"$scratch/json"
[ $? = 65 ] && "$(dirname "$xformc")/tests/cli/json_keys" beams <"$scratch/json" &&
    grep -q '"ids":\[[0-9,]*,2\],"answer":"1999-09-23","score":-[0-9.e-]*,"finished":true,"beams":\[{"answer":"1999-09-23",' "$scratch/json" &&
    grep -q '"ids":\['"$("$scratch/dates4/dates" --beam 4 --ids "$(sed -n '1s/.*"input_ids":\[\([0-9,]*\)\].*/\1/p' "$scratch/json")" | tr ' ' ,)"'\]' "$scratch/json"
verdict $? 'a program tells what it found with --json and --ids'
cat "$scratch/json"
dates=$scratch/dates4/dates

for one in "dates specs/dates.lua dates4/dates" "decoder $decoder decoder/modern_decoder" "both $both both/t5_like"; do
    set -- $one
    same=0
    for text in '4 9 3' '7' '11 5 6 8'; do
        if [ "$1" = dates ]; then text="May $(echo $text | cut -d ' ' -f 1), 2019"; fi
        for options in '--beam 1' '--beam 2' '--beam 3 --length-penalty 0' '--beam 4 --length-penalty 2 --early-stopping never'; do
            program=$("$scratch/$3" $options "$text") && [ -n "$program" ] && [ "$program" = "$("$xformc" run $2 $options "$text")" ] || { same=1; echo "$options $text: $program"; }
        done
        [ "$("$scratch/$3" --beam 1 "$text")" = "$("$scratch/$3" "$text")" ] || same=1
    done
    verdict $same "the program of $1 searches as run does, and one beam is greedy"
done
head -n 1000 specs/dates/heldout.tsv >"$scratch/heldout"
cut -f 1 "$scratch/heldout" >"$scratch/lines"
"$dates" --beam 4 <"$scratch/lines" >"$scratch/answers" && right=$(cut -f 2 "$scratch/heldout" | paste -d ' ' - "$scratch/answers" | awk '$1 == $2 { n++ } END { print n + 0 }')
[ "$right" -ge 990 ]
verdict $? 'dates with four beams are right for 99 % of 1000 held-out lines'
echo "$right of 1000"
"$dates" --beam 4 -t 2 <"$scratch/lines" | cmp - "$scratch/answers"
verdict $? 'two threads answer them alike'
"$dates" --beam 2 '3rd of May 2019' '€' >"$scratch/out" 2>"$scratch/err"
[ $? = 65 ] && printf '2019-05-03\n\n' | cmp - "$scratch/out"
verdict $? 'a refused text is an empty line'
[ "$("$scratch/dates1/dates" --beam 1 '3rd of May 2019')" = 2019-05-03 ]
verdict $? 'one slot has room for one beam'
fails 'one slot has no room for two' 69 'dates: --beam 2: a state of this program holds 1 sequence; build it with --slots 2' "$scratch/dates1/dates" --beam 2 x
[ "$(wc -l <"$scratch/err")" = 1 ]
verdict $? 'that is one line'
fails 'four slots have no room for five' 69 'dates: --beam 5: a state of this program holds 4 sequences; build it with --slots 5' "$dates" --beam=5 x
fails 'an encoder has nothing to search with' 2 "encoder: unknown option '--beam'; did you mean '--bench'?" "$scratch/encoder/encoder" --beam 2 4
if command -v ldd >/dev/null; then
    ldd "$dates" | grep -vE 'linux-vdso|ld-linux|/libc\.|/libm\.|libpthread' >"$scratch/linked"
    [ ! -s "$scratch/linked" ]
    verdict $? 'the program needs only libc and libm'
    cat "$scratch/linked"
fi

# ---- a library -----------------------------------------------------------------------------------

cc -std=c11 -O1 -Wall -Wextra -Werror -I"$scratch/dates4" -I"$scratch/dates4/runtime" -o "$scratch/library_beam" tests/beam/programs/library_beam.c \
    "$scratch/dates4/libdates.a" -lm -pthread &&
    "$scratch/library_beam" "$scratch/dates4/dates.safetensors" '3rd of May 2019' >"$scratch/out" && [ "$(wc -l <"$scratch/out")" = 3 ] &&
    "$xformc" run specs/dates.lua --beam 3 -v '3rd of May 2019' 2>&1 >/dev/null | grep -v 'time =' | sed 's/^\([^:]*\): score \([-0-9.]*\),.*/\1 \2/' |
    awk '{ printf "%s %.4f\n", $1, $2 }' | cmp - "$scratch/out"
verdict $? 'a program of one'\''s own searches over the slots of a library'
cat "$scratch/out"
