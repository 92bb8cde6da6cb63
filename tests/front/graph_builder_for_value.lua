return xf.graph("t", function(g)
  local x = g.input("X", {2, 2})
  g.output("Z", g.add(x, g))
end)
