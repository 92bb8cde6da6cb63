build-clang/tests/front/test_diag.o: tests/front/test_diag.c \
  tests/front/front_test.h compiler/base/diag.h compiler/base/arena.h \
  compiler/base/file.h

tests/front/front_test.h:

compiler/base/diag.h:

compiler/base/arena.h:

compiler/base/file.h:
