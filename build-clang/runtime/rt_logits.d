build-clang/runtime/rt_logits.o: runtime/rt_logits.c runtime/rt_logits.h \
  runtime/rt.h runtime/activations.def

runtime/rt_logits.h:

runtime/rt.h:

runtime/activations.def:
