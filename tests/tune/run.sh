#!/bin/sh
# tags: slow
# `xformc tune` and `--tune`: the file it writes, the calls it changes in the emitted code,
# identical bits, files for other models and machines, damaged files, signals. No time is checked.
# usage: run.sh XFORMC
set -u
. tests/lib.sh
mkdir "$scratch/tmp"
quick_compilers
spec=tests/tune/gated.lua

# fails NAME CODE PATTERN COMMAND...: exits with CODE and prints nothing on stdout; PATTERN, as for
# `case`, matches all of stderr.
fails() {
    name=$1 code=$2 pattern=$3
    shift 3
    "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    found=$?
    message=$(cat "$scratch/err")
    case $message in $pattern) fits=1 ;; *) fits=0 ;; esac
    [ $found = "$code" ] && [ $fits = 1 ] && [ ! -s "$scratch/out" ]
    verdict $? "$name"
    echo "exit $found: $message"
}

# ---- writing a file ------------------------------------------------------------------------------

"$xformc" tune $spec -r 1 --seconds 0.02 -o "$scratch/made.lua" >"$scratch/out" 2>"$scratch/err"
[ $? = 0 ] && head -n 1 "$scratch/made.lua" | grep -q '^-- Measured by `xformc tune`; read by --tune FILE' && grep -q '^  model = "gated",$' "$scratch/made.lua"
verdict $? 'tune writes a file'
cat "$scratch/err"
"$xformc" compile $spec -q -o "$scratch/usual"
sed -n 's/^static inline void \(linear_[a-z0-9_]*\)(.*/\1/p' "$scratch/usual/gated_kernels.h" | grep -v '^linear_72x205_unbiased_rows$' | sort >"$scratch/wanted"     # logits of many rows are in no test
sed -n 's/^    \(linear_[a-z0-9_]*\) = { take = "[a-z0-9_]*", us = { usual = [0-9.]*.* } },$/\1/p' "$scratch/made.lua" | sort | diff "$scratch/wanted" -
[ $? = 0 ] && [ "$(wc -l <"$scratch/wanted")" -ge 8 ]
verdict $? 'every linear of the model has its time'
grep -Eq '^    linear_72x205_unbiased = .*usual = .*one_stream = .*panels_2 = .*panels_4 = ' "$scratch/made.lua" && ! grep -q abreast "$scratch/made.lua" &&
    grep -Eq '_rows = .*usual = .*rows_42 = .*rows_84 = .*wide_tile = .*no_prefetch = ' "$scratch/made.lua" &&
    ! awk '/^    linear/ { rows = $1 ~ /_rows$/; sub(/^ *[^ ]*/, ""); print rows, $0 }' "$scratch/made.lua" | grep -E '^1.*(panels_|stream)|^0.*(rows_|tile|prefetch)'
verdict $? 'each in every way that it can be cut'
grep -Eq '^  -- layers: default; us: pp120: default [0-9.]+, a loop over layers [0-9.]+; tg120: default [0-9.]+, a loop over layers [0-9.]+$' "$scratch/made.lua" &&
    grep -q '^linear_72x205_unbiased .*default [0-9.]* us;' "$scratch/out" && grep -q '^layers  *default, us: pp120: ' "$scratch/out"
verdict $? 'choices of the whole are reported in comments, and on standard output'
"$xformc" run $spec --tune "$scratch/made.lua" --ids --temp 0 -n 20 "1 2 3" >"$scratch/out" 2>"$scratch/err" && [ ! -s "$scratch/err" ] &&
    "$xformc" run $spec --ids --temp 0 -n 20 "1 2 3" | cmp - "$scratch/out"
verdict $? 'run reads it without a note'

"$xformc" compile $spec --max-len 64 --tune "$scratch/made.lua" -q -o "$scratch/shorter" 2>"$scratch/err" &&
    grep -q 'made.lua: note: measured for another build of gated: these choices may be slow here' "$scratch/err"
verdict $? 'another form of the model is reported'
cat "$scratch/err"

# A call of 84 rows is not divided into runs of 84.
"$xformc" tune $spec --max-len 84 -r 1 --seconds 0.001 -q -o "$scratch/few.lua" >/dev/null 2>"$scratch/err" && grep -q rows_42 "$scratch/few.lua" &&
    ! grep -q rows_84 "$scratch/few.lua"
verdict $? 'cuts of more rows than there are stay out'
cat "$scratch/err"

# An encoder that ends without a norm, and caches that grow with every run.
for other in tests/goldens/post_layer.lua 'tests/ops/steps.lua --allow-c'; do
    "$xformc" tune $other -r 1 --seconds 0.001 -q -o "$scratch/other.lua" >"$scratch/out" 2>"$scratch/err" && grep -q '^return xf.tune {' "$scratch/other.lua"
    verdict $? "tune ${other%% *}"
    cat "$scratch/err"
    rm -f "$scratch/other.lua"
done

# ---- changes in the code -------------------------------------------------------------------------

cat >"$scratch/all.lua" <<'END'
return xf.tune {
  model = "gated", dtype = "f32", machine = "another */ machine", threads = 3, layers = "loop",
  calls = {
    linear_72x144 = { take = "panels_2", us = { usual = 14.9, one_stream = 13, panels_2 = 12.3 } },
    linear_72x72_add = { take = "one_stream", us = { usual = 3 } },
    linear_72x200_unbiased_silu_gate_rows = { take = "rows_42", us = { usual = 14.9, rows_42 = 12.3, rows_84 = 13 } },
    linear_72x205_unbiased = { us = { usual = 7.25, panels_4 = 8 } },
    linear_72x144_rows = { take = "wide_tile", us = { usual = 40, wide_tile = 33, no_prefetch = 41 } },
  },
}
END
"$xformc" compile $spec --tune "$scratch/all.lua" -q -o "$scratch/tuned" 2>"$scratch/err"
grep -q 'all.lua: note: measured on another machine, another \*/ machine, not on ' "$scratch/err" && [ "$(wc -l <"$scratch/err")" = 1 ]
verdict $? 'another machine is reported'
cat "$scratch/err"
cat >"$scratch/wanted" <<'END'
> /* Tuned on another  / machine: the times of calls were measured there. */
> /* tuned: 42 rows at a time 12.3 us; default 14.9, 84 rows at a time 13 */
<     rt_linear_gate_f32(&shape, y + 208 * rows.begin, x + 80 * rows.begin, w, rt_count(rows), 0, 13);
>     for (int r = rows.begin; r < rows.end; r += 42)
>         rt_linear_gate_f32(&shape, y + 208 * r, x + 80 * r, w, rows.end - r < 42 ? rows.end - r : 42, 0, 13);
> /* tuned: 2 panels at a time 12.3 us; default 14.9, panel by panel 13 */
<     rt_linear_f32(&shape, y, x, w, 1, panels.begin, panels.end);
>     for (int p = panels.begin; p < panels.end; p += 2)
>         rt_linear_f32(&shape, y, x, w, 1, p, p + 2 < panels.end ? p + 2 : panels.end);
> /* tuned: wide tiles 33 us; default 40, without prefetch 41 */
<     static const RtLinear shape = { .in = 72, .out = 144, .x_stride = 80, .y_stride = 144, .has_bias = 1 };
>     static const RtLinear shape = { .in = 72, .out = 144, .x_stride = 80, .y_stride = 144, .has_bias = 1, .wide_tile = 1 };
> /* tuned: panel by panel; default 3 */
<     static const RtLinear shape = { .in = 72, .out = 72, .x_stride = 80, .y_stride = 80, .has_bias = 1 };
>     static const RtLinear shape = { .in = 72, .out = 72, .x_stride = 80, .y_stride = 80, .has_bias = 1, .one_stream = 1 };
> /* tuned: default 7.25 us; 4 panels at a time 8 */
END
# A broken line continues if the line before it ends in a comma.
whole() { awk '{ if (open) sub(/^ */, " "); printf "%s", $0; open = /,$/; if (!open) print "" }' "$1/gated_kernels.h" >"$1.whole"; }
whole "$scratch/usual" && whole "$scratch/tuned"
diff "$scratch/usual.whole" "$scratch/tuned.whole" | grep '^[<>]' | sort >"$scratch/found"
sort "$scratch/wanted" | diff - "$scratch/found"
verdict $? 'each tuned call has its times in a comment, and is cut; the rest is as before'
grep -q 'default_threads = 3,' "$scratch/tuned/gated_main.c" && grep -q 'for (int layer = 0; layer < 2; layer++)' "$scratch/tuned/gated.c" &&
    ! grep -q 'for (int layer' "$scratch/usual/gated.c"
verdict $? 'threads of the program, and a loop over layers'
"$xformc" compile $spec --tune "$scratch/all.lua" --unroll-layers on -q -o "$scratch/calls" 2>/dev/null && cmp "$scratch/usual/gated.c" "$scratch/calls/gated.c"
verdict $? 'the command line overrides the file'
for cc in gcc clang; do
    command -v $cc >/dev/null || continue
    $cc -std=c11 -fsyntax-only -Wall -Wextra -Werror -I "$scratch/tuned/runtime" "$scratch/tuned/gated.c" || echo "$cc reports errors or warnings"
done >"$scratch/found" 2>&1
[ ! -s "$scratch/found" ]
verdict $? 'gcc and clang find no fault with tuned text'
cat "$scratch/found"

# Native code is bit-identical: the vectors of an encoder, whose head has one row.
cat >"$scratch/vectors.lua" <<'END'
return xf.model { name = "vectors", kind = "encoder", layers = 1, heads = 2, d_model = 40, d_ff = 88, vocab = 50, max_len = 100, weights = "random",
  pooling = { "mean", "max" }, head_width = 72 }
END
"$xformc" tune "$scratch/vectors.lua" -r 1 -t 1 --seconds 0.02 -q -o "$scratch/vectors.tune.lua" 2>"$scratch/err"
sed -i -e 's/take = "usual", us = { usual = \([0-9.]*\), rows_42/take = "rows_42", us = { usual = \1, rows_42/' \
    -e 's/take = "usual", us = { usual = \([0-9.]*\), one_stream/take = "one_stream", us = { usual = \1, one_stream/' "$scratch/vectors.tune.lua"
seq 1 97 | tr '\n' ' ' | sed 's/[5-9][0-9]/7/g' >"$scratch/ids"
for engine in jit native; do
    "$xformc" run "$scratch/vectors.lua" --ids --raw --engine $engine --tune "$scratch/vectors.tune.lua" <"$scratch/ids" >"$scratch/$engine.f32" 2>>"$scratch/err"
done
"$xformc" run "$scratch/vectors.lua" --ids --raw <"$scratch/ids" >"$scratch/usual.f32"
[ "$(grep -c '"rows_42"' "$scratch/vectors.tune.lua")" -ge 4 ] && [ "$(wc -c <"$scratch/usual.f32")" -ge 288 ] && [ ! -s "$scratch/err" ] &&
    cmp "$scratch/usual.f32" "$scratch/jit.f32" && cmp "$scratch/usual.f32" "$scratch/native.f32"
verdict $? 'tuned code, in memory and native, gives the same bits'
cat "$scratch/err"

# At the prompt. XFORMC_DEBUG=4 shows the C.
cat >"$scratch/prompt" <<END
m = xf.compile("$spec", { tune = "$scratch/all.lua", tier = "jit", notes = false })
print(select(2, pcall(xf.compile, "$spec", { tune = "$scratch/absent.lua" })))
END
XFORMC_DEBUG=4 "$xformc" repl <"$scratch/prompt" >"$scratch/out" 2>"$scratch/err"
grep -q 'p += 2' "$scratch/err" && grep -q 'r += 42' "$scratch/err" && grep -q 'absent.lua: No such file or directory' "$scratch/out"
verdict $? 'xf.compile takes a file of times'
tail -n 3 "$scratch/out"

# ---- another model, another form -----------------------------------------------------------------

sed 's/model = "gated"/model = "other"/' "$scratch/all.lua" >"$scratch/other.lua"
"$xformc" compile $spec --tune "$scratch/other.lua" -q -o "$scratch/untuned" 2>"$scratch/err"
[ $? = 0 ] && grep -q 'other.lua: note: measured for another model, other: ignored$' "$scratch/err" && diff -r "$scratch/usual" "$scratch/untuned"
verdict $? 'what is of another model is reported, and not used'
"$xformc" compile $spec --tune "$scratch/all.lua" --dtype int8 -q -o "$scratch/int8" 2>"$scratch/err"
[ $? = 0 ] && grep -q 'measured for f32 weights, but these are int8: ignored' "$scratch/err" && ! grep -q 'tuned' "$scratch/int8/gated_kernels.h"
verdict $? 'of another dtype too'
cat >"$scratch/strange.lua" <<'END'
return xf.tune { calls = {
  linear_72x144 = { take = "panels_2" },
  linear_72x145 = { take = "one_stream" },
  linear_72x72_add = { take = "rows_42" } } }
END
"$xformc" compile $spec --tune "$scratch/strange.lua" -q -o "$scratch/strange" 2>"$scratch/err"
[ $? = 0 ] && grep -q 'strange.lua:3:3: note: this build of gated does not have the call linear_72x145, or cannot split it as the file says (ignored: 2 of 3 calls)$' "$scratch/err" &&
    [ "$(grep -c 'tuned:' "$scratch/strange/gated_kernels.h")" = 1 ]
verdict $? 'calls that the model does not have, or has in another form, are reported'
cat "$scratch/err"

# ---- faulty files --------------------------------------------------------------------------------

# fault NAME PATTERN TEXT: a file with this TEXT is an error that matches PATTERN.
fault() {
    printf '%s\n' "$3" >"$scratch/bad.lua"
    fails "$1" 65 "$2" "$xformc" compile $spec --tune "$scratch/bad.lua" -o "$scratch/none"
}
fault 'a file that is no Lua' '*bad.lua:2:*: error: *' 'return xf.tune {
  threads = = 2 }'
fault 'an unknown field' '*bad.lua:2:3: error: unknown field "thread"; did you mean "threads"??*' 'return xf.tune {
  thread = 2 }'
fault 'no number of threads' '*bad.lua:2:3: error: threads must be a whole number from 1 to 256, found 0
*' 'return xf.tune {
  threads = 0 }'
fault 'no form of layers' '*bad.lua:1:18: error: layers must be one of "calls", "loop"; found "loops"
*did you mean "loop"?' 'return xf.tune { layers = "loops" }'
fault 'no instruction set' '*bad.lua:1:18: error: isa = "avx3": there is no instruction set "avx3"; did you mean "avx2"??*' 'return xf.tune { isa = "avx3" }'
fault 'an unknown cut' '*bad.lua:3:5: error: linear_1x1: take must be one of "usual", *; found "panel_2"
*did you mean "panels_2"?' 'return xf.tune {
  calls = {
    linear_1x1 = { take = "panel_2" } } }'
fault 'a time of nothing' '*bad.lua:2:25: error: b: a time must be a number of microseconds above 0, found -1
*' 'return xf.tune { threads = 1,
  calls = { a = { },    b = { us = { usual = -1 } } } }'
fault 'a call that has something else' '*bad.lua:1:28: error: a: expected "take" or "us", found "times"
*' 'return xf.tune { calls = { a = { times = 1 } } }'
fault 'a call that is not a table' '*error: a must be { take = *, us = * }, found 3
*' 'return xf.tune { calls = { a = 3 } }'
fault 'a call that is given twice' '*bad.lua:3:3: error: a is given twice; first on line 2
*' 'return xf.tune { calls = {
  a = { },
  a = { } } }'
fault 'nothing returned' '*bad.lua: error: a tuning file must return xf.tune{*}; this one returns nothing' 'local x = xf.tune { }'
fault 'a spec in its place' '*bad.lua:1:*: error: unknown xf.model; a tuning file has only xf.tune
*' 'return xf.model { }'
fault 'a file that never ends' '*bad.lua:1:*: error: the tuning file ran more than *' 'while true do end'
fault 'a file that wants the system' "*bad.lua:1:*: error: *global 'io'*a tuning file's globals are *" 'io.open("x")'
[ ! -e "$scratch/none" ]
verdict $? 'none of them left a folder'
fails 'a file that is not there' 66 '*cannot open *absent.lua: No such file or directory' "$xformc" run $spec --tune "$scratch/absent.lua" 1
fails 'a tune file as a spec' 65 '*made.lua:2:*: error: xf.tune belongs in a tuning file, which is passed with --tune; *' "$xformc" run "$scratch/made.lua" 1
case $(uname -m) in x86_64) far=neon ;; *) far=avx512 ;; esac
echo "return xf.tune { isa = \"$far\" }" >"$scratch/far.lua"
fails 'instructions of another processor' 69 "*far.lua:1:*: error: xformc has no kernels for $far, or this processor cannot run them*" "$xformc" run $spec --tune "$scratch/far.lua" 1
fails 'unrolled kernels are not those that were measured' 2 '*--tune needs --kernels=library*' "$xformc" compile $spec --kernels unrolled --tune "$scratch/all.lua"
echo 'something of mine' >"$scratch/mine"
fails "somebody else's file" 65 '*mine: error: not a tuning file, so it was left unchanged' "$xformc" tune $spec -o "$scratch/mine"
[ "$(cat "$scratch/mine")" = 'something of mine' ]
verdict $? 'it stays as it is'
fails 'a folder in its place' 74 '*error: this is a folder; choose a file with --output' "$xformc" tune $spec -o "$scratch/tmp"
fails 'a place that is none' 74 '*absent*' "$xformc" tune $spec -q -r 1 -t 1 --seconds 0.02 -o "$scratch/absent/x.lua"

# ---- signals -------------------------------------------------------------------------------------

# On a terminal, `tune` shows that it is measuring. All rounds would take an hour.
mkdir "$scratch/stopped"
cp "$scratch/made.lua" "$scratch/stopped/kept.lua"
pty=$(dirname "$xformc")/tests/repl/pty
name='a signal leaves no file, and the one that was there as it was'
printf '%s\n' '? , linears: ' "! kill -s TERM \"\$(cat '$scratch/id')\"" >"$scratch/script"
for file in new kept; do
    TERM=xterm PTY_ENDS=143 "$pty" "$scratch/script" sh -c 'echo $$ >"$0"; exec "$@"' "$scratch/id" \
        "$xformc" tune $spec -r 1000 -o "$scratch/stopped/$file.lua"
    echo "pty: $?"
done >"$scratch/found"
if grep -q 'pty: 77' "$scratch/found"; then skip "$name" 'no pseudo-terminals'; exit; fi
[ "$(grep -c 'pty: 0' "$scratch/found")" = 2 ] && [ "$(ls -A "$scratch/stopped")" = kept.lua ] &&
    cmp "$scratch/made.lua" "$scratch/stopped/kept.lua"
verdict $? "$name"
cat "$scratch/found"
