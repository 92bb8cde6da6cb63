#!/bin/sh
# Hugging Face folders without a tokenizer.json: each class of transformers reads a SentencePiece
# model, vocab.txt, or vocab.json and merges.txt in its own way. Ids of pieces, languages, special
# tokens, added tokens and their flags match transformers (classes.rows, by make.py). An unknown
# class is rejected by name. `info` names the class that was used.
set -u
. tests/lib.sh
here=$top/tests/classes

# ---- ids of transformers
compare() {     # check the folder made from the previous rows
    [ -n "$name" ] || return 0
    "$xformc" tokenize "$scratch/$name" <"$scratch/texts" >"$scratch/found" 2>"$scratch/log" &&
        "$xformc" tokenize "$scratch/$name" --pair "$second" -- "$first" >>"$scratch/found" 2>>"$scratch/log" &&
        while IFS= read -r ids; do "$xformc" tokenize "$scratch/$name" --decode "$ids" || exit; done \
            <"$scratch/decoded" >>"$scratch/found" 2>>"$scratch/log" &&
        diff "$scratch/wanted" "$scratch/found"
    verdict $? "$name: the ids of transformers"
    head -3 "$scratch/log"
}
name=
while IFS= read -r line; do
    rest=${line#? }
    case $line in
    '#'*) ;;
    '== '*)
        compare
        set -- ${line#== }
        name=$1
        mkdir "$scratch/$name"
        if [ $# = 3 ]; then cp "$here/$2.model" "$scratch/$name/$3"; else cp "$top/tests/tokenizer/files/$2"/* "$scratch/$name"; fi
        : >"$scratch/texts" >"$scratch/wanted" >"$scratch/decoded" ;;
    'F '*) printf '%s\n' "${rest#* }" >"$scratch/$name/${rest%% *}" ;;
    'T '*) printf '%s\n' "$rest" >>"$scratch/texts" ;;
    'D '*) printf '%s\n' "$rest" >>"$scratch/decoded" ;;
    'I '*) printf '%s\n' "$rest" >>"$scratch/wanted" ;;
    'P '*) first=$(printf %s "$rest" | cut -f 1) second=$(printf %s "$rest" | cut -f 2) ;;
    esac
done <"$here/classes.rows"
compare

# ---- rejected, by name
rejected() {    # NAME MODEL FILE CONFIG MESSAGE
    rm -rf "$scratch/t" && mkdir "$scratch/t"
    if [ -n "$3" ]; then cp "$here/$2.model" "$scratch/t/$3"; else cp "$top/tests/tokenizer/files/$2"/* "$scratch/t"; fi
    [ -z "$4" ] || printf '%s\n' "$4" >"$scratch/t/tokenizer_config.json"
    "$xformc" tokenize "$scratch/t" x >"$scratch/out" 2>"$scratch/err"
    code=$?
    [ $code = 65 ] && [ ! -s "$scratch/out" ] && grep -qF "$5" "$scratch/err"
    verdict $? "$1"
    [ $code = 65 ] || cat "$scratch/err"
}
rejected 'a class that is not known' t5 spiece.model '{"tokenizer_class":"XLNetTokenizerFast"}' 'of the class XLNetTokenizer is not supported'
rejected 'a whole word beside a Marian' marian '' '{"tokenizer_class":"MarianTokenizer","added_tokens_decoder":{"409":{"content":"<W>","single_word":true}}}' \
    'the added token "<W>" has single_word, which is not supported in a Marian tokenizer'
rejected 'a folder without a class' fairseq sentencepiece.bpe.model '' 'the folder names neither a specific class nor a model_type'
rejected 'a model that is not of its class' t5 sentencepiece.bpe.model '{"tokenizer_class":"XLMRobertaTokenizer"}' \
    'of the class XLMRobertaTokenizer must begin with the pieces <unk> <s> </s>'
rejected 'a language that is none' fairseq sentencepiece.bpe.model '{"tokenizer_class":"MBartTokenizer","src_lang":"en"}' \
    "t/tokenizer_config.json: error: src_lang 'en' is not a language of the class MBartTokenizer; similar: en_XX"
rejected 'a word that a charsmap may change' ../tokenizer/spm_unigram/tokenizer sentencepiece.bpe.model \
    '{"tokenizer_class":"MBartTokenizer","added_tokens_decoder":{"900":{"content":"<x>","single_word":true,"normalized":true}}}' \
    'the added token "<x>" is single_word and normalized, which is not supported for a model with a charsmap'
rejected 'an offset' t5 spiece.model '{"tokenizer_class":"PegasusTokenizer","offset":1}' 'the offset 1 of a Pegasus tokenizer'
rejected 'an id that is too large' llama tokenizer.model \
    '{"tokenizer_class":"LlamaTokenizer","added_tokens_decoder":{"99999999999":{"content":"<x>"}}}' 'the entry "99999999999" of added_tokens_decoder is not an id with a token'
rejected 'words of MeCab' bert '' '{"tokenizer_class":"BertJapaneseTokenizer","word_tokenizer_type":"mecab"}' \
    "vocab.txt of the class BertJapaneseTokenizer with the word_tokenizer_type 'mecab' is not supported"
rejected 'another class of vocab.txt' bert '' '{"tokenizer_class":"RoFormerTokenizerFast"}' 'vocab.txt of the class RoFormerTokenizer is not supported'
rejected 'another class of merges.txt' gpt2 '' '{"tokenizer_class":"CLIPTokenizer"}' 'vocab.json and merges.txt of the class CLIPTokenizer are not supported'

# ---- the class that is used
folder=$scratch/model && mkdir "$folder" && cp "$here/fairseq.model" "$folder/sentencepiece.bpe.model"
cat >"$scratch/model.lua" <<'END'
return xf.model { name = "small", kind = "encoder", layers = 1, heads = 2, d_model = 16, d_ff = 16, vocab = 200, max_len = 16,
    weights = "random", norm = "layer", position = "learned", tokenizer_file = "model" }
END
echo '{"model_type":"xlm-roberta"}' >"$folder/config.json"
"$xformc" info "$scratch/model.lua" 2>&1 | sed -n '/^tokenizer/,/^parameters/s/  */ /gp' >"$scratch/out"
same 'tokenizer, ids 114 sentencepiece.bpe.model
 read as class XLMRoberta by model_type' "$(sed '$d' "$scratch/out")"
verdict $? 'info names the file and the class by the model_type'
echo '{"tokenizer_class":"CamembertTokenizer"}' >"$folder/tokenizer_config.json"
echo '{"additional_special_tokens":["<L>"]}' >"$folder/special_tokens_map.json"
"$xformc" info "$scratch/model.lua" --json | grep -q '"tokenizer":{"ids":118,"origin":"sentencepiece.bpe.model",'\
'"rules":"class Camembert by tokenizer_class","settings":"tokenizer_config.json, special_tokens_map.json"}'
verdict $? 'info --json names the class that is given, and the files of settings'
told() { "$xformc" info "$1" 2>&1 | sed -n '/^tokenizer/,/^parameters/s/  */ /gp' | sed '$d'; }
same 'tokenizer none input and output are token ids' "$(told tests/families/bart)"
verdict $? 'info of a model without a tokenizer'
same "tokenizer, ids 123 tokenizer.json
 read as class Bert by tokenizer_class
 settings tokenizer_config.json" "$(told tests/vectors/labels_several)"
verdict $? 'info of a tokenizer.json that its class settles'

# ---- notes
folder=$scratch/llama_gguf && mkdir "$folder" && cp "$here/llama.model" "$folder/tokenizer.model"
noted() {       # CONFIG NOTE: the only note, or '' for none
    echo "$1" >"$folder/tokenizer_config.json"
    "$xformc" tokenize "$folder" x 2>&1 >/dev/null | sed "s|$folder/||" >"$scratch/err"
    [ "$2" = "$(cat "$scratch/err")" ]
    verdict $? "$1: ${2:-nothing is noted}"
}
noted '{"tokenizer_class":"LlamaTokenizer"}' \
    'tokenizer.model: note: tokenizer_config.json does not set add_bos_token: texts begin with <s>, as in transformers 4, but not in transformers 5'
noted '{"tokenizer_class":"LlamaTokenizer","add_bos_token":false}' ''
noted '{"tokenizer_class":"CodeLlamaTokenizer"}' ''
