return xf.model()
