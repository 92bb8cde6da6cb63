build-clang/native/tests/kernels/test_attention.o: \
  tests/kernels/test_attention.c tests/kernels/kernel_test.h \
  runtime/kernels.h runtime/rt.h runtime/activations.def \
  runtime/kernels.def

tests/kernels/kernel_test.h:

runtime/kernels.h:

runtime/rt.h:

runtime/activations.def:

runtime/kernels.def:
