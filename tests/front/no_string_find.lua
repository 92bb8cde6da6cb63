return ("x"):find("x")
