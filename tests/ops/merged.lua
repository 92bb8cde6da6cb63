-- Six products of one input, which are merged into one linear without taps, and an operation on each.
xf.op{
  name = "halved", shape = function(x) return x end,
  c = [[
    for (int r = begin; r < end; r++)
      for (int i = 0; i < x_columns; i++) y[r * y_stride + i] = x[r * x_stride + i] / 2;
  ]] }
return xf.graph("merged", function(g)
  local x = g.input("X", { 5, 8 }, { 1, 0, -1, 2, 0, 1, 1, -1, 0, 1, 1, 0, -2, 0, 1, 1, 3, 1, 0, 0, 0, -1, 1, 0,
                                     0, 0, 2, 1, 1, 0, -1, 1, 1, 1, 1, 0, 0, 2, 0, -3 })
  local function product(name, width) return g.matmul(x, g.param(name, { 8, width })) end
  local function gain(name, width) return g.param(name, { width }) end
  g.output("log_softmax", g.log_softmax(product("A", 20)))
  g.output("norm", g.norm(product("B", 8), gain("gain", 4), gain("bias", 4), { heads = 2 }))
  g.output("relu", g.relu(product("C", 3)))
  g.output("gate", g.gate(product("D", 7), product("E", 7), { kind = "silu" }))
  g.output("rotary", g.rotary(product("F", 8), { heads = 2 }))
  g.output("halved", g.halved(product("G", 5)))
  g.output("sum", g.add(product("H", 8), g.matmul(g.relu(product("I", 6)), g.param("J", { 6, 8 }))))
  g.output("attention", (g.attention(product("Q", 8), product("K", 8), product("V", 8), { heads = 2 })))
end)
