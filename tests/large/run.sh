#!/bin/sh
# tags: slow noasan
# Random Llamas of realistic shapes (make_model.c), with 125 million parameters and, in `make
# test-all`, also with 1.1 billion. From bf16 folders and Q4_0 files: the ids of transformers, the
# engines against each other, packing within 64 MB of memory, programs, answers from the cache.
# usage: run.sh XFORMC
. tests/lib.sh
quick_compilers
unset XFORMC_CACHE
XDG_CACHE_HOME=$scratch/cache
export XDG_CACHE_HOME

cc -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -o "$scratch/make_model" \
    tests/large/programs/make_model.c || exit 74

# The ids that transformers generates in f32 after these (reference.py).
ids='3 28638 15290 11928 30577 17229 13867 519 29154 15806 2458 31093 17745 4397 1035 19684'
llama_100m='23444 11064 28682 5504 15019 14804 29819 2878 9217 11757 10893 11632 25846 27940
 1162 27940'
llama_1b='205 25912 916 11395 8401 26489 6452 6452 6452 6452 6452 6452 6452 6452 6452 6452'

answers() {
    same "$(echo $expected)" "$("$@" --ids -n 16 --temp 0 "$ids" 2>"$scratch/err")" ||
        { cat "$scratch/err"; false; }
}
run() { "$xformc" run "$model" $options "$@"; }

# within KILOBYTES COMMAND...: limit the process's own memory, not counting mapped files.
within() (
    ulimit -d "$1" && shift && "$@"
)

# agrees NAME: the jit and the generic engine agree on each named tensor.
agrees() {
    "$xformc" verify "$model" $options --engine jit >"$scratch/out" 2>&1 &&
        grep -q ' comparisons, all within tolerance' "$scratch/out"
    verdict $? "$1: the engines agree"
    grep -v ' ok$' "$scratch/out"
}

# packed NAME: 64 MB suffice for any model.
packed() {
    within 65536 "$xformc" compile "$model" $options -q -o "$scratch/compiled" 2>"$scratch/err" &&
        [ "$(find "$scratch/compiled" -size +60M | wc -l)" = 1 ]
    verdict $? "$1: packed within 64 MB of memory"
    cat "$scratch/err"
    rm -rf "$scratch/compiled"
}

# kept NAME: `run` packs once and the next run maps the result. A program answers the same.
kept() {
    expected=$(run --no-cache --ids -n 16 --temp 0 "$ids") &&
        [ "$(printf %s "$expected" | wc -w)" = 16 ] || expected='16 ids'
    answers run && entry=$(find "$XDG_CACHE_HOME" -name '*.packed') && before=$(ls -i "$entry")
    verdict $? "$1: the packed weights are kept"
    answers within 65536 "$xformc" run "$model" $options && [ "$before" = "$(ls -i "$entry")" ]
    verdict $? "$1: an answer from there, within 64 MB"
    "$xformc" cache --clear >"$scratch/out" && [ ! -e "$entry" ] &&
        "$xformc" build "$model" $options -q -o "$scratch/built" >>"$scratch/out" 2>&1
    verdict $? "$1: a program is built"
    cat "$scratch/out"
    program=$scratch/built/$(basename "$model" .gguf)
    answers "$program" && "$program" --check >"$scratch/out" &&
        "$program" --selftest >>"$scratch/out"
    verdict $? "$1: it answers, --check and --selftest"
    cat "$scratch/out"
    rm -r "$scratch/built"
}

# fills NAME MEGABYTES LEFT COMMAND...: the command fills a disk of that size, $scratch/disk, and
# exits with 74. The only files above 1 MB that remain are called LEFT.
fills() {
    name=$1 size=$2 left=$3
    shift 3
    unshare -rm sh -c 'mount -t tmpfs -o size='"$size"'M none "$0" && mkdir "$0/folder" || exit 1
        left=$2
        LD_PRELOAD=$1 && export LD_PRELOAD && shift 2
        "$@"
        status=$?
        unset LD_PRELOAD
        find "$0" -type f -size +1M >&2
        [ $status = 74 ] && [ -z "$(find "$0" -type f -size +1M ! -name "$left")" ]' \
        "$scratch/disk" "$scratch/roomy.so" "$left" "$@" >"$scratch/out" 2>"$scratch/err" &&
        grep -q 'No space left on device' "$scratch/err"
    verdict $? "$name"
    cat "$scratch/err"
}

# The weights take 70 MB. They fill the first disk; the program that embeds them fills the other.
disks() {
    mkdir "$scratch/disk"
    if ! unshare -rm true 2>/dev/null || ! cc -shared -fPIC -std=c11 -D_GNU_SOURCE -O1 -Wall \
        -o "$scratch/roomy.so" tests/large/programs/roomy_disk.c -ldl 2>"$scratch/err"; then
        skip 'a disk that fills while weights are packed' 'no file system can be mounted'
        skip 'one that fills while the program is made' 'no file system can be mounted'
        return
    fi
    fills 'a disk that fills while weights are packed' 32 none \
        "$xformc" compile "$model" $options -q -o "$scratch/disk/folder"
    fills 'one that fills while the program is made' 100 llama_100m.safetensors \
        "$xformc" build "$model" $options -q -o "$scratch/disk/folder"
}

for shape in $(sweep llama_100m 'llama_100m llama_1b'); do
    model=$scratch/$shape
    "$scratch/make_model" $shape "$model" || exit 74
    eval "expected=\$$shape"
    options='--dtype bf16 -c 64'
    answers run --no-cache
    verdict $? "$shape bf16: the ids of transformers"
    options='--dtype int4 -c 64'
    packed "$shape int4"
    agrees "$shape int4"
    kept "$shape int4"
    if [ $shape = llama_100m ]; then disks; fi
    rm -r "$model"

    model=$scratch/$shape.gguf
    "$scratch/make_model" --gguf $shape "$model" || exit 74
    options='-c 64'
    packed "$shape Q4_0"
    agrees "$shape Q4_0"
    kept "$shape Q4_0"
    rm "$model"
done
