build-clang/tests/repl/pty.o: tests/repl/pty.c
