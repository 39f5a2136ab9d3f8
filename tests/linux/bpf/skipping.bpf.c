/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Our congestion controls on a kernel that skips some of their operations and uses leftovers on the stack as
 * their result. One operation in WW_SKIP_ONE_IN is skipped at random, but at most one for each ACK or timer.
 * With WW_SKIP_WHOLE_ACKS all operations of an ACK are, as when a softirq interrupts a process in which the
 * kernel cannot run programs.
 */
#include "linux/bpf/control.h"
#include "linux/bpf/full_control.h"
#include "linux/bpf/trace.h"

/* The time of a connection's last skipped operation, which is that of its ACK or timer. */
struct {
    __uint(type, BPF_MAP_TYPE_SK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, __u64);
} skips SEC(".maps");

static inline bool is_skipped(const unsigned long long *arguments) {
    struct tcp_sock *tp = (struct tcp_sock *)arguments[0];
    const __u64 now_us = tp->tcp_mstamp;
    if (WW_SKIP_WHOLE_ACKS) return (((__u32)now_us * 2654435761u) >> 12) % WW_SKIP_ONE_IN == 0;
    __u64 *last_us = bpf_sk_storage_get(&skips, tp, 0, BPF_SK_STORAGE_GET_F_CREATE);
    if (!last_us || *last_us == now_us || bpf_get_prandom_u32() % WW_SKIP_ONE_IN != 0) return false;
    *last_us = now_us;
    return true;
}

/* Draws a number of any magnitude: small numbers are as frequent as large ones. */
static inline __u32 left_on_the_stack(void) {
    return bpf_get_prandom_u32() >> (bpf_get_prandom_u32() & 31);
}

#pragma GCC diagnostic ignored \
    "-Wint-conversion" /* as libbpf does: an argument arrives as a pointer */
#undef BPF_PROG
#define BPF_PROG(name, args...)                                                         \
    name(unsigned long long *ctx);                                                      \
    static __always_inline typeof(name(0)) ____##name(unsigned long long *ctx, ##args); \
    typeof(name(0)) name(unsigned long long *ctx) {                                     \
        if (is_skipped(ctx)) return (typeof(name(0)))left_on_the_stack();               \
        return ____##name(___bpf_ctx_cast(args));                                       \
    }                                                                                   \
    static __always_inline typeof(name(0)) ____##name(unsigned long long *ctx, ##args)

#include "linux/bpf/ww.bpf.c"
