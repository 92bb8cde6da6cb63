return xf.graph("t", function(g)
  local x = g.input("X", {2, 0})
end)
