#!/bin/sh
# tags: slow noasan golden
# Hugging Face folders and llama2.c checkpoints of every family against transformers (references by
# make.py): logits step by step, in one call and in pieces, greedy and beam ids, generation
# settings, in jit and generic. Each of them, written as a Lua spec, emits the same C. The tables of
# families and tokenizers in docs/models.md. With XFORMC_TEST_DATA, also the stories model, GPT-2
# and BERT.
# usage: run.sh [--write] XFORMC
#
# --write rewrites specs/families and the tables of docs/models.md.
#
# NAME_own: the output layer has its own matrix. NAME_keys: keys of config.json that the family
# reads or ignores. set_NAME: generation settings. marian_two: one vocabulary for each side.
set -u
. tests/lib.sh
quick_compilers
here=tests/families
rows=$(dirname "$xformc")/tests/families/families_rows

as_lua() {
    same=$scratch/$(basename "$1")       # emitted text names the spec's file
    "$xformc" info "$1" --lua >"$same" 2>"$scratch/err" && "$xformc" compile -q "$1" -o "$scratch/a" 2>"$scratch/err" &&
        "$xformc" compile -q "$same" -o "$scratch/b" 2>"$scratch/err" && diff -r "$scratch/a" "$scratch/b"
    verdict $? "$2: as a spec in Lua, the same C and weights"
    cat "$scratch/err"
    rm -rf "$scratch/a" "$scratch/b"
}

# check_ids FOLDER EXPECTED ENGINE: every line `greedy|beam|settings; ids; ids` of a .expected file.
# Beam search has as many beams as in make.py; lines of settings use the folder's own.
check_ids() {
    while IFS=';' read -r kind given wanted; do
        given=${given# } wanted=${wanted# }
        case $kind in beam) search='--beam 3 -n 6' ;; greedy) search='-n 6' ;; settings) search= ;; esac
        found=$("$xformc" run "$1" --ids --engine "$3" $search "$given" 2>"$scratch/err")
        [ "$found" = "$wanted" ] && continue
        echo "$3, $kind, $given: expected $wanted, found $found"
        cat "$scratch/err"
        return 1
    done <"$2"
}

# ---- the table of families -----------------------------------------------------------------------

"$xformc" info --families >"$scratch/said"
sed '/^$/,$d' "$scratch/said" >"$scratch/list"
sed 's/^\([^ ]*\) *\(.*\)/| `\1` | \2 |/' "$scratch/list" >"$scratch/families"
# After an empty line and a title come the files of tokenizers, each followed by its classes on
# indented lines.
sed '1,/^$/d' "$scratch/said" | awk 'NR == 1 { next }
    /^ / { sub(/^ */, ""); classes = classes (classes ? " " : "") $0; next }
    { if (files) print "| `" files "` | " classes " |"; files = $0; classes = "" }
    END { print "| `" files "` | " classes " |" }' >"$scratch/layouts"
[ "$(wc -l <"$scratch/layouts")" = 7 ]
verdict $? 'the files of tokenizers'
# with_rows FAMILIES LAYOUTS: docs/models.md with the rows of these files in its tables of families
# and tokenizers.
with_rows() {
    awk -v families="$1" -v layouts="$2" '!inside || !/^\|/ { inside = 0; print }
        /^\| `model_type`/ { inside = 1; getline; print; while ((getline row <families) > 0) print row }
        /^\| tokenizer files/ { inside = 1; getline; print; while ((getline row <layouts) > 0) print row }' docs/models.md
}
with_rows "$scratch/families" "$scratch/layouts" >"$scratch/page"
[ -z "$write" ] || cp "$scratch/page" docs/models.md
count=$(cat "$scratch/families" "$scratch/layouts" | wc -l)
diff docs/models.md "$scratch/page" && [ "$(with_rows /dev/null /dev/null | wc -l)" = $(($(wc -l <docs/models.md) - count)) ]
verdict $? 'the tables of docs/models.md are those of info --families'

# The small folder of every family, as a spec with random weights.
while read -r type about; do
    name=$(echo "$type" | tr .- __)
    spec=specs/families/$name.lua
    folder=$here/$name
    case $type in
    llama2.c) folder=$here/llama2c.bin ;;
    gguf)     folder=tests/gguf/files/llama_f32.gguf ;;
    esac
    {
        echo "-- $type: $about."
        echo "-- A small model, as \`xformc info --lua\` prints it, but with random weights."
        "$xformc" info "$folder" --lua | sed 's|^  weights = .*|  weights = "random",|; /^  names = /d' | sed "s/^  name = .*/  name = \"$name\",/"
    } >"$scratch/spec.lua" 2>"$scratch/err"
    [ -z "$write" ] || cp "$scratch/spec.lua" "$spec"
    diff "$spec" "$scratch/spec.lua"
    verdict $? "$spec is the family's small folder"
done <"$scratch/list"
[ -z "$write" ] || exit 0
"$xformc" info "$here/roberta" >"$scratch/out" 2>"$scratch/err" && ! grep 'has no effect' "$scratch/err"
verdict $? 'parts of a folder that an encoder does not read are not noted'

# ---- folders -------------------------------------------------------------------------------------

for folder in "$here"/*/ "$here"/*.bin; do
    folder=${folder%/}
    model=$folder folder=${folder%.bin}
    name=$(basename "$folder")
    if [ ! -e "$folder.expected.safetensors" ]; then
        for engine in jit generic; do
            check_ids "$model" "$folder.expected" $engine
            verdict $? "$name: what generation_config.json says, $engine"
        done
        as_lua "$model" "$name"
        continue
    fi
    "$xformc" verify "$model" -v --engine jit --against "$folder.expected.safetensors" >"$scratch/out" 2>"$scratch/err" &&
        grep -q 'all within tolerance' "$scratch/out" && grep -q ' jit ' "$scratch/out" && grep -q ' generic ' "$scratch/out" &&
        grep -Eq '^(logits|encoder|vector)' "$scratch/out" && ! grep -q error "$scratch/err"
    verdict $? "$name: as transformers"
    tail -n 3 "$scratch/out"; cat "$scratch/err"
    as_lua "$model" "$name"
    [ -e "$folder.expected" ] || continue
    for engine in jit generic; do
        "$rows" "$model" "$folder.expected.safetensors" $engine >"$scratch/out" 2>&1 && [ "$(grep -c pieces "$scratch/out")" = 4 ]
        verdict $? "$name: rows and steps, $engine"
        cat "$scratch/out"
        check_ids "$model" "$folder.expected" $engine
        verdict $? "$name: greedy and beams, $engine"
    done
done

# ---- files of torch.save -------------------------------------------------------------------------

# The file is recognised by its content, whatever its name. So is a folder that contains one.
cp $here/llama_bin/pytorch_model.bin "$scratch/weights.pt"
wanted=$("$xformc" run $here/llama_bin --ids -n 3 '1 5')
for weights in weights.pt "$PWD/$here/llama_bin"; do
    "$xformc" info $here/llama_bin --lua 2>"$scratch/err" | sed "s|weights = .*|weights = \"$weights\",|" >"$scratch/pt.lua"
    [ -n "$wanted" ] && [ "$("$xformc" run "$scratch/pt.lua" --ids -n 3 '1 5' 2>"$scratch/err")" = "$wanted" ]
    verdict $? "the weights of a spec: $(basename "$weights")"
    cat "$scratch/err"
done

# ---- longrope ------------------------------------------------------------------------------------

# Past original_max_position_embeddings, transformers recomputes the whole sequence with changed
# rates. The golden covers positions up to there, and a note says why the context ends.
long=$here/phi3_longrope
note() { "$xformc" info "$1" 2>&1 >"$scratch/out" | sed -n 's/^note: [^ ]* \(was trained\)/\1/p'; }
[ "$("$xformc" info $long 2>"$scratch/err" | head -n 1)" = 'phi3_longrope: decoder of 2 layers, width 32, target up to 24' ] &&
    [ "$(note $long)" = 'was trained with a context of 48 tokens; the context here is 24, the maximum supported: beyond it, the rotary frequencies depend on the length of the whole sequence' ]
verdict $? 'longrope: the note says where it ends, and why'
rm -rf "$scratch/long" && cp -r $long "$scratch/long"
lengths() { sed "s/\"max_position_embeddings\": 48/\"max_position_embeddings\": $1/; s/\"original_max_position_embeddings\": 24/\"original_max_position_embeddings\": $2/" $long/config.json >"$scratch/long/config.json"; note "$scratch/long"; }
case $(lengths 131072 4096) in 'was trained with a context of 131072 tokens; the context here is 4096, the maximum supported: '*) true ;; *) false ;; esac &&
    [ "$(lengths 131072 8192)" = 'was trained with a context of 131072 tokens; the context here is 4096; --max-len can raise it to 8192' ] && [ "$(lengths 24 24)" = '' ]
verdict $? 'longrope: the note of other lengths'
"$xformc" run $long --ids "$(seq 3 26 | tr '\n' ' ')" >"$scratch/out" 2>"$scratch/err" && ! "$xformc" run $long --ids "$(seq 3 27 | tr '\n' ' ')" >"$scratch/out" 2>"$scratch/err" &&
    grep -q '25 ids, but at most 24 fit' "$scratch/err"
verdict $? 'longrope: as many ids as that, and not one more'
cat "$scratch/err"

# A field of other scalings, about which a note says that it has no effect, has none.
for more in '' ', rope_attention_factor = 2'; do
    sed "s/, rope_beta_fast = 4/$more/" tests/front/rope_unread.lua >"$scratch/turned.lua"
    "$xformc" pack "$scratch/turned.lua" -q -o "$scratch/turned${more:+.more}" 2>"$scratch/err"
done
grep -q 'rope_attention_factor has no effect' "$scratch/err" && cmp "$scratch/turned" "$scratch/turned.more"
verdict $? 'an attention factor does not change linear scaling'

# ---- two vocabularies ----------------------------------------------------------------------------

# Two vocabularies would need two tokenizers, so such a folder takes ids, and a note says so.
two=$scratch/vocabularies
cp -r $here/marian_two "$two" && for file in source.spm target.spm vocab.json target_vocab.json; do echo '{}' >"$two/$file"; done
ids='13 59 42 17 40'
[ "$("$xformc" run "$two" -n 6 "$ids" 2>"$scratch/err")" = "$("$xformc" run $here/marian_two --ids -n 6 "$ids")" ] &&
    grep -q "^$two: note: text input is not supported with two vocabularies, vocab.json and target_vocab.json: use token ids" "$scratch/err"
verdict $? 'two vocabularies: ids, with a note'
cat "$scratch/err"
"$xformc" tokenize "$two" text >"$scratch/out" 2>"$scratch/err"
[ $? = 69 ] && [ ! -s "$scratch/out" ] && grep -q 'error: .*vocabularies: two vocabularies, vocab.json and target_vocab.json, are not supported' "$scratch/err"
verdict $? 'two vocabularies: no tokenizer'
cat "$scratch/err"
# With a shared embedding the decoder's own vocabulary size is ignored, as in transformers.
cp -r $here/marian "$scratch/shared" && sed 's/"decoder_vocab_size": 96/"decoder_vocab_size": 90/' $here/marian/config.json >"$scratch/shared/config.json" &&
    ! cmp -s $here/marian/config.json "$scratch/shared/config.json" &&
    [ "$("$xformc" run "$scratch/shared" -n 6 "$ids" 2>"$scratch/err")" = "$("$xformc" run $here/marian -n 6 "$ids")" ]
verdict $? 'one vocabulary: the size of the decoder is not read'
cat "$scratch/err"

# ---- real models ---------------------------------------------------------------------------------

if [ -z "${XFORMC_TEST_DATA:-}" ]; then
    echo 'skip the stories model, GPT-2, BERT (XFORMC_TEST_DATA is not set)'
    exit
fi

# ids_of KEY FILE: the lists of ids at KEY in a JSON file, one per line.
ids_of() { tr -d '\n ' <"$2" | grep -o "\"$1\":\[[0-9,]*\]" | sed 's/.*\[//; s/\]//; s/,/ /g'; }

stories=$XFORMC_TEST_DATA/stories260K
wanted=$(ids_of token_ids "$stories/hf/expected.json" | cut -d' ' -f2-)
for engine in jit generic native; do
    for spec in hf stories260K.bin; do
        [ -n "$wanted" ] && [ "$("$xformc" run "$stories/$spec" --ids --engine $engine -n 200 1)" = "$wanted" ]
        verdict $? "stories260K, $spec: 200 ids, $engine"
    done
done

gpt2=$XFORMC_TEST_DATA/tiny-random-gpt2
tr -d '\n ' <"$gpt2/expected.json" | sed 's/.*"greedy"://; s/"beam4.*//' >"$scratch/greedy"
tr -d '\n ' <"$gpt2/expected.json" | sed 's/.*"beam4[^:]*://' >"$scratch/beams"
for engine in jit generic native; do
    for kind in greedy beams; do
        [ $kind = beams ] && search='--beam 4' || search=
        ids_of prompt "$scratch/$kind" >"$scratch/prompts"
        ids_of full "$scratch/$kind" >"$scratch/full"
        fault=0
        paste -d';' "$scratch/prompts" "$scratch/full" >"$scratch/both"
        while IFS=';' read -r prompt full; do
            n=$(($(echo "$full" | wc -w) - $(echo "$prompt" | wc -w)))
            [ "$prompt $("$xformc" run "$gpt2" --ids --engine $engine $search -n $n "$prompt")" = "$full" ] || fault=1
        done <"$scratch/both"
        [ -s "$scratch/both" ] || fault=1
        verdict $fault "tiny-random-gpt2, $kind, $engine"
    done
done
