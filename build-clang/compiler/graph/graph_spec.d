build-clang/compiler/graph/graph_spec.o: compiler/graph/graph_spec.c \
  compiler/graph/graph_build.h compiler/graph/graph_make.h \
  compiler/graph/graph.h compiler/front/model.h compiler/base/arena.h \
  compiler/base/diag.h compiler/base/file.h compiler/front/fields.def \
  compiler/graph/ops.def compiler/graph/../../runtime/rt.h \
  runtime/activations.def

compiler/graph/graph_build.h:

compiler/graph/graph_make.h:

compiler/graph/graph.h:

compiler/front/model.h:

compiler/base/arena.h:

compiler/base/diag.h:

compiler/base/file.h:

compiler/front/fields.def:

compiler/graph/ops.def:

compiler/graph/../../runtime/rt.h:

runtime/activations.def:
