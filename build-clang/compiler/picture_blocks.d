build-clang/compiler/picture_blocks.o: compiler/picture_blocks.c \
  compiler/picture.h compiler/base/text.h compiler/base/arena.h

compiler/picture.h:

compiler/base/text.h:

compiler/base/arena.h:
