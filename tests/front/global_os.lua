return xf.model { name = os.getenv("HOME") }
