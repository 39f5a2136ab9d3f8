#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Compiles every header of core/ alone, as freestanding C11, C++17 and C++20. Compiles tests/core/bpf_probe.c,
# which calls every public function, into BPF byte code for each instruction set in use.
set -euo pipefail
strict="-Wall -Wextra -Wconversion -Werror"

# control.h is for C files that define their state first; tests/westwood/control/ compiles those.
for header in $(ls core/*.h | grep -v core/control.h); do
    # Includes the header from an empty file, since a header as the main file has additional warnings.
    for c in "gcc -std=c11 -x c" "clang -std=c11 -x c" "g++ -std=c++17 -x c++" "g++ -std=c++20 -x c++"; do
        echo "$header: $c"
        $c -ffreestanding $strict -fsyntax-only -include "$header" /dev/null
    done
done
mkdir -p build
for cpu in v1 v2 v3; do
    echo "tests/core/bpf_probe.c: BPF $cpu"
    clang -target bpf -mcpu=$cpu -O2 -ffreestanding -Wall -Werror -I. \
        -c tests/core/bpf_probe.c -o build/bpf_probe_$cpu.o
done
