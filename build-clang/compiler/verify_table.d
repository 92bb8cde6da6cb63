build-clang/compiler/verify_table.o: compiler/verify_table.c \
  compiler/verify_table.h compiler/base/arena.h \
  compiler/base/json_text.h compiler/base/text.h

compiler/verify_table.h:

compiler/base/arena.h:

compiler/base/json_text.h:

compiler/base/text.h:
