#!/bin/sh
# tags: ubsan golden
# Specs: fields, limits, diagnostics, sandbox, unused fields. NAME.err has the exit code and
# standard error of front_dump NAME.lua, and NAME.model has its standard output.
# usage: run.sh [--write] FRONT_DUMP
#
# --write rewrites the goldens, including those of new specs.
. tests/lib.sh
bin=$xformc out=$scratch
cd "$(dirname "$0")" || exit 2

compare() {     # FILE: compare a golden with the output; a missing file is an empty golden
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
