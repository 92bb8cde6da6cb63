return xf.graph("t", function(g)
  local x = g.input("X", {2, 4})
  g.output("Q", g.matmul(x, g.param("W_Q", {4, 3})))          -- in the file as it is
  g.output("K", g.matmul(x, g.param("W_K", {4, 3})))          -- there as w_k.weight, [out, in]
  g.output("V", g.linear(x, g.param("w_v", {3, 4})))          -- there as w_v.weight
end){ weights = "data/attention.safetensors" }
