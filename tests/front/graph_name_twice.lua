return xf.graph("m", function(g)
  local x = g.input("X", {2, 2})
  local y = g.param("X", {2, 2})
end)
