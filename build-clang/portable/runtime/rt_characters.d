build-clang/portable/runtime/rt_characters.o: runtime/rt_characters.c \
  runtime/rt.h runtime/activations.def

runtime/rt.h:

runtime/activations.def:
