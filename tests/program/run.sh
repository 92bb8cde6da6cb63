#!/bin/sh
# A generated program, dates: its answers, its messages to the letter, its exit codes.
xformc=$1
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT || exit 74
verdict() { if [ "$1" = 0 ]; then echo "ok $2"; else echo "not ok $2"; fi; }
skip() { echo "skip $1 ($2)"; }

if ! env -u MAKEFLAGS "$xformc" build specs/dates.lua -q -o "$scratch/dates"; then
    echo "not ok the program is built"
    exit 1
fi
echo "ok the program is built"
program=$scratch/dates/dates
heldout=specs/dates/heldout.tsv

# expect NAME CODE STDOUT STDERR COMMAND...: the command's code and its two outputs, exactly. Standard input: $scratch/in.
: >"$scratch/in"
expect() {
    name=$1 code=$2
    printf "$3" >"$scratch/out.expected"
    printf "$4" >"$scratch/err.expected"
    shift 4
    timeout 20 "$@" <"$scratch/in" >"$scratch/out" 2>"$scratch/err"
    found=$?
    diff -u "$scratch/out.expected" "$scratch/out" && diff -u "$scratch/err.expected" "$scratch/err" && [ $found = "$code" ]
    verdict $? "$name"
    [ $found = "$code" ] || echo "exit $found, expected $code"
    : >"$scratch/in"
}
feed() { printf "$1" >"$scratch/in"; }

# ---- answers ------------------------------------------------------------------------------------------------------

cut -f 1 $heldout >"$scratch/lines"
"$program" <"$scratch/lines" >"$scratch/answers" && cmp "$scratch/answers" specs/dates/heldout.greedy.txt &&
    [ "$(wc -l <"$scratch/answers")" = 5000 ]
verdict $? 'the 5000 held-out lines are answered as the trained model answers them'
right=$(cut -f 2 $heldout | paste -d ' ' - "$scratch/answers" | awk '$1 == $2 { n++ } END { print n + 0 }')
[ "$right" -ge 4950 ]
verdict $? 'at least 99 % of the held-out lines are right'
echo "$right of 5000 are right"
"$program" --threads 2 <"$scratch/lines" | cmp - "$scratch/answers"
verdict $? 'two threads answer them alike'

expect 'arguments are answered in order' 0 '2019-05-03\n2093-10-06\n' '' "$program" '3rd of May 2019' 2093-10-06
expect '-- ends the options' 0 '2019-05-03\n' '' "$program" -- '3rd of May 2019'
feed '2093-10-06\n'
expect '- is standard input among the arguments' 0 '2019-05-03\n2093-10-06\n2090-08-10\n' '' "$program" '3rd of May 2019' - 2090-8-10
expect 'no lines, no answers' 0 '' '' "$program"
feed '3rd of May 2019'
expect 'a last line without its end is answered' 0 '2019-05-03\n' '' "$program"
feed '3rd of May 2019\r\n2093-10-06\r\n'
expect 'lines may end in CR LF' 0 '2019-05-03\n2093-10-06\n' '' "$program"
feed '3rd of May 2019\n'
expect 'eighty characters fit' 0 "$(printf '3rd of May 2019%065d' 0 | "$program")\\n2019-05-03\\n" '' \
    "$program" "$(printf '3rd of May 2019%065d' 0)" -

# ---- refused texts: a message, an empty line, and the next is answered --------------------------------------------------

next='2093-10-06\n'
feed "\\n$next"
expect 'an empty line' 65 '\n2093-10-06\n' 'dates: line 1: empty; 1 to 80 characters fit\n' "$program"
feed "\\r\\n$next"
expect 'an empty line of CR LF' 65 '\n2093-10-06\n' 'dates: line 1: empty; 1 to 80 characters fit\n' "$program"
feed "3rd of \\342\\202\\254 2019\\n$next"
expect 'a character without an id' 65 '\n2093-10-06\n' \
    "dates: line 1: '\\342\\202\\254' (U+20AC) at character 8 is not in the vocabulary\\n" "$program"
feed "3rd\\033[2J\\n$next"
expect 'a control character is named, not printed' 65 '\n2093-10-06\n' \
    'dates: line 1: U+001B at character 4 is not in the vocabulary\n' "$program"
feed "3rd \\342\\202\\n$next"
expect 'a cut character' 65 '\n2093-10-06\n' 'dates: line 1: not valid UTF-8 at byte 5\n' "$program"
feed "\\300\\201\\n\\355\\240\\200\\n\\364\\220\\200\\200\\n\\377\\n$next"
expect 'overlong, surrogate, too large and stray bytes' 65 '\n\n\n\n2093-10-06\n' \
    "$(for n in 1 2 3 4; do printf "dates: line $n: not valid UTF-8 at byte 1\\\\n"; done)" "$program"
{ printf '%081d\n' 0; printf "$next"; } >"$scratch/in"
expect 'eighty-one characters' 65 '\n2093-10-06\n' 'dates: line 1: 81 characters, but at most 80 fit\n' "$program"
{ head -c 3000000 /dev/zero | tr '\0' 1; printf "\\n$next"; } >"$scratch/in"
expect 'three million characters' 65 '\n2093-10-06\n' 'dates: line 1: 3000000 characters, but at most 80 fit\n' "$program"
feed "3rd\\000of May\\n$next"
expect 'a NUL' 65 '\n2093-10-06\n' 'dates: line 1: a NUL at byte 4\n' "$program"
feed "\\000\\n$next"
expect 'a NUL alone' 65 '\n2093-10-06\n' 'dates: line 1: a NUL at byte 1\n' "$program"
expect 'an argument that does not fit' 65 '\n2019-05-03\n' 'dates: argument 1: empty; 1 to 80 characters fit\n' "$program" '' '3rd of May 2019'
feed "2093-10-06\\n\\n$next"
expect 'lines are counted' 65 '2093-10-06\n\n2093-10-06\n' 'dates: line 2: empty; 1 to 80 characters fit\n' "$program"

# ---- options ------------------------------------------------------------------------------------------------------

usage="Usage: dates [OPTION]... [TEXT]...\nTry 'dates --help' for more information.\n"
expect 'a wrong option' 2 '' "dates: unknown option '--wieghts'; did you mean '--weights'?\\n$usage" "$program" --wieghts x
expect 'a far option' 2 '' "dates: unknown option '--colourful'\\n$usage" "$program" --colourful
expect 'a wrong letter' 2 '' "dates: unknown option '-z'\\n$usage" "$program" -z
expect 'an option without its argument' 2 '' "dates: option '--weights' needs an argument\\n$usage" "$program" --weights
expect 'an option with one too many' 2 '' "dates: option '--pin' takes no argument\\n$usage" "$program" --pin=1
for n in 0 17 -1 x ''; do
    expect "--threads '$n'" 2 '' "dates: threads must be a number of 1 to 16, not '$n'\\n$usage" "$program" "--threads=$n" x
done
expect '--version' 0 'dates (xformc) 0.1.0\n' '' "$program" --version
"$program" --help >"$scratch/help" 2>"$scratch/err" && [ "$(head -n 1 "$scratch/help")" = Examples: ] && [ ! -s "$scratch/err" ] &&
    [ "$(grep -cE '^  (-.,|   ) --(threads|pin|weights|help|version) ' "$scratch/help")" = 5 ]
verdict $? '--help begins with examples and lists every option'
expect 'two threads' 0 '2019-05-03\n' '' "$program" --threads 2 '3rd of May 2019'
expect 'sixteen threads' 0 '2019-05-03\n' '' "$program" -t16 '3rd of May 2019'

# ---- weights ------------------------------------------------------------------------------------------------------

own=$scratch/dates/dates.safetensors
expect 'its own weights' 0 '2019-05-03\n' '' "$program" --weights "$own" '3rd of May 2019'
absent="dates: cannot read the weights $scratch/none: No such file or directory\\ndates: give their place with --weights FILE\\n"
expect 'no weights' 66 '' "$absent" "$program" --weights "$scratch/none" x
expect 'a folder as weights' 74 '' "dates: cannot read the weights $scratch: Is a directory\\n" "$program" --weights "$scratch" x
size=$(wc -c <"$own")
foreign=specs/dates/dates.safetensors
# other NAME FILE BYTES: the program refuses a file of that size.
other() {
    expect "$1" 65 '' "dates: $2: not the weights that this model was compiled for\\ndates: expected $size bytes, found $3\\n" \
        "$program" --weights "$2" x
}
other 'foreign weights' $foreign "$(wc -c <$foreign)"
head -c 1000 "$own" >"$scratch/cut"
other 'cut weights' "$scratch/cut" 1000
other 'empty weights' /dev/null 0
cp "$own" "$scratch/same"
printf 0123456789abcdef | dd of="$scratch/same" bs=1 seek=35 conv=notrunc 2>/dev/null
expect 'weights of the same size and another model' 65 '' \
    "dates: $scratch/same: not the weights that this model was compiled for\\n" "$program" --weights "$scratch/same" x

# ---- the system ---------------------------------------------------------------------------------------------------

timeout 20 "$program" '3rd of May 2019' >/dev/full 2>"$scratch/err"
[ $? = 74 ] && [ "$(cat "$scratch/err")" = 'dates: cannot write to standard output: No space left on device' ]
verdict $? 'a full disk'
timeout 20 "$program" <"$scratch/lines" >/dev/full 2>"$scratch/err"
[ $? = 74 ] && [ "$(wc -l <"$scratch/err")" = 1 ]
verdict $? 'a full disk ends a long run at once, with one message'
timeout 20 "$program" --help >/dev/full 2>"$scratch/err"
[ $? = 74 ]
verdict $? 'a full disk for --help'
{ timeout 60 "$program" <"$scratch/lines" 2>"$scratch/err"; echo $? >"$scratch/code"; } | head -n 1 >/dev/null
[ "$(cat "$scratch/code")" = 74 ] && [ "$(cat "$scratch/err")" = 'dates: cannot write to standard output: Broken pipe' ]
verdict $? 'a closed pipe ends it'
{ timeout 20 "$program" '3rd of May 2019' <&- >"$scratch/out"; } && [ "$(cat "$scratch/out")" = 2019-05-03 ]
verdict $? 'arguments need no standard input'
timeout 20 "$program" <. >/dev/null 2>"$scratch/err"
[ $? = 74 ] && grep -q '^dates: cannot read standard input: Is a directory$' "$scratch/err"
verdict $? 'a folder as standard input'

# An answer comes before the next line is asked for.
mkfifo "$scratch/to" "$scratch/from"
timeout 20 "$program" <"$scratch/to" >"$scratch/from" &
exec 3>"$scratch/to" 4<"$scratch/from"
echo '3rd of May 2019' >&3
read -r line <&4
echo '2093-10-06' >&3
read -r second <&4
exec 3>&- 4<&-
wait $!
[ "$line $second" = '2019-05-03 2093-10-06' ]
verdict $? 'a conversation: each line is answered as it comes'

# Other sets of instructions.
processor=$(uname -m)
name='an AVX-512 program on a processor without it is refused'
qemu=$(command -v qemu-x86_64 || command -v qemu-x86_64-static)
if [ "$processor" != x86_64 ]; then skip "$name" "another processor"
elif [ -z "$qemu" ]; then skip "$name" "no qemu-x86_64"
elif ! env -u MAKEFLAGS "$xformc" build specs/dates.lua -q --isa avx512 -o "$scratch/avx512"; then verdict 1 "$name"
else
    expect "$name" 69 '' 'dates: this program was compiled for avx512, which this processor lacks; rebuild with --isa portable\n' \
        "$qemu" -cpu qemu64 "$scratch/avx512/dates" '3rd of May 2019'
fi
name='a portable program runs on the least processor'
if [ "$processor" != x86_64 ]; then skip "$name" "another processor"
elif [ -z "$qemu" ]; then skip "$name" "no qemu-x86_64"
elif ! env -u MAKEFLAGS "$xformc" build specs/dates.lua -q --isa portable -o "$scratch/portable"; then verdict 1 "$name"
else
    expect "$name" 0 '2019-05-03\n' '' "$qemu" -cpu qemu64 "$scratch/portable/dates" '3rd of May 2019'
fi
