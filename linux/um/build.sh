#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds the machine of --engine linux-um: sh linux/um/build.sh SOURCE.tar.xz FOLDER PROGRAM
# FOLDER keeps the kernel's source and objects, so that an interrupted build goes on where it was. CC, CXX and JOBS are
# as for make.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
source=$2/source build=$2/build objects=$2/objects
if [ ! -e "$source/.ready" ]; then
    rm -rf "$source"
    mkdir -p "$source"
    # Kconfig needs the files of all folders, but nothing compiles these.
    tar xf "$1" -C "$source" --strip-components=1 --exclude='*/tools/testing/*' --exclude='*/drivers/gpu/*.[ch]' \
        --exclude='*/drivers/media/*.[ch]' --exclude='*/drivers/net/wireless/*.[ch]' --exclude='*/sound/*.[ch]' \
        --exclude='*/drivers/staging/*.[ch]' --exclude='*/drivers/net/ethernet/*.[ch]' --exclude='*.dts*' \
        --exclude='*/Documentation/*.rst'
    patch -d "$source" -p1 -s < "$here/kernel.patch"
    touch "$source/.ready"
fi
inside=$source/westwood
mkdir -p "$objects" "$inside/linux/um" "$inside/linux/bpf" "$inside/core"
# The C++ half: its system calls become the machine's (system_calls.txt).
for file in linux/um/machine linux/um/object linux/um/devices linux/path/traffic linux/path/observer linux/path/netlink linux/path/host \
    linux/path/plan linux/path/model linux/path/queues linux/path/results engine/link/channel engine/sim/topology \
    engine/traffic/arrivals engine/validate; do
    echo "${CXX:-g++} -std=c++20 -O2 -fno-pie -c '$root/$file.cpp' -o '$objects/$(echo $file | tr / _).o'"
done | tr '\n' '\0' | xargs -0 -n 1 -P "${JOBS:-2}" sh -c
ld -r -o "$objects/host.o" "$objects"/linux_*.o "$objects"/engine_*.o
objcopy --redefine-syms="$here/system_calls.txt" "$objects/host.o" "$inside/host.o_shipped"
${CC:-gcc} -O2 -fno-pie -Wall -c "$here/start.c" -o "$inside/start.o_shipped"
# The kernel's half, and the core with the hosts of the BPF programs. Unchanged files keep their time for make.
copy() {
    for file in "$@"; do cmp -s "$file" "$to/${file##*/}" || cp "$file" "$to"; done
}
to=$inside/linux/um && copy "$here"/*.[ch] && cp -r "$here/include" "$to"
to=$inside/linux/bpf && copy "$root"/linux/bpf/*.h
to=$inside/core && copy "$root"/core/*.h
printf '%s\n' 'obj-y := linux/um/machine.o linux/um/sockets.o linux/um/controls.o linux/um/own.o host.o start.o' \
    'ccflags-y := -I$(src)/linux/um/include -Wno-missing-prototypes -Wno-missing-declarations -Wno-unknown-pragmas' \
    > "$inside/Makefile"
export KBUILD_BUILD_TIMESTAMP=@0 KBUILD_BUILD_USER=westwood KBUILD_BUILD_HOST=westwood
in_kernel() { make -s -C "$source" ARCH=um O="$build" CC="${CC:-gcc}" "$@"; }
if [ ! -e "$build/.config" ]; then
    mkdir -p "$build"
    in_kernel tinyconfig
    (cd "$build" && "$source/scripts/kconfig/merge_config.sh" -m .config "$here/kernel.config" >merge.log)
    in_kernel olddefconfig
fi
in_kernel KBUILD_MODPOST_WARN=1 -j "${JOBS:-2}" linux
strip -o "$3.part" "$build/linux"
mv "$3.part" "$3"
