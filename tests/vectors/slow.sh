#!/bin/sh
# tags: slow noasan
# Folders with tokenizers (by make.py) answer like sentence-transformers and transformers, in every
# engine, in programs and at the prompt: sentence models with several poolings and linears,
# including ones built on decoders and on T5's encoder, pairs, labels, regressions, masked language
# models, truncated texts. The cosine of two texts. The self-test covers the head. Damaged linears.
# With XFORMC_TEST_DATA, also bert-tiny.
# usage: slow.sh XFORMC
. tests/lib.sh
here=tests/vectors
tools=$(dirname "$xformc")/tests/vectors
tab=$(printf '\t')

quick_cc "$scratch/cc"
as_expected() { "$tools/raw_distance" "$here/$1.expected.safetensors" "$2" <"$3"; }

# A folder and its Lua spec emit the same files.
as_lua() {
    "$xformc" info "$here/$1" --lua >"$scratch/$1" 2>"$scratch/err" && "$xformc" compile -q "$here/$1" -o "$scratch/a" 2>>"$scratch/err" &&
        "$xformc" compile -q "$scratch/$1" -o "$scratch/b" 2>>"$scratch/err" && diff -r "$scratch/a" "$scratch/b"
    verdict $? "$1: as a spec in Lua, the same C and weights"
    cat "$scratch/err"
    rm -rf "$scratch/a" "$scratch/b"
}

# build FOLDER: build its program, $program.
build() {
    "$xformc" build "$here/$1" -q --cc "$scratch/cc" -o "$scratch/built_$1" 2>"$scratch/err"
    verdict $? "$1 is built"
    program=$scratch/built_$1/$1
}

# ---- vectors -------------------------------------------------------------------------------------

for name in sentence_mean sentence_dense sentence_mpnet; do
    for engine in jit generic; do
        "$xformc" run $here/$name --engine $engine --raw <$here/$name.texts >"$scratch/raw" 2>"$scratch/err" && as_expected $name vectors "$scratch/raw"
        verdict $? "$name: vectors as sentence-transformers has them, $engine"
        [ "$(grep -c 'line 6: 37 tokens; truncated to' "$scratch/err")" = 1 ] && ! grep -q error "$scratch/err"
        verdict $? "$name: cuts are reported, $engine"
    done
    as_lua $name
    [ $name = sentence_mean ] && continue
    build $name
    "$program" --raw <$here/$name.texts >"$scratch/raw" 2>"$scratch/err" && as_expected $name vectors "$scratch/raw"
    verdict $? "$name: vectors as sentence-transformers has them, a program"
    [ "$(grep -c 'line 6: 37 tokens; truncated to' "$scratch/err")" = 1 ]
    verdict $? "$name: cuts are reported, a program"
done

# Decoders and the encoder of a T5. Programs of three of them, one with unrolled kernels and windows
# on both sides.
for name in embed_qwen3 embed_mistral embed_mistral_both embed_gemma embed_gpt2 embed_t5; do
    for engine in jit generic; do
        "$xformc" run $here/$name --engine $engine --raw <$here/$name.texts >"$scratch/raw" 2>"$scratch/err" && as_expected $name vectors "$scratch/raw"
        verdict $? "$name: vectors as sentence-transformers has them, $engine"
        [ "$(grep -c 'line [56]: [0-9]* tokens; truncated to' "$scratch/err")" = 1 ] && ! grep -q error "$scratch/err"
        verdict $? "$name: cuts are reported, $engine"
    done
    as_lua $name
done
for name in embed_qwen3 embed_mistral embed_gemma; do
    kernels=library
    if [ $name = embed_gemma ]; then kernels=unrolled; fi
    "$xformc" build $here/$name -q --cc "$scratch/cc" --kernels=$kernels -o "$scratch/built_$name" 2>"$scratch/err"
    verdict $? "$name is built, kernels $kernels"
    program=$scratch/built_$name/$name
    "$program" --raw <$here/$name.texts >"$scratch/raw" 2>"$scratch/err" && as_expected $name vectors "$scratch/raw"
    verdict $? "$name: vectors as sentence-transformers has them, a program"
    "$program" --selftest | grep -q 'self-test ok'
    verdict $? "$name: --selftest"
done
# Tokens after the prompt of embed_mistral have their places in the text, in bytes and in
# characters. The prompt's ten tokens have none.
none='[0,0],[0,0],[0,0],[0,0],[0,0],[0,0],[0,0],[0,0],[0,0],[0,0]' rain='[0,1],[1,2],[2,3],[3,4],[0,0]'
"$xformc" tokenize --json $here/embed_mistral rain >"$scratch/out" &&
    grep -qF "\"offsets\":[$none,$rain],\"character_offsets\":[$none,$rain]" "$scratch/out"
verdict $? 'tokens after a prompt have their places in the text'
cosine_of() { awk '{ for (i = 1; i <= NF; i++) { if (NR == 1) a[i] = $i; else { ab += a[i] * $i; bb += $i * $i }; if (NR == 1) aa += $i * $i } }
    END { printf "%.5f\n", ab / sqrt(aa * bb) }'; }
printf 'rain\nthe moon\n' | "$xformc" run $here/embed_qwen3 | cosine_of >"$scratch/expected" &&
    "$xformc" run $here/embed_qwen3 similar rain 'the moon' | awk '{ printf "%.5f\n", $1 }' | diff "$scratch/expected" - &&
    "$scratch/built_embed_qwen3/embed_qwen3" similar rain 'the moon' | awk '{ printf "%.5f\n", $1 }' | diff "$scratch/expected" -
verdict $? 'similar: two texts of a decoder, run and a program'

# ---- the self-test covers the head ---------------------------------------------------------------

for name in sentence_dense sentence_mpnet; do
    "$scratch/built_$name/$name" --selftest >"$scratch/out" && grep -q 'self-test ok' "$scratch/out"
    verdict $? "$name: --selftest"
done
kept() { grep -ao '"selftest":"[0-9a-f]*"' "$1" | cut -c13-; }          # 64 numbers of hidden states, 64 of the vector
"$xformc" pack -q $here/sentence_dense -o "$scratch/right" 2>"$scratch/err" && cp -r $here/sentence_dense "$scratch/other" &&
    dd if=/dev/zero of="$scratch/other/2_Dense/model.safetensors" bs=1 seek=3900 count=128 conv=notrunc 2>"$scratch/err" &&
    "$xformc" pack -q "$scratch/other" -o "$scratch/wrong" 2>"$scratch/err" &&
    [ "$(kept "$scratch/right" | cut -c1-512)" = "$(kept "$scratch/wrong" | cut -c1-512)" ] &&
    [ "$(kept "$scratch/right" | cut -c513-)" != "$(kept "$scratch/wrong" | cut -c513-)" ]
verdict $? 'the values of the self-test know other linears of the head, and the same hidden states'

# ---- pairs ---------------------------------------------------------------------------------------

# The scores of every pair match transformers, in every engine and in programs.
for name in cross_bert cross_roberta; do
    for engine in jit generic; do
        "$xformc" run $here/$name --engine $engine --raw <$here/$name.texts >"$scratch/raw" 2>"$scratch/err" && as_expected $name scores "$scratch/raw"
        verdict $? "$name: scores of pairs as transformers has them, $engine"
    done
    as_lua $name
    build $name
    "$program" --raw <$here/$name.texts >"$scratch/raw" 2>"$scratch/err" && as_expected $name scores "$scratch/raw"
    verdict $? "$name: scores of pairs as transformers has them, a program"
    # Pairs as ids have the same scores. A tab marks where the second text begins.
    "$xformc" run $here/$name --raw "$(sed -n 1p $here/$name.texts)" >"$scratch/text"
    case $name in cross_bert) ids="2 5 6 3${tab}7 5 8 3" ;; *) ids="0 56 76 73 268 2 2${tab}70 93 263 275 2" ;; esac
    "$xformc" run $here/$name --ids --raw "$ids" >"$scratch/ids" && cmp "$scratch/text" "$scratch/ids"
    verdict $? "$name: a pair of ids, run"
    "$program" --raw "$(sed -n 1p $here/$name.texts)" >"$scratch/text" && "$program" --ids --raw "$ids" >"$scratch/ids" && cmp "$scratch/text" "$scratch/ids"
    verdict $? "$name: a pair of ids, a program"
    "$program" --help | grep -q '^A tab splits a TEXT into a pair'
    verdict $? "$name: --help describes pairs"
done
# For BERT the types matter: the same ids as one text get a different score.
"$xformc" run $here/cross_bert --ids "2 5 6 3${tab}7 5 8 3" >"$scratch/pair"; "$xformc" run $here/cross_bert --ids '2 5 6 3 7 5 8 3' >"$scratch/one"
! cmp -s "$scratch/pair" "$scratch/one"
verdict $? 'cross_bert: ids of a pair are not those of one text'
# A separator other than a tab, and an empty one, with which a tab is part of the text.
ids_of() { sed 's/.*"input_ids":.\([0-9,]*\)].*/\1/' | tr , ' '; }
pair=$("$xformc" tokenize $here/cross_bert --pair 'the river' 'the house') text=$("$xformc" tokenize $here/cross_bert "the house${tab}the river")
for who in "$xformc run $here/cross_bert" "$scratch/built_cross_bert/cross_bert"; do
    case $who in *' run '*) name='cross_bert, run' ;; *) name='cross_bert, a program' ;; esac
    [ "$($who --json --pair-separator ' | ' 'the house | the river' | ids_of)" = "$pair" ] &&
        [ "$(printf 'the house | the river\n' | $who --json --pair-separator=' | ' | ids_of)" = "$pair" ]
    verdict $? "$name: --pair-separator"
    [ "$pair" != "$text" ] && [ "$($who --json --pair-separator '' "the house${tab}the river" | ids_of)" = "$text" ]
    verdict $? "$name: --pair-separator '': a tab in a text"
    $who --ids --pair-separator x '2 5 3' >"$scratch/out" 2>"$scratch/err"
    [ $? = 2 ] && grep -q -e '--pair-separator' "$scratch/err" && [ ! -s "$scratch/out" ]
    verdict $? "$name: --pair-separator with ids"
done
printf 'm = xf.compile("%s/cross_bert")\nfor _, o in ipairs { { pair_separator = " | " }, { pair_separator = "" } } do\n  m("the house | the river\\t", o)\n  print(#m:at("encoder.embed"))\nend\nprint(select(2, pcall(m, "a", "b", { pair_separator = "|" })))\n' \
    $here | "$xformc" repl >"$scratch/out" 2>"$scratch/err"
same "$("$xformc" tokenize $here/cross_bert --pair "the river$tab" 'the house' | wc -w)
$("$xformc" tokenize $here/cross_bert "the house | the river$tab" | wc -w)
pair_separator splits one text, but two were given" "$(cat "$scratch/out")" || { cat "$scratch/err"; false; }
verdict $? 'pair_separator at the prompt'
"$xformc" run tests/families/llama --pair-separator x '2 5 3' >"$scratch/out" 2>"$scratch/err"
[ $? = 2 ] && grep -q 'llama does not read pairs of texts' "$scratch/err"
verdict $? '--pair-separator of a model that reads no pairs'

# ---- labels --------------------------------------------------------------------------------------

# With several labels those above 0.5, largest first; with a regression the number. Four decimals,
# as `run` prints them.
expected_labels() {
    awk -v all="$2" -v last=-1 '{
        score = $NF; text = $2; for (i = 3; i < NF; i++) text = text " " $i
        gsub(/"/, "", text); gsub(/\\n/, "\\u000a", text)
        if ($1 != last && NR > 1) print ""
        if ($1 != last) first = 1
        last = $1
        if (all || score > 0.5) { printf "%s%s %.4f", first ? "" : "\t", text, score; first = 0 }
    } END { print "" }' "$here/$1.labels"
}
for name in labels_several labels_regression; do
    all=; if [ $name = labels_regression ]; then all=1; fi
    expected_labels $name $all >"$scratch/expected"
    [ "$(wc -l <"$scratch/expected")" = 5 ]
    verdict $? "$name: five lines"
    for engine in jit generic; do
        "$xformc" run $here/$name --engine $engine <$here/$name.texts >"$scratch/lines" 2>"$scratch/err" && diff "$scratch/expected" "$scratch/lines"
        verdict $? "$name: labels and scores as transformers' pipeline has them, $engine"
    done
    as_lua $name
    build $name
    "$program" <$here/$name.texts | diff "$scratch/expected" -
    verdict $? "$name: labels and scores, a program"
    "$program" --json <$here/$name.texts | grep -o '"scores":.*\],' | sed 's/,"vector".*//' >"$scratch/objects" && [ -s "$scratch/objects" ] &&
        "$xformc" run $here/$name --engine native --cc "$scratch/cc" --json <$here/$name.texts 2>"$scratch/err" | grep -o '"scores":.*\],' | sed 's/,"vector".*//' |
        diff - "$scratch/objects" && [ "$(grep -o '"score":' "$scratch/objects" | wc -l)" = "$(wc -l <$here/$name.labels)" ]
    verdict $? "$name: --json has all labels, a program and run"
done
"$scratch/built_labels_several/labels_several" --json 'rain' | grep -qF '"answer":["sleep","fear\u000aand anger"],"scores":[{"label":"joy","score":0.2341'
verdict $? 'an object lists the labels that hold, and scores all'
for who in "$xformc run $here/labels_several" "$scratch/built_labels_several/labels_several"; do
    $who similar rain 'the moon' >"$scratch/out" 2>"$scratch/err"
    [ $? = 0 ] && [ "$(wc -l <"$scratch/out")" = 3 ] && [ "$(cat "$scratch/err")" = \
        'labels_several: note: "similar" is treated as an input text: the model does not give one vector per text; a tab between two texts makes them a pair' ]
    verdict $? "a model without one vector per text reads the word similar: $(basename "${who%% *}")"
    cat "$scratch/err"
done
# One label, several labels at once, a regression, one score of a pair: lines and objects of a
# program are those of run.
for name in cross_bert cross_roberta labels_several labels_regression; do
    program=$scratch/built_$name/$name
    "$xformc" run $here/$name --engine native --cc "$scratch/cc" <$here/$name.texts >"$scratch/lines" 2>"$scratch/err" &&
        [ "$(grep -c ' -\{0,1\}[0-9]*\.[0-9]\{4\}$' "$scratch/lines")" = "$(wc -l <$here/$name.texts)" ] && "$program" <$here/$name.texts 2>"$scratch/err" | diff "$scratch/lines" -
    verdict $? "$name: a program prints the lines that run prints"
    "$xformc" run $here/$name --engine native --cc "$scratch/cc" --json <$here/$name.texts 2>"$scratch/err" >"$scratch/lines" &&
        [ "$(grep -c '"answer":.*"scores":\[{"label":' "$scratch/lines")" = "$(wc -l <$here/$name.texts)" ] && "$program" --json <$here/$name.texts 2>"$scratch/err" | diff "$scratch/lines" -
    verdict $? "$name: a program gives the objects that run gives"
done
# A cross-encoder's config decides its scores.
score_by() {
    rm -rf "$scratch/folder" && cp -r $here/cross_bert "$scratch/folder" && sed "s/\"vocab_size\"/$1, \"vocab_size\"/" $here/cross_bert/config.json >"$scratch/folder/config.json"
    "$xformc" run "$scratch/folder" "$(sed -n 1p $here/cross_bert.texts)" 2>"$scratch/err"
}
raw=$("$xformc" run $here/cross_bert --raw "$(sed -n 1p $here/cross_bert.texts)" | od -An -tf4 | tr -d ' ')
plain=$(echo "$raw" | awk '{ printf "LABEL_0 %.4f", $1 }') sigmoid=$(echo "$raw" | awk '{ printf "LABEL_0 %.4f", 1 / (1 + exp(-$1)) }')
[ "$plain" != "$sigmoid" ] && [ "$("$xformc" run $here/cross_bert "$(sed -n 1p $here/cross_bert.texts)")" = "$sigmoid" ] &&
    [ "$(score_by '"sbert_ce_default_activation_function": "torch.nn.modules.linear.Identity"')" = "$plain" ] &&
    [ "$(score_by '"sentence_transformers": { "activation_fn": "torch.nn.modules.linear.Identity" }')" = "$plain" ] &&
    [ "$(score_by '"sentence_transformers": { "activation_fn": "torch.nn.modules.activation.Sigmoid" }')" = "$sigmoid" ]
verdict $? 'the score of a cross-encoder is what its config says'
echo "$plain $sigmoid"; cat "$scratch/err"
score_by '"sbert_ce_default_activation_function": "torch.nn.modules.activation.Tanh"' >"$scratch/out"
[ ! -s "$scratch/out" ] && grep -q 'error: the score activation "torch.nn.modules.activation.Tanh" is not supported' "$scratch/err"
verdict $? 'another activation of scores is refused'
cat "$scratch/err"

# ---- masks ---------------------------------------------------------------------------------------

# near FILE FILE: both have the same lines; the numbers at their ends differ by at most 2e-6.
near() {
    paste "$1" "$2" | awk -F'\t' '{
        n = split($1, a, " "); m = split($2, b, " "); d = a[n] - b[m]
        if (substr($1, 1, length($1) - length(a[n])) != substr($2, 1, length($2) - length(b[m])) || d > 2e-6 || d < -2e-6) { print $1 " | " $2; bad = 1 }
    } END { exit bad || !NR }'
}
# The masks of a JSON answer as lines `text mask id token probability`, with strings as JSON writes
# them in ASCII.
masks() {
    sed -n 's/.*"masks":\[\[\(.*\)\]\]}.*/\1/p' "$1" | awk '{
        n = split($0, mask, /\],\[/)
        for (k = 1; k <= n; k++) {
            m = split(mask[k], one, /\},\{/)
            for (i = 1; i <= m; i++) {
                gsub(/[{}]/, "", one[i])
                match(one[i], /"token":[0-9]+/); id = substr(one[i], RSTART + 8, RLENGTH - 8)
                match(one[i], /"token_str":".*","score"/); text = substr(one[i], RSTART + 12, RLENGTH - 20)
                match(one[i], /"score":.*/); score = substr(one[i], RSTART + 8)
                printf "%d %d %d %s %s\n", NR - 1, k - 1, id, text, score
            }
        } }' | sed "s/$(printf '\357\277\275')/\\\\ufffd/"
}
for name in mask_bert mask_roberta; do
    for engine in jit generic; do
        "$xformc" run $here/$name --engine $engine --json <$here/$name.texts >"$scratch/json" 2>"$scratch/err" &&
            masks "$scratch/json" >"$scratch/found" && near $here/$name.masks "$scratch/found"
        verdict $? "$name: the most likely tokens are those of transformers' pipeline, $engine"
    done
    as_lua $name
    [ $name = mask_roberta ] && continue
    build $name
    "$program" --json <$here/$name.texts >"$scratch/json" && masks "$scratch/json" >"$scratch/found" && near $here/$name.masks "$scratch/found"
    verdict $? "$name: the most likely tokens are those of transformers' pipeline, a program"
    "$xformc" run $here/$name --engine native --cc "$scratch/cc" <$here/$name.texts >"$scratch/line" 2>"$scratch/err" && [ "$(wc -l <"$scratch/line")" = 4 ] &&
        "$program" <$here/$name.texts | diff "$scratch/line" -
    verdict $? "$name: a program prints the lines that run prints"
done
"$xformc" run $here/mask_bert 'the [MASK] is old' >"$scratch/line" 2>"$scratch/err"
[ "$(tr '\t' '\n' <"$scratch/line")" = "$(awk '$1 == 0 { printf "%s %.4f\n", $4, $5 }' $here/mask_bert.masks)" ]
verdict $? 'a line has five tokens and their probabilities'
for ask in "$xformc run $here/mask_bert" "$scratch/built_mask_bert/mask_bert"; do
    $ask 'the house' >"$scratch/out" 2>"$scratch/err"
    [ $? = 65 ] && [ "$(cat "$scratch/out")" = '' ] && grep -qx 'mask_bert: argument 1: the text has no mask token (id 4)' "$scratch/err"
    verdict $? "a text without a mask: ${ask##*/}"
    [ "$($ask --ids '2 5 4 3' 2>"$scratch/err" | tr '\t' '\n' | grep -c '^[0-9]* 0\.[0-9]*$')" = 5 ]
    verdict $? "--ids answers with ids: ${ask##*/}"
done

# ---- at the prompt -------------------------------------------------------------------------------

# Every text as m("text"), a line with a tab as m("first", "second"): the lines of run, empty if
# rejected.
cat >"$scratch/ask.lua" <<'END'
local folder, texts = arg[1], arg[2]
local m = xf.compile(folder, { tier = "jit", notes = false })
for line in io.lines(texts) do
  local first, second = line:match("^(.-)\t(.*)$")
  local good, said = pcall(m, first or line, second)
  if good and type(said) ~= "string" then
    local numbers = said:table()
    for i = 1, #numbers do numbers[i] = ("%.9g"):format(numbers[i]) end
    said = table.concat(numbers, " ")
  end
  print(good and said or "")
end
END
for name in sentence_mean sentence_dense embed_mistral embed_t5 cross_bert cross_roberta labels_several labels_regression mask_bert mask_roberta; do
    cp $here/$name.texts "$scratch/texts"
    case $name in mask_*) echo 'the house' >>"$scratch/texts" ;; esac
    "$xformc" run $here/$name <"$scratch/texts" >"$scratch/lines" 2>"$scratch/said"
    "$xformc" lua "$scratch/ask.lua" $here/$name "$scratch/texts" >"$scratch/out" 2>"$scratch/err" && diff "$scratch/lines" "$scratch/out" &&
        [ "$(wc -l <"$scratch/texts")" = "$(wc -l <"$scratch/out")" ] &&
        [ "$(grep -o '[0-9]* tokens; truncated to [0-9]*' "$scratch/said")" = "$(grep -o '[0-9]* tokens; truncated to [0-9]*' "$scratch/err")" ]
    verdict $? "$name: the prompt answers as run does"
    cat "$scratch/err"
done
cat >"$scratch/pair.lua" <<'END'
local m = xf.compile("tests/vectors/cross_bert", { tier = "jit", notes = false })
local function score() return ("%.4f"):format(1 / (1 + math.exp(-m:at("vector"):max()))) end
local pair = m("rain fell", "on the roof")
print(pair:match("%S+$") == score())
print(m:at("encoder.0.self_attn.weights"):shape()[2])
print(m("rain fell\ton the roof") == pair)
local one = m("rain fell on the roof")
print(one:match("%S+$") == score())
print(one ~= pair)
for _, wrong in ipairs { { "rain\t", "fell" }, { "rain", 5 }, { "rain", "a\0b" } } do print(select(2, pcall(m, table.unpack(wrong)))) end
print(select(2, pcall(xf.compile("tests/vectors/sentence_mean", { tier = "jit", notes = false }), "rain", "fell")))
print(select(2, pcall(xf.compile("tests/vectors/mask_bert", { tier = "jit", notes = false }), "rain")))
END
"$xformc" lua "$scratch/pair.lua" >"$scratch/out" 2>"$scratch/err" && diff - "$scratch/out" <<'END'
true
8
true
true
true
the first text of a pair contains a tab, which separates the two
m([question[, second[, options]]]): second must be a string or a tensor or a table of numbers, found 5
a NUL at byte 2 of the string
sentence_mean takes one text, not a pair
the text has no mask token (id 4); m:run{ ids } gives the logits of every token
END
verdict $? 'the prompt looks into a pair, and refuses what is not one'
cat "$scratch/err"
cat >"$scratch/ids.lua" <<'END'
return xf.model { name = "two", kind = "encoder", layers = 1, heads = 2, d_model = 8, d_ff = 8, vocab = 9, max_len = 9, token_types = 2, pairs = true,
  weights = "random", pooling = "cls", head = { width = 2 }, labels = { "a", "b" } }
END
cat >"$scratch/pairs.lua" <<'END'
local m = xf.compile(arg[1], { tier = "jit" })
print(m("1 2 3", "4 5")) print(m("1 2 3\t4 5")) print(m("1 2 3 4 5")) print(m("1 2 3 4 5\t"))
END
"$xformc" lua "$scratch/pairs.lua" "$scratch/ids.lua" >"$scratch/out" 2>"$scratch/err" &&
    printf '1 2 3\t4 5\n1 2 3\t4 5\n1 2 3 4 5\n1 2 3 4 5\n' | "$xformc" run "$scratch/ids.lua" >"$scratch/lines" && diff "$scratch/lines" "$scratch/out" &&
    [ "$(sort -u "$scratch/out" | wc -l)" = 2 ]
verdict $? 'pairs of ids at the prompt, without a tokenizer'
cat "$scratch/err"
"$xformc" attention $here/cross_bert "rain fell${tab}on the roof" --layer 1 --head 1 -o "$scratch/pair.svg" &&
    "$xformc" attention $here/cross_bert "rain fell [SEP] on the roof" --layer 1 --head 1 -o "$scratch/one.svg"
for one in pair one; do grep -o ' looks at .*' "$scratch/$one.svg" >"$scratch/$one.cells"; done
[ "$(wc -l <"$scratch/pair.cells")" = 64 ] && [ "$(wc -l <"$scratch/one.cells")" = 64 ] && ! cmp -s "$scratch/pair.cells" "$scratch/one.cells"
verdict $? 'the picture of a pair is that of its types'

# ---- a real folder -------------------------------------------------------------------------------

if [ -n "${XFORMC_TEST_DATA:-}" ]; then
    for engine in jit generic native; do
        "$xformc" run "$XFORMC_TEST_DATA/bert-tiny" --engine $engine --raw <$here/bert_tiny.texts >"$scratch/raw" 2>"$scratch/err" &&
            as_expected bert_tiny vectors "$scratch/raw"
        verdict $? "bert-tiny, without modules.json: vectors as transformers has them, $engine"
    done
else
    echo 'skip bert-tiny (XFORMC_TEST_DATA is not set)'
fi

# ---- two texts -----------------------------------------------------------------------------------

# The cosine of two rows of numbers.
cosine() { paste -d' ' "$1" "$2" | awk '{ n = NF / 2; for (i = 1; i <= n; i++) { b += $i * $(n + i); x += $i ^ 2; y += $(n + i) ^ 2 } printf "%.6f\n", b / sqrt(x * y) }'; }
rounded() { awk '{ printf "%.6f\n", $1 }' "$1"; }
similar_is_right() {
    "$@" 'The house by the river' >"$scratch/one" && "$@" 'rain' >"$scratch/two" && cosine "$scratch/one" "$scratch/two" >"$scratch/expected" &&
        "$@" similar 'The house by the river' 'rain' >"$scratch/found" && rounded "$scratch/found" | diff "$scratch/expected" - &&
        "$@" similar --json 'The house by the river' 'rain' | grep -q "\"similarity\":$(cat "$scratch/found")}" &&
        [ "$("$@" similar rain rain | awk '{ print ($1 > 0.999999 && $1 < 1.000001) }')" = 1 ]
}
dense=$scratch/built_sentence_dense/sentence_dense
for engine in jit generic; do
    similar_is_right "$xformc" run $here/sentence_dense --engine $engine
    verdict $? "similar: the cosine of two vectors, $engine"
done
similar_is_right "$dense"
verdict $? 'similar: the cosine of two vectors, a program'
[ "$("$xformc" run $here/sentence_dense similar | wc -w)" = 12 ] && [ "$("$dense" similar | wc -w)" = 12 ]
verdict $? 'similar alone is a text'
for ask in "$xformc run $here/sentence_dense" "$dense"; do
    $ask similar one 2>"$scratch/err"
    [ $? = 2 ] && grep -q '"similar" compares two texts: similar TEXT TEXT' "$scratch/err" && $ask --raw similar one two 2>"$scratch/err"
    [ $? = 2 ] && grep -q '"similar" prints one number' "$scratch/err"
    verdict $? "similar: wrong uses: ${ask##*/}"
    $ask --ids similar '2 3' '2 999' >"$scratch/out" 2>"$scratch/err"
    [ $? = 65 ] && [ "$(cat "$scratch/out")" = '' ] && grep -q 'argument 3: id 999' "$scratch/err"
    verdict $? "similar: a text that is refused: ${ask##*/}"
done

# ---- damaged linears -----------------------------------------------------------------------------

# damaged NAME CODE MESSAGE COMMAND...: the command damages a copy of the folder with linears; run
# exits with CODE and MESSAGE.
damaged() {
    rm -rf "$scratch/folder" && cp -r $here/sentence_dense "$scratch/folder"
    name=$1 code=$2 message=$3
    shift 3
    (cd "$scratch/folder" && "$@") || echo "cannot damage"
    "$xformc" run "$scratch/folder" rain >"$scratch/out" 2>"$scratch/err"
    found=$?
    [ $found = "$code" ] && [ ! -s "$scratch/out" ] && sed "s|$scratch/folder/||g" "$scratch/err" | grep -qxF "$message"
    verdict $? "$name"
    echo "exit $found"; cat "$scratch/err"
}
edit() { sed "$2" "$1" >../edited && cp ../edited "$1"; }
damaged 'a Dense without config.json' 66 'modules.json:18:3: error: 2_Dense has no config.json' rm 2_Dense/config.json
damaged 'a Dense of another width' 65 '2_Dense/config.json:2:5: error: "in_features" is 95, but the input has width 96' \
    edit 2_Dense/config.json 's/"in_features": 96/"in_features": 95/'
damaged 'a Dense whose matrix has another width' 65 \
    '0_Transformer/config.json: error: tensor "linear.weight" in 3_Dense/pytorch_model.bin has shape [12, 20], expected [13, 20]' \
    edit 3_Dense/config.json 's/"out_features": 12/"out_features": 13/'
damaged 'an activation that is not known' 65 \
    '2_Dense/config.json:5:5: error: the activation_function "torch.nn.modules.activation.Mish" is not supported' \
    edit 2_Dense/config.json 's/activation.GELU/activation.Mish/'
damaged 'an activation of somebody else' 65 '2_Dense/config.json:5:5: error: the activation_function "mine.GELU" is not supported' \
    edit 2_Dense/config.json 's/torch.nn.modules.activation.GELU/mine.GELU/'
damaged 'a Dense of tokens' 65 \
    '2_Dense/config.json:6:5: error: a Dense that reads "token_embeddings" is not supported, only one that reads "sentence_embedding"' \
    edit 2_Dense/config.json 's/"module_input_name": "sentence_embedding"/"module_input_name": "token_embeddings"/'
damaged 'a Dense with a residual' 65 '2_Dense/config.json:2:5: error: a Dense with "use_residual" is not supported' \
    edit 2_Dense/config.json 's/"in_features"/"use_residual": true, "in_features"/'
# prompt: set a prompt for every text, in a folder whose Transformer has a folder of its own.
prompt() { echo '{ "prompts": { "query": "find: " }, "default_prompt_name": "query" }' >config_sentence_transformers.json; }
damaged 'a prompt where the Transformer has a folder of its own' 65 \
    'config_sentence_transformers.json:1:37: error: a default prompt is not supported if the Transformer has its own folder' prompt
unpooled() { prompt && edit pools/config.json '1s/{/{ "include_prompt": false,/'; }
damaged 'a prompt that the pooling leaves out' 65 \
    'config_sentence_transformers.json:1:37: error: a default prompt that the pooling excludes ("include_prompt" = false) is not supported' unpooled
damaged 'the weights of a Dense are not there' 66 'modules.json:24:3: error: the folder 3_Dense has no model.safetensors, pytorch_model.bin or index of shards' \
    rm 3_Dense/pytorch_model.bin
damaged 'the weights of a Dense are those of something else' 65 'modules.json:24:3: error: 2_Dense/model.safetensors has no tensor "linear.weight"' \
    cp 0_Transformer/model.safetensors 2_Dense/model.safetensors
