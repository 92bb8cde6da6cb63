#!/bin/sh
# The quick lint rules pass on the tree, and every rule finds the faults that this suite puts into a
# copy of it or a small tree. `make lint` applies every rule to the tree.
# usage: run.sh XFORMC
. tests/lib.sh
copy=$scratch
mkdir "$copy/tests"
cp -R compiler runtime Makefile "$copy/"
cp -R tests/lint "$copy/tests/"

for rule in includes folders libraries names text words sizes generated; do
    if sh tests/lint/lint.sh $rule; then echo "ok lint: $rule"; else echo "not ok lint: $rule"; fi
done

# finds NAME RULE FILE TEXT: the rule objects to FILE with TEXT appended.
finds() {
    mkdir -p "$copy/$(dirname "$3")"
    cp "$copy/$3" "$copy/kept" 2>/dev/null || rm -f "$copy/kept"
    printf "$4" >>"$copy/$3"
    found=$(cd "$copy" && sh "$top/tests/lint/lint.sh" "$2" 2>&1)
    case $? in 0) clean=1 ;; *) clean=0 ;; esac
    case $clean:$found in
    0:*"$3:"*) echo "ok lint finds $1" ;;
    *) echo "not ok lint finds $1"; echo "$found" ;;
    esac
    if [ -e "$copy/kept" ]; then mv "$copy/kept" "$copy/$3"; else rm -f "$copy/$3"; fi
}

mkdir -p "$copy/generated/sums" && cp .gitignore "$copy/" && printf '%0200d\n' 0 >"$copy/generated/sums/Makefile"
if (cd "$copy" && sh "$top/tests/lint/lint.sh" text); then echo 'ok lint leaves out what git does'; else echo 'not ok lint leaves out what git does'; fi
finds 'a base that includes a floor'              includes  compiler/base/text.c       '#include "model.h"\n'
finds 'a front that includes the graph'           includes  compiler/front/bind.c     '#include "graph.h"\n'
finds 'a graph that includes the plan'             includes  compiler/graph/graph_shape.c '#include "plan.h"\n'
finds 'a plan that includes the emitter'          includes  compiler/plan/plan_cost.c  '#include "emit.h"\n'
finds 'a target that includes the session'        includes  compiler/engine/jit.c      '#include "trace.h"\n'
finds 'a plan that includes kernels'              includes  compiler/plan/plan_cost.c  '#include "rt_simd.h"\n'
finds 'a runtime that includes the compiler'      includes  runtime/rt_status.c        '#include "arena.h"\n'
finds 'a runtime that includes a library'         includes  runtime/rt_status.c        '#include <jansson.h>\n'
finds 'a runtime that includes a later part'       includes  runtime/rt_status.c        '#include "rt_beam.h"\n'
finds 'an include by its folder'                  includes  compiler/plan/plan_cost.c  '#include "base/text.h"\n'
finds 'a folder that the Makefile does not list'  includes  compiler/extra/x.c         'int x;\n'
finds 'an include of no file'                     includes  compiler/base/text.c       '#include "nothing.h"\n'
for n in $(seq 34); do : >"$copy/runtime/generate/extra$n.c"; done
finds 'a folder of too many files'                folders   runtime/generate/z.c       'int x;\n'
rm "$copy"/runtime/generate/extra*
finds 'Lua outside the readers of specs'          libraries compiler/graph/graph_spec.c '#include <lua.h>\n'
finds 'JSON outside its readers'                  libraries compiler/plan/plan.c       '#include <jansson.h>\n'
finds 'BLAS outside the generic engine'           libraries compiler/engine/jit.c      '#include <cblas.h>\n'
finds 'cmocka outside the tests'                  libraries compiler/base/text.c       '#include <cmocka.h>\n'
finds 'a name used twice'                         names     runtime/text.c             'int x;\n'
finds 'a file fetched into the top folder'        names     tool-1.0-any.whl           'PK'
finds 'a tab'                                     text      compiler/base/text.c       '\tint x;\n'
finds 'space at the end of a line'                text      compiler/base/text.c       'int x; \n'
finds 'a carriage return'                         text      compiler/base/text.c       'int x;\r\n'
finds 'a file without a newline at the end'       text      compiler/base/text.c       'int x;'
finds 'a long line'                               text      compiler/base/text.c       "/* $(printf '%0150d' 0) */\n"
finds 'a forbidden word'                          words     compiler/base/text.c       '/* TODO */\n'
finds 'dead code'                                 words     compiler/base/text.c       '#if 0\n#endif\n'
finds 'a file of over 700 lines'                  sizes     compiler/base/text.c       "$(yes 'int x;\n' | head -n 700 | tr -d '\n')"
finds 'allocation in emitted C'                   generated generated/dates/dates.c    'void *f(void) { return malloc(1); }\n'

found=$(sh tests/lint/lint.sh text nothing 2>&1)
[ $? = 2 ] && same 'lint.sh: there is no rule nothing' "$found"
verdict $? 'lint knows its rules'
mkdir "$copy/bin" && printf '#!/bin/sh\nexit 1\n' >"$copy/bin/sort" && chmod +x "$copy/bin/sort"
PATH=$copy/bin:$PATH sh tests/lint/lint.sh text
[ $? = 74 ]
verdict $? 'lint without a list of files is not clean'

# Calls, in a tree of a few files.
rm -rf "$copy/compiler" "$copy/runtime"
mkdir -p "$copy/compiler/base" "$copy/compiler/graph" "$copy/runtime"
(
    cd "$copy/compiler" || exit
    printf 'int low(void);\nint up(void);\n' >base/base.h
    printf '#include "base.h"\nint low(void) { return 1; }\n' >base/low.c
    printf 'int high(void);\nint higher(void);\nint again(void);\n' >graph/graph.h
    printf '#include "graph.h"\n' >graph/other.h
    printf '#include "base.h"\n#include "graph.h"\nint high(void) { return low(); }\n' >graph/high.c
    printf '#include "graph.h"\nint higher(void) { return high(); }\n' >graph/higher.c
)
if (cd "$copy" && sh "$top/tests/lint/lint.sh" calls); then echo 'ok lint: calls'; else echo 'not ok lint: calls'; fi
finds 'a call of what stands behind'       calls compiler/base/up.c       'int up(void); int high(void); int up(void) { return high(); }\n'
finds 'files that call each other'         calls compiler/graph/high.c    'int again(void) { return higher(); }\n'
finds 'files that include each other'      calls compiler/graph/graph.h   '#include "other.h"\n'
finds 'a function that no header declares' calls compiler/graph/lost.c    'int lost(void) { return 0; }\n'
finds 'a function declared elsewhere'      calls compiler/graph/low2.c    'int up(void) { return 0; }\n'

# Compiler warnings, in a tree of one file.
rm -rf "$copy/compiler" "$copy/runtime"
mkdir -p "$copy/compiler" "$copy/runtime"
finds 'a shadowed variable'    compilers compiler/shadow.c   'int f(int x); int f(int x) { { int x = 1; return x; } }\n'
finds 'an unused variable'     compilers compiler/unused.c   'int f(void); int f(void) { int x; return 0; }\n'
finds 'a missing prototype'    compilers compiler/external.c 'int f(void) { return 0; }\n'
finds 'an array of unknown size' compilers compiler/vla.c    'int f(int n); int f(int n) { int a[n]; a[0] = n; return a[0]; }\n'
