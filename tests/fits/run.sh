#!/bin/sh
# Before they start work, commands reject what does not fit on a disk, or in memory with the
# requested dtypes; for memory they name options that need less. The models can have any size: their
# weights files are sparse and begin with NaNs, which xformc would report if it read them.
# usage: run.sh XFORMC
. tests/lib.sh

# llama NAME LAYERS WIDTH: a bf16 Hugging Face folder of that shape.
llama() {
    mkdir -p "$scratch/$1" && printf '%s' '{"architectures":["LlamaForCausalLM"],"model_type":"llama","hidden_size":'$3',"num_hidden_layers":'$2',
        "intermediate_size":'$((4 * $3))',"num_attention_heads":'$(($3 / 128))',"num_key_value_heads":'$(($3 / 512))',"vocab_size":32000,
        "max_position_embeddings":8192,"rms_norm_eps":1e-5,"hidden_act":"silu","tie_word_embeddings":false,"torch_dtype":"bfloat16",
        "bos_token_id":1,"eos_token_id":2,"rope_theta":10000.0}' >"$scratch/$1/config.json" &&
    awk -v layers=$2 -v d=$3 'function tensor(name, rows, columns) {
            printf "%s\"%s\":{\"dtype\":\"BF16\",\"shape\":[%.0f%s],\"data_offsets\":[%.0f,%.0f]}", at ? "," : "{", name, rows,
                   columns ? sprintf(",%.0f", columns) : "", at, at + 2 * rows * (columns ? columns : 1)
            at += 2 * rows * (columns ? columns : 1)
        }
        BEGIN {
            tensor("model.embed_tokens.weight", 32000, d)
            for (i = 0; i < layers; i++) {
                p = "model.layers." i "."
                tensor(p "input_layernorm.weight", d); tensor(p "post_attention_layernorm.weight", d)
                tensor(p "self_attn.q_proj.weight", d, d); tensor(p "self_attn.o_proj.weight", d, d)
                tensor(p "self_attn.k_proj.weight", d / 4, d); tensor(p "self_attn.v_proj.weight", d / 4, d)
                tensor(p "mlp.gate_proj.weight", 4 * d, d); tensor(p "mlp.up_proj.weight", 4 * d, d); tensor(p "mlp.down_proj.weight", d, 4 * d)
            }
            tensor("model.norm.weight", d); tensor("lm_head.weight", 32000, d)
            print "}"
            printf "%.0f\n", at >"/dev/stderr"
        }' >"$scratch/head" 2>"$scratch/bytes" &&
    n=$(wc -c <"$scratch/head") &&
    { printf "$(printf '\\%03o\\%03o\\%03o\\000\\000\\000\\000\\000' $((n % 256)) $((n / 256 % 256)) $((n / 65536)))"
      cat "$scratch/head"
      printf '\377\377\377\377'; } >"$scratch/$1/model.safetensors" &&
    dd if=/dev/zero of="$scratch/$1/model.safetensors" bs=1 count=0 seek=$((8 + n + $(cat "$scratch/bytes"))) 2>/dev/null
}

# refused NAME CODE COMMAND...: exits with CODE, before it has read any weights.
refused() {
    name=$1 code=$2
    shift 2
    "$xformc" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    found=$?
    [ $found = $code ] && ! [ -s "$scratch/out" ] && ! grep 'infinite or NaN' "$scratch/err" || { echo "exit $found"; cat "$scratch/out" "$scratch/err"; false; }
    verdict $? "$name"
}
says() { grep -E "$1" "$scratch/err" >/dev/null || { echo "no line $1"; cat "$scratch/err"; false; }; verdict $? "$2"; }

# ---- memory --------------------------------------------------------------------------------------

if ! llama giant 900 16384; then
    cat "$scratch/log"
    skip 'what does not fit' 'no sparse files of terabytes can be made'
    exit 0
fi
for command in "run --ids 1" bench tune; do
    set -- $command
    verb=$1
    shift
    refused "$verb: a model beyond the memory is refused before its weights are read" 69 $verb "$scratch/giant" "$@"
    says '^error: giant needs 12\.9 TiB of memory \(12\.7 TiB of weights, 11[0-9] GiB of state\), but this machine has [0-9.]+ [MGT]iB$' \
        "$verb: its bytes are named"
done
says '^note: with --dtype int4 it still needs 1\.9[0-9] TiB$' 'and what other dtypes take'
if grep -q -- '--kv-dtype\|-c 2048' "$scratch/err"; then verdict 1 'an option that changes little is not named'; else verdict 0 'an option that changes little is not named'; fi
refused 'what is asked for counts' 69 run "$scratch/giant" --dtype int8 --ids 1
says '^error: giant needs 3\.5[0-9]? TiB of memory' 'int8 weights are counted as such'
says '^note: with --dtype int4 it still needs' 'and a narrower dtype is named'
if grep -q -- '--dtype \(f32\|bf16\|int8\)' "$scratch/err"; then verdict 1 'wider ones are not'; else verdict 0 'wider ones are not'; fi
"$xformc" info "$scratch/giant" >"$scratch/out" 2>"$scratch/err" && ! grep 'infinite or NaN' "$scratch/err"
verdict $? 'info reports it'
grep -Eq '^verify, bytes +15,573,[0-9,]+ +14\.5 GiB +f32 weights, one layer at a time; all are read again for each of 6 inputs$' "$scratch/out" &&
    "$xformc" info "$scratch/giant" --json 2>/dev/null | grep -Eq '"verify":\{"weight_bytes":15573[0-9]*,"anew":true,"inputs":6\}' &&
    "$xformc" info specs/dates.lua --json | grep -Eq '"verify":\{"weight_bytes":[0-9]{6},"anew":false,"inputs":6\}' && ! "$xformc" info specs/dates.lua | grep '^verify'
verdict $? 'and of what verify holds'

# A state of 2.2 TB, and weights of 17 GB.
cat >"$scratch/far.lua" <<END
return xf.model { name = "far", kind = "decoder", layers = 64, heads = 64, d_model = 4096, d_ff = 4, vocab = 5, max_target = 1048576,
                  position = "none", weights = "random" }
END
refused 'a state beyond the memory is refused' 69 compile "$scratch/far.lua"
says '^note: with -c 2048 it (still )?needs ' 'a shorter context is named'
says '^note: with --kv-dtype f16 it (still )?needs ' 'and keys and values of two bytes'
says '^note: with --kv-dtype int8 it (still )?needs ' 'and keys and values of a byte'

# ---- packing -------------------------------------------------------------------------------------

# Limit the data segment: a matrix of 245 MB is packed with less than half that much memory.
# Sanitizers reserve more than any limit.
kib=120000
[ -n "${XFORMC_SANITIZE:-}" ] && kib=unlimited
cat >"$scratch/matrix.lua" <<END
return xf.graph("matrix", function(g) g.output("z", g.matmul(g.input("x", { 2, 2048 }), g.param("w", { 2048, 30000 }))) end)
END
(ulimit -s 512 && ulimit -d $kib && "$xformc" pack "$scratch/matrix.lua" -q -o "$scratch/matrix.safetensors" >"$scratch/out" 2>"$scratch/err") &&
    [ "$(wc -c <"$scratch/matrix.safetensors")" -gt 245000000 ]
verdict $? 'weights are packed slice by slice, and are never all in memory'
tail -n 3 "$scratch/err"
rm -f "$scratch/matrix.safetensors"
# A model too: its self-test uses all of its matrices.
cat >"$scratch/wide.lua" <<END
return xf.model { name = "wide", kind = "decoder", layers = 1, heads = 8, d_model = 1024, d_ff = 1024, vocab = 30000, max_target = 16,
                  position = "none", weights = "random" }
END
for dtype in f32 int4; do
    (ulimit -s 512 && ulimit -d $kib && "$xformc" pack "$scratch/wide.lua" --dtype $dtype -q -o "$scratch/wide" >"$scratch/out" 2>"$scratch/err") &&
        ! head -c 1200 "$scratch/wide" | grep -q '"selftest":"0000000000000000'
    verdict $? "--dtype $dtype: nor does the self-test hold them"
    tail -n 3 "$scratch/err"
    rm -f "$scratch/wide"
done

# ---- a disk --------------------------------------------------------------------------------------

if unshare -rm true 2>"$scratch/log"; then
    mkdir "$scratch/disk"
    cat >"$scratch/small.lua" <<END
return xf.model { name = "small", kind = "decoder", layers = 2, heads = 8, d_model = 512, d_ff = 2048, vocab = 500, max_target = 64,
                  position = "none", weights = "random" }
END
    # on SIZE COMMAND...: run it with a disk of SIZE KB, then list the disk.
    on() {
        size=$1
        shift
        unshare -rm sh -c 'mount -t tmpfs -o size='$size'k none "$1" && disk=$1 && shift && "$@" && code=0 || code=$?; ls -A "$disk"; exit $code' - \
            "$scratch/disk" "$xformc" "$@" >"$scratch/out" 2>"$scratch/err"
    }
    for verb in compile build pack; do
        on 8000 $verb "$scratch/small.lua" -o "$scratch/disk/small" && code=0 || code=$?
        [ $code = 74 ] && ! [ -s "$scratch/out" ] || { echo "exit $code"; cat "$scratch/out" "$scratch/err"; false; }
        verdict $? "$verb: a disk without room is reported before anything is written"
        says "^error: .*/disk/small: no room for (26|78)\.[0-9] MiB; the disk has only 7\.[0-9]+ MiB free" "$verb: with the sizes"
    done
    on 60000 compile "$scratch/small.lua" -o "$scratch/disk/small" && grep -qx small "$scratch/out"
    verdict $? 'one with room is written to'
else
    skip 'a disk without room' 'no user namespaces'
fi
