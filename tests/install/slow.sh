#!/bin/sh
# tags: targets
# Every example of --help runs after `make install`. The archive of `make dist` builds. The program
# packaged by `make deb` runs, and the package depends on the packages of all its libraries (skipped
# without dpkg-deb, mmdebstrap and root); `make test-all` installs it in a minimal root.
# usage: slow.sh XFORMC
set -u
. tests/lib.sh

# ---- the examples --------------------------------------------------------------------------------

# They run in an empty folder, except those that need files of the user. tests/bench/run.sh tests
# the report of bench, so the sample leaves out that example.
plain=$PATH
quick_compilers
make -s -o all -o "$xformc" install XFORMC="$xformc" DESTDIR="$scratch/installed" PREFIX=/usr >"$scratch/out" 2>&1 || cat "$scratch/out"
mkdir "$scratch/empty" "$scratch/cache"
printf '3rd of May 2019\n' >"$scratch/empty/texts"
echo 'print(1)' | tee "$scratch/empty/script.lua" >"$scratch/empty/experiment.lua"
"$xformc" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | while read -r command; do
    [ "$command" = help ] && continue
    "$xformc" $command --help | sed -n '/^Examples:/,/^$/s/^  \(.*xformc .*\)/\1/p'
done | grep -v 'stories260K\|Qwen\|MiniLM\|tuned.safe\|mine.safe\|tokenizer\.' |
    grep -v "$(sweep '^xformc bench .*--report' '^$')" >"$scratch/examples"
[ "$(wc -l <"$scratch/examples")" -ge 25 ]
verdict $? 'there are examples'
while read -r example; do
    (cd "$scratch/empty" && XFORMC_CACHE= XDG_CACHE_HOME=$scratch/cache PATH=$scratch/installed/usr/bin:$PATH timeout $((3 * patience)) sh -c "$example") >"$scratch/out" 2>&1 </dev/null
    verdict $? "after make install: $example"
    tail -n 3 "$scratch/out"
done <"$scratch/examples"
PATH=$plain

# ---- the sources ---------------------------------------------------------------------------------

make -s dist BUILD="$scratch/dist" >"$scratch/out" 2>&1 && tar -xzf "$scratch"/dist/xformc-*.tar.gz -C "$scratch" &&
    [ "$(find "$scratch"/xformc-* -name '*.o' | wc -l)" = 0 ]
verdict $? 'make dist'
cat "$scratch/out"
quick_build "$scratch"/xformc-* build/xformc >"$scratch/out" 2>&1 &&
    [ "$("$scratch"/xformc-*/build/xformc version)" = "$("$xformc" version)" ]
verdict $? 'the archive builds'
tail -n 3 "$scratch/out"

# ---- the package ---------------------------------------------------------------------------------

# The sample: the package is built, its program answers from an empty folder with the specs of the
# package, and it depends on the packages of all libraries. Then a minimal root needs nothing else.
name='the Debian package in a bare root'
if ! has dpkg-deb || ! has mmdebstrap || [ "$(id -u)" != 0 ]; then skip "$name" 'it needs dpkg-deb, mmdebstrap and root'; exit 0; fi
# whole PACKAGE: unpacked, it answers, and each library of its program is in a package it depends
# on.
whole() (
    dpkg-deb -x "$1" "$scratch/unpacked" && mkdir "$scratch/nothing" && cd "$scratch/nothing" || exit
    program=$scratch/unpacked/usr/bin/xformc
    [ "$("$program" run specs/dates.lua '3rd of May 2019')" = 2019-05-03 ] &&
        [ -s "$scratch/unpacked/usr/share/xformc/specs/dates.lua" ] || exit
    needs=", $(dpkg-deb -f "$1" Depends), "
    ldd "$program" | sed -n 's/.* => \(\/[^ ]*\).*/\1/p' >libraries
    [ -s libraries ] && while read -r library; do
        owner=$({ dpkg -S "$library" || dpkg -S "/usr$library"; } 2>/dev/null | sed 's/:.*//; q')
        case $needs in *", ${owner:-none}, "*) ;; *) echo "$library is in no package that it depends on"; exit 1 ;; esac
    done <libraries
)
make -s -o all deb >"$scratch/out" 2>&1 && package=$(tail -n 1 "$scratch/out") &&
    package=$top/$package && whole "$package" >>"$scratch/out" 2>&1
verdict $? 'make deb'
tail -n 3 "$scratch/out"
[ -n "${XFORMC_ALL:-}" ] || exit 0
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
if ! mmdebstrap --variant=apt "$release" "$scratch/bare" >"$scratch/out" 2>&1; then skip "$name" 'packages cannot be downloaded'; exit 0; fi
cp "$package" "$scratch/bare/xformc.deb"
chroot "$scratch/bare" sh -c 'apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -y -q install --no-install-recommends /xformc.deb' >"$scratch/out" 2>&1 &&
    [ "$(chroot "$scratch/bare" sh -c 'cd /tmp && xformc run specs/dates.lua "3rd of May 2019"')" = 2019-05-03 ] &&
    chroot "$scratch/bare" sh -c 'cd /tmp && xformc compile specs/dates.lua -q && test -s dates/dates.c && apt-get -y -q remove xformc && test ! -e /usr/bin/xformc -a ! -e /usr/share/xformc' >>"$scratch/out" 2>&1
verdict $? "$name: installs, answers, emits, goes"
tail -n 5 "$scratch/out"
