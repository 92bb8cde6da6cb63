build-clang/compiler/picture_svg.o: compiler/picture_svg.c \
  compiler/picture.h compiler/base/text.h compiler/base/arena.h \
  compiler/svg.h

compiler/picture.h:

compiler/base/text.h:

compiler/base/arena.h:

compiler/svg.h:
