#!/bin/sh
# Make a Debian package of what `make install` installs. It depends on the packages of the
# libraries that the program loads.
# usage: deb.sh VERSION BUILD MAKE
set -eu
version=$1 build=$2 make=$3
command -v dpkg-deb >/dev/null || { echo 'make deb: dpkg-deb is not installed' >&2; exit 69; }
arch=$(dpkg --print-architecture)
root=$build/deb
rm -rf "$root"
mkdir -p "$root/DEBIAN"
$make -s install DESTDIR="$root" PREFIX=/usr
find "$root/usr/share/man" -type f -exec gzip -9n {} + 2>/dev/null || true

# The packages that own the libraries.
needs=$(ldd "$root/usr/bin/xformc" | sed -n 's/.* => \(\/[^ ]*\).*/\1/p' | while read -r library; do
    { dpkg -S "$library" || dpkg -S "/usr$library"; } 2>/dev/null | head -n 1 | cut -d: -f1
done | sort -u | paste -sd, - | sed 's/,/, /g')
cat >"$root/DEBIAN/control" <<END
Package: xformc
Version: $version
Architecture: $arch
Maintainer: xformc
Depends: $needs
Recommends: libopenblas0, gcc, make
Section: devel
Priority: optional
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Description: compiler that turns a Transformer into C
 xformc reads a Lua spec, a Hugging Face folder or a GGUF file and emits C
 specialised for exactly that model: one program per model on a small runtime.
END
dpkg-deb --root-owner-group -b "$root" "$build/xformc_${version}_$arch.deb" >/dev/null
rm -rf "$root"
echo "$build/xformc_${version}_$arch.deb"
