#!/bin/sh
# The Makefile's promises: install and uninstall, deps, help.
xformc=$1
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT || exit 74
verdict() { if [ "$1" = 0 ]; then echo "ok $2"; else echo "not ok $2"; fi; }
files() { (cd "$scratch" && find . -type f | sort | tr '\n' ' '); }
quiet_make() { env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s "$@"; }

# Without its prerequisites: the program that is here is what is installed.
pages=
if command -v scdoc >/dev/null 2>&1; then
    pages='./opt/x/share/man/man1/xformc-repl.1 ./opt/x/share/man/man1/xformc.1 ./opt/x/share/man/man5/xformc-spec.5 '
fi
quiet_make -o all -o "$xformc" install XFORMC="$xformc" DESTDIR="$scratch" PREFIX=/opt/x >"$scratch.log" 2>&1 &&
    [ "$(files)" = "./opt/x/bin/xformc ./opt/x/share/doc/xformc/LICENSE ./opt/x/share/doc/xformc/README.md $pages" ] &&
    cmp "$xformc" "$scratch/opt/x/bin/xformc"
verdict $? 'make install puts the program, its documents and its pages below DESTDIR and PREFIX'
cat "$scratch.log"

(cd / && "$scratch/opt/x/bin/xformc" --version) >/dev/null
verdict $? 'the installed program runs from any folder'

quiet_make uninstall DESTDIR="$scratch" PREFIX=/opt/x >/dev/null && [ -z "$(files)" ]
verdict $? 'make uninstall leaves no file'
rm -f "$scratch.log"

# A machine with nothing: a PATH without compiler, make and pkg-config.
mkdir "$scratch/bin"
for tool in sh id mktemp rm tail env; do ln -s "$(command -v $tool)" "$scratch/bin/$tool"; done
message=$(PATH=$scratch/bin NO_INSTALL=1 sh tests/deps.sh 2>&1)
[ $? = 69 ] && case $message in *gcc*make*pkg-config*liblua5.4-dev*libjansson-dev*libopenblas-dev*libcmocka-dev*) true ;; *) false ;; esac
verdict $? 'deps with NO_INSTALL names all that is missing and stops'
echo "$message"

message=$(PATH=$scratch/bin sh tests/deps.sh 2>&1)
[ $? = 69 ] && case $message in *'no apt-get'*) true ;; *) false ;; esac
verdict $? 'deps without apt-get stops and says so'
echo "$message"

begin=$(date +%s%N)
message=$(sh tests/deps.sh 2>&1) && [ -z "$message" ] && [ $((($(date +%s%N) - begin) / 1000000)) -lt 300 ]
verdict $? 'deps says nothing and is quick when nothing is missing'

quiet_make help >"$scratch/help"
missing=$(sed -n 's/^\([a-z]*\):.*  ##.*/\1/p' Makefile | while read -r t; do grep -q "^  make $t " "$scratch/help" || echo "$t"; done)
[ -z "$missing" ] && [ "$(grep -c '^  make ' "$scratch/help")" -ge 12 ]
verdict $? 'make help lists the targets'
