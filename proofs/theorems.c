/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * What holds after any number of ACKs, by induction. WP proves the invariants of these loops from
 * the core's code.
 */
#include "host.h"

/*
 * An ACK counts what it acknowledges, less what earlier duplicates have counted. Duplicates count
 * in advance: `acked_segments` of a duplicate is how many segments it announces.
 */
/*@ requires \valid_read(config) && \valid(state) && \separated(config, state);
    requires !config->literal_count;
    requires state->accounted_for + acked_segments < 0xffffffff;
    assigns state->accounted_for;
    ensures conserved: \result + \old(state->accounted_for) ==
        state->accounted_for + (is_dupack ? 0 : acked_segments);
    ensures is_dupack ==> \result == \max(acked_segments, 1); */
static inline uint32_t ww_count_ack(const struct ww_config *config, struct ww_westwood_state *state,
                                    bool is_dupack, uint32_t acked_segments);

/*
 * No acknowledged segment is counted twice or lost. At any time, the count equals the cumulatively
 * acknowledged segments plus those that duplicates announced beyond them.
 */
/*@ requires \valid_read(config) && \valid(state) && \separated(config, state, &ww_anything);
    requires !config->literal_count && state->accounted_for == 0; */
static void count_any_acks(const struct ww_config *config, struct ww_westwood_state *state) {
    uint64_t counted = 0, acknowledged = 0;
    /*@ loop invariant conserved: counted == acknowledged + state->accounted_for;
        loop assigns counted, acknowledged, state->accounted_for; */
    while (ww_anything) {
        const bool is_dupack = ww_anything;
        const uint32_t segments = (uint32_t)ww_anything;
        if ((uint64_t)state->accounted_for + segments >= UINT32_MAX) break;
        counted += ww_count_ack(config, state, is_dupack, segments);
        if (!is_dupack) acknowledged += segments;
    }
    /*@ assert conserved: counted == acknowledged + state->accounted_for; */
}

/* One step of Westwood+'s filter: the estimate does not rise above the sample's rate. */
/*@ requires \valid_read(config) && \valid(state) && \separated(config, state);
    requires config->filter == WW_FILTER_EWMA && state->bandwidth <= WW_BW_MAX;
    requires bytes < 0x1000000000 && elapsed_us != 0 && most == WW_BW_MAX;
    assigns *state;
    ensures bounded: state->bandwidth <= \old(state->bandwidth) || state->bandwidth <= state->raw;
    ensures no_faster: state->raw * elapsed_us <= bytes * 256000000;
    ensures state->bandwidth <= WW_BW_MAX; */
static inline uint64_t ww_filter_step(const struct ww_config *config,
                                      struct ww_westwood_state *state, uint64_t now_us,
                                      uint64_t bytes, uint64_t elapsed_us, uint64_t most);

/*
 * Westwood+'s estimate never exceeds the largest rate at which ACKs arrived. bytes <= rate us means
 * that the ACKs of an interval arrived at `rate` or less, in the estimate's unit.
 */
/*@ requires \valid_read(config) && \valid(state) && \separated(config, state, &ww_anything);
    requires config->filter == WW_FILTER_EWMA && state->bandwidth == 0; */
static void estimate_any_samples(const struct ww_config *config, struct ww_westwood_state *state,
                                 uint64_t largest) {
    /*@ loop invariant bounded: state->bandwidth <= largest && state->bandwidth <= WW_BW_MAX;
        loop assigns *state; */
    while (ww_anything) {
        const uint64_t bytes = ww_anything, elapsed_us = ww_anything;
        if (bytes >= UINT64_C(1) << 36 || elapsed_us == 0) break;
        /*@ admit no_faster: bytes * 256000000 <= largest * elapsed_us; */
        ww_filter_step(config, state, ww_anything, bytes, elapsed_us, WW_BW_MAX);
    }
    /*@ assert bounded: state->bandwidth <= largest; */
}

/*
 * Westwood-CUBIC answers a round with many losses within one round trip. When the losses that an
 * ACK reports in recovery are counted, a round with many of them was answered less than a round
 * ago; and no answer waits beyond the next round.
 */
/*@ predicate many(struct ww_config *config, integer lost, integer cwnd) =
        lost > WW_WC_FEW_LOST && lost * 1000 > cwnd * config->wc_heavy_permille;
    predicate answered(integer answer) = answer == WW_WC_CUTS || answer == WW_WC_WAITS;
    predicate reduced(integer answer) = answer >= WW_WC_CUTS;
    logic integer standing(integer answer, integer cwnd, integer ssthresh) =
        \min(answer >= WW_WC_CUTS ? \max(cwnd, ssthresh) : cwnd, WW_CUBIC_CWND_MAX); */

/*@ assigns \nothing;
    ensures many: \result <==> many(config, lost, cwnd); */
static inline bool ww_wc_is_many(const struct ww_config *config, uint32_t lost, uint32_t cwnd);

/*@ requires \valid_read(wc);
    assigns \nothing;
    ensures reduced: \result <==> reduced(wc->answer); */
static inline bool ww_wc_is_reduced(const struct ww_westwood_cubic_state *wc);

/*@ requires \valid_read(wc) && \valid_read(window);
    assigns \nothing;
    ensures standing: \result == standing(wc->answer, window->cwnd, window->ssthresh); */
static inline uint32_t ww_wc_standing(const struct ww_westwood_cubic_state *wc,
                                      const struct ww_window *window);

/*@ requires \valid(wc);
    assigns wc->scores, wc->evidence; */
static inline void ww_wc_take_score(struct ww_westwood_cubic_state *wc);

/*@ requires \valid_read(config) && \valid_read(wc);
    assigns \nothing; */
static inline uint32_t ww_wc_target(const struct ww_config *config,
                                    const struct ww_westwood_cubic_state *wc, uint32_t cwnd,
                                    uint32_t mss, enum ww_wc_cause cause);

/*@ requires \valid_read(config) && \valid(wc);
    assigns wc->mistaken; */
static inline void ww_wc_note_reduction(const struct ww_config *config,
                                        struct ww_westwood_cubic_state *wc, uint32_t cwnd,
                                        enum ww_wc_cause cause);

/*@ requires \valid(curve);
    assigns *curve; */
static inline void ww_wc_end_stage(struct ww_cubic_curve *curve, uint32_t cwnd);

/*@ requires \valid(wc);
    assigns wc->curve.capacity; */
static inline void ww_wc_note_capacity(struct ww_westwood_cubic_state *wc, uint32_t mss);

/*@ requires \valid_read(config) && \valid(wc) && \valid(window);
    requires \separated(config, wc, window);
    assigns *wc, *window;
    ensures at_once: cause != WW_WC_LOSS ==> wc->answer == WW_WC_CUTS; */
static inline void ww_wc_answer(const struct ww_config *config, struct ww_westwood_cubic_state *wc,
                                struct ww_window *window, uint32_t mss, enum ww_wc_cause cause);

/*@ requires \valid_read(config) && \valid(wc) && \valid(window) && \valid_read(sample);
    requires \separated(config, wc, window, sample);
    assigns *wc, *window;
    ensures in_time: sample->phase == WW_RECOVERY && !answered(wc->answer) ==>
        !many(config, wc->lost, standing(wc->answer, window->cwnd, window->ssthresh)); */
static inline void ww_wc_count_lost(const struct ww_config *config,
                                    struct ww_westwood_cubic_state *wc, struct ww_window *window,
                                    const struct ww_sample *sample);

/*@ assigns \nothing;
    ensures one_round: \result != WW_WC_WAITS && \result != WW_WC_KEEPS;
    ensures reduced: reduced(\result) <==> reduced(answer); */
static inline uint8_t ww_wc_after_round(uint8_t answer);

/*
 * Westwood-CUBIC grows by a share of its window only while it is sure of the link, and a round with
 * many losses ends this growth with the ACK that reports them, or with the first one of a later
 * round.
 */
/*@ predicate evident(struct ww_westwood_cubic_state *wc, integer permille) =
        wc->evidence * 1000 > WW_WC_ONE * (1000 + permille);
    predicate calm(struct ww_westwood_cubic_state *wc) =
        wc->last_rtt_us <= wc->rtt_min_us + wc->rtt_min_us / 512 + 16;
    predicate sure(struct ww_config *config, struct ww_westwood_cubic_state *wc) =
        wc->scores >= 4 && calm(wc) && !evident(wc, config->wc_evidence_permille / 2); */

/*@ requires \valid_read(wc) && permille <= 0xffff;
    assigns \nothing;
    ensures evident: \result <==> evident(wc, permille); */
static inline bool ww_wc_is_evident(const struct ww_westwood_cubic_state *wc, uint32_t permille);

/*@ requires \valid_read(config) && \valid_read(wc);
    assigns \nothing; */
static inline bool ww_wc_queue_stands(const struct ww_config *config,
                                      const struct ww_westwood_cubic_state *wc);

/*@ requires \valid_read(wc);
    assigns \nothing;
    ensures calm: \result ==> calm(wc); */
static inline bool ww_wc_is_calm(const struct ww_westwood_cubic_state *wc);

/*@ requires \valid_read(config) && \valid_read(wc);
    assigns \nothing;
    ensures link: \result ==> !evident(wc, config->wc_evidence_permille / 2); */
static inline bool ww_wc_is_link(const struct ww_config *config,
                                 const struct ww_westwood_cubic_state *wc);

/*@ requires \valid_read(config) && \valid_read(wc);
    assigns \nothing;
    ensures sure: \result ==> sure(config, wc); */
static inline bool ww_wc_is_sure(const struct ww_config *config,
                                 const struct ww_westwood_cubic_state *wc);

/*@ requires \valid_read(config) && \valid_read(wc);
    assigns \nothing;
    ensures sure: \result ==> sure(config, wc); */
static inline bool ww_wc_may_grow(const struct ww_config *config,
                                  const struct ww_westwood_cubic_state *wc, uint32_t cwnd);

/*@ requires \valid_read(config) && \valid(wc) && \valid(window);
    requires \separated(config, wc, window);
    requires window->cwnd <= WW_CUBIC_CWND_MAX && segments <= 0x10000;
    assigns wc->curve.fraction, wc->start, window->cwnd; */
static inline void ww_wc_grow_by_share(const struct ww_config *config,
                                       struct ww_westwood_cubic_state *wc, struct ww_window *window,
                                       uint32_t segments);

/*@ requires \valid(curve);
    assigns *curve; */
static inline void ww_cubic_begin(struct ww_cubic_curve *curve, uint32_t cwnd, uint32_t now_ms);

/*@ requires \valid(curve) && \valid(window) && \separated(curve, window);
    assigns *curve, *window; */
static inline void ww_cubic_grow(struct ww_cubic_curve *curve, struct ww_window *window,
                                 uint32_t elapsed_ms, uint32_t segments, uint32_t srtt_us);

/*@ requires \valid(window);
    assigns window->cwnd; */
static inline uint32_t ww_slow_start(struct ww_window *window, uint32_t segments);

/*@ requires \valid(wc) && \valid(window) && \valid_read(sample);
    requires \separated(wc, window, sample);
    assigns wc->common, *window; */
static inline void ww_wc_prr_on_ack(struct ww_westwood_cubic_state *wc, struct ww_window *window,
                                    const struct ww_sample *sample);

/*@ requires \valid(wc) && \valid(window) && \separated(wc, window);
    assigns wc->curve, wc->start, *window;
    ensures curve: wc->start == WW_WC_STARTED; */
static inline void ww_wc_follow_curve(struct ww_westwood_cubic_state *wc, struct ww_window *window,
                                      uint32_t segments);

/*@ requires \valid_read(config) && \valid(wc) && \valid(window) && \valid_read(sample);
    requires \separated(config, wc, window, sample);
    requires wc->start != WW_WC_GROWS;
    assigns wc->curve, wc->start, *window;
    ensures sure: wc->start == WW_WC_GROWS ==> \old(sure(config, wc)); */
static inline void ww_wc_grow(const struct ww_config *config, struct ww_westwood_cubic_state *wc,
                              struct ww_window *window, const struct ww_sample *sample,
                              uint32_t since_last_ms);

/*@ requires \valid_read(config) && \valid(wc) && \valid(window) && \valid_read(sample);
    requires \separated(config, wc, window, sample);
    assigns wc->curve, wc->common, wc->start, *window;
    ensures sure: wc->start == WW_WC_GROWS ==> \old(sure(config, wc));
    ensures falls: sample->phase == WW_RECOVERY && reduced(wc->answer) ==>
        wc->start != WW_WC_GROWS; */
static inline void ww_wc_move(const struct ww_config *config, struct ww_westwood_cubic_state *wc,
                              struct ww_window *window, const struct ww_sample *sample,
                              uint32_t since_last_ms);

/*@ requires \valid_read(config) && \valid(wc) && \valid(window) && \valid_read(sample);
    requires \separated(config, wc, window, sample);
    assigns *wc, *window; */
static void take_any_losses(const struct ww_config *config, struct ww_westwood_cubic_state *wc,
                            struct ww_window *window, const struct ww_sample *sample) {
    ww_wc_count_lost(config, wc, window, sample);
answered:;
    const bool has_many = ww_wc_is_many(config, wc->lost, ww_wc_standing(wc, window));
    ww_wc_move(config, wc, window, sample, (uint32_t)ww_anything);
    /*@ assert sure: wc->start == WW_WC_GROWS ==> \at(sure(config, wc), answered); */
    /*@ assert ends: sample->phase == WW_RECOVERY && has_many ==> wc->start != WW_WC_GROWS; */
}

int main(void) {
    struct ww_westwood_state state = {0};
    struct ww_config config = ww_configure(WW_PROTOCOL_WESTWOOD_PLUS);
    count_any_acks(&config, &state);
    estimate_any_samples(&config, &state, 0);
    return 0;
}
