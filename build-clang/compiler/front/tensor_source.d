build-clang/compiler/front/tensor_source.o: \
  compiler/front/tensor_source.c compiler/front/model.h \
  compiler/base/arena.h compiler/base/diag.h compiler/base/file.h \
  compiler/front/fields.def compiler/front/dtypes.h

compiler/front/model.h:

compiler/base/arena.h:

compiler/base/diag.h:

compiler/base/file.h:

compiler/front/fields.def:

compiler/front/dtypes.h:
