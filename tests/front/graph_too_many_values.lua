return xf.graph("tiny", function(g) g.output("Y", g.input("X", {1, 2}, { 1, 2 }), 3) end)
