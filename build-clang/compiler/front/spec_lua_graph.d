build-clang/compiler/front/spec_lua_graph.o: \
  compiler/front/spec_lua_graph.c compiler/front/spec_lua.h \
  /usr/include/lua5.4/lauxlib.h /usr/include/lua5.4/luaconf.h \
  /usr/include/lua5.4/lua.h /usr/include/lua5.4/lualib.h \
  compiler/front/fields.h compiler/front/model.h compiler/base/arena.h \
  compiler/base/diag.h compiler/base/file.h compiler/front/fields.def \
  compiler/front/spec_lexer.h

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
