build-clang/compiler/picture.o: compiler/picture.c compiler/picture.h \
  compiler/base/text.h compiler/base/arena.h

compiler/picture.h:

compiler/base/text.h:

compiler/base/arena.h:
