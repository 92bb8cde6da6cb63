return xf.graph("m", function(g)
  local x = g.input("X", "2x2")
end)
