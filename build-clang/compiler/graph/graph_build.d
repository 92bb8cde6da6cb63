build-clang/compiler/graph/graph_build.o: compiler/graph/graph_build.c \
  compiler/graph/graph_build.h compiler/graph/graph_make.h \
  compiler/graph/graph.h compiler/front/model.h compiler/base/arena.h \
  compiler/base/diag.h compiler/base/file.h compiler/front/fields.def \
  compiler/graph/ops.def

compiler/graph/graph_build.h:

compiler/graph/graph_make.h:

compiler/graph/graph.h:

compiler/front/model.h:

compiler/base/arena.h:

compiler/base/diag.h:

compiler/base/file.h:

compiler/front/fields.def:

compiler/graph/ops.def:
