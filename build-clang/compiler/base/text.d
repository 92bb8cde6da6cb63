build-clang/compiler/base/text.o: compiler/base/text.c \
  compiler/base/text.h compiler/base/arena.h

compiler/base/text.h:

compiler/base/arena.h:
