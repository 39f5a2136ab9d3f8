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

/* Maps the control block in the map of this descriptor. Returns NULL and sets errno if it fails. */
struct ww_control_block *map_control_block(int fd);

/* Maps the control block in the folder, which the programs share. Returns NULL and sets errno if it fails. */
struct ww_control_block *open_control_block(void);

/* Returns the number of the process that records, 0 if there is none; one that died is forgotten. */
unsigned recorder_of(struct ww_control_block *block);

/* Chooses what will be loaded of an object: its tracing programs, or all the others. */
struct bpf_object;
void choose_programs(struct bpf_object *object, bool tracing);

/* Holds the tracing programs of a recorder; zeros if it has none. */
struct tracing {
    struct bpf_object *object;
    struct ww_control_block *block;
    int rings;
};

/*
 * Has the tracing programs of the object at this path write into the ring buffer: those of connections with
 * this port at either end (0: all), of ww_*, too, if `ours`. Returns DONE, or the exit code after a message.
 */
int start_tracing(struct tracing *tracing, const char *path, int ring, __u16 port, bool ours);

/* Ends that. Returns how many events there was no room for. */
__u64 end_tracing(struct tracing *tracing);

/* Says what is recorded. */
struct wanted {
    unsigned port;       /* at either end; 0: any */
    unsigned ring_bytes; /* of the buffer */
    unsigned starter;    /* number of the process to end with; 0: none */
    const char *object;  /* with the tracing programs; NULL: our own controls only */
    char **controls;     /* their names; NULL at the end */
};

/* Each of these is a command of ww-kernel and returns its exit code. */
int load(const char *dir, const char *object, const char *version);
int unload(const char *dir);
int status(const char *dir);
int record(const char *dir, const struct wanted *wanted);

#endif
