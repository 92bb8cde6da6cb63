-- Comparing two keys takes as long as they are long: 30 of them are put in order again and again.
local t = {}
for i = 1, 30 do t[("\0"):rep(200000) .. i] = 1 end
while true do pairs(t) end
