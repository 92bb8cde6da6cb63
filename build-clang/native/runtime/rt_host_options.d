build-clang/native/runtime/rt_host_options.o: runtime/rt_host_options.c \
  runtime/rt_host_options.h runtime/rt_beam.h runtime/rt.h \
  runtime/activations.def runtime/rt_host.h

runtime/rt_host_options.h:

runtime/rt_beam.h:

runtime/rt.h:

runtime/activations.def:

runtime/rt_host.h:
