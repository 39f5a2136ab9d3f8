/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A control whose calls ww-kernel makes one by one (BPF_PROG_RUN), so that this kernel's compiler of BPF decides on the
 * calls of a recording. It is compiled when it is needed:
 *
 *   WW_OWN_FILE     a user's file, in quotes: own.h
 *   WW_PROTOCOL     without it, a protocol of the catalogue, such as WW_PROTOCOL_CUBIC
 */
#ifdef WW_OWN_FILE
#include "own.h"
#else
#include "inlined.h"
#endif

#include <linux/bpf.h>
/* The helpers need its types. */
#include <bpf/bpf_helpers.h>

#include "replay.h"

char LICENSE[] SEC("license") = "GPL";

struct ww_replayed_here {
    struct ww_replayed with;
    struct ww_state state; /* its size is this program's own */
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct ww_replayed_here);
} replayed SEC(".maps");

static inline struct ww_config config_of_control(void) {
#ifdef WW_OWN_FILE
    struct ww_config config = ww_own_config();
#else
    struct ww_config config = ww_configure(WW_PROTOCOL);
#endif
    config.batched_acks = true;
    return config;
}

WW_CHECKED_ALONE int make_ack(struct ww_state *state, struct ww_window *window,
                              struct ww_sample *ack) {
    const struct ww_config config = config_of_control();
    if (state && window && ack) ww_on_ack(&config, state, window, ack);
    return 0;
}

SEC("syscall")
int replay(void *context) {
    const __u32 first = 0;
    struct ww_replayed_here *one = bpf_map_lookup_elem(&replayed, &first);
    const struct ww_config config = config_of_control();
    if (one && one->with.call.kind == WW_CALL_ACK)
        make_ack(&one->state, &one->with.window, &one->with.call.ack);
    else if (one)
        ww_make_call(&config, &one->state, &one->with.window, &one->with.call);
    return 0;
}
