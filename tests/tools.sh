#!/bin/sh
# Install the tools without which suites skip cases, on Debian as root. Never fails: a case whose
# tool is unavailable is skipped and counted. usage: tools.sh
[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 || exit 0

# command     the packages that contain it
tools() {
    cat <<'END'
clang                     clang
g++                       g++
aarch64-linux-gnu-gcc     gcc-aarch64-linux-gnu libc6-dev-arm64-cross
arm-linux-gnueabihf-gcc   gcc-arm-linux-gnueabihf libc6-dev-armhf-cross
i686-linux-gnu-gcc        gcc-i686-linux-gnu libc6-dev-i386-cross
powerpc64le-linux-gnu-gcc gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross
riscv64-linux-gnu-gcc     gcc-riscv64-linux-gnu libc6-dev-riscv64-cross
s390x-linux-gnu-gcc       gcc-s390x-linux-gnu libc6-dev-s390x-cross
arm-none-eabi-gcc         gcc-arm-none-eabi
musl-gcc                  musl-tools
qemu-aarch64-static       qemu-user-static
wasm-ld                   lld wasi-libc libclang-rt-dev-wasm32
node                      nodejs
chromium                  chromium
scdoc                     scdoc
gdb                       gdb
valgrind                  valgrind
xmllint                   libxml2-utils
zsh                       zsh
fish                      fish
mmdebstrap                mmdebstrap
END
}

packages=$(tools | while read -r command packages; do command -v "$command" >/dev/null 2>&1 || echo "$packages"; done)
[ -n "$packages" ] || exit 0
apt() {
    timeout -k 10 300 env DEBIAN_FRONTEND=noninteractive apt-get -y -q "$@" \
        >/dev/null 2>&1 </dev/null
}
apt update
# Install all at once. If one is unknown here, install the others one by one. A mirror that hangs is
# not asked again.
apt install --no-install-recommends $packages
status=$?
if [ $status != 0 ]; then
    for package in $packages; do
        case $status in 124|137) break ;; esac
        apt install --no-install-recommends "$package"
        status=$?
    done
fi
exit 0
