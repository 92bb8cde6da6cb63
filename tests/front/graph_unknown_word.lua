return xf.graph("t", function(g)
  g.convolution_2d()
end)
