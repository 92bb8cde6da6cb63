return xf.graph("tiny", function(g)
  local x = g.input("X", {1, 2}, {1, -2})
  for i = 1, 5 do g.input("U" .. i, {1, 2}) end
  g.output("Y", g.relu(x))
end)
