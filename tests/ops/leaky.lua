xf.op{
  name = "leaky", attributes = { slope = 0.01 },
  shape = function(x) return x end,
  c = [[
    for (int r = begin; r < end; r++)
      for (int i = 0; i < x_columns; i++) {
        const float v = x[r * x_stride + i];
        y[r * y_stride + i] = v < 0 ? slope * v : rt_plain_exp(-v);
      }
  ]] }
xf.op{
  name = "outer", inputs = { "a", "b", "w" },
  shape = function(a, b) return { a[1], b[1] } end,
  c = [[
    for (int r = begin; r < end; r++)
      for (int i = 0; i < b_rows; i++) {
        float s = 0;
        for (int k = 0; k < a_columns; k++) s += a[r * a_stride + k] * w[k] * b[i * b_stride + k];
        y[r * y_stride + i] = s;
      }
  ]] }
return xf.graph("leaky_graph", function(g)
  local x = g.input("X", { 3, 4 }, { 1,0,-1,0,  0,2,0,-2,  1,1,1,1 })
  local w = g.param("W", { 4 }, { 1, 2, 3, 4 })
  local m = g.param("M", { 4, 5 })
  local h = g.name("H", g.leaky(x, { slope = 0.5 }))
  local o = g.outer(h, g.leaky(x), w)
  local p = g.outer(x, x, w)
  g.output("Y", g.matmul(g.add(h, x), m))
  g.output("Z", g.add(o, p))
end)
