/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Approximates what the kernel does not report to a control that follows packets (ww_follows_packets): what was in
 * flight when a segment was sent, and what has been lost since then. The kernel keeps neither with its segments. It
 * does keep `delivered`, which the rate sample returns as prior_delivered. So each ACK leaves a record for the segments
 * that are sent until the next one: they all have the same `delivered`.
 *
 *   prior_pipe          what was in flight after that ACK, and the segments sent since then up to the newest one
 *                       delivered, without those delivered in between. A retransmission counts as the first of them
 *   lost_since          the kernel's count of losses, minus its value at that ACK
 *   ww_on_packet_sent   once an ACK, for what was sent since the ACK before; once when nothing was in flight
 *   ww_on_packet_lost   for each segment found lost, with the record of the newest segment that this ACK delivers. The
 *                       segments lost with one ACK count as one range, as in Linux's BBRv3
 */
#ifndef WW_FLIGHTS_H
#define WW_FLIGHTS_H

#include "host.h"

enum {
    WW_FLIGHTS = 512, /* records; a larger flight has one for several ACKs */
    WW_LOST_EACH =
        16, /* segments lost with an ACK that are reported one by one; the last stands for all others */
};

struct ww_flight {
    __u32 delivered; /* when its segments were sent; 0 also in an empty record */
    __u32 pipe;      /* before the first of them was sent, as the other two */
    __u32 snd_nxt;
    __u32 lost;
};

struct ww_flights {
    __u32 shift; /* a record is for 2^shift deliveries; it only grows */
    struct ww_flight records[WW_FLIGHTS];
};

struct {
    __uint(type, BPF_MAP_TYPE_SK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct ww_flights);
} flights SEC(".maps");

static inline struct ww_flight *record_of(struct ww_flights *its, __u32 delivered) {
    return &its->records[(delivered >> (its->shift & 31)) % WW_FLIGHTS];
}

/* True if a record tells about segments that were sent when so many were delivered. */
static inline bool is_about(const struct ww_flights *its, const struct ww_flight *record,
                            __u32 delivered) {
    return (delivered - record->delivered) >> (its->shift & 31) == 0;
}

/* Notes what is in flight after an ACK. Of the ACKs that share a record the first one leaves it. */
static inline void note_flight(struct sock *sk, const struct ww_sample *sample) {
    const struct tcp_sock *tp = tcp_sk(sk);
    struct ww_flights *its = bpf_sk_storage_get(&flights, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
    if (!its) return;
    if (sample->pipe >> (its->shift & 31) > WW_FLIGHTS / 2) its->shift++;
    struct ww_flight *record = record_of(its, sample->delivered);
    if (is_about(its, record, sample->delivered)) return;
    record->delivered = sample->delivered;
    record->pipe = sample->pipe;
    record->snd_nxt = tp->snd_nxt;
    record->lost = tp->lost;
}

/* Counts the segments of a record up to the newest one delivered. */
static inline __u32 sent_since(const struct tcp_sock *tp, const struct ww_flight *record) {
    if (!bpf_core_field_exists(tp->rack.end_seq)) return 1;
    const __u32 bytes = tp->rack.end_seq - record->snd_nxt;
    return (__s32)bytes > 0 ? (__u32)ww_div((__u64)bytes + tp->mss_cache - 1, tp->mss_cache) : 1;
}

/* Fills in the sample's flight; without a record, that of the segments sent last. */
static inline void fill_flight(struct sock *sk, struct ww_sample *sample) {
    const struct tcp_sock *tp = tcp_sk(sk);
    sample->prior_pipe = sample->pipe + sample->newly_delivered + sample->newly_lost;
    sample->lost_since = sample->newly_lost;
    struct ww_flights *its = bpf_sk_storage_get(&flights, sk, 0, 0);
    if (!its) return;
    const struct ww_flight *record = record_of(its, sample->prior_delivered);
    const __u32 since = sample->prior_delivered - record->delivered;
    if (!is_about(its, record, sample->prior_delivered)) return;
    sample->prior_pipe = ww_max_u32(record->pipe, since) - since + sent_since(tp, record);
    sample->lost_since = tp->lost - record->lost;
}

WW_CHECKED_ALONE int large_on_sent(struct ww_state *core, struct ww_window *window,
                                   struct ww_sent *sent) {
    const struct ww_config config = config_of(WW_LARGE_PROTOCOL);
    if (core && window && sent) ww_on_packet_sent(&config, core, window, sent);
    return 0;
}

WW_CHECKED_ALONE int large_on_lost(struct ww_state *core, struct ww_window *window,
                                   struct ww_lost *lost) {
    const struct ww_config config = config_of(WW_LARGE_PROTOCOL);
    if (core && window && lost) ww_on_packet_lost(&config, core, window, lost);
    return 0;
}

/* Reports that segments were sent while `pipe` others were in flight. */
static inline void report_sent(struct sock *sk, struct ww_state *core, struct ww_window *window,
                               __u32 pipe, bool is_app_limited) {
    const struct tcp_sock *tp = tcp_sk(sk);
    struct ww_sent sent = {};
    sent.now_us = tp->tcp_mstamp;
    sent.mss = tp->mss_cache;
    sent.srtt_us = tp->srtt_us >> 3;
    sent.pipe = pipe;
    sent.delivered = tp->delivered;
    sent.is_app_limited = is_app_limited;
    large_on_sent(core, window, &sent);
}

/* Reports the segments that were found lost with an ACK. */
static inline void report_lost(struct ww_state *core, struct ww_window *window,
                               const struct ww_sample *sample) {
    struct ww_lost lost = {};
    lost.now_us = sample->now_us;
    lost.mss = sample->mss;
    lost.pipe = sample->pipe;
    lost.delivered = sample->delivered;
    lost.prior_delivered = sample->prior_delivered;
    lost.prior_pipe = sample->prior_pipe;
    lost.is_app_limited = sample->is_app_limited;
    const __u32 before = sample->lost_since - sample->newly_lost;
#pragma unroll /* Linux 6.1 refuses the loop for the order of its instructions */
    for (__u32 i = 0; i < WW_LOST_EACH; i++) {
        if (i >= sample->newly_lost) return;
        const bool is_last = i + 1 == WW_LOST_EACH;
        lost.lost_since = is_last ? sample->lost_since : before + i + 1;
        lost.continues = i > 0;
        large_on_lost(core, window, &lost);
    }
}

/* Reports what happened to packets since the last ACK, before that ACK is reported. */
static inline void report_packets(struct sock *sk, const struct ww_host *host,
                                  enum ww_protocol protocol, struct ww_window *window,
                                  struct ww_sample *sample) {
    struct ww_state *core = state_of(sk, host, protocol);
    const __u32 pipe = sample->pipe + sample->newly_delivered + sample->newly_lost;
    fill_flight(sk, sample);
    report_sent(sk, core, window, ww_max_u32(pipe, 2) - 1, sample->is_app_limited);
    report_lost(core, window, sample);
    note_flight(sk, sample);
}

#endif
