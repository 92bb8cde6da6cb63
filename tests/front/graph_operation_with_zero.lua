return xf.graph("tiny", function(g) g.output("Y", g["relu\0x"](g.input("X", {1, 2}))) end)
