/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Attaches the tracing programs (linux/bpf/trace.h) for a recorder. They are loaded as a separate instance of
 * the object, without its congestion controls. Only this process holds them, so the kernel removes them
 * however it ends.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "ww_kernel.h"

/* True if the program is attached to a tracepoint. */
static bool is_tracing(const struct bpf_program *program) {
    return strncmp(bpf_program__section_name(program), "tp_btf/", strlen("tp_btf/")) == 0;
}

void choose_programs(struct bpf_object *object, bool tracing) {
    struct bpf_program *program;
    struct bpf_map *map;
    bpf_object__for_each_program(program, object)
        bpf_program__set_autoload(program, is_tracing(program) == tracing);
    bpf_object__for_each_map(map, object) {
        const bool is_control = bpf_map__type(map) == BPF_MAP_TYPE_STRUCT_OPS;
        const char *name = bpf_map__name(map);
        if (tracing ? is_control || strcmp(name, "hosts") == 0 : strcmp(name, "last_window") == 0)
            bpf_map__set_autocreate(map, false);
    }
}

static int attach_all(struct tracing *tracing) {
    struct bpf_program *program;
    bpf_object__for_each_program(program, tracing->object) {
        if (!is_tracing(program)) continue;
        if (bpf_program__attach(program) == NULL)
            return fail(errno, "%s: can't be attached", bpf_program__section_name(program));
    }
    return DONE;
}

int start_tracing(struct tracing *tracing, const char *path, int ring, __u16 port, bool ours) {
    const __u32 first = 0;
    tracing->object = bpf_object__open_file(path, NULL);
    if (tracing->object == NULL)
        return fail(errno, "%s: not a BPF object that this kernel can use", path);
    choose_programs(tracing->object, true);
    if (bpf_object__load(tracing->object) != 0)
        return fail(errno, "%s: the kernel rejects its tracing programs (WW_VERBOSE=1 shows why)",
                    path);
    tracing->rings = bpf_object__find_map_fd_by_name(tracing->object, "rings");
    tracing->block = map_control_block(bpf_object__find_map_fd_by_name(tracing->object, ".bss"));
    if (tracing->block == NULL) return fail(errno, "%s: can't map its control block", path);
    tracing->block->port = port;
    tracing->block->traces_ours = ours;
    if (bpf_map_update_elem(tracing->rings, &first, &ring, BPF_ANY) != 0)
        return fail(errno, "can't pass the ring buffer to the tracing programs");
    return attach_all(tracing);
}

__u64 end_tracing(struct tracing *tracing) {
    const __u32 first = 0;
    if (tracing->block == NULL) return 0;
    bpf_map_delete_elem(tracing->rings, &first); /* waits for programs that are still writing */
    return tracing->block->dropped;
}
