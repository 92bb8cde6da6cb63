build-clang/tests/front/test_tensor_source.o: \
  tests/front/test_tensor_source.c tests/front/front_test.h \
  compiler/base/diag.h compiler/base/arena.h compiler/base/file.h \
  compiler/front/model.h compiler/front/fields.def

tests/front/front_test.h:

compiler/base/diag.h:

compiler/base/arena.h:

compiler/base/file.h:

compiler/front/model.h:

compiler/front/fields.def:
