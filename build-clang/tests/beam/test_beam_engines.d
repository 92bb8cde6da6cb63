build-clang/tests/beam/test_beam_engines.o: \
  tests/beam/test_beam_engines.c compiler/target/decode.h \
  compiler/target/engine.h compiler/target/emit.h compiler/plan/plan.h \
  compiler/graph/graph.h compiler/front/model.h compiler/base/arena.h \
  compiler/base/diag.h compiler/base/file.h compiler/front/fields.def \
  compiler/graph/ops.def compiler/plan/../../runtime/rt.h \
  runtime/activations.def compiler/plan/../../runtime/kernels.def \
  compiler/plan/formats.def compiler/base/text.h runtime/rt_beam.h \
  runtime/rt.h runtime/rt_numbers.h tests/beam/plain_search.h \
  compiler/session.h

compiler/target/decode.h:

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

runtime/rt_beam.h:

runtime/rt.h:

runtime/rt_numbers.h:

tests/beam/plain_search.h:

compiler/session.h:
