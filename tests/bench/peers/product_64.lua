-- 64 rows by a matrix of 1024 x 1024: what prefill and encoders spend their time on, alone.
return xf.graph("product_64", function(g)
  local x = g.input("X", {64, 1024})
  g.output("Y", g.linear(x, g.param("W", {1024, 1024})))
end)
