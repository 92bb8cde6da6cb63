-- 64 rows times a 1024 x 1024 matrix: most of the work of prefill and encoders, by itself.
return xf.graph("product_64", function(g)
  local x = g.input("X", {64, 1024})
  g.output("Y", g.linear(x, g.param("W", {1024, 1024})))
end)
