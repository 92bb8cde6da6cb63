build-clang/compiler/target/isa.o: compiler/target/isa.c \
  compiler/target/isa.h compiler/base/arena.h

compiler/target/isa.h:

compiler/base/arena.h:
