return xf.graph("t", function(g)
  while true do pcall(function() g.nothing() end) end
end)
