/* SPDX-License-Identifier: GPL-2.0-only */
/* Declares what the source files of ww-kernel share. A file uses only those that are declared above it. */
#ifndef WW_KERNEL_PROGRAM_H
#define WW_KERNEL_PROGRAM_H

#include <stdbool.h>

#include "../bpf/event.h"

/* common.c */

enum { ABSENT = -1, DONE = 0, FAILED = 1, USAGE = 2, LACKING = 77 };

extern const char *const ww_control_names[WW_CONTROL_COUNT];

/* Prints the message on standard error, and the error if it is not 0. Returns LACKING if the error is a
 * missing permission, otherwise FAILED. */
int fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Opens a map that is pinned in the folder. Returns its descriptor or a negative errno. */
int open_pin(const char *name);

/* Maps the control block from the map of this descriptor. Returns NULL and sets errno if it fails. */
struct ww_control_block *map_control_block(int fd);

/* Maps the control block in the folder, which the programs share. Returns NULL and sets errno if it fails. */
struct ww_control_block *open_control_block(void);

/* folder.c */

/*
 * Enters DIR, the folder of the pins, after making it if `make` is set. Locks it until this process ends or
 * calls leave(). Returns DONE, ABSENT if it does not exist, or the exit code after a message.
 */
int enter(const char *dir, bool make);

/* Releases the folder's lock. */
void leave(void);

/* Removes the folder, which must be empty. */
void remove_folder(void);

/* tracer.c */

/* Selects what to load of an object: only its tracing programs, or all the others. */
struct bpf_object;
void choose_programs(struct bpf_object *object, bool tracing);

/* Holds the tracing programs of a recorder; zeros if it has none. */
struct tracing {
    struct bpf_object *object;
    struct ww_control_block *block;
    int rings;
};

/*
 * Makes the tracing programs of the object at this path write into the ring buffer: for connections with this
 * port at either end (0: all), including ww_* if `ours`. Returns DONE, or the exit code after a message.
 */
int start_tracing(struct tracing *tracing, const char *path, int ring, __u16 port, bool ours);

/* Stops the tracing programs. Returns how many events did not fit into the buffer. */
__u64 end_tracing(struct tracing *tracing);

/* recorder.c */

/* Returns the PID of the recording process; 0 if there is none. Clears the entry of a process that has died. */
unsigned recorder_of(struct ww_control_block *block);

/* Describes what to record. */
struct wanted {
    unsigned port;       /* at either end; 0: any */
    unsigned ring_bytes; /* of the buffer */
    unsigned starter;    /* PID of the parent process, with which the recorder ends; 0: none */
    const char *object;  /* with the tracing programs; NULL: record our own controls only */
    char **controls;     /* their names, then NULL */
};

/* A command of ww-kernel, as are those of registry.c. Each returns its exit code. */
int record(const char *dir, const struct wanted *wanted);

/* registry.c */

struct bpf_map;

int pin(struct bpf_map *map, const char *name);

/* Returns 1 if the control is registered, 0 if it is not, and a negative errno if it does not exist. */
int is_registered(const char *name);

/* Pins the control, so that it can always be found again, and registers it. Returns its exit code. */
int add_control(struct bpf_map *map, const char *name, const char *dir);

/* Unregisters the control and removes its pin. */
void remove_control(const char *name);

int load(const char *dir, const char *object, const char *version);
int unload(const char *dir);
int status(const char *dir);

/* replay.c */

/*
 * Makes the calls that come on standard input, up to a line `end`, in the program of this object (linux/bpf/replay.bpf.c).
 * Prints the windows after each. Returns its exit code.
 */
int replay_calls(struct bpf_object *object);

/* own.c */

/* Describes a user's control: its object, and what the control block says of it. */
struct own_control {
    const char *object;
    struct ww_own is;
};

/* Registers the control beside ours, in the place of one of the same name. */
int add(const char *dir, const struct own_control *control);

/* Lets the kernel verify the control, and registers nothing; `replays`: then it makes calls (replay.c). */
int try_only(const struct own_control *control, bool replays);

/* Prints the users' controls as JSON objects. */
void print_own(const struct ww_control_block *block);

#endif
