build-clang/tests/beam/test_beam_search.o: tests/beam/test_beam_search.c \
  tests/beam/plain_search.h runtime/rt_beam.h runtime/rt.h \
  runtime/activations.def

tests/beam/plain_search.h:

runtime/rt_beam.h:

runtime/rt.h:

runtime/activations.def:
