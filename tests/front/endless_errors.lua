return xf.graph("m", function(g)
  while true do pcall(function() g.nothing() end) end
end)
