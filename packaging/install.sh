#!/bin/sh
# Install a built xformc and its files under a folder.
# usage: install.sh PROGRAM DESTDIR PREFIX VERSION HEADER...
set -eu
program=$1 prefix=$3 version=$4 to=$2$3
shift 4
install -D -m 755 "$program" "$to/bin/xformc"
# The pages keep their folders, so that the links between them work.
for file in *.md LICENSE docs/*.md docs/pictures/* */README.md tests/*/README.md tests/bench/results/*.md \
    generated/dates/dates*.[ch] tests/first.c; do
    install -D -m 644 "$file" "$to/share/doc/xformc/$file"
done
for file in "$@"; do install -D -m 644 "$file" "$to/include/xformc/${file##*/}"; done
find specs -type f | while read -r file; do install -D -m 644 "$file" "$to/share/xformc/$file"; done
for page in man/*.[0-9]; do install -D -m 644 "$page" "$to/share/man/man${page##*.}/${page##*/}"; done

# Completions, written by the program itself.
completion() {
    mkdir -p "$to/share/${2%/*}"
    "$program" help --completion "$1" >"$to/share/$2"
    chmod 644 "$to/share/$2"
}
completion bash bash-completion/completions/xformc
completion zsh zsh/site-functions/_xformc
completion fish fish/vendor_completions.d/xformc.fish

mkdir -p "$to/lib/pkgconfig"
cat >"$to/lib/pkgconfig/xformc.pc" <<END
prefix=$prefix
includedir=\${prefix}/include/xformc
specsdir=\${prefix}/share/xformc/specs

Name: xformc
Description: Headers that emitted C includes
Version: $version
Cflags: -I\${includedir}
END
chmod 644 "$to/lib/pkgconfig/xformc.pc"
