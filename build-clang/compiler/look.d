build-clang/compiler/look.o: compiler/look.c compiler/look.h \
  compiler/picture.h compiler/base/text.h compiler/base/arena.h \
  compiler/session.h compiler/target/emit.h compiler/plan/plan.h \
  compiler/graph/graph.h compiler/front/model.h compiler/base/diag.h \
  compiler/base/file.h compiler/front/fields.def compiler/graph/ops.def \
  compiler/plan/../../runtime/rt.h runtime/activations.def \
  compiler/plan/../../runtime/kernels.def compiler/plan/formats.def \
  compiler/target/engine.h compiler/trace.h compiler/command.h \
  runtime/rt_generation.h runtime/rt_beam.h runtime/rt_decoder.h \
  runtime/rt.h runtime/rt_logits.h runtime/rt_generate.h \
  runtime/rt_sample.h

compiler/look.h:

compiler/picture.h:

compiler/base/text.h:

compiler/base/arena.h:

compiler/session.h:

compiler/target/emit.h:

compiler/plan/plan.h:

compiler/graph/graph.h:

compiler/front/model.h:

compiler/base/diag.h:

compiler/base/file.h:

compiler/front/fields.def:

compiler/graph/ops.def:

compiler/plan/../../runtime/rt.h:

runtime/activations.def:

compiler/plan/../../runtime/kernels.def:

compiler/plan/formats.def:

compiler/target/engine.h:

compiler/trace.h:

compiler/command.h:

runtime/rt_generation.h:

runtime/rt_beam.h:

runtime/rt_decoder.h:

runtime/rt.h:

runtime/rt_logits.h:

runtime/rt_generate.h:

runtime/rt_sample.h:
