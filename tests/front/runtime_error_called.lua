local function check(n)
  if n > 3 then error("at most 3 layers, found " .. n) end
end
check(4)
