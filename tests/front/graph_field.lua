return xf.graph("t", function(g)
  g.output("Z", g.input("X", {2, 2}))
end){ heads = 3, encoder = {} }
