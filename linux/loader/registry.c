/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers and unregisters the controls, and reports what is registered.
 *
 * A registered struct_ops map exists until its element is deleted, so it outlives this process; the pins in
 * DIR make it possible to find it again. Links could do both, but exist only since 6.4.
 * Connections keep the programs that they use: unregistering only removes the name.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ww_kernel.h"

/* libbpf requires a folder in the name. */
int pin(struct bpf_map *map, const char *name) {
    char path[NAME_MAX];
    snprintf(path, sizeof path, "./%s", name);
    return map == NULL ? -ENOENT : bpf_map__pin(map, path);
}

int is_registered(const char *name) {
    const int fd = open_pin(name);
    if (fd < 0) return fd;
    struct bpf_map_info info = {};
    __u32 size = sizeof info;
    const __u32 first = 0;
    int result = bpf_obj_get_info_by_fd(fd, &info, &size) == 0 ? 0 : -errno;
    __u32 *value = result == 0 ? calloc(1, info.value_size + 8) : NULL;
    if (value != NULL && bpf_map_lookup_elem(fd, &first, value) == 0)
        result = value[1] == 1; /* after refcnt: the state, BPF_STRUCT_OPS_STATE_INUSE */
    free(value);
    close(fd);
    return result;
}

void remove_control(const char *name) {
    const __u32 first = 0;
    const int fd = open_pin(name);
    if (fd < 0) return;
    bpf_map_delete_elem(fd, &first);
    close(fd);
    unlink(name);
}

/* Unregisters the registered controls, and removes the pins. */
static void remove_all(void) {
    struct ww_control_block *block = open_control_block();
    for (int i = 0; block != NULL && i < WW_OWN_MAX; i++)
        if (block->own[i].name[0] != '\0') remove_control(block->own[i].name);
    if (block != NULL) munmap(block, sizeof *block);
    for (int i = 0; i < WW_CONTROL_COUNT; i++) remove_control(ww_control_names[i]);
    unlink("rings");
    unlink("control"); /* last, because it says that controls may be left */
}

int add_control(struct bpf_map *map, const char *name, const char *dir) {
    const int error = pin(map, name);
    if (error != 0) return fail(-error, "%s: %s can't be pinned", dir, name);
    struct bpf_link *link = bpf_map__attach_struct_ops(map);
    if (link == NULL && errno == EEXIST) {
        unlink(name);
        return fail(0,
                    "%s: another program has registered this name; bpftool struct_ops "
                    "unregister name %s takes it away",
                    name, name);
    }
    if (link == NULL) return fail(errno, "%s: can't be registered", name);
    bpf_link__disconnect(link); /* keeps the control registered after this process */
    bpf_link__destroy(link);
    return DONE;
}

static int register_all(struct bpf_object *object, const char *dir) {
    int error = pin(bpf_object__find_map_by_name(object, ".bss"), "control");
    if (error == 0) error = pin(bpf_object__find_map_by_name(object, "rings"), "rings");
    if (error != 0) return fail(-error, "%s: can't be pinned in", dir);
    int result = DONE;
    for (int i = 0; result == DONE && i < WW_CONTROL_COUNT; i++) {
        const char *name = ww_control_names[i];
        result = add_control(bpf_object__find_map_by_name(object, name), name, dir);
    }
    return result;
}

/* Hashes the file with FNV-1a. Returns 0 and sets errno if it can't be read. */
static __u64 tag_of(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) return 0;
    __u64 tag = 0xcbf29ce484222325u;
    for (int byte; (byte = getc(file)) != EOF;) tag = (tag ^ (__u64)byte) * 0x100000001b3u;
    fclose(file);
    return tag;
}

/* Counts the connections that are open. */
static __u64 connections(const struct ww_control_block *block) {
    __u64 open = 0;
    for (int i = 0; i < WW_NUMBERS; i++) open += block->opened[i] - block->closed[i];
    return open;
}

/* True if all controls with this tag are pinned in the folder and registered. */
static bool is_same(struct ww_control_block *old, __u64 tag) {
    bool same = old->tag == tag;
    for (int i = 0; i < WW_CONTROL_COUNT; i++)
        same = same && is_registered(ww_control_names[i]) == 1;
    return same;
}

/* Replaces the controls in the folder by those of a loaded object. */
static int replace(struct bpf_object *object, const char *dir, __u64 tag, const char *version) {
    remove_all(); /* also removes the remains of an interrupted load or unload */
    int result = register_all(object, dir);
    struct ww_control_block *block = result == DONE ? open_control_block() : NULL;
    if (block == NULL) {
        if (result == DONE) result = fail(errno, "%s/control: can't be mapped", dir);
        remove_all();
        remove_folder();
        return result;
    }
    snprintf(block->version, sizeof block->version, "%s", version);
    block->tag = tag;
    printf("version %s is loaded\n", version);
    munmap(block, sizeof *block);
    return DONE;
}

/* Opens the object and lets the kernel verify it. After an error prints a message, sets *result and returns NULL. */
static struct bpf_object *open_object(const char *path, int *result) {
    struct bpf_object *object = bpf_object__open_file(path, NULL);
    if (object == NULL) {
        *result = fail(errno, "%s: not a BPF object that this kernel can use", path);
        return NULL;
    }
    choose_programs(object, false);
    if (bpf_object__load(object) != 0) {
        *result = fail(errno, "%s: the kernel rejects it (WW_VERBOSE=1 shows why)", path);
        bpf_object__close(object);
        object = NULL;
    }
    return object;
}

int load(const char *dir, const char *path, const char *version) {
    char *absolute = realpath(path, NULL); /* since enter() changes the folder */
    const __u64 tag = absolute == NULL ? 0 : tag_of(absolute);
    if (tag == 0) return fail(errno, "%s", path);
    int result = enter(dir, true);
    if (result != DONE) return result;
    struct ww_control_block *old = open_control_block();
    if (old != NULL && is_same(old, tag)) {
        recorder_of(old);
        printf("version %s is loaded already\n", old->version);
        return DONE;
    }
    struct bpf_object *object = open_object(absolute, &result);
    if (object == NULL) {
        remove_folder();
        return result;
    }
    if (old != NULL)
        printf("replaces version %s; %" PRIu64 " connections keep using it until they end\n",
               old->version, (uint64_t)connections(old));
    result = replace(object, dir, tag, version);
    bpf_object__close(object);
    free(absolute);
    return result;
}

int unload(const char *dir) {
    const int result = enter(dir, false);
    if (result != DONE && result != ABSENT) return result;
    struct ww_control_block *block = result == DONE ? open_control_block() : NULL;
    if (result == DONE && block == NULL && errno != ENOENT)
        return fail(errno, "%s/control: can't be opened", dir);
    if (result == DONE) {
        remove_all();
        remove_folder();
    }
    if (block == NULL) {
        puts("nothing is loaded");
        return DONE;
    }
    const __u64 open = connections(block);
    printf("version %s is unloaded", block->version);
    if (open != 0) printf("; %" PRIu64 " connections keep using it until they end", (uint64_t)open);
    puts("");
    munmap(block, sizeof *block);
    return DONE;
}

int status(const char *dir) {
    const int result = enter(dir, false);
    if (result != DONE && result != ABSENT) return result;
    struct ww_control_block *block = result == DONE ? open_control_block() : NULL;
    if (result == DONE && block == NULL && errno != ENOENT)
        return fail(errno, "%s/control: can't be opened", dir);
    if (block == NULL) {
        puts("{\"loaded\": false}");
        return DONE;
    }
    printf("{\"loaded\": true, \"version\": \"%s\", \"tag\": \"%016" PRIx64
           "\", \"recorder\": %u, \"dropped\": %" PRIu64 ", \"missed\": %" PRIu64
           ", \"controls\": [",
           block->version, (uint64_t)block->tag, recorder_of(block), (uint64_t)block->dropped,
           (uint64_t)block->missed);
    for (int i = 0; i < WW_CONTROL_COUNT; i++)
        printf("%s{\"name\": \"%s\", \"registered\": %s, \"sockets\": %" PRIu64
               ", \"total\": %" PRIu64 "}",
               i ? ", " : "", ww_control_names[i],
               is_registered(ww_control_names[i]) == 1 ? "true" : "false",
               (uint64_t)(block->opened[i] - block->closed[i]), (uint64_t)block->opened[i]);
    fputs("], \"own\": [", stdout);
    print_own(block);
    puts("]}");
    munmap(block, sizeof *block);
    return DONE;
}
