return xf.graph("t", function(g)
  local x = g.input("a name", {2, 2})
end)
