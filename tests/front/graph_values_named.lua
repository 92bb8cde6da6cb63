return xf.graph("tiny", function(g) g.input("X", {1, 2}, { 1, 2, x = 3 }) end)
