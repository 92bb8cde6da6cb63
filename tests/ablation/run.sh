#!/bin/sh
# tags: slow noasan
# `xformc bench --ablate`: one row for each step and test, as JSON, tables and pictures. The f32
# forms agree. The command says what it left out, and rejects wrong options. No time is checked.
# usage: run.sh XFORMC
set -u
. tests/lib.sh
quick_compilers
quick='-r 2 --seconds 0.02 -q'
shown="$scratch/out $scratch/err"
ablate() { "$xformc" bench "$@" --ablate $quick >"$scratch/out" 2>"$scratch/err"; }

# member KEY: the values of KEY in the JSON lines on stdin, one per line, without quotes.
member() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p"; }
steps() { sed '/"rows":/,$d' "$scratch/out"; }
rows() { sed -n '/"rows":/,/"left_out":/p' "$scratch/out" | grep '"test":'; }
# of STEP KEY: the value of KEY in that step.
of() { steps | grep "\"step\":\"$1\"" | member "$2"; }

all='generic
constant shapes
tiles
vectors
fusion
threads
bf16
int8
int4'

mkdir -m 700 "$scratch/cache"
XFORMC_CACHE="$scratch/cache" ablate specs/dates.lua -t 2 --json -o "$scratch/chart.svg" --report "$scratch/page.html"
verdict $? 'the steps of dates are measured'
same "$all" "$(steps | member step)"
verdict $? 'they are these, in this order'
for test in enc dec; do
    same "$all" "$(rows | grep "\"test\":\"$test\"" | member step)"
    verdict $? "$test: a row for each step"
done
same '1 1 1 1 1 2 2 2 2' "$(steps | member n_threads | tr '\n' ' ' | sed 's/ $//')" &&
    same 'f32 f32 f32 f32 f32 f32 bf16 int8 int4' "$(steps | member dtype | tr '\n' ' ' | sed 's/ $//')" &&
    same 'false false false false true true true true true' "$(steps | member fused | tr '\n' ' ' | sed 's/ $//')"
verdict $? 'threads, dtypes and fusion begin at their steps'
steps | sed 's/.*"step":"\([^"]*\)".*"distance":\([^}]*\)}.*/\2 \1/' |
    awk 'NR == 1 { bad += $1 != "null" } NR > 1 && NR <= 4 { bad += !($1 > 0 && $1 <= 1e-5) }
        NR == 5 || NR == 6 { bad += $1 != 0 } NR > 6 { bad += !($1 > 0 && $1 < 0.2) } END { exit bad || NR != 9 }'
verdict $? 'forms of f32 agree, with the same bits from vectors on; dtypes differ'
[ "$(of 'constant shapes' code_bytes)" != "$(of tiles code_bytes)" ] && [ "$(of generic code_bytes)" = null ] &&
    [ "$(of int4 weights_bytes)" -lt "$(of int8 weights_bytes)" ] && [ "$(of int8 weights_bytes)" -lt "$(of bf16 weights_bytes)" ]
verdict $? 'sizes of code and of weights are those of each step'
# In the empty cache, `threads` finds the library that `fusion` added.
[ "$(of fusion compile_ns)" != null ] && [ "$(of threads compile_ns)" = null ] &&
    same "$(of fusion code_bytes)" "$(of threads code_bytes)"
verdict $? 'a library from the cache has as much code as when it was compiled'
rows | awk '{ bytes = $0; sub(/.*"bytes":/, "", bytes); ratio = $0; sub(/.*"ratio_before":/, "", ratio); samples = $0
        sub(/.*"samples_ns":\[/, "", samples); bad += split(samples, s, ",") < 2 || bytes + 0 <= 0
        bad += /"step":"generic"/ ? ratio !~ /^null/ : ratio + 0 <= 0 } END { exit bad || NR != 18 }'
verdict $? 'a row has its bytes, its ratio to the step before and a sample for each repetition'
grep -q '"left_out":\["emitted C with shapes at run time' "$scratch/out"
verdict $? 'what would need an engine of its own is reported'
head -c 4 "$scratch/chart.svg" | grep -q '<svg' && [ "$(grep -o '× [0-9.]*</text>' "$scratch/chart.svg" | wc -l)" = 16 ]
verdict $? 'the picture has a factor for each step but the first'
grep -q 'stroke="#e2e8f0"' "$scratch/chart.svg" && grep -q 'font-size="11"[^>]*>[0-9,.]*</text>' "$scratch/chart.svg"
verdict $? 'its axis has lines and numbers'
[ "$(head -n 1 "$scratch/page.html")" = '<!DOCTYPE html>' ] && [ "$(tail -n 1 "$scratch/page.html")" = '</html>' ] &&
    [ "$(grep -c '^<tr.*<td>dec</td>' "$scratch/page.html")" = 9 ] && [ "$(grep -c '</svg>' "$scratch/page.html")" = 2 ] &&
    ! grep -E '(src|href)=|url\((http|/)|@import' "$scratch/page.html"
verdict $? 'the page has the rows and two widths of the picture, and stands alone'

# The smallest models allowed: plain C of large ones takes a long time to compile and to run.
small() {
    cat >"$scratch/$1.lua" <<END
return xf.model { name = "$1", kind = "$1", layers = 1, heads = 2, d_model = 16, d_ff = 16, vocab = 20, max_len = 24,
  weights = "random" }
END
    ablate "$scratch/$1.lua" -t 1 --json && same "$2" "$(rows | member test | sort -u | tr '\n' ' ' | sed 's/ $//')"
    verdict $? "$3"
}
small encoder 'b1x16 b8x16' 'an encoder: one sentence and eight'
small decoder 'pp24 tg24' 'a decoder: a prompt and generating'

ablate specs/self_attention.lua -t 1
verdict $? 'the tables of an xf.graph'
[ "$(grep -c '^| fusion ' "$scratch/out")" = 2 ] && ! grep -q '^| threads ' "$scratch/out" &&
    grep -q '^- threads: only one processor is available, or only one thread was requested\.$' "$scratch/out"
verdict $? 'one thread: that step is left out'
! grep -q '^| int8 ' "$scratch/out" && grep -q '^- dtypes: an xf.graph sets its own\.$' "$scratch/out"
verdict $? 'an xf.graph has no steps of dtypes'
grep -q '^| step  *| what is new  *|  *code |  *compile |  *weights |  *distance |$' "$scratch/out" &&
    grep -q '^| step  *|  *t/s | vs before | vs generic |  *FLOPs/t |  *bytes/t | limit |$' "$scratch/out"
verdict $? 'they have these columns'

ablate specs/self_attention.lua -t 1 --isa portable
[ $? = 0 ] && grep -q '^| fusion ' "$scratch/out" && ! grep -q '^| vectors ' "$scratch/out" &&
    grep -q '^- vectors: --isa portable has only those of tiles\.$' "$scratch/out"
verdict $? 'portable C has no step of vectors'
grep -qx 'constant shapes: native unrolled, portable; tiles to fusion: native, portable\.' "$scratch/out" &&
    grep -q 'generic: each operation is a call of OpenBLAS or a loop\. native: ' "$scratch/out" && grep -q 'unrolled: plain C' "$scratch/out"
verdict $? 'below the tables: what each step runs on'
# Two repetitions differ, but each step does the same work for a token.
[ "$(awk -F '|' 'NF == 9 && $6 ~ /[0-9]/ { print $6, $7 }' "$scratch/out" | sort -u | wc -l)" = 1 ]
verdict $? 'all steps of f32 have the same FLOPs and bytes'
name='more threads than processors: a note'
if [ "$(nproc)" -lt 16 ]; then
    "$xformc" bench "$scratch/encoder.lua" --ablate -r 1 --seconds 0.01 -t 16 >"$scratch/out" 2>"$scratch/err" &&
        grep -Eq "^note: bench: 16 threads share $(nproc) processors?\$" "$scratch/err"
    verdict $? "$name"
else skip "$name" 'at least 16 processors'; fi
name='the vectors of another instruction set are named'
if grep -qw avx2 /proc/cpuinfo 2>/dev/null; then
    ablate specs/self_attention.lua -t 1 --isa avx2 && grep -q '^| vectors  *| the vectors of --isa avx2 ' "$scratch/out"
    verdict $? "$name"
else skip "$name" 'no AVX2'; fi

for option in '--dtype int8' '--engine jit' '--roofline FILE.svg' '--format csv'; do
    ablate specs/dates.lua $option
    [ $? = 2 ] && grep -q "^xformc: ${option%% *} has no effect with --ablate" "$scratch/err" && [ ! -s "$scratch/out" ]
    verdict $? "$option ends with 2"
done
ablate specs/dates.lua -o "$scratch/absent/chart.svg"
[ $? = 74 ] && grep -q 'absent/chart.svg' "$scratch/err" && [ ! -s "$scratch/out" ]
verdict $? 'a picture that cannot be written: 74, before anything is measured'
