#! text that is no Lua
-- What a spec may use, and that it is the same in every run.
local order = {}
for key in pairs{ delta = 1, alpha = 2, [10] = 3, [9] = 4, [1.5] = 5, charlie = 6, bravo = 7 } do
  table.insert(order, tostring(key))
end
assert(table.concat(order, " ") == "1.5 9 10 alpha bravo charlie delta")
table.insert(order, 1, "first")
assert(order[1] == "first" and select("#", 1, 2) == 2 and tonumber("0x10") == 16)
assert(tostring({}) == "table" and string.format("%s %5.2f %d", {}, 1.5, 3) == "table  1.50 3")
assert(("ab"):upper() == "AB" and ("AB"):lower():sub(2) == "b" and ("ab"):rep(2, "-") == "ab-ab")
assert(math.random == nil and os == nil and io == nil and load == nil and require == nil and setmetatable == nil)
assert(string.find == nil and string.gsub == nil and string.dump == nil and collectgarbage == nil and coroutine == nil)
assert(not pcall(error) and math.max(1, 3) == 3)
return xf.graph("sandbox", function(g) g.output("Z", g.input("X", {1, 1}, { math.floor(2.5) })) end)
