build-clang/compiler/target/emit_sequence.o: \
  compiler/target/emit_sequence.c compiler/target/generation.h \
  compiler/front/model.h compiler/base/arena.h compiler/base/diag.h \
  compiler/base/file.h compiler/front/fields.def runtime/rt_generation.h \
  runtime/rt_beam.h runtime/rt_decoder.h runtime/rt.h \
  runtime/activations.def runtime/rt_logits.h runtime/rt_generate.h \
  runtime/rt_sample.h compiler/base/text.h compiler/target/emit_kind.h \
  compiler/target/emit.h compiler/plan/plan.h compiler/graph/graph.h \
  compiler/graph/ops.def compiler/plan/../../runtime/rt.h \
  compiler/plan/../../runtime/kernels.def compiler/plan/formats.def \
  compiler/target/engine.h

compiler/target/generation.h:

compiler/front/model.h:

compiler/base/arena.h:

compiler/base/diag.h:

compiler/base/file.h:

compiler/front/fields.def:

runtime/rt_generation.h:

runtime/rt_beam.h:

runtime/rt_decoder.h:

runtime/rt.h:

runtime/activations.def:

runtime/rt_logits.h:

runtime/rt_generate.h:

runtime/rt_sample.h:

compiler/base/text.h:

compiler/target/emit_kind.h:

compiler/target/emit.h:

compiler/plan/plan.h:

compiler/graph/graph.h:

compiler/graph/ops.def:

compiler/plan/../../runtime/rt.h:

compiler/plan/../../runtime/kernels.def:

compiler/plan/formats.def:

compiler/target/engine.h:
