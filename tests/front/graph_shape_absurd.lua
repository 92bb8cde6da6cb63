return xf.graph("t", function(g)
  local x = g.input("X", {2000000000, 2000000000, 2000000000, 2000000000})
end)
