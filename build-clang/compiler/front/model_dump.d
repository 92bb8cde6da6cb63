build-clang/compiler/front/model_dump.o: compiler/front/model_dump.c \
  compiler/front/fields.h compiler/front/model.h compiler/base/arena.h \
  compiler/base/diag.h compiler/base/file.h compiler/front/fields.def \
  compiler/front/dtypes.h

compiler/front/fields.h:

compiler/front/model.h:

compiler/base/arena.h:

compiler/base/diag.h:

compiler/base/file.h:

compiler/front/fields.def:

compiler/front/dtypes.h:
