build-clang/tests/front/test_text.o: tests/front/test_text.c \
  tests/front/front_test.h compiler/base/diag.h compiler/base/arena.h \
  compiler/base/file.h compiler/base/text.h

tests/front/front_test.h:

compiler/base/diag.h:

compiler/base/arena.h:

compiler/base/file.h:

compiler/base/text.h:
