#!/bin/sh
# Compile and free under valgrind: no error, nothing lost. ROUNDS of them (30); 1,000 take six minutes. usage: slow.sh XFORMC
set -u
xformc=$1
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT || exit 74
name='compile, run, look and free under valgrind: no error, nothing lost'
if ! command -v valgrind >/dev/null 2>&1; then echo "skip $name (no valgrind)"; exit 0; fi
if [ -n "${XFORMC_SANITIZE:-}" ]; then echo "skip $name (built with sanitizers)"; exit 0; fi
cat >"$scratch/rounds.lua" <<'END'
local spec = xf.spec("specs/copy.lua")
for _ = 1, tonumber(arg[1]) do
  local m = xf.compile(spec, { tier = "jit" })
  m:run{ 1, 2, 3 }
  m:at("encoder.0.ffn")
  m:close()
end
END
valgrind --leak-check=full --errors-for-leak-kinds=definite,possible --error-exitcode=9 "$xformc" lua "$scratch/rounds.lua" "${ROUNDS:-30}" >"$scratch/out" 2>&1
[ $? = 0 ] && grep -q 'definitely lost: 0 bytes' "$scratch/out" && grep -q 'ERROR SUMMARY: 0 errors' "$scratch/out"
if [ $? = 0 ]; then echo "ok $name"; else echo "not ok $name"; fi
tail -n 20 "$scratch/out"
