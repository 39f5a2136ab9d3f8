/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of ww-kernel share. */
#ifndef WW_KERNEL_PROGRAM_H
#define WW_KERNEL_PROGRAM_H

#include <stdbool.h>

#include "../bpf/event.h"

enum { DONE = 0, FAILED = 1, USAGE = 2, LACKING = 77 };

extern const char *const ww_control_names[WW_CONTROL_COUNT];

/* Says why on standard error and returns FAILED, or LACKING if it is a matter of permission. */
int fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The file DIR/NAME as a map; a negative errno if there is none. */
int open_pin(const char *dir, const char *name);

/* The control block in DIR, shared with the programs; NULL with errno set. */
struct ww_control_block *open_control_block(const char *dir);

int load(const char *dir, const char *object, const char *version);
int unload(const char *dir);
int status(const char *dir);
int record(const char *dir, unsigned port, unsigned ring_bytes);

#endif
