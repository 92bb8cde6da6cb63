#!/bin/sh
# tags: slow noasan
# Memory of the prompt: it does not grow over 1,000 calls of a model or 2,000 rounds of compile and
# free. Under valgrind, rounds of compile and free have no errors and no leaks: 60 of a graph in
# `make test`, 1,000 in `make test-all` (skipped without valgrind).
# usage: slow.sh XFORMC
#
# Under valgrind a round of a model takes a third of a second, nearly all of it in libtcc, and one
# of a tiny graph a twentieth. ROUNDS sets the number of graph rounds.
set -u
. tests/lib.sh
rounds=${ROUNDS:-$(sweep 60 1000)} models=$(sweep 3 30)
model="$models rounds of a model under valgrind: no error, nothing lost"
graph="$rounds rounds of a graph under valgrind: no error, nothing lost"
if [ -z "${XFORMC_SANITIZE:-}" ]; then
    cat >"$scratch/calls.lua" <<'END'
local function resident()
  collectgarbage()
  for line in io.lines("/proc/self/status") do
    local kilobytes = line:match("^VmRSS:%s*(%d+)")
    if kilobytes then return tonumber(kilobytes) end
  end
end
local m, g = xf.compile("specs/dates.lua", { tier = "jit" }), xf.compile("specs/self_attention.lua", { tier = "jit" })
local calls = {
  { "a text", function() m("3rd of May 2019") end }, { "a faulty text", function() pcall(m, "€") end },
  { "m:run", function() m:run{ 5, 6, 7 } end }, { "m:generate", function() m:generate{ 5, 6, 7 } end },
  { "a text and m:at", function() m("3 May 2019") m:at("encoder.0.ffn") end }, { "m:attention", function() m:attention{ layer = 0, head = 0 } end },
  { "a graph", function() g:run{ X = { 1,1,1,1, 1,1,1,1, 1,1,1,1 } } g:at("Q") end },
  { "m:weight and m:set", function() m:set("encoder.0.ffn.up.weight", m:weight("encoder.0.ffn.up.weight")) end },
}
for _, call in ipairs(calls) do
  local function rounds(n)                  -- what is garbage is no matter here
    for i = 1, n do
      call[2]()
      if i % 10 == 0 then collectgarbage() end
    end
  end
  rounds(100)
  local before = resident()
  rounds(1000)
  local grown = resident() - before
  if grown > 700 then io.stderr:write(("%s: %d KiB more after 1,000 calls\n"):format(call[1], grown)) end
end
END
    "$xformc" lua "$scratch/calls.lua" 2>"$scratch/err" >"$scratch/pictures" && [ ! -s "$scratch/err" ]
    verdict $? '1,000 calls of a model take no more memory'
    cat "$scratch/err"
fi
if ! command -v valgrind >/dev/null 2>&1; then echo "skip $model (no valgrind)"; echo "skip $graph (no valgrind)"; exit 0; fi
if [ -n "${XFORMC_SANITIZE:-}" ]; then echo "skip $model (built with sanitizers)"; echo "skip $graph (built with sanitizers)"; exit 0; fi

# under SCRIPT ROUNDS: valgrind finds no error and no leak
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
under "$scratch/model.lua" "$models"
verdict $? "$model"
tail -n 20 "$scratch/out"

# Memory is counted without valgrind, whose own memory grows with the code it sees, and after the
# first third of the rounds.
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
