build-clang/compiler/command_build.o: compiler/command_build.c \
  compiler/command.h runtime/rt_generation.h runtime/rt_beam.h \
  runtime/rt_decoder.h runtime/rt.h runtime/activations.def \
  runtime/rt_logits.h runtime/rt_generate.h runtime/rt_sample.h \
  compiler/session.h compiler/target/emit.h compiler/plan/plan.h \
  compiler/graph/graph.h compiler/front/model.h compiler/base/arena.h \
  compiler/base/diag.h compiler/base/file.h compiler/front/fields.def \
  compiler/graph/ops.def compiler/plan/../../runtime/rt.h \
  compiler/plan/../../runtime/kernels.def compiler/plan/formats.def \
  compiler/base/text.h compiler/target/engine.h compiler/target/folder.h \
  compiler/target/pack.h

compiler/command.h:

runtime/rt_generation.h:

runtime/rt_beam.h:

runtime/rt_decoder.h:

runtime/rt.h:

runtime/activations.def:

runtime/rt_logits.h:

runtime/rt_generate.h:

runtime/rt_sample.h:

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

compiler/target/folder.h:

compiler/target/pack.h:
