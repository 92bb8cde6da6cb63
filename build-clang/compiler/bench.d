build-clang/compiler/bench.o: compiler/bench.c compiler/bench.h \
  compiler/base/clock.h compiler/machine.h runtime/rt.h \
  runtime/activations.def compiler/session.h compiler/target/emit.h \
  compiler/plan/plan.h compiler/graph/graph.h compiler/front/model.h \
  compiler/base/arena.h compiler/base/diag.h compiler/base/file.h \
  compiler/front/fields.def compiler/graph/ops.def \
  compiler/plan/../../runtime/rt.h \
  compiler/plan/../../runtime/kernels.def compiler/plan/formats.def \
  compiler/base/text.h compiler/target/engine.h

compiler/bench.h:

compiler/base/clock.h:

compiler/machine.h:

runtime/rt.h:

runtime/activations.def:

compiler/session.h:

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

compiler/plan/../../runtime/kernels.def:

compiler/plan/formats.def:

compiler/base/text.h:

compiler/target/engine.h:
