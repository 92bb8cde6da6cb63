build-clang/runtime/rt_processors.o: runtime/rt_processors.c runtime/rt.h \
  runtime/activations.def

runtime/rt.h:

runtime/activations.def:
