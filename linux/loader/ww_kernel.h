/* SPDX-License-Identifier: GPL-2.0-only */
/* Declares what the source files of ww-kernel share. */
#ifndef WW_KERNEL_PROGRAM_H
#define WW_KERNEL_PROGRAM_H

#include <stdbool.h>

#include "../bpf/event.h"

enum { DONE = 0, FAILED = 1, USAGE = 2, LACKING = 77 };

extern const char *const ww_control_names[WW_CONTROL_COUNT];

/* Prints the message, and the error if it is not 0, on standard error. Returns LACKING if the error is a
 * lack of permission, else FAILED. */
int fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Opens the map that is pinned as DIR/NAME. Returns its descriptor or a negative errno. */
int open_pin(const char *dir, const char *name);

/* Maps the control block in DIR, which the programs share. Returns NULL and sets errno if it fails. */
struct ww_control_block *open_control_block(const char *dir);

/* Each of these is a command of ww-kernel and returns its exit code. */
int load(const char *dir, const char *object, const char *version);
int unload(const char *dir);
int status(const char *dir);
int record(const char *dir, unsigned port, unsigned ring_bytes);

#endif
