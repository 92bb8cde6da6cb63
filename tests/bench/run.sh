#!/bin/sh
# tags: slow noasan
# `xformc bench`: rows, output formats, keys, batches of sentences, rejected options, the page of
# --report. gcc and clang give the same bits in the hottest kernels for two instruction sets
# (kernel_compilers.sh). The benchmark against peers: its programs compile the way their users
# compile them (compile.sh), our worker gives the same bits in decode, prefill and batch, and the
# scripts run. No time is checked.
# usage: run.sh XFORMC
set -u
. tests/lib.sh
bench=$(dirname "$0") compilers=$PATH
quick_compilers
json_rows=$(dirname "$xformc")/tests/bench/json_rows
export REPETITIONS=1
quick='-r 1 --seconds 0.02 -q'
shown="$scratch/out $scratch/err"
bench() { "$xformc" bench "$@" >"$scratch/out" 2>"$scratch/err"; }
# cross "A B" "C D" ...: every combination, one per line, sorted.
cross() {
    for engine in $1; do for threads in $2; do for test in $3; do echo "$engine $threads $test"; done; done; done | sort
}
# Rows of the table on stdin as ENGINE THREADS TEST.
table_rows() { awk -F ' *[|] *' 'NF >= 9 && $2 != "model" && $2 !~ /^-/ { sub(/ /, "_", $5); print $5, $6, $7 }' | sort; }

# A table with every engine on one and two threads, and the chart.
bench specs/dates.lua $quick -t 1,2 -o "$scratch/chart.svg"
verdict $? 'dates is measured'
same "$(cross 'generic jit native native_unrolled' '1 2' 'enc dec e2e')" "$(table_rows <"$scratch/out")"
verdict $? 'dates: a row for each engine, number of threads and test'
head -n 1 "$scratch/out" | grep -Eq '^\| model +\| size +\| params +\| backend +\| threads +\| +test +\| +t/s +\| +/ native +\| +limit +\|$'
verdict $? 'the columns of llama-bench'
[ "$(grep -cE '\| +[0-9]+\.[0-9]+ ± [0-9]+\.[0-9]+ +\| +[0-9]+\.[0-9][0-9] +\| +[0-9.]+ % \|$' "$scratch/out")" = 24 ]
verdict $? 'every row has a speed, its spread, its ratio to native and its share of the limit'
[ "$(awk -F ' *[|] *' '$5 == "native" { print $9 }' "$scratch/out" | sort | uniq -c | tr -d ' ')" = 61.00 ]
verdict $? 'native is as fast as native'
grep -Eq '^\| +threads \| +FMA [a-z0-9]+ GFLOP/s \| +L2 .* GB/s \| +L3 .* GB/s \| +DRAM GB/s \|$' "$scratch/out" &&
    [ "$(grep -cE '^\| +[12] \| +[0-9.]+ \| +[0-9.]+ \| +[0-9.-]+ \| +[0-9.]+ \|$' "$scratch/out")" = 2 ]
verdict $? 'the limits of the machine are under the table'
head -c 4 "$scratch/chart.svg" | grep -q '<svg' && tail -n 1 "$scratch/chart.svg" | grep -q '</svg>' &&
    [ "$(grep -c '<rect' "$scratch/chart.svg")" = 73 ] &&
    [ "$(grep -c 'native, 2 threads<' "$scratch/chart.svg")" = 3 ] &&
    [ "$(grep -c 'native unrolled, 2 threads<' "$scratch/chart.svg")" = 3 ]
verdict $? 'the chart has three bars for each row'

# The roofline, and the same one drawn from the JSON rows.
bench specs/self_attention.lua $quick -t 1,2 --engine native --json --roofline "$scratch/roofline.svg" &&
    [ "$(grep -c '<circle' "$scratch/roofline.svg")" = 4 ] && grep -q 'Roofline of self_attention, 2 threads' "$scratch/roofline.svg"
verdict $? 'the roofline has a point for each row with the most threads, and one in its key'
"$(dirname "$xformc")/tests/report/report_roofline" "$scratch/out" >"$scratch/again.svg" && cmp "$scratch/roofline.svg" "$scratch/again.svg"
verdict $? 'and is what its rows give again'

# The report page: the table and the pictures, nothing loaded from elsewhere.
bench specs/copy.lua $quick -t 1 --engine native --report "$scratch/report.html"
verdict $? 'a report is written'
grep -q '>largest difference</th><th>flags</th></tr>$' "$scratch/report.html"
verdict $? 'its longest column, the flags of an engine, is the last'
page=$scratch/report.html
[ "$(head -n 1 "$page")" = '<!DOCTYPE html>' ] && [ "$(tail -n 1 "$page")" = '</html>' ] && [ "$(grep -c '</svg>' "$page")" = 2 ] &&
    ! grep -E '(src|href)=|url\((http|/)|@import' "$page" && ! grep -o 'https*://[^"]*' "$page" | grep -v '^http://www.w3.org/2000/svg$'
verdict $? 'the page stands alone'
count() { grep -c "$1" "$page"; }
for dtype in f32 bf16 int8 int4; do [ "$(count "<td>native</td><td>$dtype</td>")" = 3 ] || dtypes=missing; done
[ -z "${dtypes-}" ] &&
    [ "$(count 'native int8, 1 thread<')" = 3 ] && [ "$(count '<circle')" -ge 12 ] && [ "$(count '<td>rt_linear_f32</td>')" -ge 3 ]
verdict $? 'it has rows, bars and points of each dtype, and the operations'
bench specs/copy.lua $quick -t 1 --engine native --dtype f32 --report "$page" && [ "$(count '<td>native</td>')" = 4 ]
verdict $? 'with --dtype it has that one alone'
bench specs/copy.lua $quick -t 1 --engine native --dtype f32 --report "$scratch/absent/report.html"
[ $? = 74 ] && grep -q 'absent/report.html' "$scratch/err" && [ ! -s "$scratch/out" ]
verdict $? 'a page that cannot be written: 74, before anything is measured'

# The kernels themselves, with one round. To read times, run the script by hand with more rounds.
if command -v gcc >/dev/null && command -v clang >/dev/null; then
    PATH=$compilers sh "$bench/kernel_compilers.sh" 1 "" avx512vnni portable >"$scratch/out" 2>"$scratch/err" && [ "$(grep -c ' clang ' "$scratch/out")" = 1 ] &&
        [ "$(grep -c '^linear_' "$scratch/out")" = 6 ]
    verdict $? 'gcc and clang give the same bits in the hottest kernels, for two instruction sets'
else echo 'skip gcc and clang give the same bits in the hottest kernels, for two instruction sets (no gcc or no clang)'; fi

# The note under the table about threads agrees with the rows: it counts those slower than on one
# thread.
for threads in 1,8 1,2; do
    bench specs/dates.lua -r 1 --seconds 0.02 --engine generic -t $threads
    awk -F ' *[|] *' 'NF >= 9 && $2 != "model" && $2 !~ /^-/ { sub(/ .*/, "", $8); speed[$7 " " ($6 > 1)] = $8 + 0; tests[$7] = 1 }
        END { for (t in tests) { n++; slow += speed[t " 1"] < 0.95 * speed[t " 0"] } if (slow) print "in " slow " of " n " rows" }' "$scratch/out" >"$scratch/wanted"
    grep -o "${threads#1,} threads are slower than 1 here, in .* rows" "$scratch/err" | sed 's/.* here, //' | diff "$scratch/wanted" - >>"$scratch/err"
    verdict $? "-t $threads: the note says in how many rows threads do not pay"
done
bench specs/dates.lua -r 1 --seconds 0.02 --engine generic -t 1 && ! grep -q 'threads are slower' "$scratch/err"
verdict $? '-t 1: no note on threads'

keys='build_commit:s cpu_info:s backends:s model_filename:s model_type:s model_size:n model_n_params:n n_batch:n n_ubatch:n n_threads:n
    type_k:s type_v:s n_prompt:n n_gen:n test_time:s avg_ns:n stddev_ns:n avg_ts:n stddev_ts:n samples_ns:l samples_ts:l
    test:s batch:n n_source:n engine:s kernels:s compiler:s cflags:s compile_ns:n dtype:s max_abs_err:e rss_bytes:n native_ratio:r
    gflops:n gbps:n flops:n bytes:n limit_pct:n limit:s level:s limit_gflops:n limit_gbps:n median_ts:n runs:n p50_ns:n p90_ns:n p99_ns:n'
# rows_of FORMAT EXPECTED NAME: stdout has all keys, and exactly the rows EXPECTED.
rows_of() {
    found=$("$json_rows" "$1" $keys <"$scratch/out" 2>>"$scratch/err" | sort) && same "$2" "$found" &&
        "$json_rows" "$1" $keys <"$scratch/out" >/dev/null 2>>"$scratch/err"
    verdict $? "$3"
}

export REPETITIONS=2
bench specs/gpt.lua $quick -r 2 -t 1 --json
rows_of json "$(cross 'generic jit native native_unrolled' 1 'pp128 tg128')" 'gpt as JSON: rows, keys, a sample for each repetition, small errors'
export REPETITIONS=1

keys="${keys%native_ratio:r*}native_ratio:0${keys#*native_ratio:r} at_once:n sentences_per_second:n stddev_sentences_per_second:n"
bench specs/encoder.lua $quick -t 2 --engine generic --format jsonl
[ "$(wc -l <"$scratch/out")" = 6 ]
verdict $? 'encoder as lines of JSON: as many as rows'
rows_of jsonl "$(cross generic 2 'b1x16 b8x16 b32x16 b1x128 b8x128 b32x128')" 'encoder as lines of JSON: batches and lengths that fit'
bench specs/encoder.lua $quick -t 1 --engine generic
head -n 1 "$scratch/out" | grep -Eq 'sentences/s +\| +p50 ms +\| +p90 ms +\| +p99 ms +\| +limit +\|$' &&
    same "$(cross generic 1 'b1x16 b8x16 b32x16 b1x128 b8x128 b32x128')" "$(table_rows <"$scratch/out")"
verdict $? 'encoder as a table: sentences and percentiles'
grep -q '^bBxN reads B sentences of N tokens, as many at once as fit into the longest source (generic: one after the other); p50' "$scratch/out"
verdict $? 'encoder: the line under the table says what a batch is'
bench specs/encoder.lua $quick -t 1 --engine jit && grep -q '^bBxN .* into the longest source; p50' "$scratch/out"
verdict $? 'encoder: that line does not mention an engine that did not run'

# Emitted code reads as many sentences per call as fit, gives the same numbers for each as when it
# is read alone, and reads its weights once per call.
at_once() {
    sed 's/.*"test":"\([^"]*\)".*"batch":\([0-9]*\).*"at_once":\([0-9]*\).*"engine":"\([a-z]*\)".*/\4 \1 \2 \3/' "$scratch/out" | sort | tr '\n' ';'
}
near() {
    awk '/"engine":"generic"/ { next } { match($0, /"max_abs_err":[^,]*/); e = substr($0, RSTART + 14, RLENGTH - 14); if (e == "null" || e + 0 > 2e-5) bad = 1; n++ }
        END { exit bad || n != 9 }' "$scratch/out"
}
bench specs/encoder.lua $quick -t 1 --engine jit --format jsonl
same 'jit b1x128 1 1;jit b1x16 1 1;jit b32x128 32 1;jit b32x16 32 8;jit b8x128 8 1;jit b8x16 8 8;' "$(at_once)"
verdict $? 'encoder: sentences at once'
cat >"$scratch/pooled.lua" <<'END'
return xf.model { name = "pooled", kind = "encoder", layers = 2, heads = 2, d_model = 32, d_ff = 64, vocab = 50, max_len = 100, weights = "random",
  pooling = { "mean", "max" }, normalize = true }
END
bench "$scratch/pooled.lua" $quick -t 1 --format jsonl
same 'generic b1x16 1 1;generic b32x16 32 1;generic b8x16 8 1;jit b1x16 1 1;jit b32x16 32 6;jit b8x16 8 6;native b1x16 1 1;native b1x16 1 1;native b32x16 32 6;native b32x16 32 6;native b8x16 8 6;native b8x16 8 6;' "$(at_once)" && near
verdict $? 'an encoder with a head: sentences at once'

bench specs/copy.lua $quick -t 1 --engine generic --format csv
awk -F '","' 'NR == 1 { n = gsub(/,/, ",") + 1; next }
    { if (NF != n || $0 !~ /^".*"$/) bad = 1 } END { exit bad || NR != 4 || n < 40 }' "$scratch/out"
verdict $? 'copy as CSV: a line of keys, everything quoted, as many values as keys'
head -n 1 "$scratch/out" | grep -q 'n_prompt,n_gen,.*avg_ts,stddev_ts,'
verdict $? 'copy as CSV: the keys of llama-bench'

bench specs/self_attention.lua $quick -t 1
same "$(cross 'generic jit native native_unrolled' 1 run)" "$(table_rows <"$scratch/out")"
verdict $? 'an xf.graph is measured too'

# refuses CODE WORDS ARGUMENT...: exits with CODE and prints WORDS on stderr and nothing on stdout.
refuses() {
    code=$1 words=$2
    shift 2
    "$xformc" "$@" >"$scratch/out" 2>"$scratch/err"
    [ $? = "$code" ] && grep -qF -- "$words" "$scratch/err" && [ ! -s "$scratch/out" ]
    verdict $? "$* ends with $code"
}
refuses 2 '--repetitions 0: expected a whole number from 1' bench specs/dates.lua -r 0
refuses 2 '--repetitions five: expected a whole number' bench specs/dates.lua -r five
refuses 2 "--output and --report name the same file, $scratch/../${scratch##*/}/page" bench specs/dates.lua -o "$scratch/page" --report "$scratch/../${scratch##*/}/page"
refuses 2 "--output and --roofline name the same file, $scratch/one.svg" bench specs/dates.lua -o "$scratch/one.svg" --roofline "$scratch/one.svg"
refuses 2 '--json and --format csv cannot be combined' bench specs/dates.lua --format csv --json
refuses 2 '--format jason: expected md, json, jsonl or csv; did you mean' bench specs/dates.lua --format jason
refuses 2 '--seconds 0: expected a number of seconds' bench specs/dates.lua --seconds 0
refuses 2 '--seconds nan: expected a number of seconds' bench specs/dates.lua --seconds nan
refuses 2 '--threads 0: expected a whole number' bench specs/dates.lua -t 1,0
refuses 2 '--threads 1,: a thread count is missing next to a comma' bench specs/dates.lua -t 1,
refuses 2 'run takes one number of threads' run specs/dates.lua -t 1,2 x
refuses 2 'expected at most 16 numbers' bench specs/dates.lua -t 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1
refuses 2 '12345678901234567890...: expected at most 16 numbers' bench specs/dates.lua -t "$(printf '1234567890%.0s' 1 2 3 4 5 6 7 8 9)"
# On processors newer than itself, OpenBLAS falls back to its SSE3 kernels. xformc selects better
# ones unless the user has chosen.
if grep -qw avx2 /proc/cpuinfo 2>/dev/null; then
    for core in '' Prescott; do
        (unset OPENBLAS_CORETYPE
        [ -z "$core" ] || export OPENBLAS_CORETYPE=$core
        OPENBLAS_VERBOSE=2 "$xformc" verify specs/dates.lua --engine generic --engine jit 2>&1 | sed -n 's/^Core: //p' | tail -n 1) >"$scratch/core"
        [ -s "$scratch/core" ] && { [ "$(cat "$scratch/core")" = Prescott ] || [ -z "$core" ]; } && { [ -n "$core" ] || ! grep -q Prescott "$scratch/core"; }
        verdict $? "OpenBLAS computes with ${core:-kernels of this processor}"
        cat "$scratch/core"
    done
else
    echo "skip OpenBLAS computes with kernels of this processor (no AVX2)"
fi
refuses 2 'bench needs a SPEC' bench
refuses 66 'no_such.lua' bench specs/no_such.lua
refuses 69 "the C compiler 'no-such-cc' is not installed" bench specs/dates.lua -t 1 --cc no-such-cc
"$xformc" bench specs/self_attention.lua $quick -t 1 --engine generic -o "$scratch/none/chart.svg" >"$scratch/out" 2>"$scratch/err"
[ $? = 74 ] && grep -q 'none/chart.svg' "$scratch/err"
verdict $? 'a chart that cannot be written ends with 74'

# The worker for the benchmark against peers, which wraps an emitted library.
# worker NAME SPEC KIND ARGUMENT...: build $scratch/NAME/worker.
worker() {
    name=$1 spec=$2 kind=$3
    shift 3
    "$xformc" compile "$spec" -o "$scratch/$name" --weights file -q "$@" >"$scratch/out" 2>"$scratch/err" &&
        make -C "$scratch/$name" CFLAGS='-std=c11 -O1 -ffp-contract=off' "lib$name.a" \
            >"$scratch/out" 2>>"$scratch/err" &&
        sh "$bench/compile.sh" peer_ours "$scratch/$name/worker" "$scratch/$name" "$name" "$kind" \
            >"$scratch/out" 2>>"$scratch/err"
    verdict $? "the worker of $name is built"
}
# talk NAME REQUESTS ARGUMENT...: send REQUESTS to the worker. In its answers each time becomes N.
talk() {
    name=$1 requests=$2
    shift 2
    printf "$requests" | "$scratch/$name/worker" "weights=$scratch/$name/$name.safetensors" "$@" 2>"$scratch/err" | sed 's/ [1-9][0-9]*/ N/g' >"$scratch/out"
}
heard() { same "$1" "$(tr '\n' ';' <"$scratch/out")"; }

worker dates specs/dates.lua TEXTS --slots 32
head -n 64 specs/dates/heldout.tsv | cut -f 1 >"$scratch/texts"
head -n 64 specs/dates/heldout.greedy.txt >"$scratch/expected"
for batch in 1 7 32; do
    talk dates "check $scratch/answers\n" work=texts batch=$batch "texts=$scratch/texts"
    heard 'ready;ok;' && cmp "$scratch/answers" "$scratch/expected" >>"$scratch/err" 2>&1
    verdict $? "the worker answers dates, $batch together"
done
worker gpt specs/gpt.lua DECODER --slots 3
for work in decode prefill batch; do
    talk gpt "run 0\ncheck $scratch/$work\n" work=$work n=20 batch=3 threads=2
    heard 'ready;ns N;ok;' && head -c "$(wc -c <"$scratch/decode")" "$scratch/$work" | cmp - "$scratch/decode" >>"$scratch/err" 2>&1
    verdict $? "the worker of a decoder: $work, the bits of decode"
done
talk gpt 'run 0\nwalk 1\n' work=decode n=20
heard 'ready;ns N;' && grep -q 'not a request' "$scratch/err"
verdict $? 'the worker refuses what is not a request'
worker encoder specs/encoder.lua ENCODER
talk encoder "run 0\ncheck $scratch/hidden\n" work=encode n=16 width=128
heard 'ready;ns N;ok;' && [ "$(wc -c <"$scratch/hidden")" = $((4 * 16 * 128)) ]
verdict $? 'the worker of an encoder writes a row for each id'

# Every program, compiled as its users compile it. compile.sh rejects a program that it does not
# know.
# compiles PROGRAM OUTPUT ARGUMENT...
compiles() {
    sh "$bench/compile.sh" "$@" >"$scratch/out" 2>"$scratch/err"
    verdict $? "programs/$1.c compiles"
}
made=$scratch/made
mkdir "$made" "$made/kernels"
echo 'SET(cc_portable)' >"$made/kernels/kernel_times_sets.def"
# kernel_times links the objects of kernel_times_set, so they are built first.
for source in "$bench"/programs/kernel_times_set.c "$bench"/programs/*.c; do
    program=$(basename "$source" .c)
    case $program in
    kernel_times_set)
        object=$made/kernels/cc_portable.o
        [ -e "$object" ] || compiles $program "$object" cc_portable portable -DRT_PORTABLE ;;
    kernel_times) compiles $program "$made/$program" "$made/kernels" ;;
    peer_ours) compiles $program "$made/$program" "$scratch/dates" dates TEXTS ;;
    peer_llama) compiles $program "$made/$program.o" "$bench/standins" ;;
    *) compiles "$program" "$made/$program" ;;
    esac
done
"$made/kernel_times" 1 linear_1x >"$scratch/out" 2>"$scratch/err" &&
    [ "$(grep -c '^linear_1x' "$scratch/out")" = 1 ]
verdict $? 'kernel_times measures the kernels of one compiler'
# Each format has a line with its time and its ratio to the time of f32.
"$made/cache_times" 40 6 2 20 2 1 | sed 's/ [0-9][0-9.]*/ N/g' | tr -s ' ' >"$scratch/out" &&
    printf '%s N us a layer, N\n' f32 f16 int8 | diff - "$scratch/out"
verdict $? 'cache_times measures attention over each format of a cache'
# A line for each size, with the speed of reading and the share that each format reaches.
"$made/row_times" 2 1 30 100 | sed 's/ [0-9][0-9.]*/ N/g' >"$scratch/out" &&
    printf '%s KB: reading N GB/s, f32 N %%, bf16 N %%, int8 N %%, int4 N %%\n' 60 200 | diff - "$scratch/out"
verdict $? 'row_times measures the kernels of one row for weights of each size'
for bad in 0 2x '1 0' '1 1 19' '1 1 20x' '1 1 4294967316'; do
    "$made/row_times" $bad >"$scratch/out" 2>&1
    [ $? = 2 ] && grep -q '^usage: ' "$scratch/out"
    verdict $? "row_times $bad is refused"
done
# The last case of cache_times has heads that cannot share keys evenly.
for bad in '100x 2 1 16 1 1' '40 6 2 20 2 4294967297' '40 6 2 20 2 1 1' '40 6 2 20' '40 6 4 20 2'; do
    "$made/cache_times" $bad >"$scratch/out" 2>&1
    [ $? = 2 ] && grep -q '^usage: ' "$scratch/out"
    verdict $? "cache_times $bad is refused"
done
for bad in '' bytes=abc bytes=-1 bytes=18446744073709551615 'bytes=8192 threads=2x' 'bytes=8192 threads=0'; do
    "$made/peer_limit" $bad </dev/null >"$scratch/out" 2>&1
    [ $? = 1 ] && grep -qx 'worker: expected bytes=N threads=N' "$scratch/out"
    verdict $? "peer_limit $bad is refused"
done
for bad in 0 1x '1 linear more'; do
    "$made/kernel_times" $bad >"$scratch/out" 2>&1
    [ $? = 2 ] && grep -q '^usage: ' "$scratch/out"
    verdict $? "kernel_times $bad is refused"
done
for program in 'cache_times 40 6 2 20 2 1' 'row_times 1 1 30' 'kernel_times 1 linear_1x'; do
    "$made"/$program >/dev/full 2>"$scratch/err"
    [ $? = 74 ] && grep -q "^${program%% *}: cannot write" "$scratch/err"
    verdict $? "${program%% *}: a full device"
done
! sh "$bench/compile.sh" no_such_program "$made/none" >"$scratch/out" 2>"$scratch/err" &&
    grep -q 'no_such_program: no command compiles it' "$scratch/err"
verdict $? 'compile.sh refuses a program that it does not know'

# Each thread writes a sum of what it read.
printf 'run 0\ncheck %s\n' "$scratch/sums" |
    "$made/peer_limit" bytes=8192 threads=2 2>"$scratch/err" |
    sed 's/ [1-9][0-9]*/ N/g' >"$scratch/out"
heard 'ready;ns N;ok;' &&
    [ "$(od -An -v -td8 -w8 "$scratch/sums" | awk '$1 { n++ } END { print NR, n }')" = '1024 2' ]
verdict $? 'peer_limit reads with two threads'

# The Python scripts of the benchmark against peers.
peers=$bench/peers
python() { python3 -B "$@" >"$scratch/out" 2>"$scratch/err"; }
if python -c 'import hashlib, numpy; hashlib.file_digest'; then
    # A folder in which peers.sh finds its environment set up.
    venv=$scratch/top/build/peers-venv script=$(cd "$bench" && pwd)/peers.sh
    mkdir -p "$venv/bin"
    cp "$peers/requirements.txt" "$venv/installed.txt"
    printf '#!/bin/sh\nexec python3 "$@"\n' >"$venv/bin/python" && chmod +x "$venv/bin/python"
    peers() { (cd "$scratch/top" && sh "$script" "$xformc" "$@") >"$scratch/out" 2>"$scratch/err"; }
    peers --list && [ "$(grep -c ': against ' "$scratch/out")" -ge 30 ]
    verdict $? 'peers.sh lists its rows'
    ! grep -q 8b "$scratch/out" && peers --list --only decode-int4-8b && grep -q '^decode-int4-8b-t2 .*llama_8b int4, 2 threads: against llama.cpp$' "$scratch/out"
    verdict $? 'the row of make large is measured only by name'
    peers --print --name zen4 && grep -q '^| decode-f32-15m-t1 .* reached ' "$scratch/out"
    verdict $? 'peers.sh prints results that are kept'
    awk -F ' *[|] *' '$2 ~ /-t[0-9]$/ && $5 !~ /^(native|cp) / { split($6, x, " "); print x[1] }' "$scratch/out" >"$scratch/ratios"
    cmp "$bench/results/zen4.md" "$scratch/out" && [ "$(wc -l <"$scratch/ratios")" -ge 30 ] && sort -n -c "$scratch/ratios"
    verdict $? 'the lowest ratio comes first; the kept table is the one printed'
    cat >"$scratch/text.py" <<'END'
import json, sys
sys.path.insert(0, sys.argv[1])
import peers
for path in sys.argv[2:]:
    with open(path) as f:
        text = f.read()
    results = json.loads(text)
    assert peers.text_of(results) == text, path
    assert [json.loads(line.rstrip(",")) for line in text.splitlines()[-2 - len(results["rows"]):-2]] == results["rows"]
END
    python "$scratch/text.py" "$peers" "$bench"/results/*.json
    verdict $? 'the kept results are as peers.py writes them, one row a line'
    cat >"$scratch/sides.py" <<'END'
import sys
folder, xformc, root, expected = sys.argv[1:]
sys.path.insert(0, folder)
import rows, settings, sides
row = {r.name: r for r in rows.ROWS}
ours, reading = row["dates-b1-t1"], row["decode-f32-260k-t1"]
def answers(peer, r, choice):
    side = sides.Side(root, xformc, peer, r, choice)
    side.turn(0, 1)
    found = side.check()
    side.close()
    assert len(side.speeds) == 1
    return found
mine = answers(settings.OURS, ours, settings.defaults(settings.OURS, ours))
assert mine == open(expected, "rb").read()
assert len(answers(rows.READING, reading, {"bytes": 8192})) == 8192
END
    python "$scratch/sides.py" "$peers" "$xformc" "$scratch/top" "$scratch/expected"
    verdict $? 'sides.py compiles dates and peer_limit, and runs them'
    cat >"$scratch/commands.py" <<'END'
import os, sys
folder, xformc, root, gguf = sys.argv[1:]
sys.path.insert(0, folder)
import commands, models, rows, settings
try:
    models.gguf_file(root, "llama_8b", "Q4_0")
except SystemExit as e:
    print(e)
models.gguf_file = lambda *words, **more: gguf
commands.ONE_TOKEN[-1:] = ["--ids", "1"]        # it has no tokenizer
row = {r.work: r for r in rows.ROWS if r.work in rows.COMMANDS}
assert set(row) == set(rows.COMMANDS) == set(commands.OURS)
def timed(peer, r):
    side = commands.side(root, xformc, peer, r, {})
    side.turn(0, 1, counted=False)
    side.turn(0, 1)
    assert len(side.speeds) == 1 and 0 < side.speed() < 1e6
for r in row.values():
    timed(settings.OURS, r)
timed(rows.COPY, row["build"])
assert os.path.getsize(os.path.join(root, "copy")) == os.path.getsize(gguf)
assert os.listdir(os.path.join(root, "built", "runtime"))
try:
    commands.Command("nobody", {}, ["false"]).once()
except SystemExit as e:
    print(e)
END
    python "$scratch/commands.py" "$peers" "$xformc" "$scratch/top" "$PWD/tests/gguf/files/llama_q4_0.gguf" &&
        grep -qx 'nobody: false failed' "$scratch/out" && grep -q '/llama_8b.gguf does not exist; .make large. makes it$' "$scratch/out"
    verdict $? 'commands.py starts, runs and builds a file, and names a command that fails'
    cat "$scratch/err"
else
    for name in 'peers.sh lists its rows' 'the row of make large is measured only by name' 'peers.sh prints results that are kept' \
        'the kept results are as peers.py writes them, one row a line' \
        'sides.py compiles dates and peer_limit, and runs them' \
        'commands.py starts, runs and builds a file, and names a command that fails'; do
        echo "skip $name (no Python 3.11 with NumPy)"
    done
fi
