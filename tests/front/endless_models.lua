while true do
  xf.model { name = "t" }
end
