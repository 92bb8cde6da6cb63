build-clang/runtime/rt_generate.o: runtime/rt_generate.c \
  runtime/rt_generate.h runtime/rt_decoder.h runtime/rt.h \
  runtime/activations.def runtime/rt_logits.h runtime/rt_sample.h

runtime/rt_generate.h:

runtime/rt_decoder.h:

runtime/rt.h:

runtime/activations.def:

runtime/rt_logits.h:

runtime/rt_sample.h:
