#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Makes sure that the machine has the system packages that a make target needs.
#   system.sh build   a compiler and Python to build with: exits 1 if they can't be installed
#   system.sh test    also the tools of the test suites; a suite without its tool is skipped
#   system.sh lab     also the tools that bundle the laboratory's page
#   system.sh linux   also the tools that build linux/
#   system.sh um      also the kernel's source and the tools that build it
#   system.sh slow    also two browsers to test the pages, and an emulator for another kernel
#   system.sh bench   also google-benchmark
#   system.sh prove   also Frama-C and a solver to prove the core; without them proofs are skipped
# As root it installs what is missing; otherwise it prints the command that does. If nothing is
# missing it does nothing.
set -euo pipefail
python=${PYTHON:-python3}
name=$(basename "$python") # Debian's packages are named like the interpreter
missing=()

# need PACKAGE COMMAND...: PACKAGE is missing unless COMMAND succeeds.
need() {
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}
compiles() { echo 'int main() { return 0; }' | "$@" -x c++ - -o /dev/null; }
python_has() { "$python" -c "import os, sysconfig; $1"; }

need g++ compiles g++
need "$name" command -v "$python"
need "$name-venv" python_has 'import ensurepip, venv'
need "$name-dev" python_has \
    'os.stat(os.path.join(sysconfig.get_path("include"), "Python.h"))'
case $1 in
um | slow)
    need linux-source-6.12 test -e /usr/src/linux-source-6.12.tar.xz
    need flex command -v flex
    need bison command -v bison
    need bc command -v bc
    need xz-utils command -v xz
    need make command -v make
    need patch command -v patch
    ;;&
linux | test | slow | bench)
    need clang compiles clang
    need libbpf-dev test -e /usr/include/bpf/libbpf.h
    ;;&
lab | test | bench)
    need nodejs command -v node
    need npm command -v npm
    ;;&
test | slow | bench)
    need ccache command -v ccache
    need chromium command -v chromium
    ;;&
test)
    need bpftool test -x /usr/sbin/bpftool
    need iproute2 command -v ip
    need iperf3 command -v iperf3
    need util-linux command -v setpriv
    need libclang-rt-dev compiles clang -fsanitize=address -lstdc++
    need libgtest-dev test -e /usr/include/gtest/gtest.h
    need tshark command -v tshark
    need iperf3 command -v iperf3
    need libns3-dev test -e /usr/include/ns3/core-module.h
    need valgrind command -v valgrind
    need strace command -v strace
    need ns2 command -v ns
    ;;
slow)
    # Ubuntu's Firefox is only a snap, which the tests can't drive.
    grep -q '^ID=debian$' /etc/os-release && need firefox-esr command -v firefox-esr
    need debootstrap command -v debootstrap
    need qemu-system-x86 command -v qemu-system-x86_64
    need busybox-static test -x /bin/busybox
    ;;
prove)
    need frama-c-base command -v frama-c
    need why3 command -v why3
    need z3 command -v z3
    ;;
bench)
    need iperf3 command -v iperf3
    need libbenchmark-dev test -e /usr/include/benchmark/benchmark.h
    ;;
esac

if ((${#missing[@]})); then
    install="apt-get install --yes --no-install-recommends ${missing[*]}"
    if ((EUID == 0)) && command -v apt-get >/dev/null; then
        echo "Installing system packages: ${missing[*]}"
        export DEBIAN_FRONTEND=noninteractive
        mkdir -p build
        { apt-get update && $install; } >build/apt.log 2>&1 && missing=() || tail build/apt.log
    else
        echo "Missing system packages. Install them with:"
        echo "    sudo apt-get update && sudo $install"
    fi
    ((${#missing[@]} == 0)) || [[ $1 == test || $1 == slow || $1 == prove ]] || exit 1
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "westwood needs Python 3.11 or newer; name one with: make PYTHON=python3.11 ..."
    exit 1
fi
