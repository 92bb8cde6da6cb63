-- One attention over a sequence, one row at a time, with an operation in C. Keys and values stay in caches.
xf.op{
  name = "squared_relu", shape = function(x) return x end,
  c = [[
    for (int r = begin; r < end; r++)
      for (int i = 0; i < x_columns; i++) {
        const float v = x[r * x_stride + i];
        y[r * y_stride + i] = v > 0 ? v * v : 0;
      }
  ]] }
return xf.graph("steps", function(g)
  local x = g.input("X", { 1, 8 }, { 1, 0, -1, 2, 0, 1, 1, -1 })
  local k, v = g.cache("K", { 20, 8 }), g.cache("V", { 20, 8 })
  local function project(name) return g.matmul(x, g.param(name, { 8, 8 })) end
  local options = { heads = 2 }
  local keys = g.append(k, g.rotary(project("W_K"), options))
  local values = g.append(v, g.squared_relu(project("W_V")))
  local z, weights = g.attention(g.rotary(project("W_Q"), options), keys, values, options)
  g.output("Z", z)
  g.output("weights", weights)
end)
