-- A format goes on behind a zero byte.
error(string.format("a\0%-8.3p", {}))
