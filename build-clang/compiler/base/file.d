build-clang/compiler/base/file.o: compiler/base/file.c \
  compiler/base/file.h compiler/base/diag.h compiler/base/arena.h \
  compiler/base/cleanup.h

compiler/base/file.h:

compiler/base/diag.h:

compiler/base/arena.h:

compiler/base/cleanup.h:
