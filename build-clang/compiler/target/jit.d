build-clang/compiler/target/jit.o: compiler/target/jit.c \
  compiler/base/clock.h compiler/target/emitted.h \
  compiler/target/engine.h compiler/target/emit.h compiler/plan/plan.h \
  compiler/graph/graph.h compiler/front/model.h compiler/base/arena.h \
  compiler/base/diag.h compiler/base/file.h compiler/front/fields.def \
  compiler/graph/ops.def compiler/plan/../../runtime/rt.h \
  runtime/activations.def compiler/plan/../../runtime/kernels.def \
  compiler/plan/formats.def compiler/base/text.h compiler/target/isa.h \
  compiler/target/jit.h compiler/target/kernel_set.h \
  compiler/target/pack.h

compiler/base/clock.h:

compiler/target/emitted.h:

compiler/target/engine.h:

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

compiler/target/isa.h:

compiler/target/jit.h:

compiler/target/kernel_set.h:

compiler/target/pack.h:
