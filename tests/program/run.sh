#!/bin/sh
# tags: slow noasan
# The generated program of dates gives PyTorch's 5,000 answers. Messages, options and exit codes;
# ids, JSON with any bytes, a full disk, a closed pipe, a missing instruction set (by qemu). --info,
# --check, --selftest and --bench for every kind of model, and --check and --selftest with a changed
# byte or sign. `pack` and other weights. The size of a program and its memory; large weights in
# large pages.
# usage: run.sh XFORMC
. tests/lib.sh

if ! "$xformc" build specs/dates.lua -q -o "$scratch/dates"; then
    not_ok "the program is built"
    exit 1
fi
echo "ok the program is built"
program=$scratch/dates/dates
heldout=specs/dates/heldout.tsv
tools=$(dirname "$xformc")/tests/cli

# expect NAME CODE STDOUT STDERR COMMAND...: the exit code and both outputs, exactly. Standard input
# is $scratch/in.
: >"$scratch/in"
expect() {
    name=$1 code=$2
    printf "$3" >"$scratch/out.expected"
    printf "$4" >"$scratch/err.expected"
    shift 4
    timeout "$patience" "$@" <"$scratch/in" >"$scratch/out" 2>"$scratch/err"
    found=$?
    diff -u "$scratch/out.expected" "$scratch/out" && diff -u "$scratch/err.expected" "$scratch/err" && [ $found = "$code" ]
    verdict $? "$name"
    [ $found = "$code" ] || echo "exit $found, expected $code"
    : >"$scratch/in"
}
feed() { printf "$1" >"$scratch/in"; }

# ---- answers -------------------------------------------------------------------------------------

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

# ---- rejected texts: a message, an empty line, and the next is answered --------------------------

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

# ---- options -------------------------------------------------------------------------------------

usage="Usage: dates [OPTION]... [TEXT]...\nTry 'dates --help' for more information.\n"
expect 'a wrong option' 2 '' "dates: unknown option '--wieghts'; did you mean '--weights'?\\n$usage" "$program" --wieghts x
expect 'an option unlike any other' 2 '' "dates: unknown option '--colourful'\\n$usage" "$program" --colourful
expect 'a wrong letter' 2 '' "dates: unknown option '-z'\\n$usage" "$program" -z
expect 'an option without its argument' 2 '' "dates: option '--weights' needs an argument\\n$usage" "$program" --weights
expect 'an option with an argument it does not take' 2 '' "dates: option '--pin' takes no argument\\n$usage" "$program" --pin=1
for n in 0 17 -1 x ''; do
    expect "--threads '$n'" 2 '' "dates: --threads must be a whole number from 1 to 16, not '$n'\\n$usage" "$program" "--threads=$n" x
done
expect '--version' 0 'dates (xformc) 0.9.0\n' '' "$program" --version
"$program" --help >"$scratch/help" 2>"$scratch/err" && [ "$(head -n 1 "$scratch/help")" = Examples: ] && [ ! -s "$scratch/err" ] &&
    [ "$(grep -cE '^  (-.,|   ) --(ids|json|threads|pin|weights|info|check|selftest|bench|repetitions|prompt|file|stop|stream|verbose|max-len|beam|length-penalty|early-stopping|help|version|max-new-tokens|seed|temperature|top-k|top-p|min-p|typical|repeat-penalty|no-repeat-ngram)  *' "$scratch/help")" = 30 ]
verdict $? '--help begins with examples and lists every option'
! grep -n '.\{81,\}' "$scratch/help" && [ "$(wc -l <"$scratch/help")" -le 60 ]
verdict $? '--help is at most 80 columns wide and 60 lines long'
expect 'two threads' 0 '2019-05-03\n' '' "$program" --threads 2 '3rd of May 2019'
expect 'sixteen threads' 0 '2019-05-03\n' '' "$program" -t16 '3rd of May 2019'

# ---- weights -------------------------------------------------------------------------------------

own=$scratch/dates/dates.safetensors
expect 'its own weights' 0 '2019-05-03\n' '' "$program" --weights "$own" '3rd of May 2019'
absent="dates: cannot read the weights $scratch/none: No such file or directory\\n"
"$program" --json '3rd of May 2019' 'Sept 23, 1999' >"$scratch/lines_of_it"
"$xformc" run specs/dates.lua --json '3rd of May 2019' 'Sept 23, 1999' | sed -n 's/^ //; s/},$/}/; /^{"input"/p' | cmp - "$scratch/lines_of_it" && [ -s "$scratch/lines_of_it" ]
verdict $? '--json says what run --json says, to the last digit of the score'
expect 'no weights' 66 '' "$absent" "$program" --weights "$scratch/none" x
expect 'a folder as weights' 74 '' "dates: cannot read the weights $scratch: Is a directory\\n" "$program" --weights "$scratch" x
expect 'no name as weights' 2 '' "dates: --weights is empty\\n$usage" "$program" --weights ''
size=$(wc -c <"$own")
foreign=specs/dates/dates.safetensors
# other NAME FILE BYTES: the program rejects FILE, which has this size.
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

cp "$own" "$scratch/same"
printf '\001' | dd of="$scratch/same" bs=1 seek=0 conv=notrunc 2>/dev/null
expect 'weights with a head of another length' 65 '' \
    "dates: $scratch/same: not the weights that this model was compiled for\\n" "$program" --weights "$scratch/same" x

# A decoder with NaN weights: half of the file, from 64 KiB on.
"$xformc" build tests/tune/gated.lua --weights file -q -o "$scratch/gated" &&
    head -c $(($(wc -c <"$scratch/gated/gated.safetensors") / 2)) /dev/zero | tr '\0' '\377' | dd of="$scratch/gated/gated.safetensors" bs=65536 seek=1 conv=notrunc 2>/dev/null
expect 'weights that are not numbers' 65 '\n' "gated: argument 1: the model's output contains NaN or infinity\n" \
    "$scratch/gated/gated" --weights "$scratch/gated/gated.safetensors" --ids -n 3 "1 2 3"

# ---- ids, JSON -----------------------------------------------------------------------------------

# The object of each held-out line has the line and its text answer. Its ids and its score are not
# compared here.
"$program" --json <"$scratch/lines" >"$scratch/objects" &&
    sed 's/^{"input":"\(.*\)","input_ids":\[[0-9,]*\],"ids":\[[0-9,]*,2\],"answer":"\([^"]*\)","score":-[0-9.e-]*,"finished":true}$/\1\t\2/' \
        "$scratch/objects" >"$scratch/unwrapped" && paste "$scratch/lines" "$scratch/answers" | cmp - "$scratch/unwrapped"
verdict $? '--json answers the held-out lines alike'
# With --ids the same input ids give the same answer ids.
sed 's/.*"input_ids":\[\([0-9,]*\)\],"ids":\[\([0-9,]*\)\].*/\1\t\2/' "$scratch/objects" | head -n 500 | tr , ' ' >"$scratch/pairs"
cut -f 1 "$scratch/pairs" | "$program" --ids >"$scratch/ids" && cut -f 2 "$scratch/pairs" | cmp - "$scratch/ids" && [ "$(wc -l <"$scratch/ids")" = 500 ]
verdict $? '--ids answers ids with the same ids'
# The sum of log-probabilities agrees with that of the generic engine.
score=$("$xformc" run specs/dates.lua --engine generic -v 'September 1' 2>&1 >/dev/null | sed -n 's/.*log-probabilities //p')
"$program" --json 'September 1' | grep -q "\"score\":$(printf %s "$score" | cut -c 1-6)"
verdict $? 'the score is the sum of the log-probabilities'
echo "score $score: $("$program" --json 'September 1')"
feed '3 66\n3 x\n\n'
expect '--ids: ids out of range, not numbers, nothing' 65 '\n\n\n' 'dates: line 1: id 66 at position 2 is not in the vocabulary, 0 to 65
dates: line 2: expected a whole number from 0 to 65 at byte 3\ndates: line 3: empty; 1 to 80 ids fit\n' "$program" --ids
feed '"\\\033\377\n'
expect '--json: an error is an object, and standard error stays empty' 65 \
    '{"input":"\\"\\\\\\u001b\\ufffd","error":"'"'\\\\\"'"' (U+0022) at character 1 is not in the vocabulary"}\n' '' "$program" --json

# Arbitrary bytes: each line gives an object that a parser accepts.
head -c 300000 "$xformc" >"$scratch/in"
{ timeout "$patience" "$program" --json <"$scratch/in" >"$scratch/out" 2>"$scratch/err"; [ $? = 65 ]; } && "$tools/json_keys" objects <"$scratch/out" &&
    [ ! -s "$scratch/err" ] && [ "$(wc -l <"$scratch/out")" -ge "$(wc -l <"$scratch/in")" ] && [ "$(wc -l <"$scratch/out")" -gt 100 ]
verdict $? '--json of any bytes is JSON'
: >"$scratch/in"

# ---- information ---------------------------------------------------------------------------------

identity=$(dd if="$own" bs=1 skip=35 count=16 2>/dev/null) content=$(dd if="$own" bs=1 skip=64 count=16 2>/dev/null)
"$program" --info -t 2 >"$scratch/info"
for line in 'name           dates' 'made from      dates.lua' 'longest source 80' 'parameters     239887' 'weights        in the program' "  bytes        $size" \
    "  as           f32" "  identity     $identity" "  content      $content" 'threads        2'; do grep -qxF "$line" "$scratch/info" || echo "no line: $line"; done >"$scratch/missing"
[ ! -s "$scratch/missing" ] && [ "$(grep -c . "$scratch/info")" = 22 ] && grep -q " identity $identity[.]" "$scratch/dates/dates.c" &&
    [ "$(sed -n 's/^state bytes *//p' "$scratch/info")" = "$(sed -n 's/^#define DATES_STATE_BYTES *//p' "$scratch/dates/dates.h")" ]
verdict $? '--info'
cat "$scratch/missing" "$scratch/info"
"$program" --info --json | "$tools/json_keys" objects && "$program" --info --json --weights "$own" | grep -qF "\"weights_place\":\"$own\",\"weights_bytes\":$size,\"dtype\":\"f32\",\"identity\":\"$identity\",\"content\":\"$content\""
verdict $? '--info --json'

# ---- integrity -----------------------------------------------------------------------------------

expect '--check' 0 "dates: the weights are intact: $content\\n" '' "$program" --check
# Change one byte at a time: in the hash, the values of the self-test, the list of tensors, a
# weight, the last byte.
bad=0
for at in 70 100 2000 300000 $((size - 1)); do
    cp "$own" "$scratch/byte"
    printf '\177' | dd of="$scratch/byte" bs=1 seek=$at conv=notrunc 2>/dev/null
    "$program" --check --weights "$scratch/byte" >"$scratch/out" 2>"$scratch/err"
    [ $? = 65 ] && [ ! -s "$scratch/out" ] && grep -q '/byte: corrupt: the hash of the content is [0-9a-f]*, but was [0-9a-f]* when packed$' "$scratch/err" ||
        { echo "byte $at: $(cat "$scratch/err")"; bad=1; }
done
verdict $bad '--check finds any byte that changed'
"$tools/old_hash" "$own" "$scratch/old" && "$program" --check --weights "$scratch/old" >"$scratch/out" &&
    ! grep -q "$content" "$scratch/out" && "$program" --selftest --json --weights "$scratch/old" | grep -q '"content":"ok"' &&
    printf '\177' | dd of="$scratch/old" bs=1 seek=300000 conv=notrunc 2>/dev/null && ! "$program" --check --weights "$scratch/old" 2>"$scratch/err"
verdict $? '--check of a file with the hash of older versions'
cat "$scratch/err"
"$program" --selftest >"$scratch/out" 2>"$scratch/err" && grep -qx 'dates: self-test ok: distance [0-9.e-]*, tolerance 1e-05' "$scratch/out"
verdict $? '--selftest'
"$program" --selftest --json -t 2 | grep -qx '{"selftest":"ok","distance":[0-9.e-]*,"tolerance":1e-05,"content":"ok"}'
verdict $? '--selftest --json, on two threads'
# Negate the largest number of each tensor. Each of these files fails, and nearly all of them in
# what is computed, not only in the hash.
bad=0 computed=0 all=0
grep -aoE '"[a-z_0-9.]+":\{"dtype":"F32"' "$own" | cut -d '"' -f 2 >"$scratch/names"
while read -r tensor; do
    "$tools/perturb" "$own" "$scratch/flipped" "$tensor" -1 && "$program" --selftest --json --weights "$scratch/flipped" >"$scratch/out"
    [ $? = 1 ] && grep -q '^{"selftest":"differs",.*,"content":"corrupt"}$' "$scratch/out" || { echo "$tensor: $(cat "$scratch/out")"; bad=1; }
    distance=$(sed 's/.*"distance":\([^,]*\),.*/\1/' "$scratch/out") all=$((all + 1))
    if awk "BEGIN { exit !($distance > 1e-4) }"; then computed=$((computed + 1)); else echo "$tensor: distance $distance"; fi
done <"$scratch/names"
[ $bad = 0 ] && [ $all -ge 40 ] && [ $computed -ge $((all - 2)) ]
verdict $? '--selftest fails when one weight of any tensor changes its sign'
echo "$computed of $all by what is computed"

# ---- other weights for a built program -----------------------------------------------------------

"$xformc" pack specs/dates.lua -q -o "$scratch/packed" && cmp "$scratch/packed" "$own"
verdict $? 'pack gives the bytes that build packs'
"$tools/perturb" specs/dates/dates.safetensors "$scratch/tuned" generator.proj.weight -50 &&
    "$xformc" pack specs/dates.lua --from "$scratch/tuned" -o "$scratch/packed" 2>"$scratch/err" &&
    [ "$(cat "$scratch/err")" = "$scratch/packed: weights for dates" ] && ! cmp -s "$scratch/packed" "$own" &&
    "$program" --weights "$scratch/packed" --check >"$scratch/out" && "$program" --weights "$scratch/packed" --selftest >"$scratch/out" &&
    [ "$("$program" --weights "$scratch/packed" '3rd of May 2019')" != 2019-05-03 ]
verdict $? 'pack --from: the program runs other weights, and its self-test holds for them'
cat "$scratch/err" "$scratch/out"
printf 'return xf.model { name = "dates", kind = "encoder-decoder", layers = 2, heads = 4, d_model = 64, d_ff = 256, max_source = 80,
  max_target = 12, norm = "annotated", tokenizer = "characters", weights = "%s/specs/dates/gone.safetensors" }' "$PWD" >"$scratch/dates.lua"
"$xformc" pack "$scratch/dates.lua" -q --from specs/dates/dates.safetensors -o "$scratch/packed" && "$program" --weights "$scratch/packed" --selftest
verdict $? 'pack --from: the weights of the spec need not be there'
# refused NAME CODE PATTERN OPTION...: pack exits with CODE, prints PATTERN on stderr, and does not
# write $scratch/none.st.
refused() {
    name=$1 code=$2 pattern=$3
    shift 3
    "$xformc" pack specs/dates.lua -q "$@" >"$scratch/out" 2>"$scratch/err"
    [ $? = "$code" ] && [ ! -s "$scratch/out" ] && grep -q "$pattern" "$scratch/err" && [ ! -e "$scratch/none.st" ]
    verdict $? "$name"
    cat "$scratch/err"
}
refused 'pack --from weights of other shapes' 65 '^error: tensor "src_embed.0.lut.weight" in tests/goldens/post_layer.safetensors has shape \[13, 16\], expected \[66, 64\]$' \
    --from tests/goldens/post_layer.safetensors -o "$scratch/none.st"
refused 'pack --from a packed file' 65 '^error: .* has no tensor "encoder.layers.0.sublayer.0.norm.b_2"' --from "$own" -o "$scratch/none.st"
refused 'pack --from no file' 66 '^error: cannot open .*/none: No such file' --from "$scratch/none" -o "$scratch/none.st"
head -c 20000 specs/dates/dates.safetensors >"$scratch/cut"
refused 'pack --from a cut file' 65 '/cut: tensor .* past the' --from "$scratch/cut" -o "$scratch/none.st"
refused 'pack writes over no other file' 65 '/tuned was not written by xformc; choose another -o$' -o "$scratch/tuned"
refused 'pack writes over no device' 65 '^error: /dev/null is not a regular file; choose another -o$' -o /dev/null
refused 'pack into no folder' 74 '^error: cannot write .*/none/x: No such file' -o "$scratch/none/x"

# ---- other kinds of models -----------------------------------------------------------------------

mkdir "$scratch/quick"
quick_cc "$scratch/quick/cc"
for name in kind_decoder kind_encoder two_attentions; do
    spec=tests/goldens/$name.lua
    [ -e $spec ] || spec=tests/specs/$name.lua
    "$xformc" build $spec -q --cc "$scratch/quick/cc" -o "$scratch/$name"
done
decoder=$scratch/kind_decoder/kind_decoder encoder=$scratch/kind_encoder/kind_encoder
"$decoder" '1 2 3' >"$scratch/out" && "$decoder" --ids '1 2 3' | cmp - "$scratch/out" && grep -qE '^[0-9]+( [0-9]+)*$' "$scratch/out" &&
    [ "$("$decoder" --json '1 2 3' | sed 's/.*"ids":\[\([^]]*\)\],"answer":null,"score":-[0-9.]*,"finished":.*/\1/' | tr , ' ')" = "$(cat "$scratch/out")" ]
verdict $? 'a decoder alone takes ids, with --ids or without'
cat "$scratch/out"
# Fed with its first two ids, the decoder continues with the same ids.
"$decoder" "1 2 3 $(cut -d ' ' -f 1,2 "$scratch/out")" >"$scratch/rest" && cut -d ' ' -f 3- "$scratch/out" | cmp - "$scratch/rest"
verdict $? 'a decoder goes on from what it wrote'
"$encoder" --json '1 2 3' | sed 's/.*"hidden":\[\[//; s/\]\]}$//; s/\],\[/,/g' | tr , '\n' | xargs printf '%.3f\n' >"$scratch/hidden"
"$encoder" --ids '1 2 3' | tr ' ' '\n' | xargs printf '%.3f\n' | cmp - "$scratch/hidden" && [ "$(wc -l <"$scratch/hidden")" = $((3 * $(sed -n 's/.*\.width = \([0-9]*\),.*/\1/p' "$scratch/kind_encoder/kind_encoder_main.c"))) ]
verdict $? 'an encoder alone gives its hidden states'
for one in "$decoder" "$encoder"; do
    "$one" --selftest && "$one" --check && "$one" --info | grep -q '^threads' && "$one" --json 1 99999 >"$scratch/out"
    [ $? = 65 ] && grep -q '^{"input":"99999","error":"id 99999 at position 1 is not in the vocabulary, 0 to [0-9]*"}$' "$scratch/out"
    verdict $? "${one##*/}: --selftest, --check, --info, ids out of range"
done
"$xformc" pack tests/specs/two_attentions.lua -q -o "$scratch/packed" && cmp "$scratch/packed" "$scratch/two_attentions/two_attentions.safetensors"
verdict $? 'pack of a graph'

# ---- benchmark -----------------------------------------------------------------------------------

# limited OBJECT: without -r no repetition of a test begins more than 2.5 seconds after its first.
limited() {
    grep -oE '"runs":[0-9]+|"samples_ns":\[[^]]*' "$1" | tr ':[,' '   ' | awk '
        /runs/    { runs = $2 }
        /samples/ { rows++; for (i = 2; i < NF; i++) ns[rows] += runs * $i; if (NF > 6) bad = 1 }
        END       { for (r in ns) if (ns[r] > 2.5e9) bad = 1; exit bad || !rows }'
}
# bench NAME PROGRAM TESTS OPTION...: a table and an object with one row for each test.
bench() {
    timeout "$patience" "$2" --bench $4 >"$scratch/table" && "$2" --bench -r 2 --json >"$scratch/object" &&
        "$tools/json_keys" objects <"$scratch/object"
    code=$?
    [ -n "$4" ] || { "$2" --bench --json >"$scratch/free" && limited "$scratch/free"; } || code=1
    found=$(sed -n '3,$s/^| [a-z_]* | [0-9.]* MiB | [0-9.]* M | CPU [a-z0-9]* | [0-9]* | \([a-z0-9]*\) | [0-9.]* ± [0-9.]* |.*/\1/p' "$scratch/table" | tr '\n' ' ')
    rows=$(grep -oE '"test":"[a-z0-9]+","n_prompt":[0-9]+,"n_gen":[0-9]+,"runs":[0-9]+,"avg_ns":[0-9.e+]+,' "$scratch/object" | cut -d '"' -f 4 | tr '\n' ' ')
    samples=$(grep -oE '"samples_ts":\[[0-9.e+]+,[0-9.e+]+\]' "$scratch/object" | wc -l)
    [ $code = 0 ] && [ "$found" = "$3" ] && [ "$rows" = "$3" ] && [ "$samples" = "$(echo $3 | wc -w)" ]
    verdict $? "$1"
    cat "$scratch/table" "$scratch/object"
}
bench '--bench of an encoder-decoder' "$program" 'enc dec e2e ' ''
longest=$("$decoder" --info | sed -n 's/^longest target //p')
bench '--bench of a decoder' "$decoder" "pp$longest tg$longest " -r1
bench '--bench of an encoder' "$encoder" "b1x$("$encoder" --info | sed -n 's/^longest source //p') " -r1
# ---- the system ----------------------------------------------------------------------------------

timeout "$patience" "$program" '3rd of May 2019' >/dev/full 2>"$scratch/err"
[ $? = 74 ] && [ "$(cat "$scratch/err")" = 'dates: cannot write to standard output: No space left on device' ]
verdict $? 'a full disk'
timeout "$patience" "$program" <"$scratch/lines" >/dev/full 2>"$scratch/err"
[ $? = 74 ] && [ "$(wc -l <"$scratch/err")" = 1 ]
verdict $? 'a full disk ends a long run at once, with one message'
timeout "$patience" "$program" --help >/dev/full 2>"$scratch/err"
[ $? = 74 ]
verdict $? 'a full disk for --help'
{ timeout "$patience" "$program" <"$scratch/lines" 2>"$scratch/err"; echo $? >"$scratch/code"; } | head -n 1 >/dev/null
[ "$(cat "$scratch/code")" = 141 ] && [ ! -s "$scratch/err" ]
verdict $? 'a reader that goes away ends it, without a message'
{ timeout "$patience" "$program" '3rd of May 2019' <&- >"$scratch/out"; } && [ "$(cat "$scratch/out")" = 2019-05-03 ]
verdict $? 'arguments need no standard input'
timeout "$patience" "$program" <. >/dev/null 2>"$scratch/err"
[ $? = 74 ] && grep -q '^dates: cannot read standard input: Is a directory$' "$scratch/err"
verdict $? 'a folder as standard input'

# Each line is answered before the next one is read.
mkfifo "$scratch/to" "$scratch/from"
timeout "$patience" "$program" <"$scratch/to" >"$scratch/from" &
exec 3>"$scratch/to" 4<"$scratch/from"
echo '3rd of May 2019' >&3
read -r line <&4
echo '2093-10-06' >&3
read -r second <&4
exec 3>&- 4<&-
wait $!
[ "$line $second" = '2019-05-03 2093-10-06' ]
verdict $? 'a conversation: each line is answered as it comes'

# Overhead: the size of a program besides its weights, and its memory besides weights and state.
name='a program without its weights has at most 100 KiB'
if ! gcc --version >/dev/null 2>&1; then skip "$name" "no gcc"
elif ! (unset XFORMC_TEAM; "$xformc" build specs/gpt.lua -q --cc gcc -o "$scratch/gpt"); then verdict 1 "$name"
else
    room=$(($(wc -c <"$scratch/gpt/gpt") - $(wc -c <"$scratch/gpt/gpt.safetensors")))
    [ $room -le 102400 ]
    verdict $? "$name"
    echo "$room bytes"
fi
# Weights of 4 MiB or more are aligned in the program's file for large pages, which does not make it
# larger.
sed 's/name = "gpt"/name = "large"/; s/vocab = 256/vocab = 4000/' specs/gpt.lua >"$scratch/large.lua"
"$xformc" build "$scratch/large.lua" -q -o "$scratch/large" && "$scratch/large/large" --selftest >/dev/null
verdict $? 'a program with weights of more than 4 MiB'
name='its weights are mapped in pages of 2 MB, and its file has no gap'
if ! readelf --version >/dev/null 2>&1; then skip "$name" "no readelf"
else
    readelf -lW "$scratch/large/large" | awk '$1 == "LOAD" { print $2, $5, $NF }' >"$scratch/loads"
    { read -r _ size align && read -r offset _ again; } <"$scratch/loads" && [ "$align $again" = '0x200000 0x200000' ] &&
        [ $((offset - size)) -ge 0 ] && [ $((offset - size)) -lt 4096 ] &&
        readelf -lW "$program" | awk '$1 == "LOAD" && $NF == "0x200000" { bad = 1 } END { exit bad }'
    verdict $? "$name"
    cat "$scratch/loads"
fi
bytes=$("$program" --info | awk '$1 == "bytes" || $1 == "state" { n += $NF } END { print n }')
peak=$("$tools/peak" "$program" '3rd of May 2019') && [ "$bytes" -gt 1000000 ] && [ "$peak" -le $((bytes / 1024 + 4096)) ]
verdict $? 'it holds its weights, its state and at most 4 MiB'
echo "$peak KiB of $((bytes / 1024)) and 4096"

# A weights file truncated while it is mapped, and an answer without room, give messages, not
# signals.
if "$xformc" build specs/dates.lua --weights file -q -o "$scratch/cutting" 2>"$scratch/err"; then
    : >"$scratch/out"
    {
        echo '3rd of May 2019'
        await [ -s "$scratch/out" ]
        : >"$scratch/cutting/dates.safetensors"
        echo '3rd of May 2019'
    } | { "$scratch/cutting/dates" >"$scratch/out" 2>"$scratch/err"; echo $? >"$scratch/code"; }
    [ "$(cat "$scratch/code" "$scratch/out")" = "74
2019-05-03" ] && [ "$(cat "$scratch/err")" = "dates: $scratch/cutting/dates.safetensors was truncated while it was being read" ]
    verdict $? 'weights that are cut while they are read'
    cat "$scratch/err"
else verdict 1 'weights that are cut while they are read'
fi
yes 1/2/34 | head -n 500 >"$scratch/in"
(ulimit -f 1 && exec "$program" <"$scratch/in" >"$scratch/full" 2>"$scratch/err")
[ $? = 74 ] && grep -q '^dates: cannot write to standard output: File too large$' "$scratch/err"
verdict $? 'an answer past the file size limit'

# Other instruction sets.
processor=$(uname -m)
name='an AVX-512 program on a processor without it is refused'
qemu=$(command -v qemu-x86_64 || command -v qemu-x86_64-static)
if [ "$processor" != x86_64 ]; then skip "$name" "another processor"
elif [ -z "$qemu" ]; then skip "$name" "no qemu-x86_64"
elif ! "$xformc" build specs/dates.lua -q --isa avx512 -o "$scratch/avx512"; then verdict 1 "$name"
else
    expect "$name" 69 '' 'dates: this program was compiled for avx512, which this processor lacks; rebuild with --isa portable\n' \
        "$qemu" -cpu qemu64 "$scratch/avx512/dates" '3rd of May 2019'
fi
name='a portable program runs on the least processor'
if [ "$processor" != x86_64 ]; then skip "$name" "another processor"
elif [ -z "$qemu" ]; then skip "$name" "no qemu-x86_64"
elif ! "$xformc" build specs/dates.lua -q --isa portable -o "$scratch/portable"; then verdict 1 "$name"
else
    expect "$name" 0 '2019-05-03\n' '' "$qemu" -cpu qemu64 "$scratch/portable/dates" '3rd of May 2019'
fi
