#!/bin/sh
# Find what building and testing need, and install missing packages with the system's package
# manager.
# usage: deps.sh [name of Lua for pkg-config]      NO_INSTALL=1: only list them
lua=${1:-lua5.4}
missing=

# Package names for each package manager; - if the system has it anyway.
#     key       apt-get           dnf                 pacman    brew
packages() {
    cat <<'END'
      gcc       gcc               gcc                 gcc       gcc
      make      make              make                make      make
      pkgconfig pkg-config        pkgconf-pkg-config  pkgconf   pkgconf
      libc      libc6-dev         glibc-devel         glibc     -
      lua       liblua5.4-dev     lua-devel           lua       lua@5.4
      jansson   libjansson-dev    jansson-devel       jansson   jansson
      openblas  libopenblas-dev   openblas-devel      openblas  openblas
      libedit   libedit-dev       libedit-devel       libedit   libedit
      utf8proc  libutf8proc-dev   utf8proc-devel      libutf8proc utf8proc
      cmocka    libcmocka-dev     libcmocka-devel     cmocka    cmocka
      libtcc    libtcc-dev        tcc                 tcc       tcc
      pcre2     libpcre2-dev      pcre2-devel         pcre2     pcre2
END
}

manager=
for command in apt-get dnf pacman brew; do
    if command -v $command >/dev/null 2>&1; then manager=$command; break; fi
done

# The package of a key; Debian's if there is no manager.
package() {
    packages | while read -r key apt dnf pacman brew; do
        [ "$key" = "$1" ] || continue
        case $manager in dnf) name=$dnf ;; pacman) name=$pacman ;; brew) name=$brew ;; *) name=$apt ;; esac
        [ "$name" = - ] || echo "$name"
    done
}

need() {
    name=$(package "$1")
    case " $missing " in *" ${name:-$1} "*) ;; *) missing="$missing${missing:+ }${name:-$1}" ;; esac
}

# tool COMMAND KEY, header NAME KEY, library NAME KEY
tool() { command -v "$1" >/dev/null 2>&1 || need "$2"; }
header() { echo "#include <$1>" | "${CC:-cc}" -E - >/dev/null 2>&1 || need "$2"; }
library() { pkg-config --exists "$1" 2>/dev/null || need "$2"; }

find_missing() {
    missing=
    tool "${CC:-cc}" gcc
    tool make make
    tool pkg-config pkgconfig
    [ -e /usr/include/stdio.h ] || header stdio.h libc
    library "$lua" lua
    library jansson jansson
    library openblas openblas
    library libedit libedit
    library libutf8proc utf8proc
    library cmocka cmocka
    [ -e /usr/include/libtcc.h ] || header libtcc.h libtcc
    needed=$missing
    library libpcre2-8 pcre2            # only one test needs it, and is skipped without it
}

find_missing
only_names() { [ -n "$NO_INSTALL" ] && [ "$NO_INSTALL" != 0 ]; }
if [ -z "$missing" ]; then
    if only_names; then echo "no package is missing" >&2; fi
    exit 0
fi
if [ -z "$needed" ]; then
    # One test is no reason to ask for a password or to fail.
    if only_names; then echo "missing, but needed by only one test, which is skipped without it: $missing" >&2
    elif [ "$manager" = apt-get ] && [ "$(id -u)" = 0 ]; then
        DEBIAN_FRONTEND=noninteractive apt-get -y -q install --no-install-recommends $missing >/dev/null 2>&1 </dev/null
    fi
    exit 0
fi

echo "missing packages: $missing" >&2
if only_names; then
    echo "install them, then run make again" >&2
    exit 69
fi
case $manager in
apt-get) install='apt-get install --no-install-recommends' ;;
dnf)     install='dnf install' ;;
pacman)  install='pacman -S --needed' ;;
brew)    install='brew install' ;;
*)
    echo "there is no apt-get, dnf, pacman or brew here: install the equivalents of these Debian packages, then run make again" >&2
    exit 69 ;;
esac
# Homebrew must not run as root.
if [ $manager = brew ] || [ "$(id -u)" = 0 ]; then
    root=
elif command -v sudo >/dev/null 2>&1; then
    root=sudo
    [ -t 0 ] || root='sudo -n'
else
    echo "installing needs root: run '$install $missing' as root, then run make again" >&2
    exit 69
fi

echo "installing them with: ${root:+$root }$install $missing" >&2
log=$(mktemp) && trap 'rm -f "$log"' EXIT || exit 74
quietly() { "$@" >>"$log" 2>&1 </dev/null; }
apt() { quietly $root env DEBIAN_FRONTEND=noninteractive apt-get -y -q "$@"; }
install_missing() {
    case $manager in
    apt-get)
        apt update || echo "note: apt-get update failed; using the existing package lists" >&2
        apt install --no-install-recommends $missing ;;
    dnf)    quietly $root dnf install -y $missing ;;
    pacman) quietly $root pacman -S --needed --noconfirm $missing ;;
    brew)   quietly brew install $missing ;;
    esac
}
if ! install_missing; then
    tail -n 15 "$log" >&2
    echo "$install failed" >&2
    exit 69
fi

find_missing
[ -z "$needed" ] && exit 0
echo "still missing after installing: $needed" >&2
echo "note: pkg-config was asked for '$lua'; if it knows Lua 5.4 by another name, run make LUA=NAME" >&2
exit 69
