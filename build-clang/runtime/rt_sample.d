build-clang/runtime/rt_sample.o: runtime/rt_sample.c runtime/rt_sample.h \
  runtime/rt.h runtime/activations.def

runtime/rt_sample.h:

runtime/rt.h:

runtime/activations.def:
