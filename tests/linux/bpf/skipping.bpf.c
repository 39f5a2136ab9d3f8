/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Our congestion controls on a kernel that skips some of their operations and uses leftovers on the stack as
 * their result. One operation in WW_SKIP_ONE_IN is skipped at random. With WW_SKIP_WHOLE_ACKS all operations
 * of an ACK are, as when a softirq interrupts a process in which the kernel cannot run programs.
 */
#include "linux/bpf/control.h"
#include "linux/bpf/full_control.h"
#include "linux/bpf/trace.h"

static inline bool is_skipped(const unsigned long long *arguments) {
    __u32 drawn = bpf_get_prandom_u32();
    if (WW_SKIP_WHOLE_ACKS) {
        const struct tcp_sock *tp = (const struct tcp_sock *)arguments[0];
        drawn = ((__u32)tp->tcp_mstamp * 2654435761u) >> 12;
    }
    return drawn % WW_SKIP_ONE_IN == 0;
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
