build-clang/native/runtime/rt_packed.o: runtime/rt_packed.c \
  runtime/rt_packed.h runtime/rt.h runtime/activations.def

runtime/rt_packed.h:

runtime/rt.h:

runtime/activations.def:
