#!/bin/sh
# tags: slow noasan
# An encoder gives the same bits whether it reads several texts in one call or one at a time: on any
# number of threads, with errors in some texts, in emitted C, `run` and programs. Lines of standard
# input are answered in order, and no answer waits for a line that has not arrived.
# usage: run.sh XFORMC
set -u
. tests/lib.sh
quick_cc "$scratch/cc"

# spec NAME FIELDS: a small encoder.
spec() {
    cat >"$scratch/$1.lua" <<END
return xf.model { name = "$1", kind = "encoder", layers = 2, heads = 4, d_model = 40, d_ff = 56, weights = "random", norm = "layer", $2 }
END
}

# ---- calls ---------------------------------------------------------------------------------------

# calls NAME OPTIONS MACROS: build and run encoder_batch.c with model NAME.
calls() {
    "$xformc" compile "$scratch/$1.lua" -q $2 -o "$scratch/$1" &&
        ISA= make -s -C "$scratch/$1" CC="$scratch/cc" lib$1.a >"$scratch/log" 2>&1 &&
        cc -std=c11 -O1 -Wall -Wextra -Werror -I"$scratch/$1" -I"$scratch/$1/runtime" -DMODEL=$1 "-DMODEL_HEADER=\"$1.h\"" $3 \
            -o "$scratch/$1/batch" "$top/tests/batch/programs/encoder_batch.c" "$scratch/$1/lib$1.a" -lm -pthread
    verdict $? "$1: a program of one's own"
    cat "$scratch/log"
    "$scratch/$1/batch" "$scratch/$1/$1.safetensors" | sed "s/ok /&$1: /"
}
spec pooled 'vocab = 29, max_len = 60, token_types = 2, pairs = true, position = "learned", embed_norm = true, norm_at = "post",
  pooling = { "mean", "cls", "lasttoken" }, head = { width = { 24, 7 }, activation = { "tanh", "none" } }, normalize = true'
calls pooled '' '-DPAIRS=1 -DPOOLED=1 -DWIDTH=7 -DSTRIDE=16'
spec relative 'vocab = 29, max_len = 60, position = "relative", rel_distance = 20'
calls relative '' '-DPAIRS=0 -DPOOLED=0 -DWIDTH=40 -DSTRIDE=RELATIVE_HIDDEN_STRIDE'
spec turned 'vocab = 29, max_len = 60, position = "rotary", kv_heads = 2, pooling = "max"'
calls turned '--kernels=unrolled' '-DPAIRS=0 -DPOOLED=1 -DWIDTH=40 -DSTRIDE=48'
spec several 'vocab = 29, max_len = 60, token_types = 2, pooling = "mean_sqrt"'
calls several '--isa avx512,portable' '-DPAIRS=1 -DPOOLED=1 -DWIDTH=40 -DSTRIDE=48'

# ---- lines ---------------------------------------------------------------------------------------

# Lines of different lengths: one is too long, one is empty and two are pairs. In the ids, two lines
# are rejected.
words='the house by the river is old and the rain falls on it'
for i in 1 2 3 5 8 13 4 1 9 11 2 6; do echo "$words" | cut -d' ' -f1-$i; done >"$scratch/texts"
printf 'the rain\tthe river falls\n\nit is\told\n%s %s %s %s %s\nthe end' "$words" "$words" "$words" "$words" "$words" >>"$scratch/texts"
tokenizer="tokenizer_file = \"$top/tests/tokenizer/bert_uncased\", token_types = 2, pairs = true, position = \"learned\", max_len = 50"
printf '3 5 7\n4 4\n3 99 5\n8\n\n1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19\n9 9 9 9\n3 5\n' >"$scratch/ids"
spec numbers 'vocab = 29, max_len = 50, position = "rotary", pooling = "mean"'
spec sentences "$tokenizer, pooling = \"mean\", head = { width = 9 }, normalize = true"
spec classes "$tokenizer, pooling = \"cls\", head = { width = { 12, 3 } }, labels = { \"no\", \"perhaps\", \"yes\" }"
spec states "$tokenizer"
# one_by_one COMMAND...: run each line as a separate text, and change the messages into those for a
# line.
one_by_one() {
    n=0
    while IFS= read -r line || [ -n "$line" ]; do
        n=$((n + 1))
        "$@" -p "$line" 2>"$scratch/one.err"
        sed "s/: prompt 1: /: line $n: /" "$scratch/one.err" >>"$scratch/messages"
    done <"$lines"
}
# alike NAME COMMAND...: all lines at once give the same output and messages.
alike() {
    name=$1
    shift
    : >"$scratch/messages"
    one_by_one "$@" >"$scratch/each"
    "$@" <"$lines" >"$scratch/all" 2>"$scratch/err"
    found=$?
    [ $found = $code ] && [ -s "$scratch/all" ] && cmp "$scratch/each" "$scratch/all" && diff "$scratch/messages" "$scratch/err" && [ "$(wc -l <"$scratch/err")" = $said ]
    verdict $? "$name"
    [ $found = $code ] || echo "exit $found"
}
for model in sentences classes states numbers; do
    lines=$scratch/texts code=0 said=1
    if [ $model = numbers ]; then lines=$scratch/ids code=65 said=2; fi
    for engine in jit generic; do
        for form in --raw ''; do alike "$model: lines at once are as one by one, $engine $form" "$xformc" run "$scratch/$model.lua" --engine $engine $form; done
    done
    "$xformc" build "$scratch/$model.lua" -q --kernels unrolled --cc "$scratch/cc" -o "$scratch/$model" 2>"$scratch/log"
    verdict $? "$model is built"
    cat "$scratch/log"
    for form in --raw '' --json; do
        if [ "$form$model" = --jsonnumbers ]; then said=0; fi       # the JSON object carries the message
        alike "$model: a program $form" "$scratch/$model/$model" $form
    done
    "$scratch/$model/$model" --raw <"$lines" 2>"$scratch/err" >"$scratch/one"
    "$scratch/$model/$model" --raw -t 3 <"$lines" 2>"$scratch/err" | cmp - "$scratch/one" && [ -s "$scratch/one" ]
    verdict $? "$model: a program on three threads"
done
lines=$scratch/texts
: >"$scratch/messages"
one_by_one "$xformc" run "$scratch/classes.lua" --json >"$scratch/expected" && [ "$(wc -l <"$scratch/expected")" = 17 ] || not_ok 'classes: 17 objects'
"$xformc" run "$scratch/classes.lua" --json <"$scratch/texts" >"$scratch/all" 2>"$scratch/err"
cmp "$scratch/all" "$scratch/expected"
verdict $? 'classes: run --json'

# Lines are read together: 17 lines take fewer than 10 runs.
runs=$(XFORMC_DEBUG=2 "$xformc" run "$scratch/states.lua" --raw <"$scratch/texts" 2>&1 >/dev/null | grep -a -c ' encoder.embed ')
[ "$runs" -gt 1 ] && [ "$runs" -lt 10 ]
verdict $? 'lines are read together'
echo "$runs runs"

two_lines() { [ "$(wc -l <"$scratch/out")" -ge 2 ]; }
# waits NAME COMMAND...: a line is answered before the next one comes.
waits() {
    name=$1
    shift
    mkfifo "$scratch/fifo"
    : >"$scratch/out"
    timeout "$patience" "$@" <"$scratch/fifo" >"$scratch/out" 2>"$scratch/err" &
    reader=$!
    {
        printf 'the rain\nthe river\nthe h'
        await two_lines
        wc -l <"$scratch/out" >"$scratch/before"
        printf 'ouse\n'
    } >"$scratch/fifo"
    wait $reader
    [ $? = 0 ] && [ "$(cat "$scratch/before")" = 2 ] && [ "$(wc -l <"$scratch/out")" = 3 ]
    verdict $? "$name"
    cat "$scratch/err"
    rm "$scratch/fifo"
}
waits 'run waits for no line that has not come' "$xformc" run "$scratch/classes.lua"
waits 'a program neither' "$scratch/classes/classes"
"$scratch/classes/classes" </ >"$scratch/out" 2>"$scratch/err"
[ $? = 74 ] && [ "$(cat "$scratch/err")" = 'classes: cannot read standard input: Is a directory' ]
verdict $? 'a program: a folder as standard input'
"$xformc" run "$scratch/classes.lua" </ >"$scratch/out" 2>"$scratch/err"
[ $? = 74 ] && [ "$(cat "$scratch/err")" = 'classes: cannot read standard input: Is a directory' ]
verdict $? 'run: a folder as standard input'
