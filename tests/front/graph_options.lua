return xf.graph("t", function(g)
  local x = g.input("X", {2, 4}, { 1, 2, 3, 4, 5, 6, 7, 8 })
  local w, b = g.param("W", {3, 4}), g.param("b", {3}, { 0, 0.5, -1 })
  local y = g.linear(x, w, b)
  local bare = g.linear(x, w, nil)
  local z, weights = g.attention(y, bare, y, { heads = 3, scale = 0.5, causal = true })
  g.output("Z", g.name("sum", g.add(z, g.relu(y))))
  g.output("weights", weights)
end){ seed = 5 }
