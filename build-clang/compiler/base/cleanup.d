build-clang/compiler/base/cleanup.o: compiler/base/cleanup.c \
  compiler/base/cleanup.h

compiler/base/cleanup.h:
