local function deep() return pcall(deep) end
local ok, why = deep()
return why
