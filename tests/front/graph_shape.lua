return xf.graph("m", function(g)
  local x = g.input("X", {2, 0})
end)
