#!/bin/sh
# The prompt, handled roughly: what runs inside what runs, files that change, long chunks, long lives, signals. usage: run.sh XFORMC
set -u
xformc=$1
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT || exit 74
export XDG_STATE_HOME="$scratch/state" XDG_CACHE_HOME="$scratch/cache" TERM=xterm
verdict() { if [ "$1" = 0 ]; then echo "ok $2"; else echo "not ok $2"; fi; }

# says NAME CODE OUT ERR < CHUNKS: what a pipe into the prompt prints, in full, and its exit code; ERR is a pattern.
says() {
    cat >"$scratch/in"
    timeout 60 "$xformc" repl <"$scratch/in" >"$scratch/out" 2>"$scratch/err"
    found=$?
    message=$(cat "$scratch/err")
    case $message in $4) fits=1 ;; *) fits=0 ;; esac
    [ $found = "$2" ] && [ "$(cat "$scratch/out")" = "$3" ] && [ $fits = 1 ]
    verdict $? "$1"
    echo "exit $found"; cut -c1-300 "$scratch/out" "$scratch/err" | head -n 40
}

# ---- models inside models ------------------------------------------------------------------------------------------

says 'a probe runs another model, which is freed before the first goes on' 0 '15 2
2019-05-03' '' <<'END'
m = xf.compile("specs/dates.lua", { tier = "jit" })
m:probe("encoder.0.ffn", function()
  local n = xf.compile("specs/self_attention.lua", { tier = "jit" })
  n:run{}
  n:close()
  collectgarbage()
end)
m:probe("encoder.1.ffn", function(t) rows = t:shape()[1] end)
n = xf.compile("specs/self_attention.lua", { tier = "jit" }); inner = 0
n:probe("Z", function() inner = inner + 1 end)
m:probe("decoder.0.ffn", function(t, step) if step < 3 then n:run{} end end)
answer = m("3rd of May 2019")
rows .. " " .. inner
answer
END

# ---- files that change ---------------------------------------------------------------------------------------------

mkdir -p "$scratch/specs/dates"
fresh() { cp specs/dates.lua "$scratch/specs/" && cp specs/dates/dates.safetensors specs/dates/*.txt "$scratch/specs/dates/"; }
for change in 'truncate -s 20000 "%s"' 'printf 0123456789 | dd of="%s" bs=1 seek=300000 conv=notrunc 2>/dev/null'; do
    fresh
    # shellcheck disable=SC2059
    printf "$change" "$scratch/specs/dates/dates.safetensors" >"$scratch/change"
    says 'weights that are written to: one error, and what is open goes on' 65 '2019-05-03
2019-05-03' '*dates.safetensors was written to after dates had been read from it*dates.safetensors was written to*' <<END
m = xf.compile("$scratch/specs/dates.lua", { tier = "jit" })
m("3rd of May 2019")
os.execute[[sleep 0.02; sh "$scratch/change"]] m:at("encoder.0.ffn")
m:verify()
m("3rd of May 2019")
END
done
fresh
says 'another file in the place of the weights: what is open goes on with its own' 0 '2019-05-03
true' '' <<END
m = xf.compile("$scratch/specs/dates.lua", { tier = "jit" })
os.execute[[cd "$scratch/specs/dates"; head -c 20000 dates.safetensors >new; mv new dates.safetensors]] print(m("3rd of May 2019"))
m:at("encoder.0.ffn"):max() > 0
END
