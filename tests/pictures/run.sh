#!/bin/sh
# tags: slow
# Pictures of `xformc attention`, as SVG and in a terminal: well-formed, rows sum to 1, labels, one
# head or all, prompts and answers of decoders, graphs. A long model gives the same bytes as a short
# one, in limited memory.
# usage: run.sh XFORMC
LC_ALL=C.UTF-8
export LC_ALL
unset NO_COLOR
. tests/lib.sh
bin=$xformc here=$(dirname "$0") out=$scratch
text='3rd of May 2019'
long='Wednesday, the twenty-third of September nineteen ninety-nine'
dates=specs/dates.lua signs=$here/signs.lua

# check NAME COMMAND…: passes if the command does; otherwise its output is shown.
check() {
    name=$1
    shift
    if "$@" >"$out/said" 2>&1; then echo "ok $name"; else
        not_ok "$name"
        head -c 4000 "$out/said"
    fi
}

attention() { "$bin" attention "$@"; }
draw() { file=$1; shift; attention "$@" -o "$out/$file"; }
same() { if [ "$1" = "$2" ]; then return 0; fi; printf 'found    %s\nexpected %s\n' "$1" "$2"; return 1; }

# ---- reading an SVG ------------------------------------------------------------------------------

# Elements are closed in order, text holds no bare & or <, nothing follows the root.
well_formed() {
    awk 'BEGIN { RS = "<" }
        function fail(why) { print FILENAME ": " why ": <" $0; bad = 1; exit }
        NR == 1 { if (length($0)) fail("text before the root"); next }
        {
            if (closed) fail("after the root")
            end = index($0, ">")
            if (!end) fail("a tag without an end")
            tag = substr($0, 1, end - 1); rest = substr($0, end + 1)
            if ((tag rest) ~ /&/) { t = tag rest; gsub(/&(amp|lt|gt|quot);/, "", t); if (t ~ /&/) fail("a bare &") }
            if (rest ~ />/) fail("a bare >")
            quotes = gsub(/"/, "\"", tag)
            if (quotes % 2) fail("an open quote")
            name = tag; sub(/[ \/].*/, "", name)
            if (tag ~ /^\//) { name = substr(tag, 2); if (stack[depth--] != name) fail("closes what is not open") }
            else if (tag !~ /\/$/) stack[++depth] = name
            if (!depth) closed = 1
        }
        END { if (!bad && (depth || !closed)) { print FILENAME ": left open"; bad = 1 } exit bad }' "$out/$1"
}

maps() { grep -c 'weights, head [0-9]*</title>' "$out/$1"; }

# cells FILE: MAP ROW COLUMN WEIGHT of every cell, from the titles.
cells() {
    awk '/<g .*, head [0-9]*<\/title>/ { map++ }
        / looks at .*<\/title>/ {
            s = $0; sub(/<\/title>.*/, "", s); weight = s; sub(/.*: /, "", weight)
            sub(/: [^:]*$/, "", s); column = s; sub(/.*\(/, "", column); sub(/\)/, "", column)
            row = s; sub(/\) looks at .*/, "", row); sub(/.*\(/, "", row)
            print map, row, column, weight
        }' "$out/$1"
}

# Every row of every map sums to 1 (in f32), and there are as many rows as expected.
rows_sum_to_1() {
    cells "$1" | awk -v expected="$2" '
        { if ($4 < 0 || $4 > 1) { print "no weight: " $0; bad = 1 } sum[$1 " " $2] += $4 }
        END {
            for (r in sum) { n++; if (sum[r] < 1 - 1e-5 || sum[r] > 1 + 1e-5) { print "map, row " r " sums to " sum[r]; bad = 1 } }
            if (n != expected) { print n " rows, expected " expected; bad = 1 }
            exit bad
        }'
}

# ---- SVG -----------------------------------------------------------------------------------------

check 'dates: drawn' draw dates.svg $dates "$text"
check 'dates: well-formed' well_formed dates.svg
check 'dates: 2 layers, 4 heads, 3 kinds' same "$(maps dates.svg)" 24
check 'dates: rows sum to 1' rows_sum_to_1 dates.svg $((8 * 15 + 8 * 11 + 8 * 11))
check 'dates: no row of the decoder looks ahead' same "$(cells dates.svg | wc -l)" $((8 * 15 * 15 + 8 * 66 + 8 * 11 * 15))
check 'dates: the title says the answer of run' grep -q ">“$text” → “$("$bin" run $dates "$text" --engine generic)”<" "$out/dates.svg"
check 'dates: a space is seen' grep -q '<title>␣ (3) looks at ␣ (6): ' "$out/dates.svg"
check 'dates: a row is what is written' grep -q '<title>2 (0) looks at ⊢ (0): 1<' "$out/dates.svg"
check 'dates: the last row is the end' grep -q '<title>⊣ (10) looks at 3 (10): 0' "$out/dates.svg"
attention $dates "$text" -o - >"$out/again.svg"
check 'the same picture, the same bytes, on stdout' cmp "$out/dates.svg" "$out/again.svg"
if command -v xmllint >/dev/null 2>&1; then check 'xmllint agrees' xmllint --noout "$out/dates.svg"; else echo 'skip xmllint agrees (no xmllint)'; fi

check 'signs: drawn' draw signs.svg "$signs" 'a<b>&" 日́'
check 'signs: well-formed' well_formed signs.svg
check 'signs: heads of each layer of each stack' same "$(maps signs.svg)" $((2 * 3 + 2 + 2))
check 'signs: labels are escaped' grep -q '<title>&lt; (1) looks at &amp; (4): ' "$out/signs.svg"
check 'signs: a mark that combines has a base' grep -q '>◌́<' "$out/signs.svg"
tab=$(printf 'a\tb')
draw tab.svg "$signs" "$tab"
check 'signs: a tab is seen' grep -q '>␉<' "$out/tab.svg"

check 'one kind, layer and head' draw one.svg $dates "$text" --kind cross --layer 1 --head 2
check 'one kind, layer and head: one map' same "$(maps one.svg) $(grep -c '<title>decoder.1.cross_attn.weights, head 2<' "$out/one.svg")" '1 1'
cells dates.svg | awk '$1 == 23 { print $2, $3, $4 }' >"$out/of_all"
cells one.svg | awk '{ print $2, $3, $4 }' >"$out/of_one"
check 'one kind, layer and head: that of the whole' cmp "$out/of_all" "$out/of_one"

check 'long text: drawn' draw long.svg $dates "$long"
check 'long text: well-formed' well_formed long.svg
check 'long text: at most 1344 pixels wide' awk 'NR == 1 { w = $0; sub(/.* width="/, "", w); exit w + 0 > 1344 }' "$out/long.svg"

check 'decoder: drawn' draw decoder.svg specs/gpt.lua 5 17 200 33
check 'decoder: maps' same "$(maps decoder.svg)" 16
check 'decoder: rows sum to 1' rows_sum_to_1 decoder.svg 64
check 'encoder: drawn' draw encoder.svg specs/encoder.lua '5 17,200' 33
check 'encoder: maps' same "$(maps encoder.svg)" 16
check 'encoder: rows sum to 1' rows_sum_to_1 encoder.svg 64
check 'copy: drawn, from ids' draw copy.svg specs/copy.lua 1 2 3
check 'copy: maps' same "$(maps copy.svg)" 48


# A decoder-only model generates nothing without -n, however long its context is. An encoder-decoder
# answers; -n limits its answer.
cat >"$out/endless.lua" <<END
return xf.model { name = "endless", kind = "decoder", layers = 2, heads = 8, d_model = 32, d_ff = 16, max_len = 512, weights = "random",
  tokenizer_file = "$PWD/tests/tokenizer/llama2" }
END
check 'decoder: 19 tokens of 512' draw few.svg "$out/endless.lua" 'a text of a few tokens' --layer 1
check 'decoder: rows of a text' rows_sum_to_1 few.svg $((8 * 19))
check 'decoder: a prompt alone' draw prompt.svg specs/sums.lua '12+34='
check 'decoder: rows of the prompt' rows_sum_to_1 prompt.svg $((6 * $(maps prompt.svg)))
check 'decoder: -n 1, one token more' draw more.svg specs/sums.lua '12+34=' -n 1
check 'decoder: rows of prompt and token' rows_sum_to_1 more.svg $((7 * $(maps more.svg)))
check 'decoder: -n of ids' draw ids.svg specs/gpt.lua 5 17 200 33 -n 3
check 'decoder: rows of ids and three more' rows_sum_to_1 ids.svg $((7 * 16))
check 'dates: -n of an answer' draw brief.svg $dates "$text" -n 4
check 'dates: an answer of four' rows_sum_to_1 brief.svg $((8 * 15 + 8 * 4 + 8 * 4))
printf 'm = xf.compile("specs/sums.lua", { engine = "jit" })\nm:attention("12+34=", { layer = 0, head = 0 })\nm:attention("12+34=", "%s", { layer = 0, n = 2 })\n' \
    "$out/prompted.svg" >"$out/prompted.lua"
check 'decoder: at the prompt the text alone' sh -c "'$bin' lua '$out/prompted.lua' | grep -qx 'sums  “12+34=”'"
check 'decoder: at the prompt with n' rows_sum_to_1 prompted.svg $((8 * $(maps prompted.svg)))

check 'graph: drawn' draw graph.svg specs/self_attention.lua
check 'graph: its numbers' same "$(cells graph.svg | awk '{ printf "%.5f ", $4 }')" \
    '0.08127 0.45936 0.45936 0.01541 0.49230 0.49230 0.01541 0.49230 0.49230 '
cat >"$out/large.lua" <<'END'
return xf.graph("large", function(g)
  local x = g.input("X", { 2, 2 }, { 1e38, 1, 1, 1e38 })
  local z, weights = g.attention(x, x, x)
  g.output("weights", weights)
end)
END
attention "$out/large.lua" -o "$out/large.svg" >"$out/said" 2>&1
[ $? = 65 ] && [ ! -e "$out/large.svg" ] && grep -q '^error: weights contains NaN or infinity$' "$out/said"
check 'weights that are not finite: an error, and no picture' [ $? = 0 ]
check 'graph: heads' sh -c "'$bin' attention specs/multi_head.lua -o '$out/heads.svg'"
check 'graph: a map for each head' same "$(maps heads.svg)" 4

if command -v cc >/dev/null 2>&1; then
    check 'native: drawn' draw native.svg $dates "$text" --engine native
    cells dates.svg >"$out/generic.cells"
    check 'native: within 1e-5 of generic' sh -c "$(cat <<'COMPARE'
        paste -d ' ' "$0" - | awk '{ d = $4 - $8; if ($1 " " $2 " " $3 != $5 " " $6 " " $7 || d > 1e-5 || d < -1e-5) { print; bad = 1 } }
            END { exit bad || NR == 0 }'
COMPARE
)" "$out/generic.cells" <<CELLS
$(cells native.svg)
CELLS
else
    echo 'skip native: drawn (no cc)'
fi

# ---- long models ---------------------------------------------------------------------------------

# If the taps of the longest sequences would need much memory, the inspected engine has room only
# for the question. A probe uses an engine for the longest sequence. Every named tensor has the same
# bits in both, with learned, relative and rotary positions.
kib=4000000; [ -n "${XFORMC_SANITIZE:-}" ] && kib=unlimited
cat >"$out/sized.lua" <<'END'
local specs = {
  learned = { kind = "encoder", layers = 4, heads = 8, max_len = 1024, position = "learned" },
  relative = { kind = "encoder", layers = 4, heads = 8, max_len = 1024, position = "relative", embed_scale = 1 },
  rotary = { kind = "decoder", layers = 5, heads = 16, max_len = 131072, position = "rotary", window = { 0, 3, 0, 3, 0 } },
  both = { kind = "encoder-decoder", layers = 4, heads = 8, max_source = 1024, max_target = 500, position = "learned" },
}
for name, fields in pairs(specs) do
  fields.name, fields.vocab, fields.d_model, fields.d_ff, fields.weights = name, 20, 64, 32, "random"
  local m = xf.compile(xf.model(fields), { tier = "jit", notes = false })
  local function ask(ids) if name == "both" then return m:run(ids, { 5, 6, 2 }) end return m:run(ids) end
  local function look(ids)
    ask(ids)
    local seen = {}
    for _, tensor in ipairs(m:names()) do seen[#seen + 1] = m:at(tensor) end
    return seen
  end
  local long, least = {}, 0
  for i = 1, 70 do long[i] = i % 20 end
  local brief, longer = look { 5, 6, 7, 8, 9 }, look(long)
  m:probe(m:names()[1], function() end)
  for i, whole in ipairs(look { 5, 6, 7, 8, 9 }) do least = math.max(least, whole:distance(brief[i])) end
  for i, whole in ipairs(look(long)) do least = math.max(least, whole:distance(longer[i])) end
  print(name .. " " .. least .. " " .. tostring(#brief > 50))
end
END
"$bin" lua "$out/sized.lua" >"$out/sized" 2>&1
check 'as long as the question: the tensors of the longest' same "$(sort "$out/sized" | tr '\n' ' ')" \
    'both 0 true learned 0 true relative 0 true rotary 0 true '
# At full length all attention weights of this model would take 600 GB. A shorter copy has the same
# picture.
cat >"$out/long.lua" <<'END'
return xf.model { name = "wide", kind = "encoder", layers = 12, heads = 12, d_model = 24, d_ff = 8, vocab = 20, max_len = 32768, weights = "random" }
END
check 'long: drawn, of an encoder' sh -c "ulimit -v $kib && '$bin' attention '$out/long.lua' 5 6 7 -o '$out/long_a.svg'"
check 'long: the same as of a short one' sh -c "'$bin' attention '$out/long.lua' --max-len 8 5 6 7 -o '$out/long_b.svg' && cmp '$out/long_a.svg' '$out/long_b.svg'"
sed 's/"wide"/"answers"/; s/"encoder"/"encoder-decoder"/; s/max_len = 32768/max_source = 32768, max_target = 6/' "$out/long.lua" >"$out/answers.lua"
sed 's/max_source = 32768/max_source = 8/' "$out/answers.lua" >"$out/short.lua"
check 'long: drawn, of what is answered' sh -c "ulimit -v $kib && '$bin' attention '$out/answers.lua' 5 6 7 --head 3 -o '$out/long_a.svg'"
check 'long: answered as by a short one' sh -c "'$bin' attention '$out/short.lua' 5 6 7 --head 3 -o '$out/long_b.svg' && cmp '$out/long_a.svg' '$out/long_b.svg'"
check 'long: looks at all of it' same "$(maps long_a.svg)" 36
cat >"$out/asked.lua" <<'END'
local m = xf.compile(arg[1], { tier = "jit", notes = false })
m:run { 5, 6, 7 }
m:attention { layer = 0, head = 0 }
m:set("encoder.0.ffn.up.bias", m:weight("encoder.0.ffn.up.bias"):scaled(2))
m:close()
END
check 'long: at the prompt' sh -c "ulimit -v $kib && '$bin' lua '$out/asked.lua' '$out/long.lua' | grep -q 'head 0'"

# ---- a terminal ----------------------------------------------------------------------------------

escape=$(printf '\033')
# narrow: lines on stdin have at most 80 columns, not counting colours.
narrow() {
    LC_ALL=C sed "s/$escape\[[0-9;]*m//g" | LC_ALL=C awk '{ gsub(/[\200-\277]/, "") } length($0) > 80 { print length($0) ": " $0; bad = 1 }
        END { if (NR < 8) { print NR " lines"; bad = 1 } exit bad }'
}
fits() { attention "$@" | narrow; }
coloured() { attention "$@" | grep -q "$escape"; }
plain() { if coloured "$@"; then return 1; fi; }

check 'terminal: 80 columns' fits $dates "$text"
check 'terminal: 80 columns, long text' fits $dates "$long"
check 'terminal: 80 columns, longest text' fits $dates "$long, 3rd of May 2019."
check 'terminal: 80 columns, in colour' fits $dates "$long" --color=always
check 'terminal: 80 columns, many ids' fits specs/gpt.lua $(seq 1 120) --layer 0 --head 0
# shows LINE ARGUMENT…: LINE is one of the output lines
shows() { line=$1; shift; attention "$@" | grep -qxF -- "$line"; }
check 'terminal: a map too wide is cut' shows '    head 0, columns 76 to 119' specs/gpt.lua $(seq 1 120) --layer 0 --head 0
check 'terminal: wide characters take two columns' shows '   日a 日' "$signs" '日a日' --kind encoder --layer 0 --head 0
check 'terminal: ids stand upright' shows '    7 3' specs/gpt.lua 7 123 --layer 0 --head 0
check 'terminal: pieces, of prompt and answer' shows '4       ▓▓··' specs/sums.lua '2+2=' --layer 0 --head 0 -n 8
check 'terminal: pieces of an answer' shows 'sums  “12+34=” → “46”' specs/sums.lua '12+34=' --layer 0 --head 0 -n 8
check 'terminal: a prompt alone' shows 'sums  “12+34=”' specs/sums.lua '12+34=' --layer 0 --head 0
generated=$("$bin" run specs/gpt.lua -n 3 --repeat-penalty 3 '5 17 200 33')
check 'terminal: generated as run does, with its settings' shows "gpt  5 17 200 33 → $generated" specs/gpt.lua 5 17 200 33 -n 3 --repeat-penalty 3 --head 0
check 'terminal: pieces of an encoder' shows '<s> ░░░░░░··░░' specs/brackets.lua '[]{}' --layer 0 --head 0
check 'terminal: shades' shows '0 ··▒▒▒▒' specs/self_attention.lua
check 'terminal: a line is a line' sh -c "'$bin' attention '$signs' '$tab' | head -n 1 | grep -q '^signs  “a␉b” → “'"
layers_and_heads=$(attention $dates "$text" | awk '/^layer/ { l++ } { h += gsub(/head [0-9]/, "") } END { print l, h }')
check 'terminal: layers and heads' same "$layers_and_heads" '6 24'
check 'terminal: no colour in a pipe' plain $dates "$text"
check 'terminal: colour when asked for' coloured $dates "$text" --color=always
# ground COLORFGBG: the colours of weights 0 and 1 on the scale
ground() {
    COLORFGBG=$1 "$bin" attention $dates "$text" --color=always | sed -n 's/^weight 0 //p' |
        tr '\033' '\n' | sed -n 's/^\[48;5;\([0-9]*\)m.*/\1/p' | sed -n '1p;$p' | tr '\n' ' '
}
for dark in '15;0' '7;8' '12;default;4'; do
    check "terminal: COLORFGBG=$dark is dark" same "$(ground "$dark")" '17 231 '
done
for light in '0;15' '0;7' '' '15' '15;' '0;x' '15;-1'; do
    check "terminal: COLORFGBG=$light is light" same "$(ground "$light")" '231 17 '
done
check 'terminal: --color=always overrides NO_COLOR' env NO_COLOR=1 sh -c "'$bin' attention $dates '$text' --color=always | grep -q '$escape'"
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    # on_terminal VARIABLES OPTIONS: prints `colour`, `plain` or `nothing`
    on_terminal() {
        script -qec "env $1 '$bin' attention $dates '$text' --layer 0 $2" /dev/null </dev/null >"$out/screen"
        if ! grep -q 'head 0' "$out/screen"; then echo nothing; elif grep -q "$escape" "$out/screen"; then echo colour; else echo plain; fi
    }
    check 'terminal: colour' same "$(on_terminal TERM=xterm '')" colour
    check 'terminal: NO_COLOR' same "$(on_terminal 'TERM=xterm NO_COLOR=1' '')" plain
    check 'terminal: an empty NO_COLOR has no effect' same "$(on_terminal 'TERM=xterm NO_COLOR=' '')" colour
    check 'terminal: TERM=dumb' same "$(on_terminal TERM=dumb '')" plain
    check 'terminal: --color=never' same "$(on_terminal TERM=xterm --color=never)" plain
    # error_on_terminal VARIABLES: the same for an error.
    error_on_terminal() {
        script -qec "env $1 '$bin' run '$out/none.lua' x" /dev/null </dev/null >"$out/screen"
        if ! grep -q 'none.lua' "$out/screen"; then echo nothing; elif grep -q "$escape" "$out/screen"; then echo colour; else echo plain; fi
    }
    check 'terminal: an error in colour' same "$(error_on_terminal TERM=xterm)" colour
    check 'terminal: an error with NO_COLOR' same "$(error_on_terminal 'TERM=xterm NO_COLOR=1')" plain
    check 'terminal: an error with TERM=dumb' same "$(error_on_terminal TERM=dumb)" plain
else
    echo 'skip terminal: colour (no pseudo-terminal)'
fi

# ---- rejected ------------------------------------------------------------------------------------

# refuses NAME CODE WORDS ARGUMENT…: exits with CODE and prints WORDS on stderr and nothing on
# stdout.
refuses() {
    name=$1 code=$2 words=$3
    shift 3
    attention "$@" >"$out/stdout" 2>"$out/stderr" </dev/null
    found=$?
    if [ $found = "$code" ] && grep -qF -- "$words" "$out/stderr" && [ ! -s "$out/stdout" ]; then echo "ok refused: $name"; else
        not_ok "refused: $name"
        echo "code $found, expected $code"
        cat "$out/stdout" "$out/stderr"
    fi
}

refuses 'no text'                2  'attention needs a TEXT'            $dates
refuses 'two texts'              2  'unexpected argument'               $dates 3rd May
refuses 'an empty text'          65 'empty'                             $dates ''
refuses 'a text too long'        65 'at most 80 fit'                     $dates "$long$long"
refuses 'an unknown character'   65 'U+00E9 at character 2'               $dates 'Mé'
refuses 'not UTF-8'              65 'not valid UTF-8'                   $dates "$(printf 'a\377')"
refuses 'no ids'                 65 'no ids were given'                  specs/gpt.lua ' '
refuses 'a word for an id'       2  'expected ids'                      specs/gpt.lua 1 two
refuses 'an id out of range'     65 'the vocabulary of gpt, 0 to 255'   specs/gpt.lua 256
refuses 'too many ids'           65 'takes at most 128 ids'             specs/gpt.lua $(seq 1 129)
refuses 'a layer too many'       2  'no such attention'                 $dates "$text" --layer 2
refuses 'a head too many'        2  'no such attention'                 $dates "$text" --head 4
refuses 'a kind it has not'      2  'no such attention'                 specs/gpt.lua 1 --kind cross
refuses 'no kind'                2  'did you mean'                      $dates "$text" --kind cros
refuses 'no number'              2  'a whole number from 0'             $dates "$text" --layer x
refuses 'a text for a graph'     2  'unexpected argument'               specs/self_attention.lua x
refuses 'too large a picture'    2  'choose a layer, a head or a kind (--layer, --head, --kind) or fewer tokens (-n, -c);' specs/gpt.lua $(seq 1 128)
refuses 'too many tokens'        2  'fewer tokens (-n, -c);'            specs/gpt.lua 1 2 3 -n 128
refuses 'no tokens'              2  'expected a whole number from 1'    specs/gpt.lua 1 2 3 -n 0
refuses '-n of an encoder'       2  '--max-new-tokens: encoder has no decoder' specs/encoder.lua 1 2 3 -n 4
refuses '-n of a graph'          2  '--max-new-tokens: an xf.graph generates nothing' specs/self_attention.lua -n 4
refuses 'settings without -n'    2  '--temperature needs -n N'                 specs/gpt.lua 1 2 3 --temp 0.5
refuses 'a folder that is not'   74 'cannot write'                      $dates "$text" -o "$out/none/a.svg"
refuses 'a folder for a file'    74 'cannot write'                      $dates "$text" -o "$out"
printf 'return xf.graph("silent", function(g)\n  local x = g.input("X", {2, 2})\n  g.output("Z", (g.attention(x, x, x)))\nend)\n' >"$out/silent.lua"
refuses 'a graph without names'  65 'has no named attention weights'    "$out/silent.lua"
if [ -w /dev/full ]; then
    refuses 'a full device'      74 'cannot write'                      $dates "$text" -o /dev/full
    attention $dates "$text" >/dev/full 2>/dev/null
    check 'refused: a full standard output' same $? 74
fi
check 'a refused picture leaves nothing behind' same "$(find "$out" -name '.xf-*')" ''
echo kept >"$out/kept.svg"
attention $dates 'Mé' -o "$out/kept.svg" 2>/dev/null
check 'a refused picture leaves the old one' same "$(cat "$out/kept.svg")" kept
