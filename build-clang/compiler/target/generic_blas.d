build-clang/compiler/target/generic_blas.o: \
  compiler/target/generic_blas.c compiler/target/generic_blas.h \
  /usr/include/x86_64-linux-gnu/openblas-pthread/cblas.h \
  /usr/include/x86_64-linux-gnu/openblas-pthread/openblas_config.h

compiler/target/generic_blas.h:

/usr/include/x86_64-linux-gnu/openblas-pthread/cblas.h:

/usr/include/x86_64-linux-gnu/openblas-pthread/openblas_config.h:
