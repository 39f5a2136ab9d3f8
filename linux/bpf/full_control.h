/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hosts the core for a control that sets cwnd in recovery itself (ww_owns_recovery). control.h hosts the others.
 *
 * Such a control implements cong_control. The kernel calls it with the rate sample at the end of each ACK, after loss
 * detection and any change of state. It replaces PRR, cong_avoid, the kernel's restart after idle times and its pacing
 * rate. The core expects each ACK before its consequences, in the phase in which it arrived. So this file stores what
 * the kernel reports during an ACK and passes it on in this order:
 *
 *   pkts_acked     marks the start of an ACK.
 *   ssthresh       marks a reduction as due and returns the present ssthresh. The core's answer is set later.
 *   undo_cwnd      marks an undo as due and returns the present cwnd.
 *   cong_control   calls ww_on_ack if the ACK reported any delivery, then settle(): ww_on_undo or
 *                  ww_on_recovery_exit, then ww_on_loss, or ww_on_mark if the state is CWR (a congestion mark
 *                  or a full local queue). The core does not treat CWR as a recovery.
 *   set_state      Loss: calls ww_on_rto at once, with the window that the kernel saved before the timeout. Other
 *                  states outside an ACK (RACK's timer, a full local queue): calls settle() at once.
 *   cwnd_event     TX_START: applies RFC 5681, 4.1, as tcp_slow_start_after_idle_check() does for other controls.
 *
 * Nothing else sets the windows, except that a timeout or a larger MTU lowers cwnd. So `host` holds the windows in
 * force, and each operation ends by writing them to the socket. settle() sees a change of state even if the kernel
 * skipped our operations for it (host.h). For the same reason newly_delivered and newly_lost are differences of the
 * kernel's counters since the last ACK, rather than fields of its rate sample.
 *
 * The sample's fields are filled as in control.h, with these differences:
 *
 *   is_dupack         is true if snd_una did not advance and more was delivered.
 *   rate_segments, rate_interval_us, rate_rtt_us, prior_delivered, is_app_limited   come from the kernel's rate
 *                     sample; for rate_rtt_us see exact_rtt_us.
 *   pipe              is tcp_packets_in_flight after losses were marked.
 *   FlightSize        for ww_on_loss and ww_on_rto is the cwnd before them, as in the kernel's own controls.
 *
 * After a timeout cwnd is the kernel's: 1 + the segments still in flight. The first retransmission of a recovery
 * does not wait for the pipe to fall below cwnd (RFC 6675, 5, step 4.3): snd_cwnd makes room for it until the next ACK.
 */
#ifndef WW_FULL_CONTROL_H
#define WW_FULL_CONTROL_H

#include "control.h"
#include "flights.h"

/* Removes the extra room for the first retransmission and returns the windows that the core knows. */
static inline struct ww_window full_control_window(struct sock *sk, struct ww_host *host) {
    struct ww_window window = {ww_max_u32(ww_min_u32(host->cwnd, WW_CWND_MAX), 1),
                               ww_min_u32(host->ssthresh, WW_SSTHRESH_INFINITE), 0};
    host->marks &= ~WW_BEYOND;
    if (host->marks & WW_PACED)
        window.pacing = ww_min_u64(sk->sk_pacing_rate, WW_BW_MAX >> WW_BW_FRACTION)
                        << WW_BW_FRACTION;
    return window;
}

static inline void keep_window(struct sock *sk, struct ww_host *host,
                               const struct ww_window *window) {
    host->cwnd = ww_max_u32(ww_min_u32(window->cwnd, tcp_sk(sk)->snd_cwnd_clamp), 1);
    host->ssthresh = window->ssthresh;
}

/* Ends an operation: writes the windows to the socket. */
static inline void set_windows(struct sock *sk, struct ww_host *host) {
    struct tcp_sock *tp = tcp_sk(sk);
    const __u32 room = host->marks & WW_BEYOND ? pipe_of(tp) + 1 : 0;
    set_ssthresh(tp, host->ssthresh);
    set_cwnd(tp, ww_max_u32(host->cwnd, room));
    leave_marks(tp, host);
}

/* Marks a reduction or an undo as due if the kernel skipped our operation for it. */
static inline void note_missed(struct sock *sk, struct ww_host *host) {
    struct tcp_sock *tp = tcp_sk(sk);
    const bool reduces = missed_ssthresh(tp, host), undoes = missed_undo(tp, host);
    if (reduces) host->marks |= WW_REDUCE;
    if (undoes) host->marks = (host->marks | WW_UNDO) & ~WW_UNDOABLE;
    if (reduces || undoes) count_missed();
    set_ssthresh(tp, host->ssthresh);
}

/*
 * True while pacing holds the next segment back. The kernel stamps a segment with this later time, even if pacing ends
 * and the segment departs at once; its RTT would then be too short.
 */
static inline bool is_held_back(const struct tcp_sock *tp) {
    return tp->tcp_wstamp_ns / 1000 > tp->tcp_mstamp;
}

/*
 * Paces at the core's rate, or without one at the kernel's usual rate, which only limits bursts. Internal pacing is
 * switched off again with the core's rate, unless the application or fq had enabled pacing. It waits for the segment
 * that it holds back.
 */
static inline void set_pacing(struct sock *sk, struct ww_host *host, __u64 pacing) {
    const bool paced = host->marks & WW_PACED;
    if (pacing == 0)
        set_pacing_rate(sk);
    else
        pace(sk, pacing >> WW_BW_FRACTION);
    if (pacing != 0 && sk->sk_pacing_status == SK_PACING_NONE) {
        sk->sk_pacing_status = SK_PACING_NEEDED;
        host->marks |= WW_PACED;
    } else if (pacing == 0 && paced && !is_held_back(tcp_sk(sk))) {
        if (sk->sk_pacing_status == SK_PACING_NEEDED) sk->sk_pacing_status = SK_PACING_NONE;
        host->marks &= ~WW_PACED;
    }
}

static inline void full_control_lose(struct sock *sk, struct ww_host *host, __u32 cc,
                                     enum ww_protocol protocol) {
    const struct ww_config config = config_of(protocol);
    struct tcp_sock *tp = tcp_sk(sk);
    struct ww_window window = full_control_window(sk, host);
    const __u32 cwnd = window.cwnd;
    ww_on_loss(&config, state_of(sk, host, protocol), &window, tp->tcp_mstamp, cwnd, tp->mss_cache);
    set_cwnd(tp, cwnd);
    set_ssthresh(tp, window.ssthresh);
    record_event(sk, host, cc, protocol, WW_EVENT_LOSS,
                 WW_RECOVERY); /* with cwnd from before the loss */
    keep_window(sk, host, &window);
    if (pipe_of(tp) >= host->cwnd) host->marks |= WW_BEYOND;
}

static inline void full_control_leave(struct sock *sk, struct ww_host *host, __u32 cc,
                                      enum ww_protocol protocol) {
    const struct ww_config config = config_of(protocol);
    const struct tcp_sock *tp = tcp_sk(sk);
    struct ww_window window = full_control_window(sk, host);
    ww_on_recovery_exit(&config, state_of(sk, host, protocol), &window, tp->tcp_mstamp,
                        tp->mss_cache);
    keep_window(sk, host, &window);
    set_windows(sk, host);
    record_event(sk, host, cc, protocol, WW_EVENT_EXIT, WW_OPEN);
}

static inline void full_control_undo(struct sock *sk, struct ww_host *host, __u32 cc,
                                     enum ww_protocol protocol) {
    const struct ww_config config = config_of(protocol);
    struct ww_window window = full_control_window(sk, host);
    ww_on_undo(&config, state_of(sk, host, protocol), &window);
    record_event(sk, host, cc, protocol, WW_EVENT_UNDO, phase_of(ca_state(sk)));
    keep_window(sk, host, &window);
}

static inline void full_control_mark(struct sock *sk, struct ww_host *host, __u32 cc,
                                     enum ww_protocol protocol) {
    const struct ww_config config = config_of(protocol);
    struct tcp_sock *tp = tcp_sk(sk);
    if (ww_ignores_marks(&config)) return;
    struct ww_window window = full_control_window(sk, host);
    const __u32 cwnd = window.cwnd;
    ww_on_mark(&config, state_of(sk, host, protocol), &window, tp->tcp_mstamp, cwnd, tp->mss_cache);
    set_cwnd(tp, cwnd);
    set_ssthresh(tp, window.ssthresh);
    record_event(sk, host, cc, protocol, WW_EVENT_LOSS, WW_RECOVERY);
    keep_window(sk, host, &window);
    full_control_leave(sk, host, cc, protocol);
}

/*
 * Reports the kernel's new state to the core. One ACK may end a recovery and begin the next. A reduction may
 * end with the ACK that starts it: a tail loss probe has already repaired the loss.
 */
static inline void settle(struct sock *sk, struct ww_host *host, __u32 cc,
                          enum ww_protocol protocol, __u8 state) {
    const enum ww_phase phase = core_phase(protocol, state);
    const bool recovered = host->phase == WW_RECOVERY, reduces = host->marks & WW_REDUCE;
    if (host->marks & WW_UNDO)
        full_control_undo(sk, host, cc, protocol);
    else if (recovered && (phase != WW_RECOVERY || reduces))
        full_control_leave(sk, host, cc, protocol);
    if (reduces && state == TCP_CA_CWR) {
        full_control_mark(sk, host, cc, protocol);
    } else if (reduces || (!recovered && phase == WW_RECOVERY)) {
        full_control_lose(sk, host, cc, protocol);
        if (phase != WW_RECOVERY) full_control_leave(sk, host, cc, protocol);
    }
    host->phase = (__u8)phase;
    host->marks &= ~(WW_REDUCE | WW_UNDO);
    set_windows(sk, host);
}

/* Reports a timeout to the core. The kernel lowers cwnd itself, and calls ssthresh only once for repeated timeouts. */
static inline void full_control_on_timeout(struct sock *sk, struct ww_host *host, __u32 cc,
                                           enum ww_protocol protocol) {
    const struct ww_config config = config_of(protocol);
    struct tcp_sock *tp = tcp_sk(sk);
    const __u32 most = ww_max_u32(host->cwnd, state_of(sk, host, protocol)->common.prior_cwnd);
    const bool repeated = !(host->marks & WW_REDUCE);
    struct ww_window window = full_control_window(sk, host);
    window.pacing = 0;
    window.cwnd = ww_max_u32(ww_min_u32(ww_min_u32(tp->prior_cwnd, most), WW_CWND_MAX), 1);
    ww_on_rto(&config, state_of(sk, host, protocol), &window, tp->tcp_mstamp, window.cwnd,
              tp->mss_cache, repeated);
    window.cwnd = ww_min_u32(tp->snd_cwnd, most);
    keep_window(sk, host, &window);
    host->phase = WW_LOSS;
    host->marks &= WW_PACED;
    set_windows(sk, host);
    record_event(sk, host, cc, protocol, WW_EVENT_TIMEOUT, WW_LOSS);
}

/* Implements set_state: the kernel is about to enter new_state. */
static inline void full_control_on_state(struct sock *sk, struct ww_host *host, __u32 cc,
                                         enum ww_protocol protocol, __u8 new_state) {
    note_missed(sk, host);
    if (new_state == TCP_CA_Loss)
        full_control_on_timeout(sk, host, cc, protocol);
    else if (!(host->marks & WW_ACKING))
        settle(sk, host, cc, protocol, new_state);
}

static inline void fill_sample(struct sock *sk, const struct ww_host *host,
                               const struct rate_sample *rate, struct ww_sample *sample) {
    const struct tcp_sock *tp = tcp_sk(sk);
    const bool advanced = tp->snd_una != host->una;
    sample->now_us = tp->tcp_mstamp;
    sample->mss = tp->mss_cache;
    sample->srtt_us = tp->srtt_us >> 3;
    sample->acked_segments = whole_segments(host->una, tp->snd_una, tp->mss_cache);
    sample->in_flight = tp->packets_out;
    sample->rate_rtt_us = exact_rtt_us(rate->rtt_us, advanced, host->phase);
    sample->rtt_us = advanced ? sample->rate_rtt_us : 0;
    sample->phase = advanced && host->phase == WW_DISORDER ? WW_OPEN : host->phase;
    sample->is_cwnd_limited = is_cwnd_limited(tp);
    sample->newly_delivered = tp->delivered - host->delivered;
    sample->is_dupack = !advanced && sample->newly_delivered != 0;
    sample->is_app_limited = rate->is_app_limited;
    sample->newly_lost = tp->lost - host->lost;
    sample->pipe = pipe_of(tp);
    sample->delivered = tp->delivered;
    if (rate->delivered <= 0 || rate->interval_us <= 0) return;
    sample->rate_segments = (__u32)rate->delivered;
    sample->rate_interval_us = (__u32)rate->interval_us;
    sample->prior_delivered = rate->prior_delivered;
}

/* Hides the sample's values from the verifier: see forgotten(). */
static inline void forget(struct ww_sample *sample) {
    const __u32 any = sample->delivered;
#define WW_FORGET(field) sample->field = (typeof(sample->field))forgotten(sample->field, any);
#define WW_FORGET_BIT(field) sample->field = forgotten(sample->field, any) & 1;
    WW_FORGET(acked_segments)
    WW_FORGET(rtt_us)
    WW_FORGET(rate_rtt_us)
    WW_FORGET(phase)
    WW_FORGET(rate_segments)
    WW_FORGET(rate_interval_us)
    WW_FORGET(prior_delivered)
    WW_FORGET_BIT(is_dupack)
    WW_FORGET_BIT(is_cwnd_limited)
    WW_FORGET_BIT(is_app_limited)
}

static inline void full_control_take_ack(struct sock *sk, struct ww_host *host, __u32 cc,
                                         enum ww_protocol protocol,
                                         const struct rate_sample *rate) {
    const struct tcp_sock *tp = tcp_sk(sk);
    struct ww_sample sample = {};
    fill_sample(sk, host, rate, &sample);
    forget(&sample);
    if (tp->snd_una == host->una && sample.newly_delivered == 0) return;
    struct ww_window window = full_control_window(sk, host);
    window.cwnd = forgotten(window.cwnd, sample.delivered);
    window.ssthresh = forgotten(window.ssthresh, sample.delivered);
    if (follows_packets(protocol)) report_packets(sk, host, protocol, &window, &sample);
    core_on_ack(sk, host, protocol, &window, &sample);
    keep_window(sk, host, &window);
    set_windows(sk, host);
    set_pacing(sk, host, window.pacing);
    keep_counters(tp, host);
    if (begins_period(host, sample.now_us))
        record_event(sk, host, cc, protocol, WW_EVENT_WINDOW, (enum ww_phase)sample.phase);
}

/* Implements cong_control. */
static inline void full_control_on_ack(struct sock *sk, struct ww_host *host, __u32 cc,
                                       enum ww_protocol protocol, const struct rate_sample *rate) {
    const struct tcp_sock *tp = tcp_sk(sk);
    const bool timed_out = missed_timeout(tp, host, ca_state(sk));
    note_missed(sk, host);
    if (timed_out) {
        count_missed();
        full_control_on_timeout(sk, host, cc, protocol);
    } else if (has_begun_reduction(tp)) { /* or a larger MTU */
        host->cwnd = ww_min_u32(host->cwnd, ww_max_u32(tp->snd_cwnd, 1));
    }
    full_control_take_ack(sk, host, cc, protocol, rate);
    host->marks &= ~WW_ACKING;
    settle(sk, host, cc, protocol, ca_state(sk));
}

/* Stores a request of the kernel until the end of the ACK. Returns the present value, which stands until then. */
static inline __u32 put_off(struct ww_host *host, __u8 mark, __u32 present) {
    host->marks |= mark;
    return present;
}

/* Reports the end of a silence to a control that follows packets. */
static inline void restart_with_core(struct sock *sk, struct ww_host *host,
                                     enum ww_protocol protocol) {
    struct ww_window window = full_control_window(sk, host);
    report_sent(sk, state_of(sk, host, protocol), &window, 0, tcp_sk(sk)->app_limited != 0);
    keep_window(sk, host, &window);
    set_windows(sk, host);
    set_pacing(sk, host, window.pacing);
}

/* Restarts after an idle time: halves cwnd once per idle RTO, but not below the initial window. */
static inline void restart_after_idle(struct sock *sk, struct ww_host *host) {
    const struct tcp_sock *tp = tcp_sk(sk);
    const __u32 rto = inet_csk(sk)->icsk_rto, cwnd = host->cwnd;
    const __u32 idle = (__u32)bpf_jiffies64() - tp->lsndtime;
    if (!sk->__sk_common.skc_net.net->ipv4.sysctl_tcp_slow_start_after_idle || idle <= rto ||
        rto == 0)
        return;
    const __u32 halvings = ww_min_u32(idle / rto, 31);
    host->ssthresh = ww_max_u32(host->ssthresh, cwnd - cwnd / 4);
    host->cwnd = ww_max_u32(cwnd >> halvings, ww_min_u32(cwnd, TCP_INIT_CWND));
    set_windows(sk, host);
}

#endif
