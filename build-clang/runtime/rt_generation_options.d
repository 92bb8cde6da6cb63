build-clang/runtime/rt_generation_options.o: \
  runtime/rt_generation_options.c runtime/rt_generation.h \
  runtime/rt_beam.h runtime/rt_decoder.h runtime/rt.h \
  runtime/activations.def runtime/rt_logits.h runtime/rt_generate.h \
  runtime/rt_sample.h runtime/rt_generation_options.def

runtime/rt_generation.h:

runtime/rt_beam.h:

runtime/rt_decoder.h:

runtime/rt.h:

runtime/activations.def:

runtime/rt_logits.h:

runtime/rt_generate.h:

runtime/rt_sample.h:

runtime/rt_generation_options.def:
