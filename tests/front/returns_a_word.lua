return "t"
