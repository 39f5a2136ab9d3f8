/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel is a host of our core: this file turns the kernel's operations into the core's.
 *
 *   pkts_acked     calls ww_on_ack. The kernel calls it once for each ACK that finds data outstanding,
 *                  duplicates included, after it has taken snd_una, SACKs and the RTT sample, and before
 *                  it looks for losses. The contract asks for this order: the phase is the one that the
 *                  ACK arrived in. The core grows the window here, so cong_avoid, which the kernel calls
 *                  later, does nothing.
 *   ssthresh       calls ww_on_loss. It returns what the core says cwnd shall become, since the kernel's
 *                  PRR (RFC 6937) brings cwnd down to what it returns; the core's ssthresh is set when
 *                  cwnd has got there.
 *   set_state      calls ww_on_rto when the new state is Loss, with the windows from before the loss that
 *                  the kernel has just reported through ssthresh.
 *   cwnd_event     calls ww_on_recovery_exit when the event is COMPLETE_CWR.
 *   undo_cwnd      calls ww_on_undo.
 *
 * Once in some thousand recoveries Linux 6.18 has begun one without having run ssthresh and set_state: it
 * then brings cwnd to whatever lay where their answer should be, up to 668121792 segments. A mark in
 * snd_cwnd_cnt says for which recovery (its undo_marker) set_state ran; the first ACK in one that it does not
 * name makes up for both.
 *
 * A sample's fields are filled in so:
 *
 *   acked_segments   counts whole segments of mss bytes that snd_una passed: small writes count by bytes.
 *   is_dupack        is true if snd_una stood still and the peer reports that more arrived, by SACK or,
 *                    without it, by the kernel's count of duplicates, which is one ACK behind here.
 *   newly_delivered  counts, on a duplicate, what the scoreboard has beyond what the core accounted for.
 *                    This corrects itself when a merged ACK covers several retransmissions.
 *   rtt_us           is the kernel's sample for congestion controls, not srtt, and only that of ACKs for
 *                    new data, as in the other hosts: the kernel also measures SACKed segments. With
 *                    timestamps it is known after a retransmission as well, to a millisecond.
 *   now_us           is tcp_mstamp.
 *
 * The kernel deviates from RFC 5681 in one thing that we leave alone: cwnd after a timeout is 1 + what is
 * still in flight. A second timeout of the same segment holds ssthresh, as the RFC asks.
 */
#ifndef WW_CONTROL_H
#define WW_CONTROL_H

#include "record.h"

/*
 * What the connection's private area, icsk_ca_priv, holds. ww_state is as large as BBR's state, and the
 * Westwood family leaves the last 8 bytes unused: this host keeps its own two numbers there. The kernel
 * zeroes the area before init, so that rtt_min_us tells whether init has run.
 */
#define WW_FAMILY_END (offsetof(struct ww_state, westwood) + sizeof(struct ww_westwood_state))
union ww_private {
    struct ww_state state;
    struct {
        __u8 core[WW_FAMILY_END];
        __u32 una; /* snd_una at the last ACK */
        union {
            __u32 exit_ssthresh; /* with the kernel's PRR: ssthresh when recovery is over */
            __u32 delivered;     /* with rate halving: tp->delivered at the last ACK */
        };
    };
};
_Static_assert(sizeof(union ww_private) <= WW_STATE_MAX, "the private area is full");

static inline union ww_private *private_of(struct sock *sk) {
    return (union ww_private *)inet_csk(sk)->icsk_ca_priv;
}

static inline bool is_ready(const union ww_private *priv) {
    return priv->state.westwood.rtt_min_us != 0;
}

static inline struct ww_config config_of(enum ww_protocol protocol) {
    struct ww_config config = ww_configure(protocol);
    config.batched_acks = true;
    return config;
}

static inline struct ww_window window_of(const struct tcp_sock *tp) {
    const struct ww_window window = {ww_min_u32(tp->snd_cwnd, WW_CWND_MAX),
                                     ww_min_u32(tp->snd_ssthresh, WW_SSTHRESH_INFINITE), 0};
    return window;
}

static inline void set_cwnd(struct tcp_sock *tp, __u32 cwnd) {
    cwnd = ww_max_u32(ww_min_u32(cwnd, tp->snd_cwnd_clamp), 1);
    if (cwnd != tp->snd_cwnd) tp->snd_cwnd = cwnd;
}

/* True if the control brings cwnd down by rate halving; the others leave that to the kernel's PRR. */
static inline bool has_rate_halving(enum ww_protocol protocol) {
    return ww_recovery_of(protocol) == WW_RECOVERY_RATE_HALVING;
}

/* True if it sets cwnd in recovery itself: owner.h is its host. */
static inline bool owns_recovery(enum ww_protocol protocol) {
    const struct ww_config config = config_of(protocol);
    return ww_owns_recovery(&config);
}

/* True if the kernel has undone the reduction meanwhile (its test is in tcp_end_cwnd_reduction). */
static inline bool was_undone(struct sock *sk) {
    return ca_state(sk) != TCP_CA_CWR && tcp_sk(sk)->undo_marker == 0;
}

/*
 * Records an event. During PRR the kernel's snd_ssthresh is what cwnd is brought down to: the event then
 * has the ssthresh that the core decided on.
 */
static inline void record_event(struct sock *sk, __u32 cc, enum ww_protocol protocol,
                                enum ww_event_kind kind, enum ww_phase phase) {
    const struct ww_config config = config_of(protocol);
    const union ww_private *priv = private_of(sk);
    const bool has_prr = !has_rate_halving(protocol) && !owns_recovery(protocol);
    const bool in_prr = phase == WW_RECOVERY && has_prr;
    const __u32 ssthresh = in_prr ? priv->exit_ssthresh : tcp_sk(sk)->snd_ssthresh;
    write_event(sk, &priv->state, &config, cc, kind, phase, ssthresh);
}

static inline void on_init(struct sock *sk, __u32 cc, enum ww_protocol protocol) {
    union ww_private *priv = private_of(sk);
    const struct ww_config config = config_of(protocol);
    ww_init(&config, &priv->state);
    priv->una = tcp_sk(sk)->snd_una;
    priv->delivered = tcp_sk(sk)->delivered;
    count_opened(cc);
    record_event(sk, cc, protocol, WW_EVENT_START, phase_of(ca_state(sk)));
}

static inline void on_release(struct sock *sk, __u32 cc, enum ww_protocol protocol) {
    count_closed(cc);
    record_event(sk, cc, protocol, WW_EVENT_END, phase_of(ca_state(sk)));
}

/* Counts the multiples of mss in (from, to]: an ACK for n full segments passes n of them from anywhere. */
static inline __u32 whole_segments(__u32 from, __u32 to, __u32 mss) {
    const __u64 end = (__u64)from + (__u32)(to - from);
    return (__u32)(ww_div(end, mss) - ww_div(from, mss));
}

/* Tells the core of a loss. Returns the window to go down to, and puts its ssthresh into *ssthresh. */
static inline __u32 on_loss(struct sock *sk, enum ww_protocol protocol, __u32 *ssthresh) {
    union ww_private *priv = private_of(sk);
    struct tcp_sock *tp = tcp_sk(sk);
    const struct ww_config config = config_of(protocol);
    struct ww_window window = window_of(tp);
    ww_on_loss(&config, &priv->state, &window, tp->tcp_mstamp, tp->packets_out, tp->mss_cache);
    *ssthresh = window.ssthresh;
    return window.cwnd;
}

/* Returns what the kernel is to bring cwnd down to after a loss. */
static inline __u32 target_after_loss(struct sock *sk, enum ww_protocol protocol) {
    __u32 ssthresh;
    const __u32 target = on_loss(sk, protocol, &ssthresh);
    if (has_rate_halving(protocol)) return ssthresh;
    private_of(sk)->exit_ssthresh = ssthresh;
    return target;
}

/* True if the kernel is in a recovery, not undone, of which it has not told us: see above. */
static inline bool was_not_told(struct sock *sk) {
    const struct tcp_sock *tp = tcp_sk(sk);
    return ca_state(sk) == TCP_CA_Recovery && tp->undo_marker != 0 &&
           tp->snd_cwnd_cnt != tp->undo_marker;
}

static inline void begin_recovery(struct sock *sk, __u32 cc, enum ww_protocol protocol) {
    tcp_sk(sk)->snd_cwnd_cnt = tcp_sk(sk)->undo_marker;
    record_event(sk, cc, protocol, WW_EVENT_LOSS, WW_RECOVERY);
}

static inline void on_acked(struct sock *sk, __u32 cc, enum ww_protocol protocol, __s32 rtt_us) {
    union ww_private *priv = private_of(sk);
    if (!is_ready(priv)) return; /* this ACK is for our SYN */
    struct tcp_sock *tp = tcp_sk(sk);
    if (was_not_told(sk)) {
        tp->snd_ssthresh = target_after_loss(sk, protocol);
        begin_recovery(sk, cc, protocol);
    }
    const struct ww_config config = config_of(protocol);
    const __u32 una = tp->snd_una, mss = tp->mss_cache, sacked = tp->sacked_out;
    const __u32 accounted = priv->state.westwood.accounted_for;
    const __u8 state = ca_state(sk);

    struct ww_sample sample = {};
    sample.now_us = tp->tcp_mstamp;
    sample.mss = mss;
    sample.acked_segments = whole_segments(priv->una, una, mss);
    sample.in_flight = tp->packets_out;
    sample.rtt_us = una != priv->una && rtt_us > 0 ? (__u32)rtt_us : 0;
    sample.phase = phase_of(state);
    sample.is_dupack = una == priv->una && sacked > accounted;
    sample.newly_delivered = sacked - accounted;
    sample.is_cwnd_limited = is_cwnd_limited(tp);
    priv->una = una;

    const __u32 samples = priv->state.westwood.samples;
    const __u64 mark_us = priv->state.westwood.mark_us;
    struct ww_window window = window_of(tp);
    ww_on_ack(&config, &priv->state, &window, &sample);
    set_cwnd(tp, window.cwnd);
    if (priv->state.westwood.samples != samples &&
        (config.sampler != WW_PER_ACK || is_new_period(mark_us, sample.now_us)))
        record_event(sk, cc, protocol, WW_EVENT_WINDOW, phase_of(state));
}

/*
 * Tells the core of a timeout. Before it the kernel has called ssthresh, unless it was in recovery
 * already, and has set cwnd. The state remembers the windows from before the first of these losses, to
 * which an undo goes back.
 */
static inline void on_timeout(struct sock *sk, enum ww_protocol protocol) {
    union ww_private *priv = private_of(sk);
    struct tcp_sock *tp = tcp_sk(sk);
    if (inet_csk(sk)->icsk_retransmits != 0)
        return; /* the same segment timed out again: ssthresh stays */
    const struct ww_config config = config_of(protocol);
    struct ww_window window = {ww_max_u32(priv->state.common.prior_cwnd, 1),
                               priv->state.common.prior_ssthresh, 0};
    ww_on_rto(&config, &priv->state, &window, tp->tcp_mstamp, tp->packets_out, tp->mss_cache,
              false);
    tp->snd_ssthresh = window.ssthresh;
}

/* The kernel is about to replace the present state by new_state. */
static inline void on_state(struct sock *sk, __u32 cc, enum ww_protocol protocol, __u8 new_state) {
    const __u8 old_state = ca_state(sk);
    if (new_state == TCP_CA_Loss) on_timeout(sk, protocol);
    if (new_state == TCP_CA_Loss)
        record_event(sk, cc, protocol, WW_EVENT_TIMEOUT, WW_LOSS);
    else if (new_state == TCP_CA_Recovery)
        begin_recovery(sk, cc, protocol);
    else if (new_state != old_state && phase_of(new_state) == WW_RECOVERY)
        record_event(sk, cc, protocol, WW_EVENT_LOSS, WW_RECOVERY);
}

static inline void on_recovery_exit(struct sock *sk, __u32 cc, enum ww_protocol protocol,
                                    struct ww_window window) {
    union ww_private *priv = private_of(sk);
    struct tcp_sock *tp = tcp_sk(sk);
    const struct ww_config config = config_of(protocol);
    ww_on_recovery_exit(&config, &priv->state, &window, tp->tcp_mstamp, tp->mss_cache);
    tp->snd_ssthresh = window.ssthresh;
    set_cwnd(tp, window.cwnd);
    record_event(sk, cc, protocol, WW_EVENT_EXIT, WW_OPEN);
}

static inline __u32 on_undo(struct sock *sk, __u32 cc, enum ww_protocol protocol) {
    union ww_private *priv = private_of(sk);
    const struct ww_config config = config_of(protocol);
    struct ww_window window = window_of(tcp_sk(sk));
    ww_on_undo(&config, &priv->state, &window);
    record_event(sk, cc, protocol, WW_EVENT_UNDO, phase_of(ca_state(sk)));
    return window.cwnd;
}

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

/* Sets the rate that TSO and whoever paces goes by; SO_MAX_PACING_RATE bounds it. */
static inline void pace(struct sock *sk, __u64 bytes_per_s) {
    const __u64 most = sk->sk_max_pacing_rate;
    sk->sk_pacing_rate = ww_min_u64(bytes_per_s, most);
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
    if (tp->srtt_us >= 8) pace(sk, per_100 / tp->srtt_us * percent);
}

#endif
