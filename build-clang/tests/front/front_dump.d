build-clang/tests/front/front_dump.o: tests/front/front_dump.c \
  compiler/front/model.h compiler/base/arena.h compiler/base/diag.h \
  compiler/base/file.h compiler/front/fields.def

compiler/front/model.h:

compiler/base/arena.h:

compiler/base/diag.h:

compiler/base/file.h:

compiler/front/fields.def:
