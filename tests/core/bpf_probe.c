/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Calls every entry point of the core. tools/check_core.sh compiles it to BPF for -mcpu=v1, v2 and v3,
 * which fails on signed division, 128-bit arithmetic and library calls.
 */
#include "../../core/recovery.h"
#include "../../core/westwood.h"

struct probe {
    struct ww_config config;
    struct ww_state state;
    struct ww_window window;
    struct ww_sample sample;
    struct ww_sent sent;
    struct ww_lost lost;
    struct ww_observation seen;
    struct ww_shown shown;
    struct ww_prr prr;
    uint32_t protocol, ssthresh, flight, count;
};

int probe_core(struct probe *p) {
    p->config = ww_configure((enum ww_protocol)p->protocol);
    ww_init(&p->config, &p->state);
    ww_on_packet_sent(&p->config, &p->state, &p->window, &p->sent);
    ww_on_packet_lost(&p->config, &p->state, &p->window, &p->lost);
    p->flight = ww_quantum(&p->config, &p->window, p->sent.mss);
    ww_on_ack(&p->config, &p->state, &p->window, &p->sample);
    p->ssthresh = ww_ssthresh(&p->config, &p->state, p->sample.now_us, p->flight, p->sample.mss);
    ww_on_loss(&p->config, &p->state, &p->window, p->sample.now_us, p->flight, p->sample.mss);
    ww_on_mark(&p->config, &p->state, &p->window, p->sample.now_us, p->flight, p->sample.mss);
    ww_on_recovery_exit(&p->config, &p->state, &p->window, p->sample.now_us, p->sample.mss);
    ww_on_rto(&p->config, &p->state, &p->window, p->sample.now_us, p->flight, p->sample.mss,
              p->sample.is_dupack);
    ww_on_undo(&p->config, &p->state, &p->window);
    ww_on_restart(&p->config, &p->state, p->sample.now_us);
    ww_prr_enter(&p->prr, p->flight);
    p->window.cwnd = ww_prr_on_ack(&p->prr, p->window.cwnd, p->window.ssthresh, p->flight,
                                   p->sample.newly_delivered, p->sample.is_cwnd_limited);
    p->window.cwnd =
        ww_rate_halving_on_ack(&p->count, p->window.cwnd, p->window.ssthresh, p->flight, 1);
    p->seen = ww_observe(&p->config, &p->state, p->sample.now_us);
    p->shown = ww_show(&p->config, &p->state, p->sample.now_us);
    return 0;
}
