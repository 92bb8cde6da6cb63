return xf.graph("t", function(g)
  local x = g.input("X", {2, 2}, { 1, 2, 3 })
end)
