return xf.graph("class", function(g)
  g.output("Z", g.input("X", {2, 2}))
end)
