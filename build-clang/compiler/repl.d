build-clang/compiler/repl.o: compiler/repl.c compiler/repl.h \
  compiler/front/spec_lua.h /usr/include/lua5.4/lauxlib.h \
  /usr/include/lua5.4/luaconf.h /usr/include/lua5.4/lua.h \
  /usr/include/lua5.4/lualib.h compiler/front/fields.h \
  compiler/front/model.h compiler/base/arena.h compiler/base/diag.h \
  compiler/base/file.h compiler/front/fields.def \
  compiler/front/spec_lexer.h compiler/target/background.h \
  compiler/target/engine.h compiler/target/emit.h compiler/plan/plan.h \
  compiler/graph/graph.h compiler/graph/ops.def \
  compiler/plan/../../runtime/rt.h runtime/activations.def \
  compiler/plan/../../runtime/kernels.def compiler/plan/formats.def \
  compiler/base/text.h compiler/look.h compiler/picture.h \
  compiler/session.h compiler/trace.h compiler/command.h \
  runtime/rt_generation.h runtime/rt_beam.h runtime/rt_decoder.h \
  runtime/rt.h runtime/rt_logits.h runtime/rt_generate.h \
  runtime/rt_sample.h compiler/target/emit_kind.h

compiler/repl.h:

compiler/front/spec_lua.h:

/usr/include/lua5.4/lauxlib.h:

/usr/include/lua5.4/luaconf.h:

/usr/include/lua5.4/lua.h:

/usr/include/lua5.4/lualib.h:

compiler/front/fields.h:

compiler/front/model.h:

compiler/base/arena.h:

compiler/base/diag.h:

compiler/base/file.h:

compiler/front/fields.def:

compiler/front/spec_lexer.h:

compiler/target/background.h:

compiler/target/engine.h:

compiler/target/emit.h:

compiler/plan/plan.h:

compiler/graph/graph.h:

compiler/graph/ops.def:

compiler/plan/../../runtime/rt.h:

runtime/activations.def:

compiler/plan/../../runtime/kernels.def:

compiler/plan/formats.def:

compiler/base/text.h:

compiler/look.h:

compiler/picture.h:

compiler/session.h:

compiler/trace.h:

compiler/command.h:

runtime/rt_generation.h:

runtime/rt_beam.h:

runtime/rt_decoder.h:

runtime/rt.h:

runtime/rt_logits.h:

runtime/rt_generate.h:

runtime/rt_sample.h:

compiler/target/emit_kind.h:
