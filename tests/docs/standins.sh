# standins.sh: small models that replace those named in the pages. Sourced by suites.
# standins FOLDER XFORMC: put them into FOLDER, with the programs and files that the pages name.
standins() (
    top=$PWD vectors=$PWD/tests/vectors
    cd "$1" || exit 74
    for name in specs tests; do ln -s "$top/$name" $name || exit 74; done
    mkdir build && ln -s "$2" build/xformc || exit 74

    # A Qwen3 with the ChatML template.
    chat=Qwen2.5-0.5B-Instruct
    mkdir $chat
    cp "$vectors/embed_qwen3/model.safetensors" "$vectors/embed_qwen3/tokenizer.json" \
        "$top/tests/chat/chatml/tokenizer_config.json" $chat || exit 74
    sed 's/\("tie_word_embeddings":\) false/\1 true/
         s/\("max_position_embeddings":\) [0-9]*/\1 400/' \
        "$vectors/embed_qwen3/config.json" >$chat/config.json
    printf 'hello\nhow are you?\n' >questions

    ln -s "$top/tests/gguf/files/llama_q8_0.gguf" tinyllama.Q8_0.gguf

    # Encoders, and a decoder that outputs vectors.
    cp -r "$vectors/sentence_mean" all-MiniLM-L6-v2
    ln -s "$vectors/embed_qwen3" Qwen3-Embedding-0.6B
    ln -s "$vectors/cross_bert" ms-marco-MiniLM-L6-v2
    ln -s "$vectors/mask_bert" bert-base-uncased
    printf 'a cat\nthe moon\n' >sentences
)
