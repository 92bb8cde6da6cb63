build-clang/compiler/front/name_map.o: compiler/front/name_map.c \
  compiler/front/model.h compiler/base/arena.h compiler/base/diag.h \
  compiler/base/file.h compiler/front/fields.def

compiler/front/model.h:

compiler/base/arena.h:

compiler/base/diag.h:

compiler/base/file.h:

compiler/front/fields.def:
