return xf.graph("tiny", function(g)
  local x = g.input("a.b", {2, 2})
  g.output("Y", g.add(x, g.input("a_b", {2, 2})))
end)
