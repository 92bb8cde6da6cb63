build-clang/native/tests/kernels/test_packed.o: \
  tests/kernels/test_packed.c tests/kernels/kernel_test.h \
  runtime/kernels.h runtime/rt.h runtime/activations.def \
  runtime/kernels.def runtime/rt_packed.h

tests/kernels/kernel_test.h:

runtime/kernels.h:

runtime/rt.h:

runtime/activations.def:

runtime/kernels.def:

runtime/rt_packed.h:
