while true do
  xf.model { name = "m" }
end
