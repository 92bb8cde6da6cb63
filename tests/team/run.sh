#!/bin/sh
# tags: noasan
# Calls too small for several threads: emitted code decides whether to share each one, or shares all
# of them with XFORMC_TEAM=always. Answers do not depend on the number of threads. -v says how many
# calls were shared. No time is checked.
# usage: run.sh XFORMC
set -u
. tests/lib.sh
unset XFORMC_TEAM
compile() { name=$1 && shift && "$xformc" compile "$@" -q -o "$scratch/$name"; }

# ---- the text
calls() { grep -o "rt_team_$1(" "$scratch/$2/$3.c" | wc -l; }
compile weighed specs/dates.lua && same '2 0' "$(calls weigh weighed dates) $(calls share weighed dates)"
verdict $? 'calls of dates are weighed'
XFORMC_TEAM=always compile shared specs/dates.lua && same '0 2' "$(calls weigh shared dates) $(calls share shared dates)"
verdict $? 'XFORMC_TEAM=always: they are shared'
compile alone specs/dates.lua --max-threads 1 && same '0 0' "$(calls weigh alone dates) $(calls share alone dates)"
verdict $? '--max-threads 1: neither'
compile graph specs/self_attention.lua && same '1 0' "$(calls weigh graph self_attention) $(calls share graph self_attention)"
verdict $? 'an xf.graph is weighed'
compile head tests/families/bert && [ "$(grep -o 'rt_team_weigh(' "$scratch"/head/*.c | wc -l)" -ge 1 ]
verdict $? 'an encoder is weighed'

cat >"$scratch/large.lua" <<'END'
return xf.model { name = "large", kind = "decoder", layers = 2, heads = 8, d_model = 512, d_ff = 2048, vocab = 500, max_len = 64,
    norm = "layer", position = "learned", activation = "gelu", weights = "random" }
END
# barriers BODY: how many a call of that body passes, by the text of large.c.
barriers() {
    awk -v body="$1" '
        /^static void / { name = $3; sub(/\(.*/, "", name) }
        /rt_barrier\(/ { of[name]++ }
        name == body && /^    [a-z0-9_]+\(j/ { called = $1; sub(/\(.*/, "", called); all += of[called] }
        END { print all }' "$scratch/large/large.c"
}
compile large "$scratch/large.lua" && same "$(barriers decode_body) : $(barriers step_body)" \
    "$(grep -o 'body == many ? [0-9]* : [0-9]*' "$scratch/large/large.c" | sed 's/.*? //')"
verdict $? 'a call of one row counts its own barriers'

# ---- the answers, and what -v says
"$xformc" build specs/dates.lua -q -o "$scratch/dates" >"$scratch/out" 2>&1 || cat "$scratch/out"
# says WANTED COMMAND...: the line about threads of each answer, with N for the number of shared
# calls.
says() {
    wanted=$1 && shift
    "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    same "$wanted" "$(sed -n 's/ threads shared [0-9]* of / threads shared N of /p' "$scratch/err")"
}
says 'dates: 2 threads shared N of 12 calls' "$xformc" run specs/dates.lua -v -t 2 '3rd of May 2019' && grep -qx 2019-05-03 "$scratch/out"
verdict $? 'run -v -t 2'
says 'dates: 3 threads shared N of 12 calls' "$scratch/dates/dates" -v -t 3 '3rd of May 2019' && grep -qx 2019-05-03 "$scratch/out"
verdict $? 'a program, -v -t 3'
says 'dates: 2 threads shared N of 12 calls
dates: 2 threads shared N of 12 calls' "$scratch/dates/dates" -v -t 2 '3rd of May 2019' '23rd of September 1999'
verdict $? 'each answer has counts of its own'
quiet() { "$@" >"$scratch/out" 2>"$scratch/err" && grep -q 'total time' "$scratch/err" && ! grep 'threads' "$scratch/err"; }
quiet "$xformc" run specs/dates.lua -v -t 1 '3rd of May 2019'
verdict $? 'one thread: nothing'
quiet "$xformc" run specs/dates.lua -v -t 2 --engine generic '3rd of May 2019'
verdict $? 'the generic engine: nothing'
"$xformc" run "$scratch/large.lua" -t 1 -n 8 '1 2 3 4' >"$scratch/one" 2>/dev/null
"$xformc" run "$scratch/large.lua" -v -t 2 -n 8 '1 2 3 4' >"$scratch/out" 2>"$scratch/err"
same 'large: 2 threads shared 9 of 9 calls' "$(grep 'threads shared' "$scratch/err")" && [ -s "$scratch/one" ] && cmp "$scratch/one" "$scratch/out"
verdict $? 'a model whose calls are all large enough'
for text in 3rd.of.May.2019 23rd.of.September.1999 'the first of January two thousand and one' 7/4/1976; do
    for i in 1 2 3 4 5 6 7 8; do echo "$text" | tr . ' '; done
done >"$scratch/lines"
"$scratch/dates/dates" -t 1 <"$scratch/lines" >"$scratch/one" && "$scratch/dates/dates" -t 2 <"$scratch/lines" | cmp - "$scratch/one" &&
    "$scratch/dates/dates" -t 4 <"$scratch/lines" | cmp - "$scratch/one" && [ "$(wc -l <"$scratch/one")" = 32 ]
verdict $? 'the same answers with 1, 2 and 4 threads'
cat >"$scratch/one_row.lua" <<'END'
return xf.model { name = "one_row", kind = "encoder", layers = 1, heads = 2, head_dim = 4, d_model = 8, d_ff = 8, vocab = 5,
    norm = "layer", norm_at = "pre", qk_norm = true, position = "none", max_source = 1, weights = "random" }
END
"$xformc" verify "$scratch/one_row.lua" --engine jit -t 2 >"$scratch/out" 2>"$scratch/err" &&
    grep -q 'all within tolerance' "$scratch/out"
verdict $? 'an encoder of one row stores normed keys, of which each thread has a copy, in panels'
