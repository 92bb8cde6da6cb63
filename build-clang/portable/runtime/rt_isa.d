build-clang/portable/runtime/rt_isa.o: runtime/rt_isa.c runtime/rt.h \
  runtime/activations.def

runtime/rt.h:

runtime/activations.def:
