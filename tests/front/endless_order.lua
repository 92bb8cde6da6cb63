-- Comparing two keys takes time proportional to their length: 30 of them are sorted again and again.
local t = {}
for i = 1, 30 do t[("\0"):rep(200000) .. i] = 1 end
while true do pairs(t) end
