/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes the events of `westwood kernel record` in the BPF programs: each start, bandwidth window, loss, timeout,
 * exit, undo and end of a connection goes into the ring buffer that a recorder put into `rings`. Without a
 * recorder an event costs one look-up.
 */
#ifndef WW_RECORD_H
#define WW_RECORD_H

#include "event.h"
#include "kernel.h"
/* The core comes after kernel.h, which makes it inline. */
#include "../../core/recovery.h"
#include "../../core/westwood.h"

struct ww_ring {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 4096);
};

/* Holds the recorder's ring buffer; the recorder chooses its size. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
    __uint(max_entries, 1);
    __type(key, __u32);
    __array(values, struct ww_ring);
} rings SEC(".maps");

struct ww_control_block ww_block = {};

static inline void count_opened(__u32 cc) { __sync_fetch_and_add(&ww_block.opened[cc], 1); }
static inline void count_closed(__u32 cc) { __sync_fetch_and_add(&ww_block.closed[cc], 1); }

/* True for the first ACK in each period of 2^16 us (65.5 ms). */
static inline bool is_new_period(__u64 last_us, __u64 now_us) {
    return last_us >> 16 != now_us >> 16;
}

static inline __u16 local_port(struct sock *sk) {
    return __builtin_bswap16(((struct inet_sock *)sk)->inet_sport);
}

static inline __u16 remote_port(struct sock *sk) {
    return __builtin_bswap16(sk->__sk_common.skc_dport);
}

static inline void fill_addresses(struct ww_event *event, struct sock *sk) {
    const struct sock_common *common = &sk->__sk_common;
    event->family = (__u8)common->skc_family;
    event->local_port = local_port(sk);
    event->remote_port = remote_port(sk);
    event->netns = common->skc_net.net->ns.inum;
    if (event->family == AF_INET6) {
        BPF_CORE_READ_INTO(&event->local, common, skc_v6_rcv_saddr.in6_u.u6_addr8);
        BPF_CORE_READ_INTO(&event->remote, common, skc_v6_daddr.in6_u.u6_addr8);
    } else {
        *(__u32 *)event->local = common->skc_rcv_saddr;
        *(__u32 *)event->remote = common->skc_daddr;
    }
}

static inline void fill_estimate(struct ww_event *event, const struct ww_state *state,
                                 const struct ww_config *config) {
    const struct ww_observation seen = ww_observe(config, state, event->time_us);
    event->estimate = seen.bandwidth;
    event->sample = seen.raw;
    event->samples = seen.samples;
    event->rtt_min_us = seen.rtt_min_us;
    if (config->algorithm == WW_ALG_WESTWOOD) event->rtt_us = state->westwood.last_rtt_us;
}

static inline void fill_counters(struct ww_event *event, const struct tcp_sock *tp) {
    event->acked_bytes = tp->bytes_acked;
    event->sent = tp->data_segs_out;
    event->retransmitted = tp->total_retrans;
    event->lost = tp->lost;
    event->cwnd = tp->snd_cwnd;
    event->in_flight = tp->packets_out;
    event->mss = tp->mss_cache;
    event->srtt_us = tp->srtt_us >> 3;
    event->rttvar_us = tp->rttvar_us;
    if (bpf_core_field_exists(tp->rack.rtt_us)) event->rtt_us = tp->rack.rtt_us;
}

static inline bool is_recorded(struct sock *sk) {
    const __u16 port = ww_block.port;
    return port == 0 || port == local_port(sk) || port == remote_port(sk);
}

/* Reserves a zeroed event. Returns NULL without a recorder, or if the buffer is full, and then counts a drop. */
static inline struct ww_event *begin_event(void) {
    const __u32 first = 0;
    void *ring = bpf_map_lookup_elem(&rings, &first);
    if (!ring) return NULL;
    struct ww_event *event = bpf_ringbuf_reserve(ring, sizeof(*event), 0);
    if (event)
        __builtin_memset(event, 0, sizeof(*event));
    else
        __sync_fetch_and_add(&ww_block.dropped, 1);
    return event;
}

/* Passes the event to the recorder, which polls every 20 ms. */
static inline void end_event(struct ww_event *event) {
    bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
}

static inline void write_event(struct sock *sk, const struct ww_state *state,
                               const struct ww_config *config, __u32 cc, enum ww_event_kind kind,
                               enum ww_phase phase, __u32 ssthresh) {
    struct ww_event *event = is_recorded(sk) ? begin_event() : NULL;
    if (!event) return;
    event->time_us = tcp_sk(sk)->tcp_mstamp;
    event->ssthresh = ssthresh;
    event->kind = (__u8)kind;
    event->cc = (__u8)cc;
    event->state = (__u8)phase;
#ifdef WW_OWN_NAME
    __builtin_memcpy(event->name, WW_OWN_NAME, sizeof(WW_OWN_NAME));
#endif
    fill_counters(event, tcp_sk(sk));
    fill_estimate(event, state, config);
    fill_addresses(event, sk);
    end_event(event);
}

#endif
