build-clang/runtime/rt_numbers.o: runtime/rt_numbers.c \
  runtime/rt_numbers.h runtime/rt.h runtime/activations.def

runtime/rt_numbers.h:

runtime/rt.h:

runtime/activations.def:
