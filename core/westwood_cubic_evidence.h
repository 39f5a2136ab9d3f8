/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Westwood-CUBIC's evidence: do its losses come from a full queue, or from the link?
 *
 *   SRTT      RTTs smoothed by 1/8
 *   mean      of SRTT over 16 rounds: a round's mean has weight 1/16; the first 16 rounds weigh the same. A round's
 *             mean is RTTmin at its end + the mean of SRTT - RTTmin; its first 4095 RTTs count
 *   dev       of |SRTT - mean|, likewise; 0 in the first round
 *   score     (SRTT - mean) / (2 dev) at the first loss of a round, between -1 and 1. In the first round RTTmin
 *             replaces the mean. dev is at least RTTmin / 8192 + 16 us, to cover noise
 *   evidence  mean of the scores of about 32 rounds with losses. It starts at 1/4; a score weighs between 1/32
 *             and 1/4
 *
 *   a full queue loses packets   evidence > threshold, or no RTT is known
 *   the link loses packets       evidence <= threshold / 2, and no queue stands
 *   many losses are overload     evidence > threshold / 2, or the score is 1/2 or more
 *   sure of the link             the link loses packets, at least 4 scores, and the smallest RTT of the last
 *                              round <= RTTmin + RTTmin / 512 + 16 us
 *
 * A timeout keeps mean, dev and evidence, and drops SRTT and the sums of the round.
 *
 * Why this score. A link loses all packets alike, so SRTT at its losses has the mean of all SRTTs: the evidence
 * is near 0. A queue loses packets while it is full, however short it is: the evidence is near 1. Neither the
 * queue's length nor the link's loss rate matters. Jitter widens dev but moves no mean. RED loses more packets in
 * a longer queue. The mean lags behind a queue that grows for hundreds of rounds; then a link's losses score up
 * to 0.4.
 *
 * Sources. TCP Veno (Fu & Liew 2003) classifies a loss by the queue's length at that loss; Biaz & Vaidya (1999)
 * and Spike (Cen, Cosman & Voelker 2003) by its place between two thresholds. Here it is the mean place over
 * many losses, in units of the path's own deviation.
 */
#ifndef WW_WESTWOOD_CUBIC_EVIDENCE_H
#define WW_WESTWOOD_CUBIC_EVIDENCE_H

#include "westwood_cubic_state.h"

static inline uint64_t ww_wc_bandwidth(const struct ww_westwood_cubic_state *wc) {
    return (uint64_t)wc->max_bw << WW_WC_RATE_SHIFT;
}

/* Returns the current score: 0 is the smallest, WW_WC_ZERO the mean, 255 the largest. */
static inline uint32_t ww_wc_score(const struct ww_westwood_cubic_state *wc) {
    const uint32_t mean_us = wc->mean_us == 0 ? wc->rtt_min_us : wc->mean_us;
    const bool above = wc->srtt_us > mean_us;
    const uint64_t away_us = above ? wc->srtt_us - mean_us : mean_us - wc->srtt_us;
    const uint64_t unit_us = ww_max_u32(wc->dev_us, wc->rtt_min_us / 8192 + WW_WC_NOISE_US);
    const uint64_t parts = ww_min_u64(away_us * (WW_WC_ZERO / 2) / unit_us, WW_WC_ZERO);
    return (uint32_t)(above ? ww_min_u64(WW_WC_ZERO + parts, 255) : WW_WC_ZERO - parts);
}

/* Adds the score of a round's first loss to the evidence. */
static inline void ww_wc_take_score(struct ww_westwood_cubic_state *wc) {
    wc->scores = (uint8_t)ww_min_u32(wc->scores + 1u, WW_WC_SCORES);
    const uint32_t weight = ww_max_u32(wc->scores, WW_WC_FEW_SCORES);
    const uint32_t sum = wc->evidence * (weight - 1) + (ww_wc_score(wc) << 8);
    wc->evidence = (uint16_t)ww_min_u32(sum / weight, UINT16_MAX);
}

/* Returns true if the evidence is above this many thousandths. */
static inline bool ww_wc_is_evident(const struct ww_westwood_cubic_state *wc, uint32_t permille) {
    return (wc->evidence + UINT32_C(0)) * 1000 > WW_WC_ONE * (1000 + permille);
}

/* Returns true if the losses come from a full queue, as far as is known. */
static inline bool ww_wc_is_congested(const struct ww_config *config,
                                      const struct ww_westwood_cubic_state *wc) {
    return wc->srtt_us == 0 || ww_wc_is_evident(wc, config->wc_evidence_permille);
}

/* The same for many losses at once: half the evidence is enough, or a score of 1/2 now. */
static inline bool ww_wc_is_overload(const struct ww_config *config,
                                     const struct ww_westwood_cubic_state *wc) {
    return ww_wc_is_congested(config, wc) || ww_wc_score(wc) >= WW_WC_HALF ||
           ww_wc_is_evident(wc, config->wc_evidence_permille / 2);
}

/* Returns true if every packet of this round and the last had to wait. */
static inline bool ww_wc_queue_stands(const struct ww_config *config,
                                      const struct ww_westwood_cubic_state *wc) {
    const uint32_t rtt_us =
        wc->round_rtt_us == 0 ? wc->last_rtt_us : ww_least_rtt(wc->last_rtt_us, wc->round_rtt_us);
    return rtt_us > (uint64_t)wc->rtt_min_us * (1000 + config->wc_queue_permille) / 1000;
}

/*
 * Returns true if the link is sure to lose packets: little evidence of a full queue, and no queue
 * stands.
 */
static inline bool ww_wc_is_link(const struct ww_config *config,
                                 const struct ww_westwood_cubic_state *wc) {
    return !ww_wc_queue_stands(config, wc) &&
           !ww_wc_is_evident(wc, config->wc_evidence_permille / 2);
}

/*
 * Returns true if a packet of the last round hardly waited, at most RTTmin / 512 + 16 us: so the
 * queue was empty in between. Bursts and jitter delay most packets, but rarely all of a round.
 */
static inline bool ww_wc_is_calm(const struct ww_westwood_cubic_state *wc) {
    const uint64_t room_us = wc->rtt_min_us / WW_WC_CALM_PARTS + WW_WC_NOISE_US;
    return wc->last_rtt_us != 0 && wc->last_rtt_us <= wc->rtt_min_us + room_us;
}

/*
 * Returns true if at least four rounds with losses say that the link loses packets, and the queue
 * was empty in the last round.
 */
static inline bool ww_wc_is_sure(const struct ww_config *config,
                                 const struct ww_westwood_cubic_state *wc) {
    return wc->scores >= WW_WC_FEW_SCORES && ww_wc_is_calm(wc) && ww_wc_is_link(config, wc);
}

/* Returns true if a round lost more segments than a lossy link alone would. cwnd * 1000 < 2^38. */
static inline bool ww_wc_is_many(const struct ww_config *config, uint32_t lost, uint32_t cwnd) {
    return lost > WW_WC_FEW_LOST &&
           (uint64_t)lost * 1000 > (uint64_t)cwnd * config->wc_heavy_permille;
}

/* Adds SRTT to this round's sums: at most 4095 times 2^20 - 1 us, which is below 2^32. */
static inline void ww_wc_add_delay(struct ww_westwood_cubic_state *wc) {
    if (wc->samples >= WW_WC_SAMPLES_MAX) return;
    const uint32_t srtt_us = wc->srtt_us, mean_us = wc->mean_us;
    const uint64_t away_us = ww_minus(srtt_us, mean_us) + ww_minus(mean_us, srtt_us);
    const uint64_t delay_us = ww_min_u64(ww_minus(srtt_us, wc->rtt_min_us), WW_WC_DELAY_MAX);
    wc->samples++;
    wc->delay_sum_us = (uint32_t)ww_min_u64(wc->delay_sum_us + delay_us, UINT32_MAX);
    wc->away_sum_us =
        (uint32_t)ww_min_u64(wc->away_sum_us + ww_min_u64(away_us, WW_WC_DELAY_MAX), UINT32_MAX);
}

/* Adds a round's sums to mean and deviation; the first rounds weigh the same. */
static inline void ww_wc_end_delays(struct ww_westwood_cubic_state *wc) {
    if (wc->samples == 0) return;
    const uint64_t mean_us = (uint64_t)wc->rtt_min_us + wc->delay_sum_us / wc->samples;
    const uint64_t dev_us = wc->mean_us == 0 ? 0 : wc->away_sum_us / wc->samples;
    wc->rounds = (uint8_t)ww_min_u32(wc->rounds + 1u, WW_WC_ROUNDS);
    const uint64_t rest = wc->rounds - 1u,
                   half = wc->rounds / 2u; /* rounds to nearest, so that neither drifts */
    const uint64_t mean = (wc->mean_us * rest + mean_us + half) / wc->rounds;
    const uint64_t dev = (wc->dev_us * rest + dev_us + half) / wc->rounds;
    wc->mean_us = (uint32_t)ww_min_u64(mean, UINT32_MAX);
    wc->dev_us = (uint32_t)ww_min_u64(dev, UINT32_MAX);
    wc->delay_sum_us = wc->away_sum_us = 0;
    wc->samples = 0;
}

#endif
