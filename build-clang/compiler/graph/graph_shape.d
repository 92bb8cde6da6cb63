build-clang/compiler/graph/graph_shape.o: compiler/graph/graph_shape.c \
  compiler/graph/graph.h compiler/front/model.h compiler/base/arena.h \
  compiler/base/diag.h compiler/base/file.h compiler/front/fields.def \
  compiler/graph/ops.def compiler/graph/../../runtime/rt.h \
  runtime/activations.def

compiler/graph/graph.h:

compiler/front/model.h:

compiler/base/arena.h:

compiler/base/diag.h:

compiler/base/file.h:

compiler/front/fields.def:

compiler/graph/ops.def:

compiler/graph/../../runtime/rt.h:

runtime/activations.def:
