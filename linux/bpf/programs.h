/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The programs of a congestion control, one for each operation of struct tcp_congestion_ops. What sets cwnd in recovery
 * decides which file hosts the control:
 *
 *   the kernel's PRR   control.h
 *   rate halving       control.h, if it is the row's recovery (Dell'Aera 2003, 2.2)
 *   the control        full_control.h, if its trait is WW_OWNS_RECOVERY
 *
 * The last two implement cong_control, which replaces PRR, cong_avoid and tcp_update_pacing_rate. TSO sizes its
 * bursts by the pacing rate, so set_pacing_rate takes over from tcp_update_pacing_rate.
 */
#ifndef WW_PROGRAMS_H
#define WW_PROGRAMS_H

#include "control.h"
#include "full_control.h"

/*
 * A connection without a host has not begun (this ACK is for our SYN) or found no memory. In the second case it is
 * Reno whose window does not grow.
 */
static inline void take_acked(struct sock *sk, __u32 cc, enum ww_protocol protocol,
                              const struct ack_sample *sample) {
    struct ww_host *host = host_with_ack(sk, cc, protocol);
    if (!host) return;
    if (owns_recovery(protocol))
        put_off(host, WW_ACKING, 0);
    else
        on_acked(sk, host, cc, protocol, sample->rtt_us);
}

static inline __u32 ssthresh(struct sock *sk, enum ww_protocol protocol) {
    struct ww_host *host = host_of(sk, protocol);
    if (!host) return ww_max_u32(tcp_sk(sk)->snd_cwnd / 2, 2);
    if (owns_recovery(protocol)) return put_off(host, WW_REDUCE, host->ssthresh);
    return target_after_loss(sk, host, protocol);
}

static inline __u32 undo(struct sock *sk, __u32 cc, enum ww_protocol protocol) {
    struct ww_host *host = host_of(sk, protocol);
    if (!host) return ww_max_u32(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
    if (owns_recovery(protocol)) return put_off(host, WW_UNDO, host->cwnd);
    return on_undo(sk, host, cc, protocol);
}

/*
 * When recovery ends the kernel calls set_state(Open). With its own recovery it then sends COMPLETE_CWR
 * after setting cwnd = ssthresh.
 */
static inline void change_state(struct sock *sk, __u32 cc, enum ww_protocol protocol,
                                __u8 new_state) {
    struct ww_host *host = host_of(sk, protocol);
    if (!host) return;
    if (owns_recovery(protocol))
        full_control_on_state(sk, host, cc, protocol, new_state);
    else
        on_state(sk, host, cc, protocol, new_state);
}

static inline void take_event(struct sock *sk, __u32 cc, enum ww_protocol protocol, __u32 event) {
    const bool is_due = owns_recovery(protocol)
                            ? is_tx_start(event)
                            : !has_rate_halving(protocol) && is_complete_cwr(event);
    struct ww_host *host = is_due ? host_of(sk, protocol) : NULL;
    if (!host) return;
    if (owns_recovery(protocol) && follows_packets(protocol))
        restart_with_core(sk, host, protocol);
    else if (owns_recovery(protocol))
        restart_after_idle(sk, host);
    else
        on_complete(sk, host, cc, protocol);
}

/* Implements cong_control for controls that replace PRR, cong_avoid for the others. */
static inline void control_window(unsigned long long *arguments, struct sock *sk, __u32 cc,
                                  enum ww_protocol protocol) {
    struct ww_host *host = host_of(sk, protocol);
    if (!host) return;
    if (owns_recovery(protocol))
        full_control_on_ack(sk, host, cc, protocol, rate_sample_of(arguments));
    else
        on_control(sk, host, cc, protocol);
    if (has_rate_halving(protocol)) set_pacing_rate(sk);
}

/*
 * Defines the programs and the operations of a control: WW_PROGRAMS(map, its name in the kernel, its number in events
 * and counters, protocol, whether it implements cong_control). Without flags only root may choose it: docs/decisions.md, 6.
 */
#define WW_PROGRAMS(cc_name, its_name, number, protocol, sets_cwnd)                         \
    SEC("struct_ops/init_" #cc_name)                                                        \
    void BPF_PROG(init_##cc_name, struct sock *sk) { on_init(sk, number, protocol); }       \
    SEC("struct_ops/release_" #cc_name)                                                     \
    void BPF_PROG(release_##cc_name, struct sock *sk) { on_release(sk, number, protocol); } \
    SEC("struct_ops/acked_" #cc_name)                                                       \
    void BPF_PROG(acked_##cc_name, struct sock *sk, const struct ack_sample *sample) {      \
        take_acked(sk, number, protocol, sample);                                           \
    }                                                                                       \
    SEC("struct_ops/ssthresh_" #cc_name)                                                    \
    __u32 BPF_PROG(ssthresh_##cc_name, struct sock *sk) { return ssthresh(sk, protocol); }  \
    SEC("struct_ops/undo_" #cc_name)                                                        \
    __u32 BPF_PROG(undo_##cc_name, struct sock *sk) { return undo(sk, number, protocol); }  \
    SEC("struct_ops/state_" #cc_name)                                                       \
    void BPF_PROG(state_##cc_name, struct sock *sk, __u8 new_state) {                       \
        change_state(sk, number, protocol, new_state);                                      \
    }                                                                                       \
    SEC("struct_ops/event_" #cc_name)                                                       \
    void BPF_PROG(event_##cc_name, struct sock *sk, __u32 event) {                          \
        take_event(sk, number, protocol, event);                                            \
    }                                                                                       \
    SEC("struct_ops/control_" #cc_name)                                                     \
    void BPF_PROG(control_##cc_name, struct sock *sk) {                                     \
        control_window(ctx, sk, number, protocol);                                          \
    }                                                                                       \
    SEC(".struct_ops")                                                                      \
    struct tcp_congestion_ops cc_name = {                                                   \
        .init = (void *)init_##cc_name,                                                     \
        .release = (void *)release_##cc_name,                                               \
        .pkts_acked = (void *)acked_##cc_name,                                              \
        .ssthresh = (void *)ssthresh_##cc_name,                                             \
        .undo_cwnd = (void *)undo_##cc_name,                                                \
        .set_state = (void *)state_##cc_name,                                               \
        .cwnd_event = (void *)event_##cc_name,                                              \
        .cong_control = (sets_cwnd) ? (void *)control_##cc_name : (void *)0,                \
        .cong_avoid = (sets_cwnd) ? (void *)0 : (void *)control_##cc_name,                  \
        .name = its_name,                                                                   \
    };

#endif
