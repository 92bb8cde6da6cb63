#!/bin/sh
# tags: slow noasan
# Out of memory: one allocation of a command fails, and the command says so, exits with 69 and
# leaves nothing behind. `make test-all` fails every allocation in turn; `make test` fails a sample
# for each command. Also a memory limit that libtcc runs into. Skipped without glibc.
# usage: run.sh XFORMC
. tests/lib.sh
here=tests/memory
chmod 755 "$scratch"
if ! cc -shared -fPIC -O1 -o "$scratch/fail.so" "$here/programs/fail.c" 2>"$scratch/log"; then
    cat "$scratch/log"
    skip 'allocations that fail' 'it needs glibc'
    exit 0
fi

# told FILE: true if it says that memory ran out.
told() { grep -Eq '(no memory|[Cc]annot allocate memory|not enough memory)' "$1"; }

clean() { rm -rf "$into" && mkdir "$into"; }
# No temporary file remains, and every file in $into equals that in $scratch/good, where nothing
# failed.
nothing_left() {
    [ -z "$(ls -A "$TMPDIR")" ] && (cd "$into" && find . -type f | while read -r f; do cmp -s "$f" "$scratch/good/$f" || exit 1; done)
}

# fails NAME SAMPLE COMMAND...: if one allocation fails, each in turn or SAMPLE of them, the command
# exits with 69 and says why, or behaves normally. It writes to $into, where every file must be
# complete.
fails() {
    name=$1 sample=$(sweep "$2" 1000000)
    shift 2
    clean
    export FAIL_NAME="${1##*/}"
    FAIL_COUNT=$scratch/count LD_PRELOAD=$scratch/fail.so "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    code=$? wrong=0 met=0
    rm -rf "$scratch/good" && cp -r "$into" "$scratch/good"
    count=$(cat "$scratch/count")
    step=$(((count + sample - 1) / sample)) at=0
    while [ $at -lt "$count" ]; do
        clean
        FAIL_AT=$at LD_PRELOAD=$scratch/fail.so "$@" >"$scratch/out.now" 2>"$scratch/err.now" </dev/null
        now=$?
        if [ $now = 69 ] && told "$scratch/err.now" && nothing_left; then met=$((met + 1))
        elif [ $now = $code ] && cmp -s "$scratch/out" "$scratch/out.now" && cmp -s "$scratch/err" "$scratch/err.now"; then :
        else
            wrong=$((wrong + 1))
            echo "allocation $at of $count: exit $now"
            head -c 300 "$scratch/err.now"
        fi
        at=$((at + step))
    done
    [ $wrong = 0 ] && [ $met -gt 0 ] && [ "$count" -gt 10 ]
    verdict $? "$name"
    echo "$met times no memory, of $count allocations"
}

XFORMC_CACHE=off
into=$scratch/into TMPDIR=$scratch/tmp
export TMPDIR
mkdir "$TMPDIR"
fails 'tokenize, a tokenizer.json' 40 "$xformc" tokenize tests/vectors/labels_several x
fails 'tokenize, a SentencePiece model' 30 "$xformc" tokenize tests/tokenizer/spm_unigram 'ab c'
fails 'tokenize --decode' 30 "$xformc" tokenize tests/classes/t5.model --decode '5 6 7'
fails 'info, a GGUF file' 40 "$xformc" info tests/gguf/files/llama_q8_0.gguf
fails 'info, a folder' 40 "$xformc" info tests/families/t5
fails 'run, a spec' 60 "$xformc" run specs/dates.lua '3 May 2019'
fails 'run, a folder' 40 "$xformc" run tests/families/llama --ids -n 3 '1 2'
fails 'run, an encoder with labels' 40 "$xformc" run tests/vectors/labels_several x
fails 'run, a graph' 40 "$xformc" run specs/attention.lua
fails 'pack' 30 "$xformc" pack specs/dates.lua -o "$into/made"
fails 'build' 20 "$xformc" compile specs/dates.lua -q -o "$into/made"
fails 'verify' 300 "$xformc" verify specs/dates.lua --engine jit

# OpenBLAS would wait forever for a thread that did not start.
for engine in generic jit; do
    FAIL_NAME=${xformc##*/} FAIL_THREADS=1 LD_PRELOAD=$scratch/fail.so timeout 120 "$xformc" run specs/dates.lua -t 2 \
        --engine $engine '3 May 2019' >"$scratch/out" 2>"$scratch/err"
    [ $? = 69 ] && [ ! -s "$scratch/out" ] && told "$scratch/err" && grep -q 'no memory for 2 threads' "$scratch/err"
    verdict $? "$engine: no thread starts"
done

# Programs.
quick_cc "$scratch/cc"
for spec in specs/dates.lua tests/vectors/labels_several; do
    "$xformc" build "$spec" -q --kernels unrolled --name answers --cc "$scratch/cc" -o "$scratch/answers" >"$scratch/log" 2>&1 ||
        cat "$scratch/log"
    fails "a program of $spec" 30 "$scratch/answers/answers" 'a text'
    rm -rf "$scratch/answers"
done
cat >"$scratch/talks.lua" <<END
return xf.model { name = "talks", kind = "decoder", layers = 1, heads = 2, d_model = 16, d_ff = 16, max_len = 200,
  weights = "random", tokenizer_file = "$PWD/tests/chat/llama2" }
END
"$xformc" build "$scratch/talks.lua" -q --cc "$scratch/cc" -o "$scratch/talks" >"$scratch/log" 2>&1 || cat "$scratch/log"
fails 'a program that chats' 60 "$scratch/talks/talks" --chat --turns -n 8 'a text' 'another one'

# Raise a limit until the command has enough memory. 127: the loader cannot load the libraries.
# Below that limit the command exits with 69, whoever asks for memory; at some limit that is libtcc.
limit=8000 code=1 wrong= asked=
while [ $code != 0 ] && [ $limit -lt 200000 ]; do
    (ulimit -c 0; ulimit -v $limit && exec "$xformc" run specs/dates.lua '3 May 2019') >"$scratch/out" 2>"$scratch/err"
    code=$?
    case $code in 0 | 127) ;; 69) told "$scratch/err" || wrong="$wrong $limit" ;; *) wrong="$wrong $limit" ;; esac
    if grep -q libtcc "$scratch/err"; then asked=1; fi
    limit=$((limit + 250))
done
[ $code = 0 ] && [ -z "$wrong" ] && [ "$asked" = 1 ]
verdict $? 'less memory than libtcc needs'
echo "enough: $limit KB; another end at:$wrong"
