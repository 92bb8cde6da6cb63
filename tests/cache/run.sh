#!/bin/sh
# Packed weights in the cache: packed once, mapped by later runs, with the same answers. What makes
# a new entry; damaged and foreign entries, concurrent processes, the size limit, full and missing
# disks, leftovers of killed processes, and how `cache` lists, checks and clears entries.
# usage: run.sh XFORMC
. tests/lib.sh
export XDG_CACHE_HOME="$scratch/home" TERM=dumb
unset XFORMC_CACHE
cache=$scratch/home/xformc
sed 's/name = "gpt"/name = "large"/; s/vocab = 256/vocab = 4000/' specs/gpt.lua >"$scratch/large.lua"

# answers [OPTION...]: the model gives the expected answers and prints no message.
answers() {
    "$xformc" run "$scratch/large.lua" --ids -n 40 --temp 0 "$@" '1 2 3' >"$scratch/out" 2>"$scratch/err" &&
        same "$expected" "$(cat "$scratch/out")" && same 'nothing' "nothing$(cat "$scratch/err")"
}
# entries N: the cache has exactly N entries, and no temporary file or lock.
entries() { [ "$(ls "$cache"/*.packed 2>/dev/null | wc -l)" = "$1" ] && [ -z "$(find "$cache" -name '.xf-*' -o -name '*.lock')" ] || { ls -lA "$cache"; false; }; }
inode() { stat -c '%i %Y %s' "$1"; }

expected=$(XFORMC_CACHE=off "$xformc" run "$scratch/large.lua" --ids -n 40 --temp 0 '1 2 3') && [ "$(printf %s "$expected" | wc -w)" = 40 ] && [ ! -e "$cache" ]
verdict $? 'XFORMC_CACHE=off keeps nothing'
answers --no-cache && [ ! -e "$cache" ]
verdict $? '--no-cache keeps nothing'
answers && entries 1 && entry=$(ls "$cache"/large-*.packed) && [ "$(stat -c '%a %a' "$cache" "$entry")" = '700 700
600 600' ]
verdict $? 'weights are packed into the cache, for this user only'
before=$(inode "$entry") && answers && entries 1 && [ "$before" != '' ] && [ "$(inode "$entry" | cut -d' ' -f1)" = "${before%% *}" ]
verdict $? 'and mapped the next time'
touch -d '3 days ago' "$entry"
answers --no-cache && [ "$(find "$entry" -mtime +2)" ] && answers && [ ! "$(find "$entry" -mtime +2)" ]
verdict $? 'which counts as use; with --no-cache it is not'

# ---- what makes a new entry ----------------------------------------------------------------------

answers --threads 2 && answers --engine jit && entries 1
verdict $? 'the entry does not depend on threads and engines'
"$xformc" run "$scratch/large.lua" --dtype int8 --ids -n 2 1 >/dev/null && entries 1
verdict $? 'weights of less than 4 MiB are packed each time'
sed 's/vocab = 4000/vocab = 4016/' "$scratch/large.lua" >"$scratch/wider.lua"
"$xformc" run "$scratch/wider.lua" --ids -n 2 1 >/dev/null && entries 2 && "$xformc" cache --clear && entries 0
verdict $? 'another size is another entry'

# A bf16 folder of 3,728,128 weights, all of them zero at first.
mkdir "$scratch/hf"
printf '%s' '{"architectures":["LlamaForCausalLM"],"model_type":"llama","hidden_size":256,"num_hidden_layers":1,"intermediate_size":512,
    "num_attention_heads":4,"num_key_value_heads":4,"vocab_size":6000,"max_position_embeddings":64,"rms_norm_eps":1e-5,"hidden_act":"silu",
    "tie_word_embeddings":false,"torch_dtype":"bfloat16","bos_token_id":1,"eos_token_id":2,"rope_theta":10000.0}' >"$scratch/hf/config.json"
awk 'function tensor(name, rows, columns) {
        printf "%s\"%s\":{\"dtype\":\"BF16\",\"shape\":[%d%s],\"data_offsets\":[%d,%d]}", at ? "," : "{", name, rows,
               columns ? "," columns : "", at, at + 2 * rows * (columns ? columns : 1)
        at += 2 * rows * (columns ? columns : 1)
    }
    BEGIN {
        tensor("model.embed_tokens.weight", 6000, 256)
        p = "model.layers.0."
        tensor(p "input_layernorm.weight", 256); tensor(p "post_attention_layernorm.weight", 256)
        for (i = split("q k v o", names, " "); i > 0; i--) tensor(p "self_attn." names[i] "_proj.weight", 256, 256)
        tensor(p "mlp.gate_proj.weight", 512, 256); tensor(p "mlp.up_proj.weight", 512, 256); tensor(p "mlp.down_proj.weight", 256, 512)
        tensor("model.norm.weight", 256); tensor("lm_head.weight", 6000, 256)
        printf "}"; print at >"/dev/stderr"
    }' >"$scratch/head" 2>"$scratch/bytes"
n=$(wc -c <"$scratch/head")
weights=$scratch/hf/model.safetensors
{ printf "$(printf '\\%03o\\%03o\\000\\000\\000\\000\\000\\000' $((n % 256)) $((n / 256)))"; cat "$scratch/head"; } >"$weights"
dd if=/dev/zero of="$weights" bs=1 count=0 seek=$((8 + n + $(cat "$scratch/bytes"))) 2>/dev/null
# put OFFSET BYTES: write BYTES at OFFSET in the data of the file.
put() { printf "$2" | dd of="$weights" bs=1 seek=$((8 + n + $1)) conv=notrunc 2>/dev/null; }
folder() { "$xformc" run "$scratch/hf" --ids -n 3 --temp 0 1 >"$scratch/out" 2>"$scratch/err"; }
folder && folder && entries 1
verdict $? 'a folder has one entry'
put 1000000 '\200\077' && folder && entries 2
verdict $? 'a number that is changed in its file is another entry'
touch -r "$weights" "$scratch/then" && put 1000000 '\000\077' && touch -r "$scratch/then" "$weights" && folder && entries 3
verdict $? 'even if the time of writing is put back'
cp -r "$scratch/hf" "$scratch/copy" && "$xformc" run "$scratch/copy" --ids -n 3 --temp 0 1 >/dev/null && entries 4
verdict $? 'and a copy of the folder is'
put 1000002 '\200\177'
for turn in 1 2; do
    folder && entries 4 && grep -q 'is infinite or NaN in 1 of 1536000 elements' "$scratch/err"
    verdict $? "infinite numbers are reported each time: $turn"
done
put 1000002 '\000\000'
"$xformc" verify "$scratch/hf" --engine jit >"$scratch/out" 2>"$scratch/err" && folder && entries 5 && "$xformc" bench "$scratch/hf" --engine jit --seconds 0.01 -r 1 >/dev/null 2>&1 && entries 5
verdict $? 'verify, run and bench share an entry'
cat "$scratch/err"

# ---- damaged entries -----------------------------------------------------------------------------

"$xformc" cache --clear && answers && entry=$(ls "$cache"/large-*.packed) && cp "$entry" "$scratch/good"
cut() { head -c "$1" "$scratch/good" >"$entry"; }
cut 3000000 && answers && cmp "$entry" "$scratch/good"; verdict $? 'one that was cut is packed anew'
cut 0 && answers && cmp "$entry" "$scratch/good"; verdict $? 'an empty one'
{ cat "$scratch/good"; echo; } >"$entry" && answers && cmp "$entry" "$scratch/good"; verdict $? 'one with bytes appended'
sed '1s/"xformc":"[0-9a-f]*"/"xformc":"0123456789abcdef"/' "$scratch/good" >"$entry"
[ "$(wc -c <"$entry")" = "$(wc -c <"$scratch/good")" ] && answers && cmp "$entry" "$scratch/good"; verdict $? 'one of another key'
rm "$entry" && mkdir "$entry" && answers; verdict $? 'a folder in its place is left alone'
rmdir "$entry" && ln -s "$scratch/good" "$entry" && answers && [ ! -L "$entry" ] && cmp "$entry" "$scratch/good"; verdict $? 'a link in its place is not followed'
remarked() { "$xformc" run "$scratch/large.lua" --ids -n 40 --temp 0 '1 2 3' >"$scratch/out" 2>"$scratch/err"; same "$expected" "$(cat "$scratch/out")" && grep -q "^note: $1 $2, so $3" "$scratch/err"; }
chmod 620 "$entry" && remarked "$entry" 'is writable by other users' 'it is ignored and rebuilt' && [ "$(stat -c %a "$entry")" = 600 ]
verdict $? 'one that others may write is not used'
chmod 770 "$cache" && remarked "$cache" 'is writable by other users' 'it is not used as the cache'
verdict $? 'nor a folder that others may write'
chmod 700 "$cache"
if [ "$(id -u)" = 0 ]; then
    chown 65534 "$entry" && remarked "$entry" 'belongs to another user' 'it is ignored and rebuilt'
    verdict $? 'nor an entry of another user'
else
    skip 'nor an entry of another user' 'only root may make some'
fi

# ---- concurrent processes ------------------------------------------------------------------------

"$xformc" cache --clear
for i in 1 2 3 4; do
    "$xformc" run "$scratch/large.lua" --ids -n 40 --temp 0 '1 2 3' >"$scratch/out$i" 2>"$scratch/err$i" &
    eval "pid$i=\$!"
done
good=0
for i in 1 2 3 4; do
    eval "wait \$pid$i" && same "$expected" "$(cat "$scratch/out$i")" || good=1
done
[ $good = 0 ] && entries 1 && cmp "$(ls "$cache"/*.packed)" "$scratch/good"
verdict $? 'four at once answer alike, and leave one entry'
if has flock; then
    rm "$entry"
    mkfifo "$scratch/go"
    flock "$entry.lock" sh -c "echo locked >'$scratch/locked'; read _ <'$scratch/go'; cp '$scratch/good' '$entry'; chmod 600 '$entry'" &
    await [ -e "$scratch/locked" ]
    "$xformc" run "$scratch/large.lua" --ids -n 40 --temp 0 '1 2 3' >"$scratch/out" 2>"$scratch/err" &
    waiting=$!
    sleep 0.5
    [ ! -s "$scratch/out" ] && kill -0 $waiting && [ ! -e "$entry" ]
    verdict $? 'one waits while another packs'
    echo >"$scratch/go"
    wait $waiting && same "$expected" "$(cat "$scratch/out")" && entries 1
    verdict $? 'and takes what that one packed'
else
    skip 'one waits while another packs' 'no flock'
fi
mkfifo "$scratch/to"
"$xformc" run "$scratch/large.lua" --ids -n 40 --temp 0 <"$scratch/to" >"$scratch/answers" 2>"$scratch/err" &
asked=$!
exec 3>"$scratch/to"
echo '1 2 3' >&3
await [ -s "$scratch/answers" ]
"$xformc" cache --clear && entries 0 && echo '1 2 3' >&3
exec 3>&-
wait $asked && same "$expected
$expected" "$(cat "$scratch/answers")"
verdict $? 'what is mapped survives its removal'

answers && entry=$(ls "$cache"/large-*.packed) || exit 74
"$xformc" run "$scratch/large.lua" --ids -n 3 --temp 0 <"$scratch/to" >"$scratch/few" 2>"$scratch/err" &
asked=$!
exec 3>"$scratch/to"
echo '1 2 3' >&3
await [ -s "$scratch/few" ]
: >"$entry" && echo '1 2 3' >&3
exec 3>&-
wait $asked
[ $? = 74 ] && [ "$(wc -l <"$scratch/few")" = 1 ] && same 'error: a file was truncated while it was being read' "$(cat "$scratch/err")"
verdict $? 'one that is cut while it is mapped ends with a message'

# Killed processes leave a partial file and a lock.
answers && cp "$entry" "$scratch/good" && "$xformc" cache --clear
space=$(: >"$cache/a" && "$xformc" run "$scratch/large.lua" --ids -n 1 1 >/dev/null; rm "$cache/a"; echo 00000000)
head -c 1000 "$scratch/good" >"$cache/.xf-$space-999999999-0.tmp" && touch -d '2 days ago' "$cache/.xf-$space-999999999-0.tmp"
rm -f "$entry" && : >"$entry.lock" && answers && entries 1
verdict $? 'what a killed process left is removed'
: >"$cache/large-0123456789abcdef.packed.lock" && "$xformc" cache --clear && [ -z "$(ls -A "$cache")" ]
verdict $? 'also by cache --clear'

# ---- the size limit ------------------------------------------------------------------------------

answers && "$xformc" run "$scratch/wider.lua" --ids -n 1 1 >/dev/null && entries 2 && bytes=$(wc -c <"$entry")
touch -d '1 hour ago' "$entry"
sed 's/vocab = 4000/vocab = 4032/' "$scratch/large.lua" >"$scratch/widest.lua"
XFORMC_CACHE_SIZE=$((2 * bytes + 200000)) "$xformc" run "$scratch/widest.lua" --ids -n 1 1 >/dev/null && entries 2 && [ ! -e "$entry" ]
verdict $? 'what was used longest ago makes room'
bound() { XFORMC_CACHE_SIZE=$1 "$xformc" run "$scratch/large.lua" --ids -n 40 --temp 0 '1 2 3' >"$scratch/out" 2>"$scratch/err"; same "$expected" "$(cat "$scratch/out")"; }
bound 1M && [ ! -e "$entry" ] && entries 2 &&
    same 'note: large takes 7.00 MiB packed, but the limit of the cache is 1.00 MiB, so the model is packed on every run; raise XFORMC_CACHE_SIZE' "$(cat "$scratch/err")"
verdict $? 'what is larger than the bound is not kept, with one line'
bound much && grep -q '^note: XFORMC_CACHE_SIZE: expected a size such as 262144, 256K, 1M or 2G, found much; using [0-9.]* [MG]iB$' "$scratch/err" && [ "$(wc -l <"$scratch/err")" = 1 ]
verdict $? 'a bound that is not valid is reported'
bound 10% && grep -q '^note: XFORMC_CACHE_SIZE: .*found 10%;' "$scratch/err" && XFORMC_CACHE_SIZE=0 "$xformc" cache 2>"$scratch/err" >"$scratch/out" &&
    grep -q '^note: XFORMC_CACHE_SIZE: .*found 0;' "$scratch/err"
verdict $? 'also when the entry is there, and by xformc cache'
XFORMC_CACHE=OFF "$xformc" run "$scratch/large.lua" --ids -n 40 --temp 0 '1 2 3' 2>"$scratch/err" >"$scratch/out" &&
    [ "$(cat "$scratch/err")" = 'note: XFORMC_CACHE: expected off, found OFF; it is ignored' ]
verdict $? 'XFORMC_CACHE is off or nothing'
"$xformc" cache --clear
(ulimit -f 2000 && "$xformc" run "$scratch/large.lua" --ids -n 40 --temp 0 '1 2 3' >"$scratch/out" 2>"$scratch/err") &&
    same "$expected" "$(cat "$scratch/out")" && entries 0
verdict $? 'a file that cannot be written to its end is packed in memory'
cat "$scratch/err"
if unshare -rm true 2>/dev/null; then
    mkdir "$scratch/disk"
    unshare -rm sh -c "mount -t tmpfs -o size=3M none '$scratch/disk' && XDG_CACHE_HOME='$scratch/disk' '$xformc' run '$scratch/large.lua' --ids -n 40 --temp 0 '1 2 3' &&
        [ -z \"\$(find '$scratch/disk' -type f)\" ]" >"$scratch/out" 2>"$scratch/err" && same "$expected" "$(cat "$scratch/out")"
    verdict $? 'a full disk'
    unshare -rm sh -c "mount -t tmpfs -o size=3M none '$scratch/disk'; for size in '' 1G; do
        XFORMC_CACHE_SIZE=\$size XDG_CACHE_HOME='$scratch/disk' '$xformc' run '$scratch/large.lua' --ids -n 1 1 || exit; done" >"$scratch/out" 2>"$scratch/err" &&
        grep -q '^note: large takes 7.00 MiB packed, but the limit of the cache is 3.. KiB, so the model is packed on every run; free disk space or set XFORMC_CACHE_SIZE$' "$scratch/err" &&
        [ "$(tail -n 1 "$scratch/err")" = "note: the packed weights of large take 7.00 MiB, more than is free on the cache's disk, so they are packed on every run" ]
    verdict $? 'it is reported, even if the limit is raised'
    cat "$scratch/err"
else
    skip 'a full disk' 'no user namespaces'
    skip 'it is reported, even if the limit is raised' 'no user namespaces'
fi
: >"$scratch/file"
XDG_CACHE_HOME=$scratch/file answers
verdict $? 'a cache that cannot be written'

# ---- list and check ------------------------------------------------------------------------------

answers && "$xformc" cache >"$scratch/out" && grep -Eq '^large-[0-9a-f]{16}\.packed +7\.00 MiB +[0-9]+ (s|min)$' "$scratch/out" &&
    tail -n 1 "$scratch/out" | grep -Eq '^7\.00 MiB of [0-9.]+ [MG]iB$'
verdict $? 'cache lists it, and what all of them may take'
"$xformc" cache --json | grep -Eq '"most_bytes":[0-9]+,"entries":\[\{"name":"large-[0-9a-f]{16}\.packed","kind":"weights","bytes":'"$bytes"',"used":[0-9]+\}\]\}$'
verdict $? 'cache --json'
"$xformc" cache --check >"$scratch/out" && same '1 entry, 0 damaged' "$(cat "$scratch/out")"
verdict $? 'cache --check'
printf x | dd of="$entry" bs=1 seek=4000000 conv=notrunc 2>/dev/null
"$xformc" cache --check >"$scratch/out"
[ $? = 1 ] && same "$(basename "$entry"): damaged, removed
1 entry, 1 damaged" "$(cat "$scratch/out")" && entries 0
verdict $? 'it removes what has another hash, exit code 1'
