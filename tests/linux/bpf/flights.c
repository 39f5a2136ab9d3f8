/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lets linux/bpf/flights.h follow a flow, and prints how far it is from the truth: `flights SEGMENTS LOST_EVERY`.
 * SEGMENTS are in flight. Each ACK delivers one and sends another; each LOST_EVERY-th segment is lost, found with the
 * ACK of the third one after it.
 */
#include <linux/types.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/westwood.h"

/* What flights.h takes from the kernel and from host.h. */
#define WW_HOST_H
#define SEC(section)
#define __uint(name, value) int(*name)[value]
#define __type(name, type) __typeof__(type) *name
#define bpf_core_field_exists(field) 1
#define WW_LARGE_PROTOCOL WW_PROTOCOL_BBR3
#define WW_CHECKED_ALONE static
#define BPF_SK_STORAGE_GET_F_CREATE 1
enum { BPF_MAP_TYPE_SK_STORAGE = 1, BPF_F_NO_PREALLOC = 1 };

struct tcp_sock {
    __u32 snd_nxt, lost, delivered, mss_cache, srtt_us;
    __u64 tcp_mstamp;
    struct {
        __u32 end_seq;
    } rack;
};
struct sock {
    struct tcp_sock tcp;
};
struct ww_host {
    struct ww_state state;
};

static struct tcp_sock *tcp_sk(struct sock *sk) { return &sk->tcp; }
static struct ww_config config_of(enum ww_protocol protocol) { return ww_configure(protocol); }
static struct ww_state *state_of(struct sock *sk, const struct ww_host *host,
                                 enum ww_protocol protocol) {
    return (struct ww_state *)&host->state;
}
static void *storage(size_t bytes) {
    static void *room;
    if (!room) room = calloc(1, bytes);
    return room;
}
#define bpf_sk_storage_get(map, sk, value_, flags) \
    ((__typeof__((map)->value))storage(sizeof *(map)->value))

#include "linux/bpf/flights.h"

enum { MOST = 100000, MSS = 1448, REORDERED = 3 };

struct segment {
    __u32 delivered, lost, pipe; /* when it was sent; pipe: itself included */
};

static struct segment sent[MOST];

static void send(struct tcp_sock *tp, __u32 number, __u32 pipe) {
    sent[number] = (struct segment){tp->delivered, tp->lost, pipe};
    tp->snd_nxt += MSS;
}

int main(int count, char **words) {
    static struct sock sk = {.tcp = {.mss_cache = MSS, .srtt_us = 8 * 100000}};
    struct tcp_sock *tp = &sk.tcp;
    const __u32 flight = (__u32)atoi(words[1]), lost_every = (__u32)atoi(words[2]);
    __u32 next = 0, pipe = 0, worst_pipe = 0, worst_lost = 0, misses = 0, samples = 0;

    while (pipe < flight) send(tp, next++, ++pipe);
    for (__u32 number = 0; next < MOST - 2; number++) {
        if (number % lost_every == 0 && number > 0) continue; /* it was lost */
        const bool finds = number % lost_every == REORDERED && number > REORDERED;
        struct ww_sample sample = {.newly_delivered = 1, .newly_lost = finds};
        tp->delivered++;
        tp->lost += finds;
        tp->rack.end_seq = (number + 1) * MSS;
        pipe -= 1 + finds;
        sample.pipe = pipe;
        sample.delivered = tp->delivered;
        sample.prior_delivered = sent[number].delivered;
        fill_flight(&sk, &sample);
        note_flight(&sk, &sample);
        if (number > 4 * flight) { /* the records have the size of this flight */
            const __u32 lost = tp->lost - sent[number].lost;
            const __u32 off = (__u32)abs((int)(sample.lost_since - lost));
            const __u32 off_pipe = (__u32)abs((int)(sample.prior_pipe - sent[number].pipe));
            samples++;
            misses += off > 1;
            if (off > worst_lost) worst_lost = off;
            if (off_pipe > worst_pipe) worst_pipe = off_pipe;
        }
        while (pipe < flight) send(tp, next++, ++pipe);
    }
    printf("%u %u %u %u\n", samples, misses, worst_lost, worst_pipe);
    return 0;
}
