#!/bin/sh
# Compile and free under valgrind: no error, nothing lost, no more memory from round to round. A round of a model costs a third of a
# second there, nearly all of it in libtcc, which reads the text of two engines; one of a tiny graph a twentieth. ROUNDS of these
# (1,000), in a minute, and one of 30 of a model. usage: slow.sh XFORMC
set -u
xformc=$1 rounds=${ROUNDS:-1000}
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT || exit 74
model='30 rounds of a model under valgrind: no error, nothing lost'
graph="$rounds rounds of a graph under valgrind: no error, nothing lost"
if ! command -v valgrind >/dev/null 2>&1; then echo "skip $model (no valgrind)"; echo "skip $graph (no valgrind)"; exit 0; fi
if [ -n "${XFORMC_SANITIZE:-}" ]; then echo "skip $model (built with sanitizers)"; echo "skip $graph (built with sanitizers)"; exit 0; fi
verdict() { if [ "$1" = 0 ]; then echo "ok $2"; else echo "not ok $2"; fi; }

# under SCRIPT ROUNDS: whether valgrind finds nothing
under() {
    valgrind --leak-check=full --errors-for-leak-kinds=definite,possible --error-exitcode=9 "$xformc" lua "$1" "$2" >"$scratch/out" 2>&1 &&
        grep -q 'definitely lost: 0 bytes' "$scratch/out" && grep -q 'ERROR SUMMARY: 0 errors' "$scratch/out"
}

cat >"$scratch/model.lua" <<'END'
local spec = xf.spec("specs/copy.lua")
for _ = 1, tonumber(arg[1]) do
  local m = xf.compile(spec, { tier = "jit" })
  m:run{ 1, 2, 3 }
  m:at("encoder.0.ffn")
  m:close()
end
END
under "$scratch/model.lua" 30
verdict $? "$model"
tail -n 20 "$scratch/out"

# Memory is counted without valgrind, whose own grows with the code that it sees, behind the first third of the rounds.
cat >"$scratch/graph.lua" <<'END'
local spec = xf.graph("tiny", function(g)
  local x = g.input("X", { 2, 4 })
  g.output("Y", g.relu(g.matmul(x, g.param("W", { 4, 4 }))))
end)
local function resident()
  collectgarbage()
  for line in io.lines("/proc/self/status") do
    local kilobytes = line:match("^VmRSS:%s*(%d+)")
    if kilobytes then return tonumber(kilobytes) end
  end
end
local rounds, before = tonumber(arg[1])
for i = 1, rounds do
  local m = xf.compile(spec, { tier = "jit" })
  m:run()
  m:close()
  if i == rounds // 3 then before = resident() end
end
print("grown by", resident() - before)
END
under "$scratch/graph.lua" "$rounds"
verdict $? "$graph"
tail -n 20 "$scratch/out"
"$xformc" lua "$scratch/graph.lua" 2000 >"$scratch/out" 2>&1 && [ "$(sed -n 's/^grown by[^0-9-]*//p' "$scratch/out")" -lt 512 ]
verdict $? '2,000 rounds of a graph take no more memory'
cat "$scratch/out"
