-- look.lua: print the ISO form of a date, and which character each step of the answer looks at.
-- usage: xformc lua specs/dates/look.lua TEXT
local m = xf.compile("specs/dates.lua")
local text = arg[1] or "3rd of May 2019"
print(text .. " -> " .. m(text))

-- The last layer's cross-attention: for each step of the answer, the character that all heads together attend to most.
local weights = m:at("decoder.1.cross_attn.weights")
local heads, steps, characters = table.unpack(weights:shape())
for step = 1, steps do
  local best, most = 1, 0
  for c = 1, characters do
    local sum = 0
    for head = 1, heads do sum = sum + weights[head][step][c] end
    if sum > most then best, most = c, sum end
  end
  print(("step %2d looks at '%s' %3.0f %%"):format(step, text:sub(best, best), 100 * most / heads))
end
