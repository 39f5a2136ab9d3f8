/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel as a host of a control that owns recovery (ww_owns_recovery): what control.h is for the others.
 *
 * The operation is cong_control. The kernel calls it at the end of each ACK, after it has looked for losses
 * and changed its state, with the rate sample; PRR, cong_avoid, its restart after idle times and its pacing
 * rate are then ours. The contract has an ACK told before what it leads to, in the phase it arrived in.
 * So what the kernel says in the course of an ACK is kept, and told in this order:
 *
 *   pkts_acked     an ACK has begun.
 *   ssthresh       a reduction is due. It returns what ssthresh is: the core's answer is set below.
 *   undo_cwnd      an undo is due. It returns what cwnd is, likewise.
 *   cong_control   ww_on_ack, if the ACK said that anything arrived; then settle(): ww_on_undo or
 *                  ww_on_recovery_exit, and ww_on_loss, or ww_on_mark if the state is CWR: a congestion
 *                  mark, or a local queue that is full. CWR is no recovery to the core.
 *   set_state      Loss: ww_on_rto at once, with the window from before it that the kernel keeps. Another
 *                  state that no ACK has brought (RACK's timer, a local queue that is full): settle() at once.
 *   cwnd_event     TX_START: RFC 5681, 4.1, as tcp_slow_start_after_idle_check() does for other controls.
 *
 * A change of state shows in settle() even if the kernel did not run our operations for it, which control.h
 * reports of one recovery in some thousand. For the same reason newly_delivered and newly_lost are differences
 * of the kernel's counters since the last ACK told, not those of its rate sample.
 *
 * A sample's fields are those of control.h, and these:
 *
 *   is_dupack         snd_una stood still, and more was delivered.
 *   rate_segments, rate_interval_us, rate_rtt_us, prior_delivered, is_app_limited   are the kernel's rate
 *                     sample.
 *   pipe              tcp_packets_in_flight, after losses were marked.
 *   FlightSize        of ww_on_loss and ww_on_rto is cwnd before it, as the kernel's own controls have it.
 *
 * After a timeout cwnd is the kernel's, 1 + what is still in flight. The first retransmission of a recovery
 * does not wait for the pipe to fall below cwnd (RFC 6675, 5, step 4.3): until the next ACK snd_cwnd lets it go,
 * and snd_cwnd_cnt, which the kernel's own growth would need, has the core's.
 */
#ifndef WW_OWNER_H
#define WW_OWNER_H

#include "control.h"

enum {
    WW_READY = 1,   /* init has run */
    WW_ACKING = 2,  /* the kernel takes in an ACK: cong_control will follow */
    WW_REDUCE = 4,  /* it has asked for ssthresh since the core was last told */
    WW_UNDO = 8,    /* it has asked for an undo */
    WW_PACED = 32,  /* we have TCP pace itself */
    WW_BEYOND = 16, /* snd_cwnd has room for one more than the core says: that is in snd_cwnd_cnt */
};

/* What this host keeps behind the state of the core. */
struct ww_owner {
    __u32 una; /* snd_una, delivered and lost at the last ACK that was told */
    __u32 delivered;
    __u32 lost;
    __u8 phase; /* enum ww_phase: what the core has been told of */
    __u8 marks;
    __u16 period; /* of 65.5 ms, in which an event was last recorded */
};

#define WW_OWNER_STATE_MAX (WW_STATE_MAX - sizeof(struct ww_owner))
#define WW_SIZE(ID, name) WW_SIZE_##ID = sizeof(struct ww_##name##_state),
enum { WW_ALGORITHMS(WW_SIZE) };
#undef WW_SIZE

static inline struct ww_state *state_of(struct sock *sk) { return &private_of(sk)->state; }

static inline struct ww_owner *owner_of(struct sock *sk) {
    return (struct ww_owner *)((__u8 *)inet_csk(sk)->icsk_ca_priv + WW_OWNER_STATE_MAX);
}

/* The core's word for a state. */
static inline enum ww_phase owner_phase(__u8 state) {
    return state == TCP_CA_CWR ? WW_OPEN : phase_of(state);
}

static inline void owner_on_init(struct sock *sk, __u32 cc, enum ww_protocol protocol) {
    const struct ww_config config = config_of(protocol);
    const struct tcp_sock *tp = tcp_sk(sk);
    struct ww_owner *owner = owner_of(sk);
    ww_init(&config, state_of(sk));
    owner->una = tp->snd_una;
    owner->delivered = tp->delivered;
    owner->lost = tp->lost;
    owner->phase = (__u8)owner_phase(ca_state(sk));
    owner->marks = WW_READY;
    count_opened(cc);
    record_event(sk, cc, protocol, WW_EVENT_START, phase_of(ca_state(sk)));
}

/* Takes back what the first retransmission needed, and returns the windows that the core knows. */
static inline struct ww_window owner_window(struct sock *sk) {
    struct tcp_sock *tp = tcp_sk(sk);
    /* 0: the kernel has begun another reduction meanwhile. */
    if (owner_of(sk)->marks & WW_BEYOND && tp->snd_cwnd_cnt != 0) set_cwnd(tp, tp->snd_cwnd_cnt);
    owner_of(sk)->marks &= ~WW_BEYOND;
    struct ww_window window = window_of(tp);
    if (owner_of(sk)->marks & WW_PACED)
        window.pacing = ww_min_u64(sk->sk_pacing_rate, WW_BW_MAX >> WW_BW_FRACTION)
                        << WW_BW_FRACTION;
    return window;
}

static inline void set_windows(struct sock *sk, const struct ww_window *window) {
    struct tcp_sock *tp = tcp_sk(sk);
    if (window->ssthresh != tp->snd_ssthresh) tp->snd_ssthresh = window->ssthresh;
    set_cwnd(tp, window->cwnd);
}

/*
 * Paces as the core says, or as the kernel's own computation has it, which is for bursts only. TCP paces itself then
 * and no longer than that: an application that wants to be paced, or fq, has set the status before.
 */
static inline void set_pacing(struct sock *sk, __u64 pacing) {
    struct ww_owner *owner = owner_of(sk);
    const bool paced = owner->marks & WW_PACED;
    if (pacing == 0)
        set_pacing_rate(sk);
    else
        pace(sk, pacing >> WW_BW_FRACTION);
    if (pacing != 0 && sk->sk_pacing_status == SK_PACING_NONE) {
        sk->sk_pacing_status = SK_PACING_NEEDED;
        owner->marks |= WW_PACED;
    } else if (pacing == 0 && paced) {
        if (sk->sk_pacing_status == SK_PACING_NEEDED) sk->sk_pacing_status = SK_PACING_NONE;
        owner->marks &= ~WW_PACED;
    }
}

static inline void owner_lose(struct sock *sk, __u32 cc, enum ww_protocol protocol) {
    const struct ww_config config = config_of(protocol);
    struct tcp_sock *tp = tcp_sk(sk);
    struct ww_window window = owner_window(sk);
    const __u32 cwnd = window.cwnd;
    ww_on_loss(&config, state_of(sk), &window, tp->tcp_mstamp, cwnd, tp->mss_cache);
    tp->snd_ssthresh = window.ssthresh;
    record_event(sk, cc, protocol, WW_EVENT_LOSS, WW_RECOVERY); /* with the cwnd before it */
    set_cwnd(tp, window.cwnd);
    if (pipe_of(tp) < tp->snd_cwnd) return;
    tp->snd_cwnd_cnt = tp->snd_cwnd;
    set_cwnd(tp, pipe_of(tp) + 1);
    owner_of(sk)->marks |= WW_BEYOND;
}

static inline void owner_leave(struct sock *sk, __u32 cc, enum ww_protocol protocol) {
    const struct ww_config config = config_of(protocol);
    struct tcp_sock *tp = tcp_sk(sk);
    struct ww_window window = owner_window(sk);
    ww_on_recovery_exit(&config, state_of(sk), &window, tp->tcp_mstamp, tp->mss_cache);
    set_windows(sk, &window);
    record_event(sk, cc, protocol, WW_EVENT_EXIT, WW_OPEN);
}

static inline void owner_undo(struct sock *sk, __u32 cc, enum ww_protocol protocol) {
    const struct ww_config config = config_of(protocol);
    struct ww_window window = owner_window(sk);
    ww_on_undo(&config, state_of(sk), &window);
    record_event(sk, cc, protocol, WW_EVENT_UNDO, phase_of(ca_state(sk)));
    set_windows(sk, &window);
}

static inline void owner_mark(struct sock *sk, __u32 cc, enum ww_protocol protocol) {
    const struct ww_config config = config_of(protocol);
    struct tcp_sock *tp = tcp_sk(sk);
    if (ww_ignores_marks(&config)) return;
    struct ww_window window = owner_window(sk);
    const __u32 cwnd = window.cwnd;
    ww_on_mark(&config, state_of(sk), &window, tp->tcp_mstamp, cwnd, tp->mss_cache);
    tp->snd_ssthresh = window.ssthresh;
    record_event(sk, cc, protocol, WW_EVENT_LOSS, WW_RECOVERY);
    set_cwnd(tp, window.cwnd);
    owner_leave(sk, cc, protocol);
}

/*
 * Tells the core what the kernel's state has become. A recovery may end and the next begin with one ACK; a
 * reduction may be over with the ACK that brings it (a loss that its probe has repaired).
 */
static inline void settle(struct sock *sk, __u32 cc, enum ww_protocol protocol, __u8 state) {
    struct ww_owner *owner = owner_of(sk);
    const enum ww_phase phase = owner_phase(state);
    const bool recovered = owner->phase == WW_RECOVERY, reduces = owner->marks & WW_REDUCE;
    if (owner->marks & WW_UNDO)
        owner_undo(sk, cc, protocol);
    else if (recovered && (phase != WW_RECOVERY || reduces))
        owner_leave(sk, cc, protocol);
    if (reduces && state == TCP_CA_CWR) {
        owner_mark(sk, cc, protocol);
    } else if (reduces || (!recovered && phase == WW_RECOVERY)) {
        owner_lose(sk, cc, protocol);
        if (phase != WW_RECOVERY) owner_leave(sk, cc, protocol);
    }
    owner->phase = (__u8)phase;
    owner->marks &= ~(WW_REDUCE | WW_UNDO);
}

static inline void owner_on_timeout(struct sock *sk, __u32 cc, enum ww_protocol protocol) {
    const struct ww_config config = config_of(protocol);
    struct tcp_sock *tp = tcp_sk(sk);
    struct ww_owner *owner = owner_of(sk);
    const bool repeated = !(owner->marks & WW_REDUCE);
    struct ww_window window = window_of(tp);
    window.cwnd = ww_max_u32(ww_min_u32(tp->prior_cwnd, WW_CWND_MAX), 1);
    ww_on_rto(&config, state_of(sk), &window, tp->tcp_mstamp, window.cwnd, tp->mss_cache, repeated);
    tp->snd_ssthresh = window.ssthresh;
    owner->phase = WW_LOSS;
    owner->marks &= WW_READY | WW_PACED;
    record_event(sk, cc, protocol, WW_EVENT_TIMEOUT, WW_LOSS);
}

/* The kernel is about to replace the present state by new_state. */
static inline void owner_on_state(struct sock *sk, __u32 cc, enum ww_protocol protocol,
                                  __u8 new_state) {
    const __u8 marks = owner_of(sk)->marks;
    if (!(marks & WW_READY)) return;
    if (new_state == TCP_CA_Loss)
        owner_on_timeout(sk, cc, protocol);
    else if (!(marks & WW_ACKING))
        settle(sk, cc, protocol, new_state);
}

static inline void fill_sample(struct sock *sk, const struct rate_sample *rate,
                               struct ww_sample *sample) {
    const struct tcp_sock *tp = tcp_sk(sk);
    const struct ww_owner *owner = owner_of(sk);
    const bool advanced = tp->snd_una != owner->una;
    sample->now_us = tp->tcp_mstamp;
    sample->mss = tp->mss_cache;
    sample->acked_segments = whole_segments(owner->una, tp->snd_una, tp->mss_cache);
    sample->in_flight = tp->packets_out;
    sample->rate_rtt_us = rate->rtt_us > 0 ? (__u32)rate->rtt_us : 0;
    sample->rtt_us = advanced ? sample->rate_rtt_us : 0;
    sample->phase = advanced && owner->phase == WW_DISORDER ? WW_OPEN : owner->phase;
    sample->is_cwnd_limited = is_cwnd_limited(tp);
    sample->newly_delivered = tp->delivered - owner->delivered;
    sample->is_dupack = !advanced && sample->newly_delivered != 0;
    sample->is_app_limited = rate->is_app_limited;
    sample->newly_lost = tp->lost - owner->lost;
    sample->pipe = pipe_of(tp);
    sample->delivered = tp->delivered;
    if (rate->delivered <= 0 || rate->interval_us <= 0) return;
    sample->rate_segments = (__u32)rate->delivered;
    sample->rate_interval_us = (__u32)rate->interval_us;
    sample->prior_delivered = rate->prior_delivered;
}

/* Of a sample the verifier is to know nothing: see forgotten(). */
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

static inline void owner_take_ack(struct sock *sk, __u32 cc, enum ww_protocol protocol,
                                  const struct rate_sample *rate) {
    const struct ww_config config = config_of(protocol);
    struct tcp_sock *tp = tcp_sk(sk);
    struct ww_owner *owner = owner_of(sk);
    struct ww_sample sample = {};
    fill_sample(sk, rate, &sample);
    forget(&sample);
    if (tp->snd_una == owner->una && sample.newly_delivered == 0) return;
    struct ww_window window = owner_window(sk);
    window.cwnd = forgotten(window.cwnd, sample.delivered);
    window.ssthresh = forgotten(window.ssthresh, sample.delivered);
    ww_on_ack(&config, state_of(sk), &window, &sample);
    set_windows(sk, &window);
    set_pacing(sk, window.pacing);
    owner->una = tp->snd_una;
    owner->delivered = tp->delivered;
    owner->lost = tp->lost;
    const __u16 period = (__u16)(sample.now_us >> 16);
    if (owner->period == period) return;
    owner->period = period;
    record_event(sk, cc, protocol, WW_EVENT_WINDOW, (enum ww_phase)sample.phase);
}

static inline void owner_on_ack(struct sock *sk, __u32 cc, enum ww_protocol protocol,
                                const struct rate_sample *rate) {
    struct ww_owner *owner = owner_of(sk);
    if (!(owner->marks & WW_READY)) return; /* this ACK is for our SYN */
    owner_take_ack(sk, cc, protocol, rate);
    owner->marks &= ~WW_ACKING;
    settle(sk, cc, protocol, ca_state(sk));
}

/* Keeps for the end of the ACK what the kernel asks. Returns the value that is to stand until then. */
static inline __u32 put_off(struct sock *sk, __u8 mark, __u32 present) {
    struct ww_owner *owner = owner_of(sk);
    if (owner->marks & WW_READY) owner->marks |= mark;
    return present;
}

/* Data leave after an idle time: halves cwnd for each RTO of it, down to what a connection begins with. */
static inline void restart_after_idle(struct sock *sk) {
    struct tcp_sock *tp = tcp_sk(sk);
    const __u32 rto = inet_csk(sk)->icsk_rto, cwnd = tp->snd_cwnd;
    const __u32 idle = (__u32)bpf_jiffies64() - tp->lsndtime;
    if (!sk->__sk_common.skc_net.net->ipv4.sysctl_tcp_slow_start_after_idle || idle <= rto ||
        rto == 0)
        return;
    tp->snd_ssthresh = ww_max_u32(tp->snd_ssthresh, cwnd - cwnd / 4);
    const __u32 halvings = ww_min_u32(idle / rto, 31);
    set_cwnd(tp, ww_max_u32(cwnd >> halvings, ww_min_u32(cwnd, TCP_INIT_CWND)));
}

#endif
