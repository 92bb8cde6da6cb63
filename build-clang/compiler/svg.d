build-clang/compiler/svg.o: compiler/svg.c compiler/svg.h \
  compiler/base/text.h compiler/base/arena.h

compiler/svg.h:

compiler/base/text.h:

compiler/base/arena.h:
