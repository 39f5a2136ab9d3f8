/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The core's entry points for src/ffi.rs. A connection's control is one block of memory without pointers into
 * itself, so that Rust can copy and free it.
 */
#include <stddef.h>

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

/* Returns the offset of a field of ww_sample, ww_sent or ww_lost, in the order of contract.h's ranges, then
 * SIZE_MAX: the tests compare Rust's copies of the structures. */
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
#undef WW_OFFSET
    return structure == 0 ? sample[field] : structure == 1 ? sent[field] : lost[field];
}
