build-clang/compiler/front/names.o: compiler/front/names.c \
  compiler/front/fields.h compiler/front/model.h compiler/base/arena.h \
  compiler/base/diag.h compiler/base/file.h compiler/front/fields.def \
  compiler/front/dtypes.h compiler/base/text.h

compiler/front/fields.h:

compiler/front/model.h:

compiler/base/arena.h:

compiler/base/diag.h:

compiler/base/file.h:

compiler/front/fields.def:

compiler/front/dtypes.h:

compiler/base/text.h:
