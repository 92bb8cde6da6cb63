#!/bin/sh
# tags: slow
# `make install` and `make uninstall`: files, specs found from any folder, headers found with
# xformc.pc, completion in bash, zsh and fish. `make deps` and tools.sh: packages found, listed and
# installed by each package manager. Every target of `make help`. `make ubsan` and `make fuzz`
# without clang's libraries.
# usage: run.sh XFORMC
. tests/lib.sh
files() { (cd "$scratch" && find . -type f | sort | tr '\n' ' '); }

# Skip the prerequisites: install the program under test.
pages='man/man1/xformc-repl.1 man/man1/xformc.1 man/man5/xformc-spec.5'
make -s -o all -o "$xformc" install XFORMC="$xformc" DESTDIR="$scratch" PREFIX=/opt/x >"$scratch.log" 2>&1 && cmp "$xformc" "$scratch/opt/x/bin/xformc"
verdict $? 'make install puts the program below DESTDIR and PREFIX'
cat "$scratch.log"
at=$scratch/opt/x
missing=$(for file in share/doc/xformc/LICENSE share/doc/xformc/README.md share/doc/xformc/CHANGELOG.md include/xformc/rt.h include/xformc/rt_generation.h \
    share/xformc/specs/dates.lua lib/pkgconfig/xformc.pc share/bash-completion/completions/xformc \
    share/zsh/site-functions/_xformc share/fish/vendor_completions.d/xformc.fish $(for page in $pages; do echo "share/$page"; done); do
    [ -s "$at/$file" ] || echo "$file"; done)
[ -z "$missing" ]
verdict $? 'and documents, specs, headers, completions and pages'
echo "$missing"
broken=$(cd "$at/share/doc/xformc" && find . -name '*.md' | while read -r page; do
    grep -o '](\([^)#]*\)' "$page" | sed 's/^](//' | grep -v '^http' | while read -r link; do
        echo "$page" >>"$scratch.links"
        [ -e "${page%/*}/$link" ] || echo "$page: $link"
    done
done)
[ "$(sort -u "$scratch.links" | grep -c ^)" -ge 10 ] && [ -z "$broken" ]
verdict $? 'links of the installed pages lead to installed files'
echo "$broken"
rm -f "$scratch.links"
! find "$scratch" -type f -perm /022 | grep . && ! grep -rlF "$scratch" "$at/lib" "$at/share" "$at/include"
verdict $? 'nobody else may write to them, and none names DESTDIR'
make -s -o all -o "$xformc" install XFORMC="$xformc" DESTDIR="$scratch" PREFIX=/opt/x >"$scratch.log" 2>&1
verdict $? 'make install once more'

(cd / && "$at/bin/xformc" --version) >/dev/null
verdict $? 'the installed program runs from any folder'
[ "$(cd / && "$at/bin/xformc" run specs/dates.lua '3rd of May 2019')" = 2019-05-03 ] &&
    [ "$(cd "$scratch" && echo 'm = xf.compile("specs/dates.lua") return m("1 May 1999")' | "$at/bin/xformc" repl)" = 1999-05-01 ]
verdict $? 'it finds the installed specs from any folder'
mkdir -p "$scratch/own/specs" && sed 's/name = "dates"/name = "mine"/' specs/dates.lua >"$scratch/own/specs/encoder.lua" &&
    (cd "$scratch/own" && "$at/bin/xformc" info specs/encoder.lua) >"$scratch/out" 2>&1
! grep -q '^encoder' "$scratch/out"
verdict $? 'a spec that is here comes first'
(cd / && "$at/bin/xformc" run specs/nowhere.lua x) >"$scratch/out" 2>&1
[ $? = 66 ] && grep -q 'cannot open specs/nowhere.lua' "$scratch/out"
verdict $? 'a spec that is nowhere is refused by its name'
rm -rf "$scratch/own" "$scratch/out"

# A user's program, with pkg-config: the emitted header and the installed headers, without runtime/.
if command -v pkg-config >/dev/null 2>&1; then
    flags=$(PKG_CONFIG_PATH=$at/lib/pkgconfig pkg-config --define-variable=prefix="$at" --cflags xformc) &&
        printf '#include "dates.h"\nint main(void) { return sizeof(dates_state) == DATES_STATE_BYTES ? 0 : 1; }\n' >"$scratch.c" &&
        "${CC:-cc}" -std=c11 -Wall -Werror $flags -iquote generated/dates -o "$scratch.program" "$scratch.c" && "$scratch.program" &&
        [ "xformc $(PKG_CONFIG_PATH=$at/lib/pkgconfig pkg-config --modversion xformc)" = "$("$xformc" version | head -n 1)" ]
    verdict $? 'xformc.pc: the headers, and the version'
    rm -f "$scratch.c" "$scratch.program"
else
    echo 'skip xformc.pc (no pkg-config)'
fi

# The completions that each shell offers.
offers() { [ "$1" = "$2" ] || { echo "expected $2, found $1"; false; }; }
if command -v bash >/dev/null 2>&1; then
    bash_offers() {
        bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _xformc; printf "%s\n" "${COMPREPLY[@]}"' "$at/share/bash-completion/completions/xformc" "$@" | sort | paste -sd" " -
    }
    offers "$(bash_offers xformc bu)" build && offers "$(bash_offers xformc run --eng)" --engine && offers "$(bash_offers xformc run --engine '')" 'generic jit native' &&
        offers "$(bash_offers xformc run --engine = g)" generic && offers "$(bash_offers xformc bench -o specs/dat)" 'specs/dates specs/dates.lua' &&
        offers "$(bash_offers xformc info --eng)" ''
    verdict $? 'bash completes commands, options of a command, words and files'
else
    echo 'skip bash completes commands, options of a command, words and files (no bash)'
fi
if command -v zsh >/dev/null 2>&1; then
    zsh -n "$at/share/zsh/site-functions/_xformc" && zsh -fc "autoload -U compinit; fpath=('$at/share/zsh/site-functions' \$fpath); compinit -D -u; whence -w _xformc; [[ \$_comps[xformc] == _xformc ]]" >"$scratch.log" 2>&1
    verdict $? 'zsh reads its completion'
    cat "$scratch.log"
else
    echo 'skip zsh reads its completion (no zsh)'
fi
if command -v fish >/dev/null 2>&1; then
    fish_offers() { HOME=$scratch fish --no-config -c "source '$at/share/fish/vendor_completions.d/xformc.fish'; complete -C '$1'" | cut -f1 | tr '\n' ' '; }
    offers "$(fish_offers 'xformc bu')" 'build ' && offers "$(fish_offers 'xformc run --eng')" '--engine ' && offers "$(fish_offers 'xformc run --engine ')" 'generic jit native '
    verdict $? 'fish completes commands, options of a command and words'
    rm -rf "$scratch/.config" "$scratch/.local" "$scratch/.cache"
else
    echo 'skip fish completes commands, options of a command and words (no fish)'
fi

make -s uninstall DESTDIR="$scratch" PREFIX=/opt/x >/dev/null && [ -z "$(files)" ]
verdict $? 'make uninstall leaves no file'
files
rm -f "$scratch.log"

# A bare machine: a PATH without compiler, make and pkg-config.
mkdir "$scratch/bin"
for tool in sh id mktemp rm tail env cat; do ln -s "$(command -v $tool)" "$scratch/bin/$tool"; done
message=$(PATH=$scratch/bin NO_INSTALL=1 sh tests/deps.sh 2>&1)
[ $? = 69 ] && case $message in *gcc*make*pkg-config*liblua5.4-dev*libjansson-dev*libopenblas-dev*libcmocka-dev*) true ;; *) false ;; esac
verdict $? 'deps with NO_INSTALL names all that is missing and stops'
echo "$message"

message=$(PATH=$scratch/bin sh tests/deps.sh 2>&1)
[ $? = 69 ] && case $message in *'no apt-get'*) true ;; *) false ;; esac
verdict $? 'deps without apt-get stops and says so'
echo "$message"

# Each package manager, and what it is asked to install. The fake one records its arguments and puts
# the tools on the PATH; one that is told to fail installs nothing.
cp -r "$scratch/bin" "$scratch/fake"
cat >"$scratch/manager" <<'END'
#!/bin/sh
here=${0%/*}
case $* in *update*) exit 0 ;; esac
echo "${0##*/} $*" >>"$here/words"
[ ! -e "$here/fails" ] || { echo 'no such package' >&2; exit 1; }
for tool in cc make pkg-config; do echo '#!/bin/sh' >"$here/$tool"; chmod +x "$here/$tool"; done
END
manager() {
    name=$1 words=$2
    rm -rf "$scratch/path"
    cp -r "$scratch/fake" "$scratch/path" && cp "$scratch/manager" "$scratch/path/$name" && ln -s "$(command -v chmod)" "$scratch/path/chmod"
    chmod +x "$scratch/path/$name"
    printf '#!/bin/sh\necho 0\n' >"$scratch/root" && rm -f "$scratch/path/id" && cp "$scratch/root" "$scratch/path/id" && chmod +x "$scratch/path/id"
    message=$(PATH=$scratch/path NO_INSTALL=1 sh tests/deps.sh 2>&1)
    [ $? = 69 ] && [ "$message" = "missing packages: ${words#* -- }
install them, then run make again" ] && [ ! -e "$scratch/path/words" ]
    verdict $? "deps names the packages of $name"
    echo "$message"
    : >"$scratch/path/fails"
    message=$(PATH=$scratch/path sh tests/deps.sh 2>&1)
    [ $? = 69 ] && case $message in *'no such package'*"$name"*failed) true ;; *) false ;; esac
    verdict $? "deps says why $name failed"
    echo "$message"
    rm "$scratch/path/fails" "$scratch/path/words"
    message=$(PATH=$scratch/path sh tests/deps.sh 2>&1) && [ "$(cat "$scratch/path/words")" = "$name ${words%% -- *} ${words#* -- }" ]
    verdict $? "deps installs with $name"
    echo "$message"; cat "$scratch/path/words"
}
manager apt-get '-y -q install --no-install-recommends -- gcc make pkg-config liblua5.4-dev libjansson-dev libopenblas-dev libedit-dev libutf8proc-dev libcmocka-dev libpcre2-dev'
manager dnf 'install -y -- gcc make pkgconf-pkg-config lua-devel jansson-devel openblas-devel libedit-devel utf8proc-devel libcmocka-devel pcre2-devel'
manager pacman '-S --needed --noconfirm -- gcc make pkgconf lua jansson openblas libedit libutf8proc cmocka pcre2'
manager brew 'install -- gcc make pkgconf lua@5.4 jansson openblas libedit utf8proc cmocka pcre2'

# A package that only one test needs may be missing: pkg-config knows all but PCRE2, and the manager
# has no such package.
mkdir "$scratch/but" && cp "$scratch/fake"/* "$scratch/but" && cp "$scratch/manager" "$scratch/but/apt-get" && cp "$scratch/root" "$scratch/but/id.root"
rm -f "$scratch/but/id" && mv "$scratch/but/id.root" "$scratch/but/id" && chmod +x "$scratch/but/apt-get" "$scratch/but/id" && : >"$scratch/but/fails"
printf '#!/bin/sh\ncase $* in *pcre2*) exit 1 ;; esac\n' >"$scratch/but/pkg-config" && chmod +x "$scratch/but/pkg-config"
for tool in cc make; do printf '#!/bin/sh\n' >"$scratch/but/$tool" && chmod +x "$scratch/but/$tool"; done
message=$(PATH=$scratch/but sh tests/deps.sh 2>&1) && [ -z "$message" ] && [ "$(cat "$scratch/but/words")" = 'apt-get -y -q install --no-install-recommends libpcre2-dev' ]
verdict $? 'deps installs PCRE2 where it can, and does without'
echo "$message"; cat "$scratch/but/words"
: >"$scratch/but/words"
message=$(PATH=$scratch/but NO_INSTALL=1 sh tests/deps.sh 2>&1) && [ "$message" = 'missing, but needed by only one test, which is skipped without it: libpcre2-dev' ] && [ ! -s "$scratch/but/words" ]
verdict $? 'deps with NO_INSTALL names PCRE2'
echo "$message"

# Tools without which suites skip cases: requested together, then one by one if one is unavailable.
# tools.sh never fails.
mkdir "$scratch/tools" && for tool in sh id timeout env cat; do ln -s "$(command -v $tool)" "$scratch/tools/$tool"; done
cat >"$scratch/tools/apt-get" <<'END'
#!/bin/sh
echo "$*" >>"${0%/*}/words"
case $* in *scdoc*' '*|*' '*scdoc*valgrind*) exit 100 ;; esac
END
chmod +x "$scratch/tools/apt-get"
PATH=$scratch/tools sh tests/tools.sh >"$scratch/out" 2>&1 && [ ! -e "$scratch/tools/words" ]
[ "$(id -u)" = 0 ] || verdict $? 'tools installs nothing without root'
rm -f "$scratch/tools/words" "$scratch/tools/id" && cp "$scratch/root" "$scratch/tools/id" && chmod +x "$scratch/tools/id"
PATH=$scratch/tools sh tests/tools.sh >"$scratch/out" 2>&1 && [ ! -s "$scratch/out" ] &&
    [ "$(head -n 1 "$scratch/tools/words")" = '-y -q update' ] &&
    [ "$(sed -n 2p "$scratch/tools/words" | tr ' ' '\n' | grep -cxE 'clang|scdoc|qemu-user-static|musl-tools|libc6-dev-s390x-cross')" = 5 ] &&
    grep -qx -e '-y -q install --no-install-recommends scdoc' "$scratch/tools/words" && grep -qx -e '-y -q install --no-install-recommends clang' "$scratch/tools/words"
verdict $? 'tools asks for what suites skip without, and never fails'
cat "$scratch/out"
rm "$scratch/tools/words"
for tool in $(sed -n "/^tools()/,/^END/s/^\([a-z0-9+][a-z0-9+_-]*\)  *[a-z].*/\1/p" tests/tools.sh); do printf '#!/bin/sh\n' >"$scratch/tools/$tool"; chmod +x "$scratch/tools/$tool"; done
PATH=$scratch/tools sh tests/tools.sh >"$scratch/out" 2>&1 && [ ! -e "$scratch/tools/words" ]
verdict $? 'tools asks for nothing where nothing is missing'

# If nothing is missing, deps.sh starts only pkg-config, at most eight times: no compiler, no
# manager.
mkdir "$scratch/counted" && : >"$scratch/started"
for tool in cc gcc make pkg-config apt-get dnf pacman brew id sudo mktemp tail env; do
    real=$(command -v $tool) || continue
    printf '#!/bin/sh\necho %s >>"%s"\nexec "%s" "$@"\n' $tool "$scratch/started" "$real" >"$scratch/counted/$tool"
done
chmod +x "$scratch/counted"/*
message=$(PATH=$scratch/counted:$PATH sh tests/deps.sh 2>&1) && [ -z "$message" ] &&
    [ "$(sort -u "$scratch/started")" = pkg-config ] && [ "$(wc -l <"$scratch/started")" -le 8 ]
verdict $? 'deps says nothing and is quick when nothing is missing'
sort "$scratch/started" | uniq -c
message=$(NO_INSTALL=1 sh tests/deps.sh 2>&1) && [ "$message" = 'no package is missing' ]
verdict $? 'deps with NO_INSTALL says that nothing is missing'
echo "$message"

make -s help >"$scratch/help"
missing=$(sed -n 's/^\([a-z-]*\):.*  ##.*/\1/p' Makefile | while read -r t; do grep -q "^  make $t " "$scratch/help" || echo "$t"; done)
[ -z "$missing" ] && [ "$(grep -c '^  make ' "$scratch/help")" -ge 12 ]
verdict $? 'make help lists the targets'
bad=$(sed -n 's/^  make \([a-z-]*\) .*/\1/p' "$scratch/help" | while read -r t; do
    make -s -n "$t" >"$scratch/out" 2>&1 || { echo "$t"; tail -n 3 "$scratch/out"; }
done)
[ -z "$bad" ]
verdict $? 'make knows how to make each of them'
echo "$bad"

# A clang that compiles but has no sanitizer libraries, as when only the compiler is installed.
printf '#!/bin/sh\ncase $* in *-fsanitize*) exit 1 ;; esac\n' >"$scratch/clang" && chmod +x "$scratch/clang"
message=$(make -s ubsan CLANG="$scratch/clang" 2>&1)
[ $? = 0 ] && [ "$message" = "make ubsan: $scratch/clang with its sanitizers is missing" ]
verdict $? 'make ubsan without the sanitizers of clang says so'
echo "$message"

message=$(make -s fuzz CLANG=false 2>&1)
[ $? != 0 ] && case $message in 'make fuzz: false with libFuzzer is missing'*'Error 69'*) true ;; *) false ;; esac
verdict $? 'make fuzz without libFuzzer stops with 69 and says so'
echo "$message"
