/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Holds what our host knows of a connection beyond the core's state: the windows after our last operation and what the
 * core has seen. It lies in the socket's BPF storage, so that the core may use all of icsk_ca_priv. The storage also has
 * the state of controls that need more, and of users' controls: there they may index arrays, which the verifier refuses
 * in a socket.
 *
 * The kernel may skip our operations and use leftovers on the stack as their result: see docs/linux-path.md. So
 * each operation first looks for signs of skipped ones and makes up for them:
 *
 *   sign                           skipped operation
 *   the connection has no host     init. The kernel's icsk_ca_initialized says that it was due.
 *   snd_cwnd_cnt is 0 and          ssthresh. The kernel zeroes this count when it begins a reduction; our operations,
 *   snd_ssthresh is not ours       which have no other use for it, set it to 1. A larger MTU zeroes the count as well
 *                                  but keeps ssthresh.
 *   undo_marker is gone            undo_cwnd, unless a reduction has begun since.
 *   snd_cwnd is impossible         undo_cwnd, or the kernel's own recovery with a wrong ssthresh. The kernel never
 *                                  opens the window beyond its value before the last loss.
 *   the state is not the one       set_state, or the event COMPLETE_CWR.
 *   that the core knows
 */
#ifndef WW_HOST_H
#define WW_HOST_H

#include "record.h"

enum {
    WW_ACKING = 1,   /* the kernel is processing an ACK: cong_control will follow */
    WW_REDUCE = 2,   /* the kernel called ssthresh, and the core does not know yet */
    WW_UNDO = 4,     /* the kernel called undo_cwnd, likewise */
    WW_BEYOND = 8,   /* snd_cwnd has room for one segment more than the core's cwnd */
    WW_PACED = 16,   /* we enabled TCP's internal pacing */
    WW_UNDOABLE = 32 /* undo_marker was set at the end of the last operation */
};

struct ww_host {
    __u32 cwnd; /* cwnd and ssthresh at the end of the last operation */
    __u32 ssthresh;
    __u32 una; /* snd_una, delivered and lost at the last ACK that the core saw */
    __u32 delivered;
    __u32 lost;
    __u32 exit_ssthresh; /* with the kernel's PRR: ssthresh after recovery */
    __u8 phase;          /* enum ww_phase, as the core last saw it */
    __u8 marks;
    __u16 period; /* of 65.5 ms, in which the last event was recorded */
};

/* The control with such a state; an object has only one. */
#ifdef WW_TABLE
#define WW_LARGE_PROTOCOL WW_PROTOCOL_COUNT
#else
#define WW_LARGE_PROTOCOL WW_PROTOCOL_BBR3
#endif

/* The host of a control whose state is not in the private area. */
struct ww_large_host {
    struct ww_host host;
    struct ww_state state;
};

struct {
    __uint(type, BPF_MAP_TYPE_SK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct ww_host);
} hosts SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_SK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct ww_large_host);
} large_hosts SEC(".maps");

static inline struct ww_config config_of(enum ww_protocol protocol) {
#ifdef WW_TABLE
    struct ww_config config = ww_own_config();
#else
    struct ww_config config = ww_configure(protocol);
#endif
    config.batched_acks = true;
    return config;
}

/* True if the state lies in the storage, not in the private area. */
static inline bool is_large(enum ww_protocol protocol) {
    switch ((enum ww_algorithm)config_of(protocol).algorithm) {
#define WW_CASE(ID, name) case WW_ALG_##ID:
        WW_LARGE_ALGORITHMS(WW_CASE)
        WW_LOADED_ALGORITHM(WW_CASE)
#undef WW_CASE
        return true;
    default:
        return false;
    }
}

static inline struct ww_state *state_of(struct sock *sk, const struct ww_host *host,
                                        enum ww_protocol protocol) {
    if (is_large(protocol)) return &((struct ww_large_host *)host)->state;
    return (struct ww_state *)inet_csk(sk)->icsk_ca_priv;
}

/* Returns the connection's host; NULL if the connection has not begun or memory has run out. */
static inline struct ww_host *host_with(struct sock *sk, enum ww_protocol protocol, __u64 flags) {
    if (!is_large(protocol)) return bpf_sk_storage_get(&hosts, sk, 0, flags);
    struct ww_large_host *large = bpf_sk_storage_get(&large_hosts, sk, 0, flags);
    return large ? &large->host : NULL;
}

/* Passes an ACK to the core of a control with a large state. */
WW_CHECKED_ALONE int large_on_ack(struct ww_state *core, struct ww_window *window,
                                  struct ww_sample *sample) {
    const struct ww_config config = config_of(WW_LARGE_PROTOCOL);
    if (core && window && sample) ww_on_ack(&config, core, window, sample);
    return 0;
}

/*
 * The same for Westwood-CUBIC, whose paths exceed what the verifier follows in one program. Such a function may not
 * write to a socket, so it gets a copy of the state.
 */
WW_CHECKED_ALONE int copied_on_ack(struct ww_westwood_cubic_state *core, struct ww_window *window,
                                   struct ww_sample *sample) {
    const struct ww_config config = config_of(WW_PROTOCOL_WESTWOOD_CUBIC);
    if (core && window && sample) ww_on_ack(&config, (struct ww_state *)core, window, sample);
    return 0;
}

static inline void core_on_ack(struct sock *sk, const struct ww_host *host,
                               enum ww_protocol protocol, struct ww_window *window,
                               struct ww_sample *sample) {
    const struct ww_config config = config_of(protocol);
    struct ww_state *core = state_of(sk, host, protocol);
    if (is_large(protocol)) {
        large_on_ack(core, window, sample);
    } else if (config.algorithm == WW_ALG_WESTWOOD_CUBIC) {
        struct ww_westwood_cubic_state copy = core->westwood_cubic;
        copied_on_ack(&copy, window, sample);
        core->westwood_cubic = copy;
    } else {
        ww_on_ack(&config, core, window, sample);
    }
}

static inline struct ww_host *host_of(struct sock *sk, enum ww_protocol protocol) {
    return host_with(sk, protocol, 0);
}

static inline void count_missed(void) { __sync_fetch_and_add(&ww_block.missed, 1); }

static inline bool has_begun_reduction(const struct tcp_sock *tp) { return tp->snd_cwnd_cnt == 0; }

/* True if the kernel has begun a reduction but skipped `ssthresh`. */
static inline bool missed_ssthresh(const struct tcp_sock *tp, const struct ww_host *host) {
    return has_begun_reduction(tp) && tp->snd_ssthresh != host->ssthresh;
}

/* True if the kernel has undone a reduction but skipped `undo_cwnd`. Without prior_ssthresh it restores no windows. */
static inline bool missed_undo(const struct tcp_sock *tp, const struct ww_host *host) {
    return (host->marks & (WW_UNDOABLE | WW_UNDO)) == WW_UNDOABLE && tp->undo_marker == 0 &&
           tp->prior_ssthresh != 0 && !has_begun_reduction(tp);
}

/* True if the core does not know of a timeout. Once it does, has_begun_reduction() is false. */
static inline bool missed_timeout(const struct tcp_sock *tp, const struct ww_host *host,
                                  __u8 state) {
    return state == TCP_CA_Loss && has_begun_reduction(tp) &&
           (host->phase != WW_LOSS || host->marks & WW_REDUCE || missed_ssthresh(tp, host));
}

/* Sets the marks that show the next operation what happened in between. */
static inline void leave_marks(struct tcp_sock *tp, struct ww_host *host) {
    if (has_begun_reduction(tp)) tp->snd_cwnd_cnt = 1;
    host->marks &= ~WW_UNDOABLE;
    if (tp->undo_marker != 0) host->marks |= WW_UNDOABLE;
}

/* Ends an operation: stores the windows as they are now. */
static inline void keep_windows(struct tcp_sock *tp, struct ww_host *host) {
    host->cwnd = tp->snd_cwnd;
    host->ssthresh = tp->snd_ssthresh;
    leave_marks(tp, host);
}

/* Stores the counters whose increase the next ACK reports. */
static inline void keep_counters(const struct tcp_sock *tp, struct ww_host *host) {
    host->una = tp->snd_una;
    host->delivered = tp->delivered;
    host->lost = tp->lost;
}

static inline void set_cwnd(struct tcp_sock *tp, __u32 cwnd) {
    cwnd = ww_max_u32(ww_min_u32(cwnd, tp->snd_cwnd_clamp), 1);
    if (cwnd != tp->snd_cwnd) tp->snd_cwnd = cwnd;
}

static inline void set_ssthresh(struct tcp_sock *tp, __u32 ssthresh) {
    if (ssthresh != tp->snd_ssthresh) tp->snd_ssthresh = ssthresh;
}

/* True if the control reduces cwnd by rate halving; the others leave that to the kernel's PRR. */
static inline bool has_rate_halving(enum ww_protocol protocol) {
    return ww_recovery_of(protocol) == WW_RECOVERY_RATE_HALVING;
}

/* True if the control sets cwnd in recovery itself: full_control.h hosts it. */
static inline bool owns_recovery(enum ww_protocol protocol) {
    const struct ww_config config = config_of(protocol);
    return ww_owns_recovery(&config);
}

/* True if the control hears of packets: flights.h. */
static inline bool follows_packets(enum ww_protocol protocol) {
    const struct ww_config config = config_of(protocol);
    return ww_follows_packets(&config);
}

/*
 * Records an event. During PRR the kernel's snd_ssthresh is the target of cwnd, so the event takes the core's
 * ssthresh instead.
 */
static inline void record_event(struct sock *sk, const struct ww_host *host, __u32 cc,
                                enum ww_protocol protocol, enum ww_event_kind kind,
                                enum ww_phase phase) {
    const struct ww_config config = config_of(protocol);
    const bool has_prr = !has_rate_halving(protocol) && !owns_recovery(protocol);
    const bool in_prr = phase == WW_RECOVERY && has_prr;
    const __u32 ssthresh =
        in_prr ? force_load(host->exit_ssthresh) : force_load(tcp_sk(sk)->snd_ssthresh);
    write_event(sk, state_of(sk, host, protocol), &config, cc, kind, phase, ssthresh);
}

/* True once in each period of 2^16 us: then an event shows the windows. */
static inline bool begins_period(struct ww_host *host, __u64 now_us) {
    const __u16 period = (__u16)(now_us >> 16);
    if (host->period == period) return false;
    host->period = period;
    return true;
}

/* Returns the core's phase for a state. A control that owns recovery has no CWR: it answers a mark at once. */
static inline enum ww_phase core_phase(enum ww_protocol protocol, __u8 state) {
    return owns_recovery(protocol) && state == TCP_CA_CWR ? WW_OPEN : phase_of(state);
}

static inline void begin_host(struct sock *sk, struct ww_host *host, __u32 cc,
                              enum ww_protocol protocol) {
    const struct ww_config config = config_of(protocol);
    struct tcp_sock *tp = tcp_sk(sk);
    ww_init(&config, state_of(sk, host, protocol));
    __builtin_memset(host, 0, sizeof(*host));
    host->exit_ssthresh = tp->snd_ssthresh;
    host->phase = (__u8)core_phase(protocol, ca_state(sk));
    keep_counters(tp, host);
    keep_windows(tp, host);
    count_opened(cc);
    record_event(sk, host, cc, protocol, WW_EVENT_START, phase_of(ca_state(sk)));
}

/* Implements init. */
static inline void on_init(struct sock *sk, __u32 cc, enum ww_protocol protocol) {
    struct ww_host *host = host_with(sk, protocol, BPF_SK_STORAGE_GET_F_CREATE);
    if (host) begin_host(sk, host, cc, protocol);
}

/* Like host_of, for an ACK: makes up for a skipped init. Before init only the ACK of our SYN is reported. */
static inline struct ww_host *host_with_ack(struct sock *sk, __u32 cc, enum ww_protocol protocol) {
    struct ww_host *host = host_of(sk, protocol);
    if (host || !is_initialized(sk)) return host;
    count_missed();
    on_init(sk, cc, protocol);
    return host_of(sk, protocol);
}

/* Implements release. */
static inline void on_release(struct sock *sk, __u32 cc, enum ww_protocol protocol) {
    const struct ww_host *host = host_of(sk, protocol);
    if (!host) return;
    count_closed(cc);
    record_event(sk, host, cc, protocol, WW_EVENT_END, phase_of(ca_state(sk)));
    if (is_large(protocol))
        bpf_sk_storage_delete(&large_hosts, sk);
    else
        bpf_sk_storage_delete(&hosts, sk);
}

/* Counts the multiples of mss in (from, to], so an ACK of n full segments counts n wherever it starts. */
static inline __u32 whole_segments(__u32 from, __u32 to, __u32 mss) {
    const __u64 end = (__u64)from + (__u32)(to - from);
    return (__u32)(ww_div(end, mss) - ww_div(from, mss));
}

/* Sets the rate for TSO and for pacing, at most SO_MAX_PACING_RATE. */
static inline void pace(struct sock *sk, __u64 bytes_per_s) {
    const __u64 most = sk->sk_max_pacing_rate;
    sk->sk_pacing_rate = ww_min_u64(bytes_per_s, most);
}

/*
 * Paces at 2 windows per smoothed round trip in early slow start, at 1.2 afterwards. The product cannot
 * overflow: it stays below 2^16 * 2^24 * 2^17 / 2^3 * 2^8.
 */
static inline void set_pacing_rate(struct sock *sk) {
    const struct tcp_sock *tp = tcp_sk(sk);
    const __u32 window = ww_min_u32(ww_max_u32(tp->snd_cwnd, tp->packets_out), 1u << 24);
    const __u64 per_100 = (__u64)tp->mss_cache * window * (8 * 1000000 / 100);
    const __u32 percent = tp->snd_cwnd < tp->snd_ssthresh / 2 ? 200 : 120;
    if (tp->srtt_us >= 8) pace(sk, per_100 / tp->srtt_us * percent);
}

#endif
