build-clang/compiler/front/safetensors.o: compiler/front/safetensors.c \
  compiler/front/model.h compiler/base/arena.h compiler/base/diag.h \
  compiler/base/file.h compiler/front/fields.def compiler/front/dtypes.h \
  compiler/base/text.h

compiler/front/model.h:

compiler/base/arena.h:

compiler/base/diag.h:

compiler/base/file.h:

compiler/front/fields.def:

compiler/front/dtypes.h:

compiler/base/text.h:
