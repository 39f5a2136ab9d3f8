#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Builds linux/ into build/linux: ww.bpf.o, the congestion controls, and ww-kernel, which loads them and
# records. `kernel.sh check` also compiles the programs for each BPF instruction set. Exits 77 with
# the remedy where the tools are missing.
set -euo pipefail
out=build/linux
command -v clang >/dev/null || { echo "no clang: apt-get install clang"; exit 77; }
[[ -e /usr/include/bpf/libbpf.h ]] || { echo "no libbpf: apt-get install libbpf-dev"; exit 77; }
mkdir -p $out

# bpf CPU OBJECT: asm/ lies in the folder of the machine's architecture, which this target is not.
bpf() {
    clang -target bpf "-mcpu=$1" -O2 -g -ffreestanding -Wall -Wextra -Werror -Wno-unused-parameter \
        -idirafter "/usr/include/$(${CC:-cc} -print-multiarch)" -c linux/bpf/ww.bpf.c -o "$2"
}

if [[ ${1:-} == check ]]; then
    for cpu in v1 v2 v3; do bpf $cpu $out/ww-$cpu.bpf.o; done
fi
bpf v3 $out/ww.bpf.o
${CC:-cc} -std=gnu11 -O2 -Wall -Wextra -Wconversion -Werror \
    linux/loader/*.c -lbpf -o $out/ww-kernel
