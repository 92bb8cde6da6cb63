-- worked_example.lua with a mask: 0 where a query may not look
return xf.graph("masked_example", function(g)
  local x = g.input("X", {3, 4}, { 1,0,1,0,  0,2,0,2,  1,1,1,1 })
  local function project(n, values) return g.matmul(x, g.param(n, {4, 3}, values)) end
  local q = g.name("Q", project("W_Q", { 1,0,1,  1,0,0,  0,1,0,  0,1,1 }))
  local k = g.name("K", project("W_K", { 0,1,1,  1,0,1,  0,1,0,  1,0,0 }))
  local v = g.name("V", project("W_V", { 0,0,1,  1,1,0,  0,1,0,  1,0,1 }))
  local z, w, s = g.attention(q, k, v, g.input("mask", {3, 3}))
  g.output("Z", z)
  g.output("weights", w)
  g.output("scores", s)
end)
