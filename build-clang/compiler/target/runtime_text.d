build-clang/compiler/target/runtime_text.o: \
  compiler/target/runtime_text.c compiler/target/runtime_text.h \
  compiler/base/arena.h compiler/target/runtime_files.def

compiler/target/runtime_text.h:

compiler/base/arena.h:

compiler/target/runtime_files.def:
