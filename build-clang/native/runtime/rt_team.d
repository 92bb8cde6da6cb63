build-clang/native/runtime/rt_team.o: runtime/rt_team.c runtime/rt.h \
  runtime/activations.def

runtime/rt.h:

runtime/activations.def:
