build-clang/compiler/base/diag.o: compiler/base/diag.c \
  compiler/base/diag.h compiler/base/arena.h compiler/base/text.h

compiler/base/diag.h:

compiler/base/arena.h:

compiler/base/text.h:
