build-clang/compiler/session.o: compiler/session.c compiler/session.h \
  compiler/target/emit.h compiler/plan/plan.h compiler/graph/graph.h \
  compiler/front/model.h compiler/base/arena.h compiler/base/diag.h \
  compiler/base/file.h compiler/front/fields.def compiler/graph/ops.def \
  compiler/plan/../../runtime/rt.h runtime/activations.def \
  compiler/plan/../../runtime/kernels.def compiler/plan/formats.def \
  compiler/base/text.h compiler/target/engine.h compiler/base/clock.h \
  compiler/target/custom.h compiler/debug.h compiler/front/fields.h \
  compiler/target/jit.h compiler/target/native.h

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

runtime/activations.def:

compiler/plan/../../runtime/kernels.def:

compiler/plan/formats.def:

compiler/base/text.h:

compiler/target/engine.h:

compiler/base/clock.h:

compiler/target/custom.h:

compiler/debug.h:

compiler/front/fields.h:

compiler/target/jit.h:

compiler/target/native.h:
