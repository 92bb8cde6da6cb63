#!/bin/sh
# The command line of xformc: help, usage, files and tools that are not there, run and verify of the specs.
xformc=$1 top=$PWD
tools=$(dirname "$xformc")/tests/cli
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT || exit 74
verdict() { if [ "$1" = 0 ]; then echo "ok $2"; else echo "not ok $2"; fi; }
skip() { echo "skip $1 ($2)"; }
unset MAKEFLAGS MFLAGS MAKELEVEL

# fails NAME CODE PATTERN COMMAND...: nothing on stdout, and all of stderr fits a pattern as those of `case`.
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

# ---- help and usage -----------------------------------------------------------------------------------------------

"$xformc" --help >"$scratch/out" 2>"$scratch/err" && [ "$(head -n 1 "$scratch/out")" = Examples: ] && [ ! -s "$scratch/err" ] &&
    "$xformc" -h | cmp - "$scratch/out"
verdict $? '--help begins with examples, on stdout'
missing=$(for word in compile build run verify ops --output --engine --cc --isa --threads --slots --weights \
    --taps --input --against --json --dump --quiet --verbose; do
    grep -q -e "$word" "$scratch/out" || echo "$word"; done)
[ -z "$missing" ]
verdict $? '--help has every command and option'
echo "missing: $missing"
for command in compile build run verify ops; do
    "$xformc" $command --help >"$scratch/out" 2>"$scratch/err" && grep -q "^Usage: xformc $command" "$scratch/out" && [ ! -s "$scratch/err" ]
    verdict $? "$command --help"
done
[ "$("$xformc" --version | head -n 1)" = 'xformc 0.1.0' ]
verdict $? '--version'
fails 'no command' 2 'Examples:*' "$xformc"
fails 'an unknown command' 2 "xformc: there is no command 'frobnicate'
xformc: try 'xformc --help'" "$xformc" frobnicate
fails 'a misspelt command' 2 "*no command 'biuld'; did you mean 'build'??*" "$xformc" biuld x
fails 'a misspelt option' 2 '*no option --slost*; did you mean *slots*' "$xformc" compile x --slost=3
fails 'an unknown letter' 2 '*no option -z*' "$xformc" -z
fails 'an option without its argument' 2 '*-o needs an argument*' "$xformc" compile x -o
fails 'a long option without its argument' 2 '*--engine needs an argument*' "$xformc" run x --engine
fails 'a command without its spec' 2 '*run needs a SPEC*' "$xformc" run
fails 'a word too many' 2 "*'b' is one word too many*" "$xformc" compile a b
fails 'a misspelt engine' 2 '*expected native, generic; did you mean *native*' "$xformc" run x --engine nativ
fails 'an unknown instruction set' 2 '*--isa sse: expected native, portable, avx512*' "$xformc" build x --isa sse
fails 'an unknown form of weights' 2 '*--weights embd: expected embed, file*' "$xformc" build x --weights embd
fails 'an unknown dump' 2 '*--dump z: expected letters*' "$xformc" compile x -d z
for bad in 0 17 -1 two 3x ''; do fails "--threads '$bad'" 2 '*expected a whole number from 1 to 16' "$xformc" run x "--threads=$bad"; done
for bad in 0 4097; do fails "--slots $bad" 2 '*expected a whole number from 1 to 4096' "$xformc" compile x --slots $bad; done
"$xformc" ops >"$scratch/out" && [ "$(grep -c '^[a-z]' "$scratch/out")" -ge 10 ] && grep -q '^attention  *attention(q' "$scratch/out" &&
    grep -q 'In an xf.graph: input, param, name, output, matmul' "$scratch/out"
verdict $? 'ops lists the operations'

# ---- files --------------------------------------------------------------------------------------------------------

fails 'a missing spec' 66 'error: cannot open *none.lua: No such file or directory' "$xformc" compile "$scratch/none.lua"
fails 'a folder as spec' 66 '*is a folder, not a file' "$xformc" run "$scratch"
: >"$scratch/empty.lua"
fails 'an empty spec' 65 '*error:*' "$xformc" compile "$scratch/empty.lua"
echo 'return xf.model { name = "x", d_model = 10, heads = 3, source_vocab = 5, target_vocab = 5, weights = "random" }' >"$scratch/bad.lua"
fails 'a spec that cannot be' 65 '*bad.lua:1:*: error: d_model (10) is not divisible by heads (3)
*^*' "$xformc" verify "$scratch/bad.lua"
: >"$scratch/file"
fails '-o is a file' 74 '*cannot make folder *File exists' "$xformc" compile specs/dates.lua -o "$scratch/file"
fails '-o below a file' 74 '*cannot make folder *' "$xformc" compile specs/dates.lua -o "$scratch/file/sub"
fails '-o in /proc' 74 '*cannot make folder /proc/nowhere*' "$xformc" compile specs/dates.lua -o /proc/nowhere
mkdir -p "$scratch/taken/dates.c"
fails 'a folder stands where a file goes' 74 '*error:*dates.c*' "$xformc" compile specs/dates.lua -q -o "$scratch/taken"
[ -z "$(find "$scratch/taken" -name '*.tmp*' -o -name '*XXXX*')" ] && ! ls "$scratch/taken" | grep -v '^runtime$' | grep -v '^dates'
verdict $? 'and nothing half written stays behind'

"$xformc" compile specs/dates.lua -o "$scratch/quiet" -q >"$scratch/out" 2>&1 && [ ! -s "$scratch/out" ]
verdict $? '-q says nothing'
(cd "$scratch" && "$xformc" compile "$top/specs/self_attention.lua" >"$scratch/out" 2>"$scratch/err") &&
    [ -e "$scratch/self_attention/self_attention.c" ] &&
    [ ! -s "$scratch/out" ] && [ "$(cat "$scratch/err")" = 'self_attention: C for self_attention' ]
verdict $? 'without -o the folder has the name of the model'
"$xformc" compile specs/dates.lua -q -o "$scratch/quiet" -d c 2>"$scratch/err" && cmp "$scratch/err" "$scratch/quiet/dates.c"
verdict $? '-d c shows the C text'
"$xformc" compile specs/dates.lua -q -o "$scratch/quiet" -d m 2>"$scratch/err" && grep -q dates "$scratch/err"
verdict $? '-d m shows the model'

# ---- tools --------------------------------------------------------------------------------------------------------

one_line() { [ "$(wc -l <"$scratch/err")" = 1 ]; }
for command in build run verify; do
    fails "$command with a compiler that is not there" 69 "error: the C compiler 'nosuch' is not installed" \
        "$xformc" $command specs/self_attention.lua $([ $command = build ] && echo "-q -o $scratch/b") --cc nosuch
    one_line
    verdict $? 'in one line'
    fails "$command with a compiler that fails" 69 '*error: false did not build *; see above' \
        "$xformc" $command specs/self_attention.lua $([ $command = build ] && echo "-q -o $scratch/b") --cc false
done
mkdir "$scratch/bin"
ln -s "$(command -v cc)" "$scratch/bin/cc"
fails 'no make on the PATH' 69 "error: the build tool 'make' is not installed" env PATH="$scratch/bin" "$xformc" run specs/self_attention.lua
fails 'TMPDIR is not there' 74 '*cannot make a temporary folder *' env TMPDIR="$scratch/none" "$xformc" run specs/self_attention.lua
mkdir "$scratch/tmp"
TMPDIR=$scratch/tmp "$xformc" run specs/self_attention.lua >/dev/null &&
    TMPDIR=$scratch/tmp "$xformc" run specs/self_attention.lua --cc false >/dev/null 2>&1
[ -z "$(ls -A "$scratch/tmp")" ]
verdict $? 'no temporary folder stays behind'

for command in --help --version ops 'run specs/self_attention.lua --engine generic'; do
    "$xformc" $command >/dev/full 2>"$scratch/err"
    [ $? = 74 ] && [ -s "$scratch/err" ]
    verdict $? "a full disk: $command"
done

# ---- run: numbers --------------------------------------------------------------------------------------------------

cat >"$scratch/numbers" <<'END'
W_Q [4, 3]
     1.00000    0.00000    1.00000
     1.00000    0.00000    0.00000
     0.00000    1.00000    0.00000
     0.00000    1.00000    1.00000
W_K [4, 3]
     0.00000    1.00000    1.00000
     1.00000    0.00000    1.00000
     0.00000    1.00000    0.00000
     1.00000    0.00000    0.00000
W_V [4, 3]
     0.00000    0.00000    1.00000
     1.00000    1.00000    0.00000
     0.00000    1.00000    0.00000
     1.00000    0.00000    1.00000
X [3, 4]
     1.00000    0.00000    1.00000    0.00000
     0.00000    2.00000    0.00000    2.00000
     1.00000    1.00000    1.00000    1.00000
Q [3, 3]
     1.00000    1.00000    1.00000
     2.00000    2.00000    2.00000
     2.00000    2.00000    2.00000
K [3, 3]
     0.00000    2.00000    1.00000
     4.00000    0.00000    2.00000
     2.00000    2.00000    2.00000
V [3, 3]
     0.00000    1.00000    1.00000
     4.00000    2.00000    2.00000
     2.00000    2.00000    2.00000
scores [1, 3, 3]
     3.00000    6.00000    6.00000
     6.00000   12.00000   12.00000
     6.00000   12.00000   12.00000
weights [1, 3, 3]
     0.08127    0.45936    0.45936
     0.01541    0.49230    0.49230
     0.01541    0.49230    0.49230
Z [3, 3]
     2.75619    1.91873    1.91873
     2.95377    1.98459    1.98459
     2.95377    1.98459    1.98459
END
tensors() { printf '%b' "\\$(printf %03o ${#1})\\0\\0\\0\\0\\0\\0\\0$1"; }      # the head of a safetensors file of under 256 bytes
ones() { i=0; while [ $i -lt "$1" ]; do printf '\000\000\200\077'; i=$((i + 1)); done; }
{ tensors '{"X":{"dtype":"F32","shape":[3,4],"data_offsets":[0,48]}}'; ones 12; } >"$scratch/ones"
{ tensors '{"X":{"dtype":"F32","shape":[4,3],"data_offsets":[0,48]}}'; ones 12; } >"$scratch/turned"
{ tensors '{"X":{"dtype":"I32","shape":[3,4],"data_offsets":[0,48]}}'; ones 12; } >"$scratch/integers"
{ tensors '{"Y":{"dtype":"F32","shape":[3,4],"data_offsets":[0,48]}}'; ones 12; } >"$scratch/other"
{ tensors '{"X":{"dtype":"F32","shape":[3,4],"data_offsets":[0,48]}}'; ones 11; } >"$scratch/cut"
for engine in native generic; do
    "$xformc" run specs/self_attention.lua --engine $engine | diff "$scratch/numbers" -
    verdict $? "run $engine prints the numbers of the worked example"
    # rows of ones: every Q is two, K three, V two, so Z is V whatever the weights
    "$xformc" run specs/self_attention.lua --engine $engine --input "X=$scratch/ones" >"$scratch/out" &&
        [ "$(grep -A 1 '^Q ' "$scratch/out" | tail -n 1 | tr -s ' ')" = ' 2.00000 2.00000 2.00000' ] &&
        [ "$(grep -A 1 '^Z ' "$scratch/out" | tail -n 1 | tr -s ' ')" = "$(grep -A 1 '^V ' "$scratch/out" | tail -n 1 | tr -s ' ')" ] &&
        [ "$(grep -A 1 '^weights ' "$scratch/out" | tail -n 1 | tr -s ' ')" = ' 0.33333 0.33333 0.33333' ]
    verdict $? "run $engine takes another X"
    [ "$("$xformc" run specs/dates.lua --engine $engine '3rd of May 2019' 2093-10-06)" = '2019-05-03
2093-10-06' ]
    verdict $? "run $engine answers texts"
    "$xformc" run specs/self_attention.lua --engine $engine --json >"$scratch/json" && "$tools/json_keys" run <"$scratch/json"
    verdict $? "run $engine --json"
done
fails '--input without a file' 2 '*--input X: expected NAME=FILE' "$xformc" run specs/self_attention.lua --input X
fails '--input of no input' 2 '*--input Q=f: the graph has no such input
*input X ?3, 4?' "$xformc" run specs/self_attention.lua --input Q=f
fails '--input from no file' 66 '*cannot open *' "$xformc" run specs/self_attention.lua --input "X=$scratch/none"
fails '--input of another shape' 65 '*turned: error: X must be ?3, 4? of floating-point numbers' \
    "$xformc" run specs/self_attention.lua --input "X=$scratch/turned"
fails '--input of integers' 65 '*integers: error: X must be ?3, 4? of floating-point numbers' \
    "$xformc" run specs/self_attention.lua --input "X=$scratch/integers"
fails '--input from a file without it' 65 '*other: error: no tensor is called X' \
    "$xformc" run specs/self_attention.lua --input "X=$scratch/other"
fails '--input from a cut file' 65 '*error:*' "$xformc" run specs/self_attention.lua --input "X=$scratch/cut"
fails '--input from a spec' 65 '*error:*' "$xformc" run specs/self_attention.lua --input X=specs/dates.lua

printf '3rd of May 2019\n\n2093-10-06\r\n9/9/99' | "$xformc" run specs/dates.lua --engine generic >"$scratch/out" 2>"$scratch/err"
[ $? = 65 ] && [ "$(cat "$scratch/out")" = '2019-05-03

2093-10-06
1999-09-09' ] && grep -q '"": empty' "$scratch/err"
verdict $? 'run answers the lines of stdin'
cat "$scratch/out" "$scratch/err"
"$xformc" run specs/dates.lua --engine generic "3rd of May 2019" "x€" >"$scratch/out" 2>"$scratch/err"
[ $? = 65 ] && grep -q 'the character U+20AC at byte 2 is not in the vocabulary' "$scratch/err"
verdict $? 'run names a character without an id'
fails 'run needs a tokenizer for texts' 69 '*awkward has no tokenizer, so it cannot answer texts*' "$xformc" run tests/goldens/awkward.lua x
"$xformc" run specs/dates.lua --engine generic -v '3rd of May 2019' 2>&1 >/dev/null | grep -q '^2019-05-03: sum of log-probabilities -0\.'
verdict $? 'run -v tells the sum of log-probabilities'
