local part, list = ("x"):rep(1000000), {}
for i = 1, 60 do list[i] = part end
while true do pcall(table.concat, list) end
