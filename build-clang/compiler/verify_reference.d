build-clang/compiler/verify_reference.o: compiler/verify_reference.c \
  compiler/verify_parts.h compiler/trace.h compiler/target/engine.h \
  compiler/target/emit.h compiler/plan/plan.h compiler/graph/graph.h \
  compiler/front/model.h compiler/base/arena.h compiler/base/diag.h \
  compiler/base/file.h compiler/front/fields.def compiler/graph/ops.def \
  compiler/plan/../../runtime/rt.h runtime/activations.def \
  compiler/plan/../../runtime/kernels.def compiler/plan/formats.def \
  compiler/base/text.h compiler/verify.h compiler/verify_table.h \
  compiler/front/dtypes.h

compiler/verify_parts.h:

compiler/trace.h:

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

compiler/verify.h:

compiler/verify_table.h:

compiler/front/dtypes.h:
