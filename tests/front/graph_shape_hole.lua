return xf.graph("tiny", function(g) g.input("X", { [1] = 2, [3] = 4 }) end)
