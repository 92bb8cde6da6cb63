build-clang/tests/cli/test_cleanup.o: tests/cli/test_cleanup.c \
  compiler/base/cleanup.h compiler/base/file.h compiler/base/diag.h \
  compiler/base/arena.h

compiler/base/cleanup.h:

compiler/base/file.h:

compiler/base/diag.h:

compiler/base/arena.h:
