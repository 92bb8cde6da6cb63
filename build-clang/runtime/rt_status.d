build-clang/runtime/rt_status.o: runtime/rt_status.c runtime/rt.h \
  runtime/activations.def

runtime/rt.h:

runtime/activations.def:
