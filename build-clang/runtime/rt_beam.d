build-clang/runtime/rt_beam.o: runtime/rt_beam.c runtime/rt_beam.h \
  runtime/rt_decoder.h runtime/rt.h runtime/activations.def \
  runtime/rt_logits.h

runtime/rt_beam.h:

runtime/rt_decoder.h:

runtime/rt.h:

runtime/activations.def:

runtime/rt_logits.h:
