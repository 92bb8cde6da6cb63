build-clang/kernel_set_portable.o: compiler/target/kernel_set_one.c \
  compiler/target/../../runtime/rt_simd.h runtime/rt.h \
  runtime/activations.def \
  compiler/target/../../runtime/kernels/linear_f32.c \
  compiler/target/../../runtime/kernels/../rt_simd.h \
  compiler/target/../../runtime/kernels/../kernels.h \
  compiler/target/../../runtime/kernels/norm_f32.c \
  compiler/target/../../runtime/kernels/embed_f32.c \
  compiler/target/../../runtime/kernels/element_f32.c \
  compiler/target/../../runtime/kernels/rotary_f32.c \
  compiler/target/../../runtime/kernels/cache_f32.c \
  compiler/target/../../runtime/kernels/attention_f32.c \
  compiler/target/../../runtime/kernels/scale_f32.c \
  compiler/target/../../runtime/kernels/vocabulary_f32.c \
  compiler/target/kernel_set.h compiler/target/../../runtime/kernels.def

compiler/target/../../runtime/rt_simd.h:

runtime/rt.h:

runtime/activations.def:

compiler/target/../../runtime/kernels/linear_f32.c:

compiler/target/../../runtime/kernels/../rt_simd.h:

compiler/target/../../runtime/kernels/../kernels.h:

compiler/target/../../runtime/kernels/norm_f32.c:

compiler/target/../../runtime/kernels/embed_f32.c:

compiler/target/../../runtime/kernels/element_f32.c:

compiler/target/../../runtime/kernels/rotary_f32.c:

compiler/target/../../runtime/kernels/cache_f32.c:

compiler/target/../../runtime/kernels/attention_f32.c:

compiler/target/../../runtime/kernels/scale_f32.c:

compiler/target/../../runtime/kernels/vocabulary_f32.c:

compiler/target/kernel_set.h:

compiler/target/../../runtime/kernels.def:
