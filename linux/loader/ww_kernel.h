/* SPDX-License-Identifier: GPL-2.0-only */
/* Declares what the source files of ww-kernel share. */
#ifndef WW_KERNEL_PROGRAM_H
#define WW_KERNEL_PROGRAM_H

#include <stdbool.h>

#include "../bpf/event.h"

enum { ABSENT = -1, DONE = 0, FAILED = 1, USAGE = 2, LACKING = 77 };

extern const char *const ww_control_names[WW_CONTROL_COUNT];

/* Prints the message, and the error if it is not 0, on standard error. Returns LACKING if the error is a
 * lack of permission, else FAILED. */
int fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Enters DIR, the folder of the pins, makes it if so wanted, and keeps other ww-kernel out of it until this
 * process ends or leaves it. Returns DONE, ABSENT if there is none, or the exit code after a message.
 */
int enter(const char *dir, bool make);

/* Lets others into the folder. */
void leave(void);

/* Removes the folder, which is empty. */
void remove_folder(void);

/* Opens the map that is pinned in the folder. Returns its descriptor or a negative errno. */
int open_pin(const char *name);

/* Maps the control block in the folder, which the programs share. Returns NULL and sets errno if it fails. */
struct ww_control_block *open_control_block(void);

/* Returns the number of the process that records, 0 if there is none; one that died is forgotten. */
unsigned recorder_of(struct ww_control_block *block);

/* Each of these is a command of ww-kernel and returns its exit code. */
int load(const char *dir, const char *object, const char *version);
int unload(const char *dir);
int status(const char *dir);
int record(const char *dir, unsigned port, unsigned ring_bytes, unsigned starter);

#endif
