build-clang/compiler/target/kernel_set.o: compiler/target/kernel_set.c \
  compiler/target/kernel_set.h runtime/rt.h runtime/activations.def \
  compiler/target/kernel_sets.def

compiler/target/kernel_set.h:

runtime/rt.h:

runtime/activations.def:

compiler/target/kernel_sets.def:
