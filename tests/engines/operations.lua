-- operations that the worked example lacks: grouped heads, scale, biases, both norms, a sum,
-- activations, odd sizes
return xf.graph("operations", function(g)
  local x, y = g.input("X", {5, 18}), g.input("Y", {7, 12})
  local k = g.linear(y, g.param("k", {6, 12}), g.param("k_bias", {6}, {1, 2, 3, 4, 5, 6}))
  local v = g.linear(y, g.param("v", {10, 12}))
  local q = g.linear(x, g.param("q", {18, 18}))
  local z, w = g.attention(q, k, v, { heads = 6, kv_heads = 2, scale = 0.25 })
  g.output("weights", w)
  local wide = g.linear(z, g.param("o", {18, 30}))
  local sum = g.add(x, wide)
  local gain = {}
  for i = 1, 18 do gain[i] = i / 9 end
  local usual = g.norm(sum, g.param("gain", {18}, gain), g.param("bias", {18}))
  local annotated = g.norm(sum, g.param("a2", {18}, gain), g.param("b2", {18}), { kind = "annotated" })
  g.output("hidden", g.relu(usual))
  g.output("log_probabilities", g.log_softmax(annotated))
end)
