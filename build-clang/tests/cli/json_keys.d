build-clang/tests/cli/json_keys.o: tests/cli/json_keys.c
