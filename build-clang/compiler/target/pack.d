build-clang/compiler/target/pack.o: compiler/target/pack.c \
  compiler/target/pack_parts.h compiler/target/pack.h \
  compiler/plan/plan.h compiler/graph/graph.h compiler/front/model.h \
  compiler/base/arena.h compiler/base/diag.h compiler/base/file.h \
  compiler/front/fields.def compiler/graph/ops.def \
  compiler/plan/../../runtime/rt.h runtime/activations.def \
  compiler/plan/../../runtime/kernels.def compiler/plan/formats.def \
  compiler/base/text.h compiler/target/emit.h runtime/rt_packed.h \
  runtime/rt.h

compiler/target/pack_parts.h:

compiler/target/pack.h:

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

compiler/target/emit.h:

runtime/rt_packed.h:

runtime/rt.h:
