/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers controls of users (linux/bpf/own.bpf.c) beside ours. Their objects share the control block and the map of
 * the recorder's ring buffer with ours, so they are counted and recorded in the same way. `unload` removes them, too.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ww_kernel.h"

#define LOG_BYTES (16u << 20) /* of the verifier */

/* Returns the slot of the control with this name, or else a free one; WW_OWN_MAX if there is none. */
static int slot_for(const struct ww_control_block *block, const char *name) {
    for (int i = 0; i < WW_OWN_MAX; i++)
        if (strcmp(block->own[i].name, name) == 0) return i;
    int slot = 0;
    while (slot < WW_OWN_MAX && block->own[slot].name[0] != '\0') slot++;
    return slot;
}

/* Makes the object use a map that is pinned in the folder. */
static int share(struct bpf_object *object, const char *map, const char *pinned) {
    const int fd = open_pin(pinned);
    if (fd < 0) return fail(-fd, "%s: can't be opened", pinned);
    const int error = bpf_map__reuse_fd(bpf_object__find_map_by_name(object, map), fd);
    close(fd);
    return error == 0 ? DONE : fail(-error, "%s: can't be shared", pinned);
}

/* Sets what own.h has in .rodata.own. A control of the catalogue has nothing there. */
static int set_values(struct bpf_object *object, int slot, const struct ww_own *own) {
    __u32 values[1 + WW_OWN_PARAMETERS_MAX] = {(__u32)slot};
    memcpy(values + 1, own->parameters, sizeof own->parameters);
    struct bpf_map *map = bpf_object__find_map_by_name(object, ".rodata.own");
    const int error = map == NULL ? 0 : bpf_map__set_initial_value(map, values, sizeof values);
    return error == 0 ? DONE : fail(-error, "%s: its parameters can't be set", own->name);
}

/* Lets the kernel verify the object. If it refuses, prints the verifier's log before the message. */
static int verify(struct bpf_object *object, const struct ww_own *own, const char *log) {
    if (bpf_object__load(object) == 0) return DONE;
    const int error = errno;
    if (error != EPERM) fputs(log, stderr);
    return fail(error, "%s: the kernel rejects it", own->name);
}

static int install(struct bpf_object *object, struct ww_control_block *block, int slot,
                   const struct ww_own *own, const char *dir) {
    remove_control(own->name);
    block->own[slot] = *own; /* before it is registered, so that `unload` finds it */
    const int result = add_control(bpf_object__find_map_by_name(object, "own"), own->name, dir);
    if (result != DONE) {
        unlink(own->name);
        memset(&block->own[slot], 0, sizeof *own);
    }
    return result;
}

/* Opens, verifies and registers the object, which the caller closes. */
static int add_object(struct bpf_object *object, struct ww_control_block *block,
                      const struct ww_own *own, const char *dir, const char *log) {
    const int slot = slot_for(block, own->name);
    if (slot == WW_OWN_MAX)
        return fail(0, "%s: %d controls of users are loaded already: westwood kernel unload",
                    own->name, WW_OWN_MAX);
    int result = share(object, ".bss", "control");
    if (result == DONE) result = share(object, "rings", "rings");
    if (result == DONE) result = set_values(object, slot, own);
    if (result == DONE) result = verify(object, own, log);
    if (result == DONE) result = install(object, block, slot, own, dir);
    return result;
}

/* Opens an object, for whose programs the verifier writes into `log`, which may be NULL. */
static struct bpf_object *open_object(const char *path, char *log) {
    LIBBPF_OPTS(bpf_object_open_opts, options, .kernel_log_buf = log,
                .kernel_log_size = log == NULL ? 0 : LOG_BYTES);
    struct bpf_object *object = bpf_object__open_file(path, &options);
    if (object == NULL) fail(errno, "%s: not a BPF object that this kernel can use", path);
    return object;
}

int try_only(const struct own_control *control, bool replays) {
    char *log = calloc(1, LOG_BYTES);
    struct bpf_object *object = open_object(control->object, log);
    int result = object == NULL ? FAILED : set_values(object, 0, &control->is);
    if (result == DONE) result = verify(object, &control->is, log);
    if (result == DONE && replays) result = replay_calls(object);
    bpf_object__close(object);
    free(log);
    return result;
}

int add(const char *dir, const struct own_control *control) {
    char *absolute = realpath(control->object, NULL); /* since enter() changes the folder */
    if (absolute == NULL) return fail(errno, "%s", control->object);
    int result = enter(dir, false);
    struct ww_control_block *block = result == DONE ? open_control_block() : NULL;
    if (result == ABSENT || (result == DONE && block == NULL))
        return fail(0, "nothing is loaded: westwood kernel load");
    if (result != DONE) return result;
    char *log = calloc(1, LOG_BYTES);
    struct bpf_object *object = open_object(absolute, log);
    if (object == NULL) return FAILED;
    result = add_object(object, block, &control->is, dir, log);
    if (result == DONE) printf("%s is loaded\n", control->is.name);
    bpf_object__close(object);
    munmap(block, sizeof *block);
    free(log);
    free(absolute);
    return result;
}

void print_own(const struct ww_control_block *block) {
    const char *separator = "";
    for (int i = 0; i < WW_OWN_MAX; i++) {
        const struct ww_own *own = &block->own[i];
        const __u64 opened = block->opened[WW_CONTROL_OWN + i];
        if (own->name[0] == '\0') continue;
        printf("%s{\"name\": \"%s\", \"source\": \"%016" PRIx64
               "\", \"registered\": %s, \"sockets\": %" PRIu64 ", \"total\": %" PRIu64
               ", \"parameters\": [",
               separator, own->name, (uint64_t)own->source,
               is_registered(own->name) == 1 ? "true" : "false",
               (uint64_t)(opened - block->closed[WW_CONTROL_OWN + i]), (uint64_t)opened);
        for (int j = 0; j < WW_OWN_PARAMETERS_MAX; j++)
            printf("%s%u", j > 0 ? ", " : "", own->parameters[j]);
        fputs("]}", stdout);
        separator = ", ";
    }
}
