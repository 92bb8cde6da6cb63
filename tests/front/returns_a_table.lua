return { name = "m" }
