#!/bin/sh
# Find what building and testing need; install the Debian packages that are missing.
# usage: deps.sh [name of Lua for pkg-config]      NO_INSTALL=1: only name them
lua=${1:-lua5.4}
missing=

need() { case " $missing " in *" $1 "*) ;; *) missing="$missing${missing:+ }$1" ;; esac; }

# tool COMMAND PACKAGE, header NAME PACKAGE, library NAME PACKAGE
tool() { command -v "$1" >/dev/null 2>&1 || need "$2"; }
header() { echo "#include <$1>" | "${CC:-cc}" -E - >/dev/null 2>&1 || need "$2"; }
library() { pkg-config --exists "$1" 2>/dev/null || need "$2"; }

find_missing() {
    missing=
    tool "${CC:-cc}" gcc
    tool make make
    tool pkg-config pkg-config
    [ -e /usr/include/stdio.h ] || header stdio.h libc6-dev
    library "$lua" liblua5.4-dev
    library jansson libjansson-dev
    library openblas libopenblas-dev
    library libedit libedit-dev
    library cmocka libcmocka-dev
    [ -e /usr/include/libtcc.h ] || header libtcc.h libtcc-dev
}

find_missing
[ -n "$missing" ] || exit 0

echo "missing packages: $missing" >&2
if [ -n "$NO_INSTALL" ] && [ "$NO_INSTALL" != 0 ]; then
    echo "install them, then run make again" >&2
    exit 69
fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "there is no apt-get here: install what these Debian packages hold, then run make again" >&2
    exit 69
fi
if [ "$(id -u)" = 0 ]; then
    root=
elif command -v sudo >/dev/null 2>&1; then
    root=sudo
    [ -t 0 ] || root='sudo -n'
else
    echo "installing needs root: run as root 'apt-get install $missing', then make again" >&2
    exit 69
fi

echo "installing them with: ${root:+$root }apt-get install --no-install-recommends $missing" >&2
log=$(mktemp) && trap 'rm -f "$log"' EXIT || exit 74
apt() { $root env DEBIAN_FRONTEND=noninteractive apt-get -y -q "$@" >>"$log" 2>&1 </dev/null; }
apt update || echo "note: apt-get update failed in part; trying with the lists that are here" >&2
if ! apt install --no-install-recommends $missing; then
    tail -n 15 "$log" >&2
    echo "apt-get install failed" >&2
    exit 69
fi

find_missing
[ -z "$missing" ] || { echo "still missing after installing: $missing" >&2; exit 69; }
