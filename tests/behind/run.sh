#!/bin/sh
# Programs with more than 64 MiB of weights, which are appended to the executable: where the weights
# are; that a folder holds them only once; answers; --check; another program as --weights; stripped,
# truncated and moved programs; weights larger than memory; running make again, with and without the
# weights file; libraries and the example.
# usage: run.sh XFORMC
. tests/lib.sh
quick_compilers
cat >"$scratch/wide.lua" <<END
return xf.model { name = "wide", kind = "decoder", layers = 1, heads = 8, d_model = 1024, d_ff = 1024, vocab = 17000, max_target = 32,
                  position = "none", weights = "random", dtype = "bf16" }
END
folder=$scratch/wide program=$scratch/wide/wide
if [ "$(uname -s)" != Linux ]; then
    skip 'weights behind a program' 'a program finds its own file only on Linux'
    exit 0
fi
expected=$("$xformc" run "$scratch/wide.lua" --ids -n 5 --temp 0 '7 8 9') && [ "$(printf %s "$expected" | wc -w)" = 5 ] || exit 74
answers() { same "$expected" "$("$@" --ids -n 5 --temp 0 '7 8 9' 2>"$scratch/err")"; }

"$xformc" build "$scratch/wide.lua" -q -o "$folder" >"$scratch/out" 2>&1
verdict $? 'a program of more than 64 MiB of weights is built'
cat "$scratch/out"
[ ! -e "$program.safetensors" ] && [ ! -e "${program}_weights.o" ] && [ "$(find "$folder" -size +4096k | wc -l)" = 1 ]
verdict $? 'its folder holds the weights once'
footer=$(tail -c 32 "$program") && bytes=$((0x${footer#xformc weights })) && size=$(wc -c <"$program") &&
    [ $bytes -gt 67108864 ] && [ $(((size - 32 - bytes) % 2097152)) = 0 ] && [ $((size - 32 - bytes)) -le 2097152 ]
verdict $? 'from a multiple of 2 MB on, and a footer says how many bytes'
tail -c $((bytes + 32)) "$program" | head -c "$bytes" >"$scratch/weights"
"$xformc" pack "$scratch/wide.lua" -q -o "$scratch/packed" && cmp "$scratch/weights" "$scratch/packed"
verdict $? 'they are what pack writes'
answers "$program"; verdict $? 'it answers'
"$program" --check >"$scratch/out" && "$program" --selftest >>"$scratch/out" && grep -q 'the weights are intact' "$scratch/out" && grep -q 'self-test ok' "$scratch/out"
verdict $? '--check and --selftest'
(cd "$scratch" && cp "$program" elsewhere && PATH=$scratch:$PATH && answers elsewhere && rm elsewhere)
verdict $? 'copied to another place and found on the PATH'
yes '7 8 9' | head -n 40 | "$program" --ids -n 5 --temp 0 >"$scratch/out" && [ "$(sort -u "$scratch/out")" = "$expected" ] && [ "$(wc -l <"$scratch/out")" = 40 ]
verdict $? 'even when its weights were copied into pages of 2 MB'

if cc -shared -fPIC -std=c11 -D_GNU_SOURCE -O1 -o "$scratch/small.so" tests/behind/programs/small_memory.c -ldl 2>"$scratch/log"; then
    LD_PRELOAD=$scratch/small.so answers "$program" && grep -q '^wide: 0\.1 GiB of weights exceed 0\.0 GiB of memory: they are read from the file repeatedly$' "$scratch/err"
    verdict $? 'weights that memory does not hold are mapped, with one line'
    cat "$scratch/err"
else
    skip 'weights that memory does not hold are mapped, with one line' 'no library for LD_PRELOAD can be made'
fi

# ---- weights elsewhere ---------------------------------------------------------------------------

sed 's/name = "wide"/name = "beside"/' "$scratch/wide.lua" >"$scratch/beside.lua"
"$xformc" build "$scratch/wide.lua" --weights file -q -o "$scratch/file" >"$scratch/out" 2>&1 && [ -e "$scratch/file/wide.safetensors" ] &&
    [ "$(wc -c <"$scratch/file/wide")" -lt 1000000 ] && answers "$scratch/file/wide"
verdict $? '--weights file: they stay beside it'
rm "$scratch/file/wide.safetensors" && answers "$scratch/file/wide" --weights "$program"
verdict $? 'a program is a file of weights to another'
answers "$program" --weights "$scratch/weights"; verdict $? 'and --weights takes a file'
make -s -C "$folder" libwide.a example >"$scratch/out" 2>&1 && [ "$(wc -c <"$folder/libwide.a")" -lt 1000000 ] &&
    (cd "$folder" && ./example >"$scratch/out") && [ "$(wc -w <"$scratch/out")" -gt 5 ]
verdict $? 'the library has none; the example reads those of the program'
ln -s "$scratch/weights" "$folder/wide.safetensors" && (cd "$folder" && cc -std=c11 -U__linux__ -Iruntime -o elsewhere example.c libwide.a -lm -pthread &&
    ./elsewhere | cmp - "$scratch/out")
verdict $? 'where weights are not appended to programs, it reads those of the file'
rm -f "$folder/example"* "$folder/elsewhere" "$folder/wide.safetensors"

# broken NAME CODE PATTERN: without its weights the program exits with CODE and prints PATTERN on
# stderr.
broken() {
    "$scratch/broken/wide" --ids -n 5 --temp 0 '7 8 9' >"$scratch/out" 2>"$scratch/err"
    found=$?
    [ $found = "$2" ] && [ ! -s "$scratch/out" ] && grep -q "$3" "$scratch/err" || { echo "exit $found"; cat "$scratch/err"; false; }
    verdict $? "$1"
}
gone='^wide: the program does not contain them: it was stripped, truncated or extended, or cannot read its own file$'
mkdir "$scratch/broken"
cp "$program" "$scratch/broken" && truncate -s -1 "$scratch/broken/wide" && broken 'one that was cut says so' 66 "$gone"
head -c 1000000 "$program" >"$scratch/broken/wide" && broken 'also one without any' 66 "$gone"
if has strip; then
    cp "$program" "$scratch/broken/wide" && strip "$scratch/broken/wide" && broken 'one that was stripped' 66 "$gone"
else
    skip 'one that was stripped' 'no strip'
fi
cp "$scratch/weights" "$scratch/broken/wide.safetensors" && answers "$scratch/broken/wide"
verdict $? 'a file beside it is taken then'
rm "$scratch/broken/wide.safetensors"
{ head -c $((size - 32 - bytes)) "$program"; head -c 2097152 /dev/zero; printf 'xformc weights %016x\n' 2097152; } >"$scratch/broken/wide"
broken 'weights of the wrong size' 66 "$gone"
{ head -c $((size - 32 - bytes)) "$program"; head -c "$bytes" /dev/zero; printf 'xformc weights %016x\n' "$bytes"; } >"$scratch/broken/wide"
broken 'weights of another model' 65 '^wide: the embedded weights: '
cp "$program" "$scratch/broken/wide" && echo >>"$scratch/broken/wide" && broken 'one with more behind it' 66 "$gone"
answers "$program" --weights "$scratch/none"
[ $? != 0 ] && [ "$(cat "$scratch/err")" = "wide: cannot read the weights $scratch/none: No such file or directory" ]
verdict $? 'a file that is missing is not the fault of the program'
(ulimit -v 65536 && "$program" --ids -n 1 7 >"$scratch/out" 2>"$scratch/err")
[ $? = 69 ] && grep -q "^wide: cannot map the program's weights, $bytes bytes: " "$scratch/err"
verdict $? 'weights for which there is no address space'
cat "$scratch/err"

# ---- make again ----------------------------------------------------------------------------------

before=$(stat -c '%i %y' "$program") && make -s -C "$folder" && [ "$(stat -c '%i %y' "$program")" = "$before" ]
verdict $? 'make has nothing to do'
touch "$folder/wide_main.c" && make -s -C "$folder" >"$scratch/out" 2>&1 && answers "$program" && [ "$(wc -c <"$program")" = "$size" ]
verdict $? 'linked again, it keeps its weights'
cat "$scratch/out"
cp "$scratch/weights" "$program.safetensors" && make -s -C "$folder" >"$scratch/out" 2>&1 && answers "$program" && [ "$(wc -c <"$program")" = "$size" ] && rm "$program.safetensors"
verdict $? 'with a file of weights it takes those'
"$xformc" build "$scratch/wide.lua" -q -o "$folder" >"$scratch/out" 2>&1 && answers "$program" && [ ! -e "$program.safetensors" ]
verdict $? 'built again'
make -s -C "$folder" clean >"$scratch/out" 2>&1 && [ ! -e "$program" ] && cmp "$scratch/weights" "$program.safetensors" && ! ls "$folder" | grep -q '[.]new$'
verdict $? 'make clean takes the weights from the program first'
make -s -C "$folder" wide >>"$scratch/out" 2>&1 && answers "$program" && echo x >>"$program" && make -s -C "$folder" clean && cmp "$scratch/weights" "$program.safetensors"
verdict $? 'they are there to make it again, and stay if the program has none'
cat "$scratch/out"
rm "$program.safetensors" && make -s -C "$folder" wide >"$scratch/out" 2>&1
[ $? = 2 ] && [ "$(head -n 1 "$scratch/out")" = 'wide.safetensors is missing: xformc pack writes it' ] && [ ! -e "$program" ]
verdict $? 'without any it is not made'
cat "$scratch/out"

# ---- a graph -------------------------------------------------------------------------------------

cat >"$scratch/matrix.lua" <<END
return xf.graph("matrix", function(g) g.output("z", g.matmul(g.input("x", { 1, 1024 }), g.param("w", { 1024, 17000 }))) end)
END
"$xformc" build "$scratch/matrix.lua" -q -o "$scratch/matrix" >"$scratch/out" 2>&1 && [ ! -e "$scratch/matrix/matrix.safetensors" ] &&
    "$scratch/matrix/matrix" >"$scratch/out" && grep -q '^z ' "$scratch/out"
verdict $? 'the program of a graph'
