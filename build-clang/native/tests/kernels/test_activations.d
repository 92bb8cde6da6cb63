build-clang/native/tests/kernels/test_activations.o: \
  tests/kernels/test_activations.c tests/kernels/kernel_test.h \
  runtime/kernels.h runtime/rt.h runtime/activations.def \
  runtime/kernels.def runtime/rt_simd.h

tests/kernels/kernel_test.h:

runtime/kernels.h:

runtime/rt.h:

runtime/activations.def:

runtime/kernels.def:

runtime/rt_simd.h:
