return xf.graph("t", function(g)
  local x = g.input("X", "2x2")
end)
