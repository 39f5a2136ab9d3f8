/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The Westwood family as congestion controls of Linux, loaded at run time: ww_westwood, ww_plus and
 * ww_nrplus on the kernel's own recovery (PRR), ww_plus_rh with the rate halving of Linux 2.4
 * (Dell'Aera 2003, 2.2). The arithmetic is core/'s; control.h says what of the kernel it is told.
 *
 * With rate halving cwnd in recovery is ours: the operation for that is cong_control, which replaces
 * PRR. It also replaces the kernel's pacing rate, by which TSO sizes its bursts; that is set here as
 * tcp_update_pacing_rate does.
 */
#include "control.h"

char LICENSE[] SEC("license") = "GPL";

/*
 * What all four have. The kernel calls set_state(Open) and then, with its own recovery only, sends
 * COMPLETE_CWR once it has set cwnd = ssthresh.
 */
#define WW_COMMON(cc, cc_name, preset)                                                 \
    SEC("struct_ops/init_" #cc_name)                                                   \
    void BPF_PROG(init_##cc_name, struct sock *sk) { on_init(sk, cc, preset); }        \
    SEC("struct_ops/release_" #cc_name)                                                \
    void BPF_PROG(release_##cc_name, struct sock *sk) { on_release(sk, cc, preset); }  \
    SEC("struct_ops/acked_" #cc_name)                                                  \
    void BPF_PROG(acked_##cc_name, struct sock *sk, const struct ack_sample *sample) { \
        on_acked(sk, cc, preset, sample->rtt_us);                                      \
    }                                                                                  \
    SEC("struct_ops/undo_" #cc_name)                                                   \
    __u32 BPF_PROG(undo_##cc_name, struct sock *sk) { return on_undo(sk, cc, preset); }

/* The operations that all four have, as members of their struct. */
#define WW_COMMON_OPS(cc_name)                                                   \
    .flags = TCP_CONG_NON_RESTRICTED, .init = (void *)init_##cc_name,            \
    .release = (void *)release_##cc_name, .pkts_acked = (void *)acked_##cc_name, \
    .undo_cwnd = (void *)undo_##cc_name, .ssthresh = (void *)ssthresh_##cc_name, \
    .set_state = (void *)state_##cc_name, .name = #cc_name

#define WW_WITH_PRR(cc, cc_name, preset)                              \
    WW_COMMON(cc, cc_name, preset)                                    \
    SEC("struct_ops/ssthresh_" #cc_name)                              \
    __u32 BPF_PROG(ssthresh_##cc_name, struct sock *sk) {             \
        __u32 ssthresh;                                               \
        const __u32 target = on_loss(sk, preset, &ssthresh);          \
        private_of(sk)->exit_ssthresh = ssthresh;                     \
        return target;                                                \
    }                                                                 \
    SEC("struct_ops/state_" #cc_name)                                 \
    void BPF_PROG(state_##cc_name, struct sock *sk, __u8 new_state) { \
        on_state(sk, cc, preset, new_state);                          \
    }                                                                 \
    SEC("struct_ops/event_" #cc_name)                                 \
    void BPF_PROG(event_##cc_name, struct sock *sk, __u32 event) {    \
        if (!is_complete_cwr(event) || was_undone(sk)) return;        \
        struct ww_window window = window_of(tcp_sk(sk));              \
        window.ssthresh = private_of(sk)->exit_ssthresh;              \
        on_recovery_exit(sk, cc, preset, window);                     \
    }                                                                 \
    SEC("struct_ops/avoid_" #cc_name)                                 \
    void BPF_PROG(avoid_##cc_name) {}                                 \
    SEC(".struct_ops")                                                \
    struct tcp_congestion_ops cc_name = {                             \
        WW_COMMON_OPS(cc_name),                                       \
        .cwnd_event = (void *)event_##cc_name,                        \
        .cong_avoid = (void *)avoid_##cc_name,                        \
    };

#define WW_WITH_HALVING(cc, cc_name, preset)                                                 \
    WW_COMMON(cc, cc_name, preset)                                                           \
    SEC("struct_ops/ssthresh_" #cc_name)                                                     \
    __u32 BPF_PROG(ssthresh_##cc_name, struct sock *sk) {                                    \
        __u32 ssthresh;                                                                      \
        on_loss(sk, preset, &ssthresh);                                                      \
        return ssthresh;                                                                     \
    }                                                                                        \
    SEC("struct_ops/state_" #cc_name)                                                        \
    void BPF_PROG(state_##cc_name, struct sock *sk, __u8 new_state) {                        \
        on_state(sk, cc, preset, new_state);                                                 \
        if (is_over(sk, new_state)) on_recovery_exit(sk, cc, preset, window_of(tcp_sk(sk))); \
    }                                                                                        \
    SEC("struct_ops/control_" #cc_name)                                                      \
    void BPF_PROG(control_##cc_name, struct sock *sk) {                                      \
        halve(sk);                                                                           \
        set_pacing_rate(sk);                                                                 \
    }                                                                                        \
    SEC(".struct_ops")                                                                       \
    struct tcp_congestion_ops cc_name = {                                                    \
        WW_COMMON_OPS(cc_name),                                                              \
        .cong_control = (void *)control_##cc_name,                                           \
    };

/* The kernel says so before it changes the state. */
static inline bool is_over(struct sock *sk, __u8 new_state) {
    const bool recovers = phase_of(ca_state(sk)) == WW_RECOVERY;
    return recovers && phase_of(new_state) < WW_RECOVERY && !was_undone(sk);
}

/*
 * cwnd after an ACK in recovery. Its floor, BWE*RTTmin at the loss, is ssthresh. The number of ACKs is
 * that of the segments delivered, since ACKs may come merged; cwnd_count holds the odd one.
 */
static inline void halve(struct sock *sk) {
    struct tcp_sock *tp = tcp_sk(sk);
    union ww_private *priv = private_of(sk);
    if (!is_ready(priv)) return;
    const __u32 acks = ww_min_u32(tp->delivered - priv->delivered, WW_CWND_MAX);
    priv->delivered = tp->delivered;
    if (acks == 0 || phase_of(ca_state(sk)) != WW_RECOVERY) return;
    __u32 odd = priv->state.cwnd_count & 1;
    set_cwnd(tp, ww_rate_halving_on_ack(&odd, tp->snd_cwnd, tp->snd_ssthresh, pipe_of(tp), acks));
    priv->state.cwnd_count = odd;
}

/* Twice the window a smoothed round trip, or 1.2 times. Bound: 2^16 * 2^24 * 2^17 / 2^3 * 2^8. */
static inline void set_pacing_rate(struct sock *sk) {
    const struct tcp_sock *tp = tcp_sk(sk);
    const __u32 window = ww_min_u32(ww_max_u32(tp->snd_cwnd, tp->packets_out), 1u << 24);
    const __u64 per_100 = (__u64)tp->mss_cache * window * (8 * 1000000 / 100);
    const __u32 percent = tp->snd_cwnd < tp->snd_ssthresh / 2 ? 200 : 120;
    if (tp->srtt_us >= 8) sk->sk_pacing_rate = per_100 / tp->srtt_us * percent;
}

WW_WITH_PRR(0, ww_westwood, WW_PRESET_WESTWOOD)
WW_WITH_PRR(1, ww_plus, WW_PRESET_WESTWOOD_PLUS)
WW_WITH_PRR(2, ww_nrplus, WW_PRESET_WESTWOODNR_PLUS)
WW_WITH_HALVING(3, ww_plus_rh, WW_PRESET_WESTWOOD_PLUS_LINUX24)
