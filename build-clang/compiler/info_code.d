build-clang/compiler/info_code.o: compiler/info_code.c \
  compiler/base/cleanup.h compiler/target/folder.h \
  compiler/target/emit.h compiler/plan/plan.h compiler/graph/graph.h \
  compiler/front/model.h compiler/base/arena.h compiler/base/diag.h \
  compiler/base/file.h compiler/front/fields.def compiler/graph/ops.def \
  compiler/plan/../../runtime/rt.h runtime/activations.def \
  compiler/plan/../../runtime/kernels.def compiler/plan/formats.def \
  compiler/base/text.h compiler/target/pack.h compiler/info.h \
  compiler/target/isa.h compiler/target/runtime_text.h

compiler/base/cleanup.h:

compiler/target/folder.h:

compiler/target/emit.h:

compiler/plan/plan.h:

compiler/graph/graph.h:

compiler/front/model.h:

compiler/base/arena.h:

compiler/base/diag.h:

compiler/base/file.h:

compiler/front/fields.def:

compiler/graph/ops.def:

compiler/plan/../../runtime/rt.h:

runtime/activations.def:

compiler/plan/../../runtime/kernels.def:

compiler/plan/formats.def:

compiler/base/text.h:

compiler/target/pack.h:

compiler/info.h:

compiler/target/isa.h:

compiler/target/runtime_text.h:
