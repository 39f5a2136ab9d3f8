/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * A host that does anything that core/contract.h allows. It calls all operations of the core in any
 * order, any number of times and with any values, and changes the window between calls. Frama-C's
 * EVA covers all of its runs at once.
 */
#include "host.h"

static void check_floor(const struct ww_config *config, uint32_t ssthresh) {
    /*@ assert floor: config->min_cwnd <= ssthresh; */
}

static void check(const struct ww_config *config, const struct ww_state *state,
                  const struct ww_window *window, uint64_t now_us) {
    const struct ww_observation seen = ww_observe(config, state, now_us);
    const struct ww_shown shown = ww_show(config, state, now_us);
    /*@ assert mode_at_most: shown.mode <= 7; */
    /*@ assert cwnd_at_least: 1 <= window->cwnd; */
    /*@ assert cwnd_at_most: window->cwnd <= WW_CWND_MAX; */
    /*@ assert ssthresh_at_most: window->ssthresh <= WW_SSTHRESH_INFINITE; */
    /*@ assert pacing_at_most: window->pacing <= WW_BW_MAX; */
    /*@ assert estimate_at_most: seen.bandwidth <= WW_BW_MAX; */
    /*@ assert sample_at_most: seen.raw <= WW_BW_MAX; */
}

static void call(const struct ww_config *config, struct ww_state *state, struct ww_window *window) {
    const struct ww_sample sample = any_sample();
    const struct ww_sent sent = any_sent();
    const struct ww_lost lost = any_lost();
    switch (any(0, 8)) {
    case 0:
        ww_on_ack(config, state, window, &sample);
        break;
    case 1:
        ww_on_loss(config, state, window, sample.now_us, sample.in_flight, sample.mss);
        break;
    case 2:
        ww_on_recovery_exit(config, state, window, sample.now_us, sample.mss);
        break;
    case 3:
        ww_on_rto(config, state, window, sample.now_us, sample.in_flight, sample.mss,
                  sample.is_dupack);
        break;
    case 4:
        ww_on_mark(config, state, window, sample.now_us, sample.in_flight, sample.mss);
        break;
    case 5:
        ww_on_packet_sent(config, state, window, &sent);
        break;
    case 6:
        ww_on_packet_lost(config, state, window, &lost);
        break;
    case 7:
        ww_on_restart(config, state, sample.now_us);
        break;
    default:
        ww_on_undo(config, state, window);
    }
    check(config, state, window, sample.now_us);
}

static void connection(const struct ww_config *config) {
    struct ww_state state;
    ww_init(config, &state);
    /*@ widen_hints "all", 1, 10, 0x7fffffff, WW_BW_MAX, WW_CWND_MAX, 0xffffffff; */
    while (ww_anything) {
        struct ww_window window = any_window();
        if (ww_anything) { /* the host's window is below the floor only if it started there */
            call(config, &state, &window);
        } else {
            window.ssthresh = ww_max_u32(window.ssthresh, config->min_cwnd);
            call(config, &state, &window);
            check_floor(config, window.ssthresh);
        }
        const struct ww_sample sample = any_sample();
        const uint32_t ssthresh =
            ww_ssthresh(config, &state, sample.now_us, sample.in_flight, sample.mss);
        check_floor(config, ssthresh);
    }
}

/* The recoveries with rate reduction: core/recovery.h. */
static void recovery(void) {
    struct ww_prr prr;
    uint32_t count = 0;
    ww_prr_enter(&prr, (uint32_t)ww_anything);
    while (ww_anything) {
        struct ww_window window = any_window();
        const struct ww_sample sample = any_sample();
        prr.out = (uint32_t)ww_anything; /* the host counts what it sends */
        window.cwnd = ww_prr_on_ack(&prr, window.cwnd, window.ssthresh, sample.pipe,
                                    sample.newly_delivered, sample.is_dupack);
        /*@ assert prr_at_most: window.cwnd <= WW_CWND_MAX; */
        window = any_window();
        window.ssthresh = ww_min_u32(window.ssthresh, WW_CWND_MAX);
        window.cwnd = ww_rate_halving_on_ack(&count, window.cwnd, window.ssthresh, sample.pipe,
                                             sample.newly_delivered);
        /*@ assert halving_at_most: window.cwnd <= WW_CWND_MAX; */
    }
}

/* The samples of the delivery rate, of packets in any order: core/delivery.h. */
static void deliveries(void) {
    struct ww_delivery flow = {0};
    struct ww_delivery_record record = {0};
    while (ww_anything) {
        const uint64_t now = ww_anything;
        struct ww_sample sample = {0};
        struct ww_lost lost = {0};
        switch (any(0, 4)) {
        case 0:
            ww_delivery_on_sent(&flow, &record, now, (uint32_t)ww_anything, any(0, 1), any(0, 1));
            break;
        case 1:
            ww_delivery_on_delivered(&flow, &record, (uint32_t)ww_anything, now,
                                     (uint32_t)ww_anything);
            break;
        case 2:
            ww_delivery_on_limited(&flow, (uint32_t)ww_anything);
            break;
        case 3:
            flow.lost = (uint32_t)ww_anything; /* the host counts it */
            ww_delivery_fill_lost(&flow, &record, &lost);
            break;
        default:
            ww_delivery_fill(&flow, now, ww_anything, (uint32_t)ww_anything, &sample);
            /*@ assert no_sample_without_newest: !flow.has_newest; */
        }
    }
}

int main(void) {
    for (int protocol = 0; protocol < WW_PROTOCOL_COUNT; protocol++) {
        struct ww_config config = ww_configure((enum ww_protocol)protocol);
        config.batched_acks = any(0, 1); /* the one setting that a host sets */
        connection(&config);
    }
    for (int rule = WW_HYSTART_LINUX; rule <= WW_CAREFUL_RESUME; rule++) {
        struct ww_config config = ww_configure(WW_PROTOCOL_SACK);
        config.slow_start = (uint8_t)rule;
        config.resume_cwnd = 1000;
        connection(&config);
    }
    recovery();
    deliveries();
    return 0;
}
