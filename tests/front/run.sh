#!/bin/sh
# tags: ubsan golden
# Specs: fields, limits, diagnostics, sandbox, fields without effect. Each NAME.err is the exit code
# and standard error of front_dump NAME.lua, each NAME.model its standard output.
# usage: run.sh [--write] FRONT_DUMP
#
# --write writes the goldens again, also for new NAME.lua.
. tests/lib.sh
bin=$xformc out=$scratch
cd "$(dirname "$0")" || exit 2

compare() {     # FILE: a golden and what came out; nothing stands for an empty one
  expected=$1; [ -e "$1" ] || expected=/dev/null
  diff -u -L "$1" -L found "$expected" "$out/$1"
}

failed=0
for name in $(ls -d *.lua *.err *.model 2>/dev/null | sed 's/\.[a-z]*$//' | sort -u); do
  "$bin" "$name.lua" >"$out/$name.model" 2>"$out/stderr"
  code=$?
  { echo "exit $code"; cat "$out/stderr"; } >"$out/$name.err"
  if [ $code = 0 ] && [ ! -s "$out/stderr" ]; then : >"$out/$name.err"; fi
  if [ -n "$write" ]; then
    for kind in err model; do
      rm -f "$name.$kind"
      [ ! -s "$out/$name.$kind" ] || cp "$out/$name.$kind" "$name.$kind"
    done
  elif { compare "$name.err" && compare "$name.model"; } >"$out/diff" 2>&1; then
    echo "ok $name"
  else
    not_ok "$name"
    sed 's/^/# /' "$out/diff"
    failed=1
  fi
  rm -f "$out/$name.model" "$out/$name.err"
done
exit $failed
