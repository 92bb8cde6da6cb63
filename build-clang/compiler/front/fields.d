build-clang/compiler/front/fields.o: compiler/front/fields.c \
  compiler/front/fields.h compiler/front/model.h compiler/base/arena.h \
  compiler/base/diag.h compiler/base/file.h compiler/front/fields.def \
  runtime/activations.def

compiler/front/fields.h:

compiler/front/model.h:

compiler/base/arena.h:

compiler/base/diag.h:

compiler/base/file.h:

compiler/front/fields.def:

runtime/activations.def:
