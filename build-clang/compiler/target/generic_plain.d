build-clang/compiler/target/generic_plain.o: \
  compiler/target/generic_plain.c compiler/target/generic_blas.h

compiler/target/generic_blas.h:
