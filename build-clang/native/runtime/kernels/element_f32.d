build-clang/native/runtime/kernels/element_f32.o: \
  runtime/kernels/element_f32.c runtime/kernels/../rt_simd.h \
  runtime/rt.h runtime/activations.def runtime/kernels/../kernels.h \
  runtime/kernels.def

runtime/kernels/../rt_simd.h:

runtime/rt.h:

runtime/activations.def:

runtime/kernels/../kernels.h:

runtime/kernels.def:
