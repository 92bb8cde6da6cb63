return xf.graph("m", function(g)
  local x = g.input("X", {1, 1, 1, 1, 1})
end)
