build-clang/compiler/base/clock.o: compiler/base/clock.c \
  compiler/base/clock.h

compiler/base/clock.h:
