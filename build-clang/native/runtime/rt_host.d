build-clang/native/runtime/rt_host.o: runtime/rt_host.c \
  runtime/rt_host_parts.h runtime/rt_host.h runtime/rt.h \
  runtime/activations.def runtime/rt_host_beam.h runtime/rt_beam.h \
  runtime/rt_host_options.h runtime/rt_weights.h

runtime/rt_host_parts.h:

runtime/rt_host.h:

runtime/rt.h:

runtime/activations.def:

runtime/rt_host_beam.h:

runtime/rt_beam.h:

runtime/rt_host_options.h:

runtime/rt_weights.h:
