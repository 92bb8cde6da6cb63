local s = (""):rep(math.maxinteger)
assert(s == "")
return s
