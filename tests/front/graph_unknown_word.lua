return xf.graph("m", function(g)
  g.convolution_2d()
end)
