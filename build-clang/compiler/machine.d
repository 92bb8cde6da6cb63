build-clang/compiler/machine.o: compiler/machine.c compiler/machine.h \
  runtime/rt.h runtime/activations.def compiler/base/clock.h

compiler/machine.h:

runtime/rt.h:

runtime/activations.def:

compiler/base/clock.h:
