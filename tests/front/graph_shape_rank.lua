return xf.graph("t", function(g)
  local x = g.input("X", {1, 1, 1, 1, 1})
end)
