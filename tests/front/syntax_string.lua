return xf.model { name = "m
}
