-- repl_prelude.lua: the parts of `xf` and of models at the prompt that are written in Lua.
local xf, Model, check_sweep, sweep_calls = ...
local stopping, heard, shown = sweep_calls.stopping, sweep_calls.heard, sweep_calls.shown

-- Raise an error if a surplus argument in `...` is not nil; the first of them has number `at`.
local function no_more(signature, at, ...)
  for i = 1, select("#", ...) do
    local value = select(i, ...)
    if value ~= nil then
      local words = sweep_calls.described(value)
      error(("%s: unexpected argument %d, %s"):format(signature, at + i - 1, words), 3)
    end
  end
end

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

-- A line of a table: cells padded to `widths`, numbers aligned to the right. The last cell may be a
-- message, which is not padded.
local function line_text(line, widths)
  local cells = {}
  for i, cell in ipairs(line) do
    local space = string.rep(" ", (widths[i] or 0) - (utf8.len(cell) or #cell))
    cells[i] = i == #line and not tonumber(cell) and cell or tonumber(cell) and space .. cell or cell .. space
  end
  return table.concat(cells, "  "):match("^.*%S") or ""
end

local function widen(widths, line)
  for i, cell in ipairs(line) do widths[i] = math.max(widths[i] or 0, utf8.len(cell) or #cell) end
end

-- A value of a sweep, written much as in a spec. In a table, list items come first, then sorted
-- fields.
local function value_text(v)
  if type(v) ~= "table" then return tostring(v) end
  local parts, names = {}, {}
  for i, x in ipairs(v) do parts[i] = value_text(x) end
  for k in pairs(v) do if type(k) == "string" then names[#names + 1] = k end end
  table.sort(names)
  for _, k in ipairs(names) do
    local key, value = k:match("^[%a_][%w_]*$") and k or ("[%q]"):format(k), v[k]
    parts[#parts + 1] = key .. " = " .. (type(value) == "string" and ("%q"):format(value) or value_text(value))
  end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

local function first_line(text) return (tostring(text):gsub("\n.*", ""):gsub("^%[xf%]:%d+: ", "")) end

local Sweep = {}
Sweep.__index = Sweep

local function head_cells(keys)
  local cells = { table.unpack(keys) }
  for _, name in ipairs { "parameters", "KiB of state", "compiled, ms", "best, µs", "median, µs" } do cells[#cells + 1] = name end
  return cells
end

local function field_cells(keys, row)
  local cells = {}
  for i, key in ipairs(keys) do cells[i] = value_text(row[key]) end
  return cells
end

local function row_cells(keys, row)
  local cells = field_cells(keys, row)
  if row.error then return cells end
  for _, cell in ipairs { ("%d"):format(row.parameters), ("%.1f"):format(row.state_bytes / 1024), ("%.2f"):format(row.compile_ms),
                          ("%.2f"):format(row.best_us), ("%.2f"):format(row.median_us) } do
    cells[#cells + 1] = cell
  end
  return cells
end

-- A line of the table. If a row has an error, its message follows the fields instead of numbers.
local function row_text(keys, row, widths)
  local cells = row_cells(keys, row)
  if row.error then cells[#cells + 1] = first_line(row.error) end
  return line_text(cells, widths)
end

function Sweep:__tostring()
  local keys, widths = self.keys, {}
  widen(widths, head_cells(keys))
  for _, row in ipairs(self) do widen(widths, row_cells(keys, row)) end
  local text = { line_text(head_cells(keys), widths) }
  for _, row in ipairs(self) do text[#text + 1] = row_text(keys, row, widths) end
  return table.concat(text, "\n")
end

-- The arguments of xf.sweep(spec, grid, options); without a spec, that of the last model is used.
local function sweep_arguments(spec, grid, options)
  if type(spec) == "table" then
    if options ~= nil then error("xf.sweep takes a spec and { field = { values }, … }", 3) end
    local last = xf.last() or error("xf.sweep: no model is compiled, so a spec is needed", 3)
    spec, grid, options = last.spec, spec, grid
  end
  if type(spec) == "userdata" and getmetatable(spec).__name == "xf.compiled" then spec = spec.spec end
  if type(spec) == "string" then spec = xf.spec(spec) end
  if type(spec) ~= "userdata" or getmetatable(spec).__name ~= "xf.spec" or type(grid) ~= "table" then
    error("xf.sweep takes a spec and { field = { values }, … }", 3)
  end
  return spec, grid, options or {}
end

-- The options for xf.compile. The default tier is "jit", so that no row changes tiers midway.
local function sweep_compile(options)
  local compile = {}
  for k, v in pairs(options) do
    if k ~= "seconds" and k ~= "file" then compile[k] = v end
  end
  if compile.notes == nil then compile.notes = false end
  if not compile.engine then compile.tier = compile.tier or "jit" end
  return compile
end

-- Measure one row; returns the name of its model, or nil after an error. Ctrl-C raises an error.
local function measure_row(spec, row, compile, seconds)
  local changes, name = {}, nil
  for k, v in pairs(row) do changes[k] = v end
  local good, why = pcall(function()
    local m <close> = xf.compile(spec(changes), compile)
    local best, median = m:measure(seconds)
    row.parameters, row.state_bytes, row.compile_ms = m.parameters, m.state_bytes, m.compile_ms
    row.best_us, row.median_us = best * 1e6, median * 1e6
    name = m.name
  end)
  if not good then
    if stopping() then error(why, 0) end
    row.error = first_line(why)
  end
  return name
end

local function sweep_bars(done, name, file)
  local labels, values = {}, {}
  for _, row in ipairs(done) do
    local words = {}
    for _, key in ipairs(done.keys) do words[#words + 1] = key .. " " .. value_text(row[key]) end
    labels[#labels + 1], values[#values + 1] = table.concat(words, ", "), row.median_us or 0
  end
  xf.bars((name and name .. ": " or "") .. "median time of a run", "µs", labels, values, file)
end

-- Compile and measure every combination. options: seconds for each (0.05), file = "sweep.svg", and
-- those of xf.compile. On a terminal, each row is shown as soon as it is measured. Ctrl-C ends the
-- sweep, and the rows measured so far are returned.
function xf.sweep(spec, grid, options, ...)
  no_more("xf.sweep([spec, ]grid[, options])", 4, ...)
  spec, grid, options = sweep_arguments(spec, grid, options)
  check_sweep(options)
  local keys, rows = combinations(grid)
  local done, name, widths = setmetatable({ keys = keys }, Sweep), nil, {}
  widen(widths, head_cells(keys))
  for _, row in ipairs(rows) do widen(widths, field_cells(keys, row)) end
  local compile = sweep_compile(options)
  local good, why = xpcall(function()
    shown(done, line_text(head_cells(keys), widths))
    for _, row in ipairs(rows) do
      name = measure_row(spec, row, compile, options.seconds or 0.05) or name
      done[#done + 1] = row
      shown(done, row_text(keys, row, widths))
    end
  end, heard)
  if not good then
    if why then error(why, 0) end
    io.stderr:write(("interrupted: %d of %d rows %s measured\n"):format(#done, #rows, #done == 1 and "was" or "were"))
  end
  if options.file and #done > 0 then sweep_bars(done, name, options.file) end
  return done
end

-- The text of m:names() and m:weights(): one name per line. Names that differ only in their layer
-- share a line, such as encoder.{0..2}.ffn.
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
  Model[method] = function(self, ...) return setmetatable(plain(self, ...), Names) end
end

-- The blocks whose last weight is called `out` or `down`; with_heads: only attentions.
local function blocks(model, with_heads)
  local found = setmetatable({}, Names)
  for _, name in ipairs(model:weights()) do
    local block = name:match("^(.*_attn)%.out%.weight$") or not with_heads and name:match("^(.*%.ffn)%.down%.weight$")
    if block then found[#found + 1] = block end
  end
  return found
end

-- Raise an error if the model has blocks, but not this one. If it has none, a later call raises an
-- error.
local function check_block(model, block, with_heads)
  local known = blocks(model, with_heads)
  for _, name in ipairs(known) do
    if name == block then return end
  end
  if #known == 0 then return end
  local expected = tostring(known):gsub("\n", ", ")
  error(("%s has no %s '%s'; expected %s"):format(model.name, with_heads and "attention" or "block", block, expected), 3)
end

-- m:heads("encoder.0.self_attn"): the number of its heads.
local plain_heads = Model.heads
function Model:heads(block, ...)
  if type(block) == "string" then check_block(self, block, true) end
  return plain_heads(self, block, ...)
end

-- m:ablate("encoder.0.self_attn"): the block adds nothing. m:ablate("encoder.0.self_attn", head):
-- that head, counted from 0, adds nothing; the bias of the block stays. m:restore() undoes both.
-- The names of blocks are those of m:names() without the last word.
function Model:ablate(block, head, ...)
  no_more("m:ablate(block[, head])", 3, ...)
  if type(block) ~= "string" then error("m:ablate takes the name of a block: m:ablate(\"encoder.0.self_attn\")", 2) end
  check_block(self, block, head ~= nil)
  local name = block:match("%.ffn$") and block .. ".down" or block .. ".out"
  local weight = self:weight(name .. ".weight")
  if head == nil then
    self:set(name .. ".weight", weight:scaled(0))
    local has_bias, bias = pcall(self.weight, self, name .. ".bias")
    if has_bias then self:set(name .. ".bias", bias:scaled(0)) end
    return
  end
  local heads = plain_heads(self, block)
  local width = weight:shape()[2] // heads
  if math.type(head) ~= "integer" or head < 0 or head >= heads then
    error((heads == 1 and "%s has only head 0" or "%s has heads 0 to %d"):format(block, heads - 1), 2)
  end
  self:set(name .. ".weight", weight:scaled(0, head * width + 1, (head + 1) * width, 2))
end
