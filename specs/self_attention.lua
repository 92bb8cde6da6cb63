-- Scaled dot-product self-attention over three words of four features, small enough to check with a pencil.
--
--   Q = X W_Q    K = X W_K    V = X W_V              [3, 3] each
--   scores  = Q Kᵀ                                   before scaling
--   weights = softmax(scores / sqrt(3))              every row sums to 1
--   Z       = weights V

return xf.graph("self_attention", function(g)
  local x = g.input("X", {3, 4}, { 1,0,1,0,
                                   0,2,0,2,
                                   1,1,1,1 })

  local function project(result, weight, values)    -- weights are [in, out]
    return g.name(result, g.matmul(x, g.param(weight, {4, 3}, values)))
  end

  local q = project("Q", "W_Q", { 1,0,1,
                                  1,0,0,
                                  0,1,0,
                                  0,1,1 })
  local k = project("K", "W_K", { 0,1,1,
                                  1,0,1,
                                  0,1,0,
                                  1,0,0 })
  local v = project("V", "W_V", { 0,0,1,
                                  1,1,0,
                                  0,1,0,
                                  1,0,1 })

  local z, weights, scores = g.attention(q, k, v)
  g.output("scores", scores)
  g.output("weights", weights)
  g.output("Z", z)
end)
