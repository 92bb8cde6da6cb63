return string.format("%1000d", 1)
