/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Delivery rate samples (draft-ietf-ccwg-bbr, 4.1.2), for hosts that keep a record of each packet in flight:
 *
 *   each record has     delivered, delivered_at and first_sent of the connection when its packet was sent
 *   an ACK's sample     is from the record of the newest packet that the ACK delivered:
 *     send_elapsed = its sent - its first_sent
 *     ack_elapsed  = now - its delivered_at
 *     rate = (delivered - its delivered) / max(send_elapsed, ack_elapsed)
 *
 * An interval shorter than the smallest RTT cannot be right and gives no rate. Times are in any unit of a
 * clock that does not go back. Counts are in any unit and may wrap. A host with a larger type of counts than uint32_t
 * defines WW_DELIVERY_COUNT. Linux takes its samples itself, with the same equations (tcp_rate.c).
 */
#ifndef WW_DELIVERY_H
#define WW_DELIVERY_H

#include "arith.h"

#ifndef WW_DELIVERY_COUNT
#define WW_DELIVERY_COUNT uint32_t
#endif
typedef WW_DELIVERY_COUNT ww_delivery_count;

/* The connection when a packet was sent. */
struct ww_delivery_record {
    uint64_t sent;
    uint64_t first_sent;         /* when the newest packet delivered before was sent */
    uint64_t delivered_at;       /* time of the last delivery before */
    ww_delivery_count delivered; /* since the start */
    ww_delivery_count pipe;      /* in flight, with this packet */
    ww_delivery_count lost;      /* since the start */
    bool is_app_limited;
    bool is_retransmission;
    bool is_delivered; /* for the host */
};

struct ww_delivery {
    uint64_t first_sent;
    uint64_t delivered_at;
    ww_delivery_count delivered;     /* since the start */
    ww_delivery_count lost;          /* since the start; the host counts it */
    ww_delivery_count limited_until; /* `delivered` at which the application's limit ends */
    ww_delivery_count sampled_delivered, sampled_lost; /* up to the last sample */
    uint32_t newest_number;
    bool has_newest;
    struct ww_delivery_record newest; /* of the packets that this ACK delivered */
};

/* Counts wrap by design, as in arith.h. */
static inline ww_delivery_count ww_wrapping_count(ww_delivery_count from, ww_delivery_count to) {
    return (ww_delivery_count)(to - from);
}
static inline ww_delivery_count ww_wrapping_more(ww_delivery_count count, ww_delivery_count more) {
    return (ww_delivery_count)(count + more);
}

/* Returns whether what was in flight when the application had nothing to send has not all arrived. */
static inline bool ww_delivery_is_limited(const struct ww_delivery *flow) {
    const ww_delivery_count rest = ww_wrapping_count(flow->delivered, flow->limited_until);
    return rest != 0 && rest <= (ww_delivery_count)-1 / 2;
}

/* 4.1.2.4: MarkConnectionAppLimited(). The application has nothing to send. */
static inline void ww_delivery_on_limited(struct ww_delivery *flow, ww_delivery_count pipe) {
    flow->limited_until = ww_wrapping_more(flow->delivered, pipe == 0 ? 1 : pipe);
}

/* 4.1.2.2: OnPacketSent(). `is_idle`: nothing was in flight. */
static inline void ww_delivery_on_sent(struct ww_delivery *flow, struct ww_delivery_record *record,
                                       uint64_t now, ww_delivery_count pipe, bool is_idle,
                                       bool is_retransmission) {
    if (is_idle) flow->first_sent = flow->delivered_at = now;
    record->sent = now;
    record->first_sent = flow->first_sent;
    record->delivered_at = flow->delivered_at;
    record->delivered = flow->delivered;
    record->pipe = pipe;
    record->lost = flow->lost;
    record->is_app_limited = ww_delivery_is_limited(flow);
    record->is_retransmission = is_retransmission;
    record->is_delivered = false;
}

/* 4.1.2.3: UpdateRateSample(), IsNewestPacket(). A packet has arrived. `number` orders packets sent at one time. */
static inline void ww_delivery_on_delivered(struct ww_delivery *flow,
                                            const struct ww_delivery_record *record,
                                            uint32_t number, uint64_t now,
                                            ww_delivery_count amount) {
    flow->delivered = ww_wrapping_more(flow->delivered, amount);
    flow->delivered_at = now;
    if (flow->has_newest && record->sent <= flow->newest.sent &&
        (record->sent < flow->newest.sent || !ww_reached(number, flow->newest_number)))
        return;
    flow->newest = *record;
    flow->newest_number = number;
    flow->has_newest = true;
    flow->first_sent = record->sent;
}

/*
 * Returns the interval of the newest packet's rate, or 0. 4.1.3.5: "by discarding samples whose RS.interval is lower
 * than the minimum RTT".
 */
static inline uint64_t ww_delivery_interval(const struct ww_delivery_record *newest, uint64_t now,
                                            uint64_t min_rtt) {
    const uint64_t interval =
        ww_max_u64(ww_minus(newest->sent, newest->first_sent), ww_minus(now, newest->delivered_at));
    return interval >= min_rtt ? interval : 0;
}

/* Returns a span of time in microseconds, at most UINT32_MAX. */
static inline uint32_t ww_delivery_us(uint64_t span, uint32_t units_per_us) {
    return (uint32_t)ww_min_u64(ww_div(span, units_per_us), UINT32_MAX);
}

/*
 * 4.1.2.3: InitRateSample(), GenerateRateSample().
 * Fills in the sample of the ACK at `now`, whose counts are segments, and begins the next one.
 */
static inline void ww_delivery_fill(struct ww_delivery *flow, uint64_t now, uint64_t min_rtt,
                                    uint32_t units_per_us, struct ww_sample *sample) {
    const struct ww_delivery_record *newest = &flow->newest;
    sample->newly_lost = (uint32_t)ww_wrapping_count(flow->sampled_lost, flow->lost);
    sample->delivered = (uint32_t)flow->delivered;
    sample->newly_delivered = (uint32_t)ww_wrapping_count(flow->sampled_delivered, flow->delivered);
    flow->sampled_lost = flow->lost;
    flow->sampled_delivered = flow->delivered;
    if (!flow->has_newest) return;
    flow->has_newest = false;
    sample->prior_delivered = (uint32_t)newest->delivered;
    sample->rate_segments = (uint32_t)ww_wrapping_count(newest->delivered, flow->delivered);
    sample->rate_interval_us =
        ww_delivery_us(ww_delivery_interval(newest, now, min_rtt), units_per_us);
    if (!newest->is_retransmission)
        sample->rate_rtt_us = ww_delivery_us(ww_minus(now, newest->sent), units_per_us);
    sample->is_app_limited = newest->is_app_limited;
    sample->prior_pipe = (uint32_t)newest->pipe;
    sample->lost_since = (uint32_t)ww_wrapping_count(newest->lost, flow->lost);
}

/* Fills in what was known when a lost packet was sent; flow->lost includes it. */
static inline void ww_delivery_fill_lost(const struct ww_delivery *flow,
                                         const struct ww_delivery_record *record,
                                         struct ww_lost *lost) {
    lost->delivered = (uint32_t)flow->delivered;
    lost->prior_delivered = (uint32_t)record->delivered;
    lost->prior_pipe = (uint32_t)record->pipe;
    lost->lost_since = (uint32_t)ww_wrapping_count(record->lost, flow->lost);
    lost->is_app_limited = record->is_app_limited;
}

#endif
