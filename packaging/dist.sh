#!/bin/sh
# Pack the sources into one archive: the files that git tracks or, without git, all files outside
# the build folder.
# usage: dist.sh VERSION BUILD
set -eu
name=xformc-$1 build=$2
mkdir -p "$build"
files=$build/$name.files
if git ls-files --error-unmatch Makefile >/dev/null 2>&1; then git ls-files >"$files"
else find . -type f ! -path "./$build/*" ! -path './build/*' | sed 's|^\./||' | sort >"$files"; fi
tar -czf "$build/$name.tar.gz.new" --transform "s|^|$name/|" --owner 0 --group 0 --sort name -T "$files"
rm "$files"
mv "$build/$name.tar.gz.new" "$build/$name.tar.gz"
echo "$build/$name.tar.gz"
