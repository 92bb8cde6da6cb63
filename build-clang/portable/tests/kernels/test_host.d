build-clang/portable/tests/kernels/test_host.o: tests/kernels/test_host.c \
  tests/kernels/kernel_test.h runtime/kernels.h runtime/rt.h \
  runtime/activations.def runtime/kernels.def runtime/rt_host.h \
  runtime/rt_weights.h

tests/kernels/kernel_test.h:

runtime/kernels.h:

runtime/rt.h:

runtime/activations.def:

runtime/kernels.def:

runtime/rt_host.h:

runtime/rt_weights.h:
