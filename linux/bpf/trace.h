/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records connections of every control by the kernel's tracepoints. A recorder loads and attaches these programs
 * for as long as it runs, as a separate instance of the object: `load` leaves them out.
 *
 *   inet_sock_set_state   marks where a connection starts and ends.
 *   tcp_cong_state_set    comes before the state changes, when the windows are set: a loss when recovery begins
 *                         (ssthresh is set, cwnd has not changed yet), a timeout, or the end of recovery. It
 *                         was an undo if the kernel has cleared undo_marker.
 *   tcp_retransmit_skb    comes when segments were retransmitted.
 *   tcp_probe             comes with each segment that arrives, before it is processed. It yields an event
 *                         every 50 ms while data are outstanding.
 *
 * Connections of our own controls are left to their programs, which know the estimate. For the others the raw
 * sample is the kernel's delivery rate (draft-cheng-iccrg-delivery-rate-estimation), and there is no estimate.
 */
#ifndef WW_TRACE_H
#define WW_TRACE_H

#include "record.h"

#define WINDOW_NS 50000000u /* Dell'Aera 2003, 2.2: the shortest window of Westwood+ */

enum { ESTABLISHED = 1, SYN_SENT = 2, SYN_RECV = 3, CLOSE = 7, LISTEN = 10 }; /* of tcp_states.h */

/* When a connection's last window event was recorded, in ns. */
struct {
    __uint(type, BPF_MAP_TYPE_SK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, __u64);
} last_window SEC(".maps");

static inline bool is_ours(const char *name) {
    return name[0] == 'w' && name[1] == 'w' && name[2] == '_';
}

static inline void fill_trips(struct ww_event *event, const struct tcp_sock *tp) {
    event->rtt_min_us = tp->rtt_min.s[0].v;
    event->sample = ww_rate((__u64)tp->rate_delivered * tp->mss_cache, tp->rate_interval_us);
    event->samples = tp->rate_interval_us != 0;
}

static inline void write_trace(struct tcp_sock *tp, enum ww_event_kind kind, __u8 state) {
    struct sock *sk = (struct sock *)tp;
    char name[16] = {};
    bpf_core_read_str(name, sizeof(name), &inet_csk(sk)->icsk_ca_ops->name);
    if (!is_recorded(sk) || (is_ours(name) && !ww_block.traces_ours)) return;
    struct ww_event *event = begin_event();
    if (!event) return;
    event->time_us = bpf_ktime_get_ns() / 1000;
    event->ssthresh = tp->snd_ssthresh;
    event->kind = (__u8)kind;
    event->cc = WW_CONTROL_COUNT;
    event->state = (__u8)phase_of(state);
    __builtin_memcpy(event->name, name, sizeof(name));
    fill_trips(event, tp);
    fill_counters(event, tp);
    fill_addresses(event, sk);
    end_event(event);
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(trace_state, struct sock *sk, int old_state, int new_state) {
    struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
    if (!tp) return 0;
    const bool was_open = old_state != SYN_SENT && old_state != SYN_RECV && old_state != LISTEN;
    if (new_state == ESTABLISHED)
        write_trace(tp, WW_EVENT_START, TCP_CA_Open);
    else if (new_state == CLOSE && was_open)
        write_trace(tp, WW_EVENT_END, ca_state((struct sock *)tp));
    return 0;
}

SEC("tp_btf/tcp_cong_state_set")
int BPF_PROG(trace_cong_state, struct sock *sk, const __u8 new_state) {
    struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
    if (!tp) return 0;
    const __u8 old_state = ca_state((struct sock *)tp);
    const enum ww_phase old_phase = phase_of(old_state), new_phase = phase_of(new_state);
    if (new_phase == WW_LOSS)
        write_trace(tp, WW_EVENT_TIMEOUT, new_state);
    else if (new_phase == WW_RECOVERY && new_state != old_state)
        write_trace(tp, WW_EVENT_LOSS, new_state);
    else if (old_phase >= WW_RECOVERY && new_phase < WW_RECOVERY && was_undone((struct sock *)tp))
        write_trace(tp, WW_EVENT_UNDO, new_state);
    else if (old_phase == WW_RECOVERY && new_phase < WW_RECOVERY)
        write_trace(tp, WW_EVENT_EXIT, new_state);
    return 0;
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(trace_retransmit, struct sock *sk) {
    struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
    if (!tp) return 0;
    const __u8 state = ((struct sock *)tp)->__sk_common.skc_state;
    if (state == SYN_SENT || state == SYN_RECV) return 0; /* the connection has not started */
    write_trace(tp, WW_EVENT_RETRANSMIT, ca_state((struct sock *)tp));
    return 0;
}

SEC("tp_btf/tcp_probe")
int BPF_PROG(trace_segment, struct sock *sk) {
    struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
    if (!tp || tp->packets_out == 0) return 0;
    __u64 *last = bpf_sk_storage_get(&last_window, tp, 0, BPF_SK_STORAGE_GET_F_CREATE);
    const __u64 now = bpf_ktime_get_ns();
    if (!last || now - *last < WINDOW_NS) return 0;
    *last = now;
    write_trace(tp, WW_EVENT_WINDOW, ca_state((struct sock *)tp));
    return 0;
}

#endif
