-- A format string continues after a zero byte.
error(string.format("a\0%-8.3p", {}))
