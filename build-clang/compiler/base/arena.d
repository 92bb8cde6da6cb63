build-clang/compiler/base/arena.o: compiler/base/arena.c \
  compiler/base/arena.h

compiler/base/arena.h:
