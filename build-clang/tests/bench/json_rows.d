build-clang/tests/bench/json_rows.o: tests/bench/json_rows.c
