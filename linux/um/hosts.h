/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hosts of ../bpf in the machine's kernel, compiled by the kernel's compiler. What they take from BPF has a stand-in
 * here; ../bpf/kernel.h and record.h are left out. The file that includes this one includes ../bpf/programs.h next, and
 * defines the operations of its controls by WW_OPERATIONS.
 */
#ifndef WW_HOSTS_H
#define WW_HOSTS_H

#include <linux/bpf.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/tcp.h>

#undef noinline /* the core spells the attribute */
#define WW_KERNEL_H
#define WW_RECORD_H
#define WW_INLINED_H
#define WW_CHECKED_ALONE static inline /* no verifier here */

#include "../bpf/ca_state.h"
#include "../bpf/event.h"
/* The core comes after the kernel's headers. */
#include "../../core/recovery.h"
#include "../../core/westwood.h"

/* --- for kernel.h --- */

#define SEC(section)
#define __uint(name, value) int(*name)[value]
#define __type(name, type_) type_* name
#define bpf_core_field_exists(field) 1
#define bpf_jiffies64() get_jiffies_64()

static inline __u8 ca_state(const struct sock* sk) { return inet_csk(sk)->icsk_ca_state; }
static inline bool is_initialized(const struct sock* sk) {
    return inet_csk(sk)->icsk_ca_initialized;
}
static inline __u32 pipe_of(const struct tcp_sock* tp) { return tcp_packets_in_flight(tp); }
static inline bool is_cwnd_limited(const struct tcp_sock* tp) {
    return tcp_is_cwnd_limited((const struct sock*)tp);
}
static inline const struct rate_sample* rate_sample_of(unsigned long long* arguments) {
    return (const struct rate_sample*)arguments;
}
static inline __u32 forgotten(__u32 value, __u32 any) { return value; }
static inline __u32 force_load(__u32 value) { return value; }
static inline bool is_complete_cwr(__u32 event) { return event == CA_EVENT_COMPLETE_CWR; }
static inline bool is_tx_start(__u32 event) { return event == CA_EVENT_TX_START; }

/* --- the storage of a socket: sk_user_data points to it, which nothing else here uses --- */

enum { MOST_STORES = 3 };

struct stores {
    struct {
        const void* map;
        void* value;
    } of[MOST_STORES];
};

static void* storage(struct sock* sk, const void* map, size_t bytes, bool create) {
    struct stores* stores = sk->sk_user_data;
    int i;

    if (!stores && create) sk->sk_user_data = stores = kzalloc(sizeof *stores, GFP_ATOMIC);
    if (!stores) return NULL;
    for (i = 0; i < MOST_STORES; i++) {
        if (stores->of[i].map == map) return stores->of[i].value;
        if (stores->of[i].map) continue;
        if (!create || !(stores->of[i].value = kzalloc(bytes, GFP_ATOMIC))) return NULL;
        stores->of[i].map = map;
        return stores->of[i].value;
    }
    return NULL;
}
#define bpf_sk_storage_get(map, sk, value_, flags) \
    ((typeof((map)->value))storage(sk, map, sizeof *(map)->value, (flags) != 0))

/* The hosts delete their storage last; what else the socket has goes with it. */
static void free_storage(struct sock* sk) {
    struct stores* stores = sk->sk_user_data;
    int i;

    for (i = 0; stores && i < MOST_STORES; i++) kfree(stores->of[i].value);
    kfree(stores);
    sk->sk_user_data = NULL;
}
#define bpf_sk_storage_delete(map, sk) free_storage(sk)

/* --- for record.h: nothing is recorded --- */

static struct ww_control_block ww_block;

static inline void count_opened(__u32 cc) {}
static inline void count_closed(__u32 cc) {}
static inline bool is_new_period(__u64 last_us, __u64 now_us) { return false; }
static inline void write_event(struct sock* sk, const struct ww_state* state,
                               const struct ww_config* config, __u32 cc, enum ww_event_kind kind,
                               enum ww_phase phase, __u32 ssthresh) {}

/* --- the operations of a control, as WW_PROGRAMS has them --- */

#define WW_OPERATIONS(cc, number, protocol, sets_cwnd)                                          \
    static void init_##cc(struct sock* sk) { on_init(sk, number, protocol); }                   \
    static void release_##cc(struct sock* sk) { on_release(sk, number, protocol); }             \
    static void acked_##cc(struct sock* sk, const struct ack_sample* sample) {                  \
        take_acked(sk, number, protocol, sample);                                               \
    }                                                                                           \
    static u32 ssthresh_##cc(struct sock* sk) { return ssthresh(sk, protocol); }                \
    static u32 undo_##cc(struct sock* sk) { return undo(sk, number, protocol); }                \
    static void state_##cc(struct sock* sk, u8 state) {                                         \
        change_state(sk, number, protocol, state);                                              \
    }                                                                                           \
    static void event_##cc(struct sock* sk, enum tcp_ca_event event) {                          \
        take_event(sk, number, protocol, event);                                                \
    }                                                                                           \
    static void control_##cc(struct sock* sk, u32 ack, int flag, const struct rate_sample* r) { \
        control_window((unsigned long long*)r, sk, number, protocol);                           \
    }                                                                                           \
    static void avoid_##cc(struct sock* sk, u32 ack, u32 acked) {                               \
        control_window(NULL, sk, number, protocol);                                             \
    }                                                                                           \
    static struct tcp_congestion_ops cc = {                                                     \
        .init = init_##cc,                                                                      \
        .release = release_##cc,                                                                \
        .pkts_acked = acked_##cc,                                                               \
        .ssthresh = ssthresh_##cc,                                                              \
        .undo_cwnd = undo_##cc,                                                                 \
        .set_state = state_##cc,                                                                \
        .cwnd_event = event_##cc,                                                               \
        .cong_control = (sets_cwnd) ? control_##cc : NULL,                                      \
        .cong_avoid = (sets_cwnd) ? NULL : avoid_##cc,                                          \
        .flags = TCP_CONG_NON_RESTRICTED,                                                       \
        .name = #cc,                                                                            \
    };

#endif
