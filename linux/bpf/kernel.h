/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declares the parts of the kernel, 6.1 to 7.1, that our programs use. libbpf relocates the fields to their
 * place in the running kernel (CO-RE), so that the build needs neither kernel headers nor a vmlinux.h.
 * All differences between kernels are handled in this file:
 *
 *   icsk_ca_state, is_cwnd_limited, icsk_ca_initialized   are bit fields that moved: functions read them
 *   enum tcp_ca_event                is found by name, since 7.1 renumbers the events
 *   cong_control                     gained two arguments in 6.10: rate_sample_of finds the last one
 *   in_ack_event                     moved behind pkts_acked in 6.16: we do not use it
 *   cwnd_event(CA_EVENT_TX_START)    is an operation of its own in 7.1, which we do not implement
 *   tcp_retransmit_skb               gained an argument in 6.15: we use only the first
 */
#ifndef WW_KERNEL_H
#define WW_KERNEL_H

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "inlined.h"
/* The core comes after that. */
#include "ca_state.h"

#define AF_INET 2
#define AF_INET6 10
#define TCP_INIT_CWND 10 /* RFC 6928 */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct in6_addr {
    union {
        __u8 u6_addr8[16];
    } in6_u;
};

struct ns_common {
    unsigned int inum;
};

struct netns_ipv4 {
    __u8 sysctl_tcp_slow_start_after_idle;
};

struct net {
    struct ns_common ns;
    struct netns_ipv4 ipv4;
};

typedef struct {
    struct net *net;
} possible_net_t;

struct sock_common {
    __be32 skc_daddr;
    __be32 skc_rcv_saddr;
    __be16 skc_dport;
    unsigned short skc_family;
    volatile unsigned char skc_state;
    possible_net_t skc_net;
    struct in6_addr skc_v6_daddr;
    struct in6_addr skc_v6_rcv_saddr;
};

struct sock {
    struct sock_common __sk_common;
    unsigned long sk_pacing_rate;
    unsigned long sk_max_pacing_rate;
    __u32 sk_pacing_status;
};
enum { SK_PACING_NONE, SK_PACING_NEEDED }; /* NEEDED: TCP paces itself because the queue does not */

struct inet_sock {
    __be16 inet_sport; /* still set when a connection has ended, unlike skc_num */
};

/* Only the name is used; the operations that we register are declared below. */
struct tcp_congestion_ops___of_any {
    char name[16];
};

struct inet_connection_sock {
    const struct tcp_congestion_ops___of_any *icsk_ca_ops;
    __u8 icsk_ca_state : 5;
    __u8 icsk_ca_initialized : 1;
    __u8 icsk_retransmits;
    __u32 icsk_rto; /* jiffies */
    __u64 icsk_ca_priv[13];
};

struct minmax_sample {
    __u32 v;
};

struct minmax {
    struct minmax_sample s[3];
};

struct tcp_rack {
    __u32 rtt_us; /* of the newest segment that was ACKed or SACKed */
    __u32 end_seq;
};

struct tcp_sock {
    __u32 snd_una;
    __u32 snd_nxt;
    __u32 snd_cwnd;
    __u32 snd_cwnd_cnt; /* the kernel counts growth in it, we do not: host.h keeps a mark in it */
    __u32 snd_cwnd_clamp;
    __u32 snd_ssthresh;
    __u32 mss_cache;
    __u32 srtt_us; /* eighths of a microsecond */
    __u32 rttvar_us;
    __u32 packets_out;
    __u32 max_packets_out;
    __u32
        prior_cwnd; /* before the last loss, like prior_ssthresh, which is 0 if no undo is possible */
    __u32 prior_ssthresh;
    __u32 retrans_out;
    __u32 sacked_out;
    __u32 lost_out;
    __u32 delivered;
    __u32 lost;
    __u32 total_retrans;
    __u32 data_segs_out;
    __u32 undo_marker;
    __u32 rate_delivered; /* last sample of the delivery rate: segments in rate_interval_us */
    __u32 rate_interval_us;
    struct minmax rtt_min;
    struct tcp_rack rack;
    __u32 app_limited; /* `delivered` at which the limit by the application ends; 0: none */
    __u32 lsndtime;    /* when data were last sent, in jiffies */
    __u64 bytes_acked;
    __u64 tcp_mstamp;    /* us; updated at each segment and timer */
    __u64 tcp_wstamp_ns; /* when pacing lets the next segment depart */
    __u8 is_cwnd_limited : 1;
};

struct ack_sample {
    __s32 rtt_us; /* of the newest segment just (S)ACKed, or of timestamps in ms; -1: none */
};

struct rate_sample {
    __u32
        prior_delivered; /* tp->delivered when the newest of the segments now delivered was sent */
    __s32 delivered;     /* segments in interval_us; 0 or less: no sample */
    long interval_us;    /* 0 or less: no sample */
    long rtt_us;         /* as in ack_sample */
    bool is_app_limited; /* the sender ran out of data during the sample */
};

#pragma clang attribute pop

enum tcp_ca_event { CA_EVENT_TX_START = 0, CA_EVENT_COMPLETE_CWR = 2 };

/* libbpf matches these operations by name with those of the running kernel. */
struct tcp_congestion_ops {
    __u32 flags;
    __u32 (*ssthresh)(struct sock *sk);
    void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
    void (*set_state)(struct sock *sk, __u8 new_state);
    void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
    void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
    void (*cong_control)(struct sock *sk);
    __u32 (*undo_cwnd)(struct sock *sk);
    void (*init)(struct sock *sk);
    void (*release)(struct sock *sk);
    char name[16];
};

static inline struct tcp_sock *tcp_sk(struct sock *sk) { return (struct tcp_sock *)sk; }

static inline struct inet_connection_sock *inet_csk(struct sock *sk) {
    return (struct inet_connection_sock *)sk;
}

static inline __u8 ca_state(struct sock *sk) {
    return (__u8)BPF_CORE_READ_BITFIELD(inet_csk(sk), icsk_ca_state);
}

/* True once the kernel has called init. */
static inline bool is_initialized(struct sock *sk) {
    return BPF_CORE_READ_BITFIELD(inet_csk(sk), icsk_ca_initialized);
}

/* Counts the segments in flight as the kernel does (tcp_packets_in_flight). */
static inline __u32 pipe_of(const struct tcp_sock *tp) {
    return tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
}

/* Copies tcp_is_cwnd_limited: in slow start the window may grow to twice what was in flight. */
static inline bool is_cwnd_limited(const struct tcp_sock *tp) {
    if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited)) return true;
    return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

extern int LINUX_KERNEL_VERSION __kconfig;

/*
 * Returns the last argument of cong_control. The verifier knows the kernel's version and sees only one branch. The
 * branches are in BPF assembly so that the compiler cannot merge them into a computed access.
 */
static inline const struct rate_sample *rate_sample_of(unsigned long long *arguments) {
    const struct rate_sample *rate;
    if (LINUX_KERNEL_VERSION >= KERNEL_VERSION(6, 10, 0))
        asm volatile("%0 = *(u64 *)(%1 + 24)" : "=r"(rate) : "r"(arguments));
    else
        asm volatile("%0 = *(u64 *)(%1 + 8)" : "=r"(rate) : "r"(arguments));
    return rate;
}

/*
 * Returns the value, but hides its range from the verifier. The verifier follows every path once for each constant
 * that it can distinguish, and there are many between a sample and the windows.
 */
static inline __u32 forgotten(__u32 value, __u32 any) {
    __u64 kept = value;
    asm volatile("%0 ^= %1\n%0 ^= %1" : "+r"(kept) : "r"((__u64)any));
    return (__u32)kept;
}

/*
 * Returns a value after forcing its load. Otherwise the compiler may first choose between two pointers and then load.
 * The verifier rejects that if one points to a map and the other to the socket.
 */
static inline __u32 force_load(__u32 value) {
    asm volatile("" : "+r"(value));
    return value;
}

static inline bool is_complete_cwr(__u32 event) {
    return event == bpf_core_enum_value(enum tcp_ca_event, CA_EVENT_COMPLETE_CWR);
}

/* True if the event reports a transmission with nothing in flight. */
static inline bool is_tx_start(__u32 event) {
    return bpf_core_enum_value_exists(enum tcp_ca_event, CA_EVENT_TX_START) &&
           event == bpf_core_enum_value(enum tcp_ca_event, CA_EVENT_TX_START);
}

#endif
