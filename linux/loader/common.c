/* SPDX-License-Identifier: GPL-2.0-only */
/* What every other file of ww-kernel uses: messages, the controls' names, and the pins in its folder. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ww_kernel.h"

#define WW_CONTROL(name, ...) [WW_NUMBER_##name] = #name,
const char *const ww_control_names[WW_CONTROL_COUNT] = {WW_CONTROLS};

int fail(int error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    const bool denied = error == EPERM || error == EACCES;
    if (error != 0) fprintf(stderr, ": %s", strerror(error));
    fputs(denied ? ", expected CAP_BPF and CAP_PERFMON\n" : "\n", stderr);
    return denied ? LACKING : FAILED;
}

int open_pin(const char *name) {
    const int fd = bpf_obj_get(name);
    return fd < 0 ? -errno : fd;
}

struct ww_control_block *map_control_block(int fd) {
    void *block =
        mmap(NULL, sizeof(struct ww_control_block), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return block == MAP_FAILED ? NULL : block;
}

struct ww_control_block *open_control_block(void) {
    const int fd = open_pin("control");
    if (fd < 0) {
        errno = -fd;
        return NULL;
    }
    struct ww_control_block *block = map_control_block(fd);
    close(fd);
    return block;
}
