#!/bin/sh
# tags: slow noasan
# Programs built with ThreadSanitizer report no race on three threads, and answer as on one: with
# norms before or after sublayers, sliding windows, int8 weights, int8 and f16 caches. A program
# that lacks one of its barriers does report one.
# usage: slow.sh XFORMC
set -u
. tests/lib.sh
shown="$scratch/out $scratch/err"
sanitize='-O0 -g -Dalways_inline=unused -fsanitize=thread'
if ! echo 'int main(void) { return 0; }' | cc $sanitize -x c -o "$scratch/none" - 2>"$scratch/err" || ! "$scratch/none"; then
    skip 'programs have no races' 'no ThreadSanitizer'
    exit
fi
quick_cc "$scratch/sanitized" cc "$sanitize"
folder=$scratch/folder

# build SPEC [OPTION...]: sets program.
build() {
    rm -rf "$folder"
    "$xformc" build "$@" --cc "$scratch/sanitized" --isa portable -q -o "$folder" >"$scratch/out" 2>"$scratch/err" &&
        program=$folder/$(basename "$folder"/*_main.c _main.c)
}
# answers TEXT: with one thread in `one`, with three in `out`.
answers() { "$program" -t 1 "$1" >"$scratch/one" 2>"$scratch/err" && "$program" -t 3 "$1" >"$scratch/out" 2>"$scratch/err"; }
races() { grep -q 'WARNING: ThreadSanitizer: data race' "$scratch/err"; }

# no_race TEXT SPEC [OPTION...]
no_race() {
    text=$1 && shift
    build "$@" && answers "$text" && [ -s "$scratch/one" ] && cmp "$scratch/one" "$scratch/out" && ! races
    verdict $? "no race: $*"
}
no_race '3rd of May 2019' specs/dates.lua
no_race '1 2 3' tests/goldens/like_bart.lua
no_race '1 2 3' tests/goldens/like_gemma2.lua --dtype int8 --kv-dtype int8
no_race '1 2 3' tests/goldens/like_qwen3.lua --kv-dtype f16
if [ -n "${XFORMC_ALL:-}" ]; then
    for spec in tests/goldens/like_*.lua tests/specs/modern_decoder.lua tests/specs/windows.lua specs/story.lua specs/encoder.lua; do
        for dtype in f32 int4; do no_race '1 2 3' "$spec" --dtype $dtype; done
    done
fi

# The barrier between attention and the linear after it.
build specs/dates.lua && awk '/^static void decoder_layer\(/ { step = 1 } step && /rt_barrier/ && ++n == 2 { next } { print }' \
    "$folder/dates.c" >"$scratch/dates.c" && ! cmp -s "$scratch/dates.c" "$folder/dates.c" && cp "$scratch/dates.c" "$folder/dates.c" &&
    make -s -C "$folder" CC="$scratch/sanitized" ISA= >"$scratch/out" 2>"$scratch/err"
verdict $? 'a program without one of its barriers'
yes '3rd of May 2019' | head -n 20 | "$program" -t 3 >"$scratch/out" 2>"$scratch/err"
races
verdict $? 'it reports a race'
