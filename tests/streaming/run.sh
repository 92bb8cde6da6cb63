#!/bin/sh
# tags: slow noasan
# Streaming in `run` and programs: every single write, for characters, ids, byte-level and
# byte-fallback tokens, stop strings and a terminal. The output is the same as without streaming.
# The timing lines of -v and their counts. With XFORMC_TEST_DATA, also 200 tokens of stories260K.
# usage: run.sh XFORMC
set -u
. tests/lib.sh
writes=$(dirname "$xformc")/tests/streaming/writes
quick_cc "$scratch/cc"

# parts NAME EXPECTED COMMAND...: the command makes the writes EXPECTED, and prints nothing on
# standard error.
parts() {
    name=$1 expected=$2
    shift 2
    found=$("$writes" "$@" 2>"$scratch/err" </dev/null | tr -d '\n')
    [ "$found" = "$expected" ] && [ ! -s "$scratch/err" ]
    verdict $? "$name"
    echo "expected $expected"
    echo "found    $found"
    cat "$scratch/err"
}
# alike NAME COMMAND...: with --stream it writes the same bytes, in several writes.
alike() {
    name=$1
    shift
    "$@" >"$scratch/whole" 2>"$scratch/err" </dev/null && "$@" --stream >"$scratch/streamed" 2>>"$scratch/err" </dev/null &&
        cmp "$scratch/whole" "$scratch/streamed" && [ -s "$scratch/whole" ] && [ "$("$writes" "$@" --stream </dev/null | wc -l)" -gt 2 ]
    verdict $? "$name"
    cat "$scratch/err"
}
# refused NAME MESSAGE COMMAND...: exits with 2, prints MESSAGE first on stderr, and prints nothing
# on stdout.
refused() {
    name=$1 message=$2
    shift 2
    "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    [ $? = 2 ] && [ ! -s "$scratch/out" ] && [ "$(head -n 1 "$scratch/err")" = "$message" ]
    verdict $? "$name"
    cat "$scratch/out" "$scratch/err"
}

# ---- characters ----------------------------------------------------------------------------------

dates=specs/dates.lua
"$xformc" build $dates -o "$scratch/dates" --slots 2 --kernels unrolled --cc "$scratch/cc" -q >"$scratch/log" 2>&1
verdict $? 'a program of dates'
cat "$scratch/log"
# A library that makes isatty report a terminal, while writes stay separate.
printf 'int isatty(int file) { (void)file; return 1; }\n' >"$scratch/terminal.c" && cc -shared -fPIC -o "$scratch/terminal.so" "$scratch/terminal.c"
for how in run program; do
    case $how in run) set -- "$xformc" run $dates ;; *) set -- "$scratch/dates/dates" ;; esac
    parts "$how: at once" '[2019-05-03\n]' "$@" '3rd of May 2019'
    parts "$how: --stream" '[2][0][1][9][-][0][5][-][0][3][\n]' "$@" --stream '3rd of May 2019'
    parts "$how: a stop that may still come waits" '[2][0][1][9][-05][-03][\n]' "$@" --stream --stop -06 '3rd of May 2019'
    parts "$how: nothing of a stop is written" '[2][0][1][9][\n]' "$@" --stream --stop -0 '3rd of May 2019'
    parts "$how: what waits comes at the end" '[2][0][1][9][-][0][5][-][0][3\n]' "$@" --stream --stop 3x '3rd of May 2019'
    parts "$how: a terminal" '[2][0][1][9][-][0][5][-][0][3][\n]' env LD_PRELOAD="$scratch/terminal.so" "$@" '3rd of May 2019'
    parts "$how: beams do not stream at a terminal" '[2019-05-03\n]' env LD_PRELOAD="$scratch/terminal.so" "$@" --beam 2 '3rd of May 2019'
    parts "$how: ids" '[7][ 5][ 6][\n]' "$@" --ids --stream -n 3 '13 58 46 4 56 48 4 31 43 65 4 12 10 11 19'
    refused "$how: --stream of beams" "$(case $how in run) echo error ;; *) echo dates ;; esac): --stream: a beam search has no text until it ends; use --beam 1" \
        "$@" --stream --beam 2 x
done
refused 'run: --stream and --json' 'error: --stream and --json cannot be combined' "$xformc" run $dates --stream --json x
refused 'a program: --stream and --json' 'dates: --stream cannot be combined with --json, --info, --check, --selftest or --bench' "$scratch/dates/dates" --stream --json x
refused 'run: --stream of an encoder' 'error: --stream: encoder has no decoder and generates nothing' "$xformc" run specs/encoder.lua --stream 1
refused 'run: --stream of an xf.graph' 'error: --stream: an xf.graph generates nothing' "$xformc" run specs/self_attention.lua --stream
timeout "$patience" "$scratch/dates/dates" --stream '3rd of May 2019' >/dev/full 2>"$scratch/err"
[ $? = 74 ] && [ "$(cat "$scratch/err")" = 'dates: cannot write to standard output: No space left on device' ]
verdict $? 'a program: a full disk ends it'
timeout "$patience" "$xformc" run $dates --stream '3rd of May 2019' >/dev/full 2>"$scratch/err"
[ $? = 74 ] && [ "$(cat "$scratch/err")" = 'dates: cannot write to standard output: No space left on device' ]
verdict $? 'run: a full disk ends it'

# ---- subword tokens ------------------------------------------------------------------------------

# emoji NAME TOKENIZER SEED PIECES PROMPT ID...: a model that generates exactly four ids after the
# prompt: the bytes of one character.
emoji() {
    name=$1 tokenizer=$2 seed=$3 pieces=$4 prompt=$5
    shift 5
    suppressed=$(seq 0 $((pieces - 1)) | grep -vxF -e "$1" -e "$2" -e "$3" -e "$4" | tr '\n' ,)
    cat >"$scratch/$name.lua" <<END
return xf.model { name = "$name", kind = "decoder", layers = 1, heads = 2, d_model = 16, d_ff = 16, max_len = 40, weights = "random", seed = $seed,
  tokenizer_file = "$PWD/tests/tokenizer/$tokenizer", vocab = $pieces, generation = { max_new_tokens = 4, no_repeat_ngram_size = 1,
  suppress_tokens = { $suppressed } } }
END
    [ "$("$xformc" run "$scratch/$name.lua" "$prompt")" = "$prompt🙂" ]
    verdict $? "$name: four ids, one character"
    "$xformc" build "$scratch/$name.lua" -o "$scratch/$name" --kernels unrolled --cc "$scratch/cc" -q >"$scratch/log" 2>&1
    verdict $? "$name: a program"
    cat "$scratch/log"
}
emoji bytes gpt2 36 700 '&' 173 254 248 225
emoji fallback llama2 7 900 the 243 162 156 133
for how in run program; do
    case $how in run) set -- "$xformc" run "$scratch/bytes.lua" ;; *) set -- "$scratch/bytes/bytes" ;; esac
    parts "$how: a character in four ids is written whole" '[&][🙂][\n]' "$@" --stream '&'
    parts "$how: and so at once" '[&🙂\n]' "$@" '&'
    parts "$how: a prompt is written first" '[& é🙂!][�][\n]' "$@" --stream -n 1 '& é🙂!'
    parts "$how: of a cut character U+FFFD stands at the end" '[&][�\n]' "$@" --stream -n 3 '&'
    parts "$how: a stop of one character in four ids" '[&][\n]' "$@" --stream --stop 🙂 '&'
    alike "$how: the same bytes" "$@" '&' 'é'
done

# A run of byte tokens is known to be UTF-8 only at its end.
for how in run program; do
    case $how in run) set -- "$xformc" run "$scratch/fallback.lua" ;; *) set -- "$scratch/fallback/fallback" ;; esac
    parts "$how: a row of byte pieces is written at its end" '[the][🙂\n]' "$@" --stream the
    parts "$how: one that is not UTF-8 too" '[the][���\n]' "$@" --stream -n 3 the
    alike "$how: the same bytes of byte pieces" "$@" -n 3 the the
done

# ---- timings -------------------------------------------------------------------------------------

# timed NAME MODEL PROMPT STEPS COMMAND...: standard error ends with llama.cpp's three lines, with
# these token counts.
timed() {
    name=$1 model=$2 input=$3 steps=$4
    shift 4
    "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    number='[0-9]+\.[0-9][0-9]'
    rate="$number ms / +N tokens \( +$number ms per token, +$number tokens per second\)"
    {
        echo "^$model: prompt eval time = +$(echo "$rate" | sed "s/N/$input/")\$"
        echo "^$model:        eval time = +$(echo "$rate" | sed "s/N/$steps/")\$"
        echo "^$model:       total time = +$number ms / +$((input + steps)) tokens\$"
    } >"$scratch/lines"
    tail -n 3 "$scratch/err" | awk 'NR == FNR { line[FNR] = $0; next } $0 !~ line[FNR] { print "line", FNR; bad = 1 } { n = FNR } END { exit bad || n != 3 }' "$scratch/lines" -
    verdict $? "$name"
    cat "$scratch/lines" "$scratch/err"
}
# An answer of ten characters and its end is eleven ids. The first comes from the prompt.
timed 'run: -v' dates 15 10 "$xformc" run $dates -v '3rd of May 2019'
timed 'run: -v of the generic engine' dates 15 10 "$xformc" run $dates --engine generic -v '3rd of May 2019'
timed 'run: -v of beams' dates 15 10 "$xformc" run $dates --beam 2 --early-stopping true -v '3rd of May 2019'
timed 'run: -v up to a stop' dates 15 5 "$xformc" run $dates -v --stop=-0 '3rd of May 2019'
timed 'a program: -v' dates 15 10 "$scratch/dates/dates" -v '3rd of May 2019'
timed 'a program: -v up to a stop' dates 15 5 "$scratch/dates/dates" -v --stop=-0 '3rd of May 2019'
timed 'a program: -v of one id' dates 15 0 "$scratch/dates/dates" -v -n 1 '3rd of May 2019'
timed 'run: -v of a decoder alone' bytes 6 3 "$xformc" run "$scratch/bytes.lua" --ids -v '5 6 7 8 9 10'
timed 'a program: -v of a decoder alone' bytes 6 3 "$scratch/bytes/bytes" --ids -v '5 6 7 8 9 10'
[ "$("$scratch/dates/dates" -v '3rd of May 2019' '' 1 2>&1 >/dev/null | grep -c 'total time')" = 2 ]
verdict $? 'a program: of each answer, and not of refused texts'

# ---- real models ---------------------------------------------------------------------------------

data=${XFORMC_TEST_DATA:-/nonexistent}/stories260K
if [ -d "$data" ]; then
    "$writes" "$xformc" run "$data/hf" --tokenizer "$data/tok512.bin" --stream --temp 0 -n 200 </dev/null >"$scratch/writes" &&
        "$xformc" run "$data/hf" --tokenizer "$data/tok512.bin" --stream --temp 0 -n 200 </dev/null | cmp - "$data/expected_greedy_200.txt" &&
        [ "$(grep -c . "$scratch/writes")" -gt 150 ] && ! grep -q '\\x' "$scratch/writes"
    verdict $? 'stories260K: 200 streamed tokens are those of the reference, in as many writes'
    wc -l <"$scratch/writes"
    alike 'stories260K: with a stop' "$xformc" run "$data/hf" --tokenizer "$data/tok512.bin" --temp 0 -n 200 --stop 'lily. She' --stop zebra
else
    echo 'skip stories260K: no XFORMC_TEST_DATA'
fi
