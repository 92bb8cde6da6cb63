return xf.modl
