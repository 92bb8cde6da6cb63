build-clang/tests/graph/test_graph.o: tests/graph/test_graph.c \
  compiler/front/fields.h compiler/front/model.h compiler/base/arena.h \
  compiler/base/diag.h compiler/base/file.h compiler/front/fields.def \
  compiler/graph/graph.h compiler/graph/ops.def

compiler/front/fields.h:

compiler/front/model.h:

compiler/base/arena.h:

compiler/base/diag.h:

compiler/base/file.h:

compiler/front/fields.def:

compiler/graph/graph.h:

compiler/graph/ops.def:
