local t = nil
return xf.model { name = t.name }
