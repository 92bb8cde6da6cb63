build-clang/compiler/front/spec_lexer.o: compiler/front/spec_lexer.c \
  compiler/front/spec_lexer.h compiler/base/diag.h compiler/base/arena.h

compiler/front/spec_lexer.h:

compiler/base/diag.h:

compiler/base/arena.h:
