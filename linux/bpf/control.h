/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hosts the core in the kernel: turns the operations of a congestion control into calls of the core.
 *
 *   pkts_acked     calls ww_on_ack. The kernel calls it once for each ACK that arrives while data are outstanding,
 *                  duplicates included: after updating snd_una, SACK state and RTT, before loss detection. The core
 *                  expects this order, since a sample carries the phase in which the ACK arrived. The core grows the
 *                  window at this point, so cong_avoid, which comes later, only checks the windows.
 *   ssthresh       calls ww_on_loss. It returns the cwnd that the core chose, because the kernel's PRR (RFC 6937)
 *                  brings cwnd down to the returned value. The core's ssthresh is set when cwnd has got there.
 *   set_state      calls ww_on_rto when the new state is Loss, with the windows before the loss that the kernel
 *                  has just passed to ssthresh.
 *   cwnd_event     calls ww_on_recovery_exit when the event is COMPLETE_CWR.
 *   undo_cwnd      calls ww_on_undo.
 *
 * If the kernel skipped an operation, the next one makes up for it: see host.h.
 *
 * The sample's fields are filled as follows:
 *
 *   acked_segments   counts the whole segments of mss bytes that snd_una passed, so small writes count by bytes.
 *   is_dupack        is true if snd_una did not advance and the peer reports new arrivals, by SACK or,
 *                    without SACK, by the kernel's count of duplicates, which lags one ACK behind.
 *   newly_delivered  counts, on a duplicate, what the scoreboard has beyond what the core has counted. For a user's
 *                    control it is the increase of the kernel's counter.
 *   rtt_us           is the kernel's sample for congestion controls, not srtt. Like the other hosts, it is taken
 *                    from ACKs of new data only, although the kernel also measures SACKed segments. What it
 *                    takes from timestamps after a retransmission is left out (exact_rtt_us).
 *   now_us           is tcp_mstamp.
 *
 * The kernel deviates from RFC 5681 in one point, which we keep: cwnd after a timeout is 1 + the segments still
 * in flight. A second timeout of the same segment leaves ssthresh unchanged, as the RFC asks.
 */
#ifndef WW_KERNEL_CONTROL_H
#define WW_KERNEL_CONTROL_H

#include "host.h"

enum { WW_MORE = 3 }; /* segments that may be in flight beyond cwnd: a probe and a retransmission */

/*
 * Returns the socket's windows, or those after our last operation if the socket's are impossible. The kernel may lower
 * cwnd, and in recovery raise it again up to the old cwnd or the target. With rate halving it does neither.
 */
static inline struct ww_window window_of(struct sock *sk, const struct ww_host *host,
                                         enum ww_protocol protocol) {
    const struct tcp_sock *tp = tcp_sk(sk);
    const struct ww_common *common = &state_of(sk, host, protocol)->common;
    const bool recovers = host->phase == WW_RECOVERY || host->marks & WW_REDUCE;
    __u32 most = force_load(host->cwnd);
    if (recovers || host->phase == WW_LOSS) most = ww_max_u32(most, common->prior_cwnd);
    if (recovers) most = ww_max_u32(most, host->ssthresh);
    const __u32 highest = ww_max_u32(ww_max_u32(host->ssthresh, common->prior_ssthresh), most);
    const bool is_ours = has_rate_halving(protocol) && !has_begun_reduction(tp);
    struct ww_window window = {force_load(tp->snd_cwnd), force_load(tp->snd_ssthresh), 0};
    if (window.cwnd - 1 >= most + WW_MORE || is_ours) window.cwnd = force_load(host->cwnd);
    if (window.ssthresh > highest) window.ssthresh = force_load(host->ssthresh);
    window.cwnd = ww_max_u32(ww_min_u32(window.cwnd, WW_CWND_MAX), 1);
    window.ssthresh = ww_min_u32(window.ssthresh, WW_SSTHRESH_INFINITE);
    return window;
}

/* True if the kernel has undone the reduction (same test as in tcp_end_cwnd_reduction). */
static inline bool was_undone(struct sock *sk) {
    return ca_state(sk) != TCP_CA_CWR && tcp_sk(sk)->undo_marker == 0;
}

/* True for the family, whose answer to a mark is that to a loss. */
static inline bool is_of_family(const struct ww_config *config) {
    return config->algorithm == WW_ALG_WESTWOOD;
}

/* True while the kernel enters CWR, without a loss: after a congestion mark or with a full local queue. */
static inline bool enters_cwr(const struct tcp_sock *tp) {
    return tp->prior_ssthresh == 0 && tp->undo_marker == 0;
}

/* Reports a loss or a mark to the core. Stores and returns the cwnd that the kernel is to reach. */
static inline __u32 on_loss(struct sock *sk, struct ww_host *host, enum ww_protocol protocol,
                            struct ww_window window) {
    const struct tcp_sock *tp = tcp_sk(sk);
    const struct ww_config config = config_of(protocol);
    struct ww_state *core = state_of(sk, host, protocol);
    if (is_of_family(&config) || !enters_cwr(tp))
        ww_on_loss(&config, core, &window, tp->tcp_mstamp, tp->packets_out, tp->mss_cache);
    else if (!ww_ignores_marks(&config))
        ww_on_mark(&config, core, &window, tp->tcp_mstamp, tp->packets_out, tp->mss_cache);
    host->marks |= WW_REDUCE;
    host->exit_ssthresh = window.ssthresh;
    host->ssthresh = has_rate_halving(protocol) ? window.ssthresh : window.cwnd;
    return host->ssthresh;
}

/* Implements ssthresh. */
static inline __u32 target_after_loss(struct sock *sk, struct ww_host *host,
                                      enum ww_protocol protocol) {
    const struct ww_window window = window_of(sk, host, protocol);
    const __u32 target = on_loss(sk, host, protocol, window);
    host->cwnd = window.cwnd;
    leave_marks(tcp_sk(sk), host);
    return target;
}

static inline void begin_recovery(struct sock *sk, struct ww_host *host, __u32 cc,
                                  enum ww_protocol protocol) {
    host->phase = WW_RECOVERY;
    host->marks &= ~WW_REDUCE;
    record_event(sk, host, cc, protocol, WW_EVENT_LOSS, WW_RECOVERY);
}

/*
 * Reports a timeout to the core. The kernel has already set cwnd, and has called ssthresh unless it was in
 * recovery. The core's state keeps the windows from before the first of these losses; an undo restores them.
 */
static inline void on_timeout(struct sock *sk, struct ww_host *host, enum ww_protocol protocol) {
    const struct ww_config config = config_of(protocol);
    const struct ww_common *common = &state_of(sk, host, protocol)->common;
    struct tcp_sock *tp = tcp_sk(sk);
    struct ww_window window = {ww_max_u32(common->prior_cwnd, 1), common->prior_ssthresh, 0};
    ww_on_rto(&config, state_of(sk, host, protocol), &window, tp->tcp_mstamp, tp->packets_out,
              tp->mss_cache, false);
    tp->snd_ssthresh = window.ssthresh;
}

/* Enters the loss state, after the timeout was reported or needed no report. */
static inline void begin_loss(struct sock *sk, struct ww_host *host, __u32 cc,
                              enum ww_protocol protocol) {
    host->phase = WW_LOSS;
    host->marks &= ~WW_REDUCE;
    record_event(sk, host, cc, protocol, WW_EVENT_TIMEOUT, WW_LOSS);
}

static inline void on_recovery_exit(struct sock *sk, struct ww_host *host, __u32 cc,
                                    enum ww_protocol protocol, struct ww_window window) {
    struct tcp_sock *tp = tcp_sk(sk);
    const struct ww_config config = config_of(protocol);
    ww_on_recovery_exit(&config, state_of(sk, host, protocol), &window, tp->tcp_mstamp,
                        tp->mss_cache);
    tp->snd_ssthresh = window.ssthresh;
    set_cwnd(tp, window.cwnd);
    host->phase = WW_OPEN;
    host->marks &= ~WW_REDUCE;
    record_event(sk, host, cc, protocol, WW_EVENT_EXIT, WW_OPEN);
}

/* Implements undo_cwnd. The kernel restores ssthresh itself. */
static inline __u32 on_undo(struct sock *sk, struct ww_host *host, __u32 cc,
                            enum ww_protocol protocol) {
    const struct ww_config config = config_of(protocol);
    struct ww_window window = window_of(sk, host, protocol);
    ww_on_undo(&config, state_of(sk, host, protocol), &window);
    record_event(sk, host, cc, protocol, WW_EVENT_UNDO, phase_of(ca_state(sk)));
    host->phase = WW_OPEN;
    host->marks &= ~(WW_UNDOABLE | WW_REDUCE);
    host->cwnd = window.cwnd;
    return window.cwnd;
}

/* Makes up for a skipped undo, and replaces impossible windows. */
static inline void mend_windows(struct sock *sk, struct ww_host *host, __u32 cc,
                                enum ww_protocol protocol) {
    struct tcp_sock *tp = tcp_sk(sk);
    if (missed_undo(tp, host)) {
        count_missed();
        tp->snd_cwnd = host->cwnd;
        set_cwnd(tp, on_undo(sk, host, cc, protocol));
    }
    const struct ww_window window = window_of(sk, host, protocol);
    set_cwnd(tp, window.cwnd);
    if (!missed_ssthresh(tp, host)) set_ssthresh(tp, window.ssthresh);
}

/* Makes up for a skipped ssthresh, with the windows from before the reduction. */
static inline void mend_reduction(struct sock *sk, struct ww_host *host,
                                  enum ww_protocol protocol) {
    struct tcp_sock *tp = tcp_sk(sk);
    if (!missed_ssthresh(tp, host)) return;
    count_missed();
    const struct ww_window before = {host->cwnd, host->ssthresh, 0};
    tp->snd_ssthresh = on_loss(sk, host, protocol, before);
}

/* Makes up for all skipped operations. By now the kernel has finished with them: its state shows the result. */
static inline void catch_up(struct sock *sk, struct ww_host *host, __u32 cc,
                            enum ww_protocol protocol) {
    const __u8 state = ca_state(sk);
    const bool timed_out = missed_timeout(tcp_sk(sk), host, state);
    const bool reduced = missed_ssthresh(tcp_sk(sk), host);
    mend_windows(sk, host, cc, protocol);
    mend_reduction(sk, host, protocol);
    if (timed_out) {
        count_missed();
        on_timeout(sk, host, protocol);
        begin_loss(sk, host, cc, protocol);
    } else if (host->marks & WW_REDUCE) {
        count_missed();
        begin_recovery(sk, host, cc, protocol);
    }
    if (host->phase == WW_RECOVERY && phase_of(state) < WW_RECOVERY) {
        struct ww_window window = window_of(sk, host, protocol);
        if (reduced) window.cwnd = host->ssthresh;
        window.ssthresh = host->exit_ssthresh;
        count_missed();
        on_recovery_exit(sk, host, cc, protocol, window);
    }
}

/*
 * Returns the segments that this ACK reports as arrived. The family's core counts those on the scoreboard itself, which
 * corrects itself when one ACK covers several retransmissions.
 */
static inline __u32 newly_delivered(const struct tcp_sock *tp, const struct ww_host *host,
                                    const struct ww_state *core, const struct ww_config *config) {
    if (is_of_family(config)) return tp->sacked_out - core->westwood.accounted_for;
    return tp->delivered - host->delivered;
}

/*
 * Returns a positive RTT of the kernel, else 0. It is also 0 if the kernel took it from timestamps, because the ACK
 * covers a retransmission. That is a difference of two clocks in whole milliseconds, which may be almost a millisecond
 * too small (tcp_ack_update_rtt()).
 */
static inline __u32 exact_rtt_us(long rtt_us, bool advanced, __u8 phase) {
    if (rtt_us <= 0) return 0;
    return advanced && phase > WW_DISORDER && (__u32)rtt_us % 1000 == 0 ? 0 : (__u32)rtt_us;
}

/* Implements pkts_acked. */
static inline void on_acked(struct sock *sk, struct ww_host *host, __u32 cc,
                            enum ww_protocol protocol, __s32 rtt_us) {
    struct tcp_sock *tp = tcp_sk(sk);
    struct ww_state *core = state_of(sk, host, protocol);
    catch_up(sk, host, cc, protocol);
    const struct ww_config config = config_of(protocol);
    const __u32 una = tp->snd_una, mss = tp->mss_cache;
    const __u8 state = ca_state(sk);

    struct ww_sample sample = {};
    sample.now_us = tp->tcp_mstamp;
    sample.mss = mss;
    sample.acked_segments = whole_segments(host->una, una, mss);
    sample.in_flight = tp->packets_out;
    sample.phase = phase_of(state);
    sample.rtt_us = una != host->una ? exact_rtt_us(rtt_us, true, sample.phase) : 0;
    sample.srtt_us = tp->srtt_us >> 3;
    sample.newly_delivered = newly_delivered(tp, host, core, &config);
    sample.is_dupack = una == host->una && (__s32)sample.newly_delivered > 0;
    sample.is_cwnd_limited = is_cwnd_limited(tp);
    host->una = una;
    if (!is_of_family(&config)) host->delivered = tp->delivered; /* rate halving keeps its own */

    const __u32 samples = core->westwood.samples;
    const __u64 mark_us = core->westwood.mark_us;
    struct ww_window window = window_of(sk, host, protocol);
    const __u32 ssthresh = window.ssthresh;
    core_on_ack(sk, host, protocol, &window, &sample);
    set_cwnd(tp, window.cwnd);
    /* A control may end slow start without a loss. In recovery PRR has its target there. */
    if (window.ssthresh != ssthresh && sample.phase <= WW_DISORDER)
        set_ssthresh(tp, window.ssthresh);
    keep_windows(tp, host);
    const bool is_due = is_of_family(&config) ? core->westwood.samples != samples &&
                                                    (config.sampler != WW_PER_ACK ||
                                                     is_new_period(mark_us, sample.now_us))
                                              : begins_period(host, sample.now_us);
    if (is_due) record_event(sk, host, cc, protocol, WW_EVENT_WINDOW, phase_of(state));
}

/* True if this change of state ends recovery. The kernel announces the change before it makes it. */
static inline bool ends_recovery(struct sock *sk, __u8 new_state) {
    return phase_of(ca_state(sk)) == WW_RECOVERY && phase_of(new_state) < WW_RECOVERY;
}

/* Implements set_state: the kernel is about to enter new_state. */
static inline void on_state(struct sock *sk, struct ww_host *host, __u32 cc,
                            enum ww_protocol protocol, __u8 new_state) {
    struct tcp_sock *tp = tcp_sk(sk);
    const __u8 old_state = ca_state(sk);
    mend_windows(sk, host, cc, protocol);
    mend_reduction(sk, host, protocol);
    if (new_state == TCP_CA_Loss) {
        /* A repeated timeout of the same segment leaves ssthresh unchanged. */
        if (inet_csk(sk)->icsk_retransmits == 0) on_timeout(sk, host, protocol);
        begin_loss(sk, host, cc, protocol);
    } else if (new_state == TCP_CA_Recovery ||
               (new_state != old_state && phase_of(new_state) == WW_RECOVERY)) {
        begin_recovery(sk, host, cc, protocol);
    } else if (host->phase == WW_LOSS || (ends_recovery(sk, new_state) && was_undone(sk))) {
        host->phase = (__u8)phase_of(new_state);
    } else if (has_rate_halving(protocol) && ends_recovery(sk, new_state)) {
        on_recovery_exit(sk, host, cc, protocol, window_of(sk, host, protocol));
    }
    keep_windows(tp, host);
}

/* Handles COMPLETE_CWR: the kernel's PRR has ended and cwnd has reached its target. */
static inline void on_complete(struct sock *sk, struct ww_host *host, __u32 cc,
                               enum ww_protocol protocol) {
    mend_windows(sk, host, cc, protocol);
    mend_reduction(sk, host, protocol);
    if (!was_undone(sk)) {
        struct ww_window window = window_of(sk, host, protocol);
        window.ssthresh = host->exit_ssthresh;
        if (host->marks & WW_REDUCE) {
            window.cwnd = host->ssthresh;
            count_missed();
            begin_recovery(sk, host, cc, protocol);
        }
        on_recovery_exit(sk, host, cc, protocol, window);
    }
    keep_windows(tcp_sk(sk), host);
}

/*
 * Sets cwnd after an ACK in recovery, never below ssthresh, which is BWE*RTTmin at the loss. It counts
 * delivered segments instead of ACKs, since ACKs may be merged. cwnd_count keeps an odd segment for the next call.
 */
static inline void halve_rate(struct sock *sk, struct ww_host *host, enum ww_protocol protocol) {
    struct tcp_sock *tp = tcp_sk(sk);
    struct ww_common *common = &state_of(sk, host, protocol)->common;
    const __u32 acks = ww_min_u32(tp->delivered - host->delivered, WW_CWND_MAX);
    host->delivered = tp->delivered;
    if (acks == 0 || phase_of(ca_state(sk)) != WW_RECOVERY) return;
    __u32 odd = common->cwnd_count & 1;
    set_cwnd(tp, ww_rate_halving_on_ack(&odd, tp->snd_cwnd, tp->snd_ssthresh, pipe_of(tp), acks));
    common->cwnd_count = odd;
}

/* Implements cong_avoid, or cong_control with rate halving. on_acked has done the rest. */
static inline void on_control(struct sock *sk, struct ww_host *host, __u32 cc,
                              enum ww_protocol protocol) {
    mend_windows(sk, host, cc, protocol);
    mend_reduction(sk, host, protocol);
    if (has_rate_halving(protocol)) halve_rate(sk, host, protocol);
    keep_windows(tcp_sk(sk), host);
}

#endif
