#!/bin/sh
# Print a manual page as it is kept beside its source. It needs scdoc. The page names the version in
# the place of a date, so that it changes only with its text. usage: page.sh XFORMC man/PAGE.scd
set -eu
command -v scdoc >/dev/null || { echo 'make man: scdoc is not installed; Debian'\''s package is scdoc' >&2; exit 69; }
version=$("$1" version | head -n 1)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
sh man/fill.sh "$1" "$2" >"$scratch/page.scd"
scdoc <"$scratch/page.scd" >"$scratch/page"
sed -E "1s/.*/.\\\\\" Made of $(basename "$2") by make man. Do not edit./
    s/^(\.TH \"[^\"]*\" \"[^\"]*\") \"[^\"]*\"/\1 \"$version\"/" "$scratch/page"
