return xf.graph("run_body", function(g) g.output("Y", g.relu(g.input("X", {2, 2}))) end)
