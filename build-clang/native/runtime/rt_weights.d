build-clang/native/runtime/rt_weights.o: runtime/rt_weights.c \
  runtime/rt_weights.h

runtime/rt_weights.h:
