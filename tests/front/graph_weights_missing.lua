return xf.graph("t", function(g)
  local x = g.input("X", {2, 4})
  g.output("Z", g.matmul(x, g.param("W_X", {4, 3})))
end){ weights = "data/attention.safetensors" }
