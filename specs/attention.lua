-- attention.lua: scaled dot-product attention by itself: 3 queries, 5 keys, d_k 8, d_v 10, from three inputs.
--
-- The mask is an input of 0 and 1: where it is 0, a query may not attend. By default, every query sees
-- every key; a file may contain another mask:
--   xformc run specs/attention.lua
--   xformc run specs/attention.lua --input mask=FILE.safetensors

local function wave(rows, columns, phase)                   -- numbers that are neither random nor all equal
  local values = {}
  for i = 1, rows * columns do values[i] = math.sin(phase + 1.7 * i) end
  return values
end

local everything = {}
for i = 1, 3 * 5 do everything[i] = 1 end

return xf.graph("attention", function(g)
  local query = g.input("query", {3, 8}, wave(3, 8, 0.1))
  local key   = g.input("key",   {5, 8}, wave(5, 8, 0.2))
  local value = g.input("value", {5, 10}, wave(5, 10, 0.3))
  local mask  = g.input("mask",  {3, 5}, everything)
  local output, weights, scores = g.attention(query, key, value, mask)
  g.output("scores", scores)                                -- query keyᵀ, before scaling
  g.output("weights", weights)                              -- every row sums to 1
  g.output("output", output)
end)
