local s = ("x"):rep(500000)
local t
for i = 1, 1e7 do t = s .. i end
