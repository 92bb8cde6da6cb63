local ok, message = pcall(error, "inner", 0)
assert(not ok)
assert(message == "outer", "not outer: " .. message)
