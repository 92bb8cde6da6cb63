local digits = ("1"):rep(1000000)
while true do pcall(tonumber, digits) end
