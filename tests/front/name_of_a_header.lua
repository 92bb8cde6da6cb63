return xf.graph("math", function(g) g.output("Y", g.relu(g.input("X", {2, 2}))) end)
