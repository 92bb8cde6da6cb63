build-clang/tests/front/test_file.o: tests/front/test_file.c \
  tests/front/front_test.h compiler/base/diag.h compiler/base/arena.h \
  compiler/base/file.h

tests/front/front_test.h:

compiler/base/diag.h:

compiler/base/arena.h:

compiler/base/file.h:
