/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The core's entry points for src/ffi.rs. A connection's control is one block of memory without pointers into
 * itself, so that Rust can copy and free it.
 */
#include <stddef.h>

#define WW_DELIVERY_COUNT uint64_t /* bytes */
#include "delivery.h"
#include "westwood.h"

struct ww_rust {
    struct ww_config config;
    struct ww_window window;
    struct ww_state state;
};

size_t ww_rust_bytes(void) { return sizeof(struct ww_rust); }

/* Returns the name of a protocol, or NULL after the last. */
const char *ww_rust_name(uint32_t protocol) {
#define WW_NAME(ID, name, ...) name,
    static const char *const names[] = {WW_PROTOCOLS(WW_NAME) NULL};
#undef WW_NAME
    return protocol < WW_PROTOCOL_COUNT ? names[protocol] : NULL;
}

/* RFC 9002, 7.3.1: QUIC counts the bytes that an ACK acknowledges, however many they are. */
void ww_rust_init(struct ww_rust *c, uint32_t protocol, uint32_t initial_cwnd) {
    c->config = ww_configure((enum ww_protocol)protocol);
    c->config.batched_acks = true;
    c->window.cwnd = initial_cwnd;
    c->window.ssthresh = WW_SSTHRESH_INFINITE;
    c->window.pacing = 0;
    ww_init(&c->config, &c->state);
}

uint32_t ww_rust_traits(const struct ww_rust *c) { return ww_traits(&c->config); }

struct ww_window ww_rust_window(const struct ww_rust *c) {
    return c->window;
}

uint32_t ww_rust_quantum(const struct ww_rust *c, uint32_t mss) {
    return ww_quantum(&c->config, &c->window, mss);
}

void ww_rust_on_ack(struct ww_rust *c, const struct ww_sample *sample) {
    ww_on_ack(&c->config, &c->state, &c->window, sample);
}

void ww_rust_on_packet_sent(struct ww_rust *c, const struct ww_sent *sent) {
    ww_on_packet_sent(&c->config, &c->state, &c->window, sent);
}

void ww_rust_on_packet_lost(struct ww_rust *c, const struct ww_lost *lost) {
    ww_on_packet_lost(&c->config, &c->state, &c->window, lost);
}

void ww_rust_on_loss(struct ww_rust *c, uint64_t now_us, uint32_t in_flight, uint32_t mss) {
    ww_on_loss(&c->config, &c->state, &c->window, now_us, in_flight, mss);
}

void ww_rust_on_mark(struct ww_rust *c, uint64_t now_us, uint32_t in_flight, uint32_t mss) {
    ww_on_mark(&c->config, &c->state, &c->window, now_us, in_flight, mss);
}

void ww_rust_on_recovery_exit(struct ww_rust *c, uint64_t now_us, uint32_t mss) {
    ww_on_recovery_exit(&c->config, &c->state, &c->window, now_us, mss);
}

void ww_rust_on_rto(struct ww_rust *c, uint64_t now_us, uint32_t in_flight, uint32_t mss,
                    bool repeated) {
    ww_on_rto(&c->config, &c->state, &c->window, now_us, in_flight, mss, repeated);
}

void ww_rust_on_undo(struct ww_rust *c) { ww_on_undo(&c->config, &c->state, &c->window); }

void ww_rust_on_restart(struct ww_rust *c, uint64_t now_us) {
    ww_on_restart(&c->config, &c->state, now_us);
}

void ww_rust_on_sent(struct ww_delivery *flow, struct ww_delivery_record *record, uint64_t now_us,
                     uint64_t pipe, bool is_idle) {
    ww_delivery_on_sent(flow, record, now_us, pipe, is_idle, false);
}

/* Packets sent at one time share a record, so nothing has to order them. */
void ww_rust_on_delivered(struct ww_delivery *flow, const struct ww_delivery_record *record,
                          uint64_t now_us, uint64_t bytes) {
    ww_delivery_on_delivered(flow, record, 0, now_us, bytes);
}

uint64_t ww_rust_interval(const struct ww_delivery_record *newest, uint64_t now_us) {
    return ww_delivery_interval(newest, now_us, 0);
}

bool ww_rust_is_limited(const struct ww_delivery *flow) { return ww_delivery_is_limited(flow); }

void ww_rust_on_limited(struct ww_delivery *flow, uint64_t pipe) {
    ww_delivery_on_limited(flow, pipe);
}

/* Returns the offset of a field of ww_sample, ww_sent or ww_lost, in the order of contract.h's ranges, or of
 * ww_delivery_record or ww_delivery, then SIZE_MAX: the tests compare Rust's copies of the structures. */
size_t ww_rust_offset(uint32_t structure, uint32_t field) {
#define WW_OFFSET(name, ...) offsetof(struct WW_OF, name),
#define WW_OF ww_sample
    static const size_t sample[] = {WW_SAMPLE_RANGES(WW_OFFSET) sizeof(struct ww_sample), SIZE_MAX};
#undef WW_OF
#define WW_OF ww_sent
    static const size_t sent[] = {WW_SENT_RANGES(WW_OFFSET) sizeof(struct ww_sent), SIZE_MAX};
#undef WW_OF
#define WW_OF ww_lost
    static const size_t lost[] = {WW_LOST_RANGES(WW_OFFSET) sizeof(struct ww_lost), SIZE_MAX};
#undef WW_OF
#define WW_OF ww_delivery_record
    static const size_t record[] = {
        WW_OFFSET(sent) WW_OFFSET(first_sent) WW_OFFSET(delivered_at) WW_OFFSET(delivered)
            WW_OFFSET(pipe) WW_OFFSET(lost) WW_OFFSET(is_app_limited) WW_OFFSET(is_retransmission)
                WW_OFFSET(is_delivered) sizeof(struct ww_delivery_record),
        SIZE_MAX};
#undef WW_OF
#define WW_OF ww_delivery
    static const size_t flow[] = {WW_OFFSET(first_sent) WW_OFFSET(delivered_at) WW_OFFSET(delivered)
                                      WW_OFFSET(lost) WW_OFFSET(limited_until)
                                          WW_OFFSET(sampled_delivered) WW_OFFSET(sampled_lost)
                                              WW_OFFSET(newest_number) WW_OFFSET(has_newest)
                                                  WW_OFFSET(newest) sizeof(struct ww_delivery),
                                  SIZE_MAX};
#undef WW_OF
#undef WW_OFFSET
    const size_t *const offsets[] = {sample, sent, lost, record, flow};
    return offsets[structure][field];
}
