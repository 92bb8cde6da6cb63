return xf.graph("mask_alone", function(g)
  local q, k, v = g.input("q", { 4, 9 }), g.input("k", { 31, 9 }), g.input("v", { 31, 60 })
  local mask, bias = g.input("mask", { 4, 31 }), nil
  local out, weights = g.attention(q, k, v, mask, bias, { heads = 3 })
  g.output("weights", weights)
  g.output("out", out)
end)
