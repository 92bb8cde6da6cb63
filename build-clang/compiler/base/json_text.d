build-clang/compiler/base/json_text.o: compiler/base/json_text.c \
  compiler/base/json_text.h compiler/base/text.h compiler/base/arena.h

compiler/base/json_text.h:

compiler/base/text.h:

compiler/base/arena.h:
