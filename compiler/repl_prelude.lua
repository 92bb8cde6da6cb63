-- repl_prelude.lua: what `xf` at the prompt does by means of itself.
local xf, Model, check_sweep = ...

-- Every combination of a grid { field = { values } }, in the order of the fields' names.
local function combinations(grid)
  local keys, rows = {}, { {} }
  for key, values in pairs(grid) do
    if type(key) ~= "string" or type(values) ~= "table" or #values == 0 then
      error("xf.sweep takes { field = { values }, … }", 3)
    end
    keys[#keys + 1] = key
  end
  table.sort(keys)
  for _, key in ipairs(keys) do
    local longer = {}
    for _, row in ipairs(rows) do
      for _, value in ipairs(grid[key]) do
        local copy = { [key] = value }
        for k, v in pairs(row) do copy[k] = v end
        longer[#longer + 1] = copy
      end
    end
    rows = longer
  end
  return keys, rows
end

-- Columns as wide as they need to be; numbers to the right.
local function table_text(lines)
  local widths, out = {}, {}
  for _, line in ipairs(lines) do
    for i, cell in ipairs(line) do widths[i] = math.max(widths[i] or 0, utf8.len(cell) or #cell) end
  end
  for _, line in ipairs(lines) do
    local cells = {}
    for i, cell in ipairs(line) do
      local space = string.rep(" ", widths[i] - (utf8.len(cell) or #cell))
      cells[i] = i == #line and cell or tonumber(cell) and space .. cell or cell .. space
    end
    out[#out + 1] = table.concat(cells, "  "):match("^.*%S") or ""
  end
  return table.concat(out, "\n")
end

local function first_line(text) return (tostring(text):gsub("\n.*", ""):gsub("^%[xf%]:%d+: ", "")) end

local Sweep = {}
Sweep.__index = Sweep

function Sweep:__tostring()
  local lines = { {} }
  for _, key in ipairs(self.keys) do table.insert(lines[1], key) end
  for _, name in ipairs { "parameters", "KiB of state", "compiled, ms", "best, µs", "median, µs" } do table.insert(lines[1], name) end
  for _, row in ipairs(self) do
    local line = {}
    for _, key in ipairs(self.keys) do line[#line + 1] = tostring(row[key]) end
    if row.error then
      line[#line + 1] = first_line(row.error)
    else
      for _, cell in ipairs { ("%d"):format(row.parameters), ("%.1f"):format(row.state_bytes / 1024), ("%.2f"):format(row.compile_ms),
                              ("%.2f"):format(row.best_us), ("%.2f"):format(row.median_us) } do
        line[#line + 1] = cell
      end
    end
    lines[#lines + 1] = line
  end
  -- A message is no column.
  for _, line in ipairs(lines) do
    if #line < #lines[1] then line.message = table.remove(line) end
  end
  local text = {}
  for line in (table_text(lines) .. "\n"):gmatch("(.-)\n") do text[#text + 1] = line end
  for i, line in ipairs(lines) do
    if line.message then text[i] = text[i] .. "  " .. line.message end
  end
  return table.concat(text, "\n")
end

-- xf.sweep(spec, grid, options), or xf.sweep(grid) of the model that was compiled last: compile and measure every
-- combination. options: seconds for each (0.05), file = "sweep.svg", and those of xf.compile. The tier is "jit" unless
-- they say otherwise: no row may change it in the middle.
function xf.sweep(spec, grid, options)
  if grid == nil and type(spec) == "table" then
    local last = xf.last() or error("xf.sweep: no model is compiled, so a spec is needed", 2)
    spec, grid = last.spec, spec
  end
  if type(spec) == "string" then spec = xf.spec(spec) end
  if type(spec) ~= "userdata" or type(grid) ~= "table" then error("xf.sweep takes a spec and { field = { values }, … }", 2) end
  options = options or {}
  check_sweep(options)
  local keys, rows = combinations(grid)
  local compile = {}
  for k, v in pairs(options) do
    if k ~= "seconds" and k ~= "file" then compile[k] = v end
  end
  if compile.notes == nil then compile.notes = false end
  if not compile.engine then compile.tier = compile.tier or "jit" end
  local done, name = setmetatable({ keys = keys }, Sweep)
  for _, row in ipairs(rows) do
    local changes = {}
    for k, v in pairs(row) do changes[k] = v end
    local good, why = pcall(function()
      local m <close> = xf.compile(spec(changes), compile)
      name = m.name
      local best, median = m:measure(options.seconds or 0.05)
      row.parameters, row.state_bytes, row.compile_ms = m.parameters, m.state_bytes, m.compile_ms
      row.best_us, row.median_us = best * 1e6, median * 1e6
    end)
    if not good then
      if tostring(why):find("interrupted", 1, true) then error(why, 0) end
      row.error = (tostring(why):gsub("^%[xf%]:%d+: ", ""))
    end
    done[#done + 1] = row
  end
  if options.file then
    local labels, values = {}, {}
    for _, row in ipairs(done) do
      local words = {}
      for _, key in ipairs(keys) do words[#words + 1] = key .. " " .. tostring(row[key]) end
      labels[#labels + 1], values[#values + 1] = table.concat(words, ", "), row.median_us or 0
    end
    xf.bars((name and name .. ": " or "") .. "median time of a run", "µs", labels, values, options.file)
  end
  return done
end

-- m:names(): all of them, one a line; alike names of layers as one, encoder.{0..2}.ffn.
local Names = {}

local function layers_text(layers)
  local first, last = layers[1], layers[#layers]
  if #layers == 1 then return tostring(first) end
  return #layers == last - first + 1 and ("{%d..%d}"):format(first, last) or "{" .. table.concat(layers, ",") .. "}"
end

function Names:__tostring()
  local order, layers = {}, {}
  for _, name in ipairs(self) do
    local head, layer, rest = name:match("^(%a+%.)(%d+)(%..*)$")
    local pattern = head and head .. "{}" .. rest or name
    if not layers[pattern] then
      layers[pattern], order[#order + 1] = {}, pattern
    end
    if head then table.insert(layers[pattern], math.tointeger(layer)) end
  end
  for i, pattern in ipairs(order) do
    if #layers[pattern] > 0 then order[i] = pattern:gsub("{}", layers_text(layers[pattern]), 1) end
  end
  return table.concat(order, "\n")
end

for _, method in ipairs { "names", "weights" } do
  local plain = Model[method]
  Model[method] = function(self) return setmetatable(plain(self), Names) end
end

-- m:ablate("encoder.0.self_attn"): the block adds nothing; m:ablate("encoder.0.self_attn", head): one of its heads, from 0,
-- adds nothing but its share of the bias. m:restore() undoes it. The names are those of m:names() without the last word.
function Model:ablate(block, head)
  if type(block) ~= "string" then error("m:ablate takes the name of a block: m:ablate(\"encoder.0.self_attn\")", 2) end
  local name = block:match("%.ffn$") and block .. ".down" or block .. ".out"
  local weight = self:weight(name .. ".weight")
  if head == nil then
    self:set(name .. ".weight", weight:scaled(0))
    local has_bias, bias = pcall(self.weight, self, name .. ".bias")
    if has_bias then self:set(name .. ".bias", bias:scaled(0)) end
    return
  end
  local heads = self:heads(block)
  local width = weight:shape()[2] // heads
  if math.type(head) ~= "integer" or head < 0 or head >= heads then error(("%s has heads from 0 to %d"):format(block, heads - 1), 2) end
  self:set(name .. ".weight", weight:scaled(0, head * width + 1, (head + 1) * width, 2))
end
