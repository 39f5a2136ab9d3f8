/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The Westwood family as congestion controls of Linux, loaded at run time: those that the catalogue calls
 * ours, with the rate halving of Linux 2.4 (Dell'Aera 2003, 2.2) where that is their recovery, the others
 * on the kernel's own (PRR). The arithmetic is core/'s; control.h says what the kernel tells it.
 *
 * With rate halving we set cwnd in recovery: the operation for that is cong_control, which replaces PRR.
 * It also replaces the kernel's computation of the pacing rate, by which TSO sizes its bursts;
 * set_pacing_rate does here what tcp_update_pacing_rate does there.
 */
#include "control.h"
#include "trace.h"

char LICENSE[] SEC("license") = "GPL";

/*
 * Defines the operations that all controls have alike. When recovery ends the kernel calls
 * set_state(Open); with its own recovery it then sends COMPLETE_CWR once it has set cwnd = ssthresh.
 */
#define WW_COMMON(cc, cc_name, protocol)                                                \
    SEC("struct_ops/init_" #cc_name)                                                    \
    void BPF_PROG(init_##cc_name, struct sock *sk) { on_init(sk, cc, protocol); }       \
    SEC("struct_ops/release_" #cc_name)                                                 \
    void BPF_PROG(release_##cc_name, struct sock *sk) { on_release(sk, cc, protocol); } \
    SEC("struct_ops/acked_" #cc_name)                                                   \
    void BPF_PROG(acked_##cc_name, struct sock *sk, const struct ack_sample *sample) {  \
        on_acked(sk, cc, protocol, sample->rtt_us);                                     \
    }                                                                                   \
    SEC("struct_ops/undo_" #cc_name)                                                    \
    __u32 BPF_PROG(undo_##cc_name, struct sock *sk) { return on_undo(sk, cc, protocol); }

/* Initialises the members of tcp_congestion_ops that all controls have. */
#define WW_COMMON_OPS(cc_name)                                                   \
    .flags = TCP_CONG_NON_RESTRICTED, .init = (void *)init_##cc_name,            \
    .release = (void *)release_##cc_name, .pkts_acked = (void *)acked_##cc_name, \
    .undo_cwnd = (void *)undo_##cc_name, .ssthresh = (void *)ssthresh_##cc_name, \
    .set_state = (void *)state_##cc_name, .name = #cc_name

#define WW_WITH_PRR(cc, cc_name, protocol)                            \
    WW_COMMON(cc, cc_name, protocol)                                  \
    SEC("struct_ops/ssthresh_" #cc_name)                              \
    __u32 BPF_PROG(ssthresh_##cc_name, struct sock *sk) {             \
        return target_after_loss(sk, protocol);                       \
    }                                                                 \
    SEC("struct_ops/state_" #cc_name)                                 \
    void BPF_PROG(state_##cc_name, struct sock *sk, __u8 new_state) { \
        on_state(sk, cc, protocol, new_state);                        \
    }                                                                 \
    SEC("struct_ops/event_" #cc_name)                                 \
    void BPF_PROG(event_##cc_name, struct sock *sk, __u32 event) {    \
        if (!is_complete_cwr(event) || was_undone(sk)) return;        \
        struct ww_window window = window_of(tcp_sk(sk));              \
        window.ssthresh = private_of(sk)->exit_ssthresh;              \
        on_recovery_exit(sk, cc, protocol, window);                   \
    }                                                                 \
    SEC("struct_ops/avoid_" #cc_name)                                 \
    void BPF_PROG(avoid_##cc_name) {}                                 \
    SEC(".struct_ops")                                                \
    struct tcp_congestion_ops cc_name = {                             \
        WW_COMMON_OPS(cc_name),                                       \
        .cwnd_event = (void *)event_##cc_name,                        \
        .cong_avoid = (void *)avoid_##cc_name,                        \
    };

#define WW_WITH_HALVING(cc, cc_name, protocol)                         \
    WW_COMMON(cc, cc_name, protocol)                                   \
    SEC("struct_ops/ssthresh_" #cc_name)                               \
    __u32 BPF_PROG(ssthresh_##cc_name, struct sock *sk) {              \
        return target_after_loss(sk, protocol);                        \
    }                                                                  \
    SEC("struct_ops/state_" #cc_name)                                  \
    void BPF_PROG(state_##cc_name, struct sock *sk, __u8 new_state) {  \
        on_state(sk, cc, protocol, new_state);                         \
        if (ends_recovery(sk, new_state))                              \
            on_recovery_exit(sk, cc, protocol, window_of(tcp_sk(sk))); \
    }                                                                  \
    SEC("struct_ops/control_" #cc_name)                                \
    void BPF_PROG(control_##cc_name, struct sock *sk) {                \
        halve_rate(sk);                                                \
        set_pacing_rate(sk);                                           \
    }                                                                  \
    SEC(".struct_ops")                                                 \
    struct tcp_congestion_ops cc_name = {                              \
        WW_COMMON_OPS(cc_name),                                        \
        .cong_control = (void *)control_##cc_name,                     \
    };

/* True if recovery ends with this change of state, which the kernel announces before it makes it. */
static inline bool ends_recovery(struct sock *sk, __u8 new_state) {
    const bool recovers = phase_of(ca_state(sk)) == WW_RECOVERY;
    return recovers && phase_of(new_state) < WW_RECOVERY && !was_undone(sk);
}

/*
 * Sets cwnd after an ACK in recovery. It does not fall below ssthresh, which is BWE*RTTmin at the loss.
 * Delivered segments stand for the number of ACKs, since ACKs may come merged; cwnd_count keeps the odd
 * one for the next call.
 */
static inline void halve_rate(struct sock *sk) {
    struct tcp_sock *tp = tcp_sk(sk);
    union ww_private *priv = private_of(sk);
    if (!is_ready(priv)) return;
    const __u32 acks = ww_min_u32(tp->delivered - priv->delivered, WW_CWND_MAX);
    priv->delivered = tp->delivered;
    if (acks == 0 || phase_of(ca_state(sk)) != WW_RECOVERY) return;
    __u32 odd = priv->state.common.cwnd_count & 1;
    set_cwnd(tp, ww_rate_halving_on_ack(&odd, tp->snd_cwnd, tp->snd_ssthresh, pipe_of(tp), acks));
    priv->state.common.cwnd_count = odd;
}

/*
 * Paces twice the window per smoothed round trip in early slow start, 1.2 times afterwards. No overflow:
 * the product stays below 2^16 * 2^24 * 2^17 / 2^3 * 2^8.
 */
static inline void set_pacing_rate(struct sock *sk) {
    const struct tcp_sock *tp = tcp_sk(sk);
    const __u32 window = ww_min_u32(ww_max_u32(tp->snd_cwnd, tp->packets_out), 1u << 24);
    const __u64 per_100 = (__u64)tp->mss_cache * window * (8 * 1000000 / 100);
    const __u32 percent = tp->snd_cwnd < tp->snd_ssthresh / 2 ? 200 : 120;
    if (tp->srtt_us >= 8) sk->sk_pacing_rate = per_100 / tp->srtt_us * percent;
}

#define WW_WITH_ANY WW_WITH_PRR
#define WW_WITH_NEWRENO WW_WITH_PRR
#define WW_WITH_SACK WW_WITH_PRR
#define WW_WITH_RATE_HALVING WW_WITH_HALVING
#define WW_CONTROL(name, protocol, RECOVERY) WW_WITH_##RECOVERY(WW_NUMBER_##name, name, protocol)
WW_CONTROLS
