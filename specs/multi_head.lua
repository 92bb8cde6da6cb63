-- multi_head.lua: multi-head attention with its four linears; query, key and value come from three inputs.

local d_model, heads, n_query, n_key = 32, 4, 3, 5

local function wave(rows, columns, phase)
  local values = {}
  for i = 1, rows * columns do values[i] = math.sin(phase + 1.7 * i) end
  return values
end

return xf.graph("multi_head", function(g)
  local query = g.input("query", {n_query, d_model}, wave(n_query, d_model, 0.1))
  local key   = g.input("key",   {n_key, d_model}, wave(n_key, d_model, 0.2))
  local value = g.input("value", {n_key, d_model}, wave(n_key, d_model, 0.3))

  local function linear(name, x)                            -- weights are [out, in], random from the seed
    return g.name(name, g.linear(x, g.param("w_" .. name, {d_model, d_model}), g.param("b_" .. name, {d_model})))
  end

  local q, k, v = linear("q", query), linear("k", key), linear("v", value)
  local context, weights = g.attention(q, k, v, { heads = heads })
  g.output("weights", weights)                              -- [heads, n_query, n_key]
  g.output("output", linear("o", g.name("context", context)))
end)
