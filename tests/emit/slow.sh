#!/bin/sh
# tags: slow noasan early
# Random models of odd sizes: `verify` compares emitted code with the generic engine, with and
# without taps, on one thread and two. The specs are the same in every run.
# usage: slow.sh XFORMC
. tests/lib.sh

# A spec for each seed. The first seeds have some fixed sizes, so that every edge case occurs.
spec() {
    awk -v seed="$1" '
        function draw(least, most) { state = (state * 16807) % 2147483647; return least + int(state / 2147483647 * (most - least + 1)) }
        function word(list,   words, n) { n = split(list, words, " "); return words[draw(1, n)] }
        function stack(side,   text, heads, layers, i) {
            layers = seed == 1 ? 1 : draw(1, seed % 4 ? 2 : 3)
            heads = seed == 1 ? 8 : seed == 2 ? d : draw(1, 5)
            text = sprintf("  %s = { layers = %d, heads = %d", side, layers, heads)
            text = text sprintf(", norm = \"%s\", norm_at = \"%s\"", word("layer annotated"), word("pre post"))
            if (seed > 2) text = text sprintf(", head_dim = %d, value_dim = %d", draw(1, 19), draw(1, 19))
            if (seed == 3) text = text ", norm_eps = 1"
            if (draw(0, 1)) text = text ", final_norm = " word("true false")
            text = text ", d_ff = { " draw(1, 70)
            for (i = 2; i <= layers; i++) text = text ", " draw(1, 70)
            text = text " }"
            if (d % 2 || draw(0, 2) == 0) text = text ", position = \"none\""
            else {
                text = text sprintf(", position_layout = \"%s\", position_first = %d", word("interleaved halves"), draw(0, 2))
                text = text sprintf(", position_divisor = \"%s\"", d < 4 ? "d/2" : word("d/2 d/2-1"))
            }
            return text " },\n"
        }
        BEGIN {
            state = 1000 + 77 * seed
            for (i = 0; i < 5; i++) draw(0, 1)
            d = seed == 1 ? 1024 : seed == 2 ? 6 : draw(2, 45)
            printf "return xf.model {\n  name = \"random_%d\", kind = \"encoder-decoder\", weights = \"random\", seed = %d,\n", seed, seed
            printf "  d_model = %d, max_source = %d, max_target = %d, source_vocab = %d, target_vocab = %d, log_softmax = %s,\n", d,
                draw(1, 40), draw(1, 40), draw(2, 40), draw(2, 40), word("true false")
            printf "%s%s}\n", stack("encoder"), stack("decoder")
        }'
}

quick_cc "$scratch/quick" gcc
# The C compiler takes nearly all of the time and sees the same C as the jit, so it gets only the
# edge cases.
for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
    spec $seed >"$scratch/random.lua"
    engines="--cc=$scratch/quick"
    if [ $seed -gt 3 ]; then engines=--engine=jit; fi
    "$xformc" verify "$scratch/random.lua" "$engines" >"$scratch/out" 2>"$scratch/err" && grep -q 'all within tolerance' "$scratch/out"
    verdict $? "random model $seed"
    cat "$scratch/err"
    tail -n 2 "$scratch/out"
    cat "$scratch/random.lua"
done

for name in different_layers deep two_attentions; do
    engines="--cc=$scratch/quick"
    if [ $name != deep ]; then engines=--engine=jit; fi         # gcc compiles these in forms/slow.sh and emit/run.sh
    "$xformc" verify tests/specs/$name.lua "$engines" >"$scratch/out" 2>"$scratch/err" && grep -q 'all within tolerance' "$scratch/out"
    verdict $? "verify $name"
    cat "$scratch/err"
    tail -n 2 "$scratch/out"
done
