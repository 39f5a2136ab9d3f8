// SPDX-License-Identifier: BSD-3-Clause
//
// Connections start with nothing counted, measured or remembered.
#include <gtest/gtest.h>

#include <vector>

#include "../../core/westwood.h"

namespace {

using Numbers = std::vector<std::uint64_t>;

// Returns the numbers of a state that start at zero; padding between them may be anything.
Numbers zeros(const ww_config& config, const ww_state& state) {
    Numbers all = {state.common.cwnd_count, state.common.prior_cwnd, state.common.prior_ssthresh};
    if (config.algorithm == WW_ALG_WESTWOOD) {
        const ww_westwood_state& w = state.westwood;
        all.insert(all.end(),
                   {w.mark_us, w.pending_bytes, w.filter_us, w.bandwidth, w.raw, w.once});
        all.insert(all.end(), {w.accounted_for, w.last_rtt_us, w.samples, w.plateau, w.counter,
                               w.interval_open, w.rtt_min_stale});
    } else if (config.algorithm == WW_ALG_CUBIC) {
        const ww_cubic_state& c = state.cubic;
        all.insert(all.end(), {c.curve.epoch_ms, c.curve.w_est, c.last_ms, c.curve.w_max,
                               c.curve.k_ms, c.curve.cwnd_prior});
        all.insert(all.end(),
                   {c.curve.fraction, c.delay_min_us, c.curve.epoch_open, c.curve.w_max_known});
        all.insert(all.end(), {c.undo.epoch_ms, c.undo.w_est, c.undo.w_max, c.undo.k_ms,
                               c.undo.cwnd_prior, c.undo.epoch_open, c.undo.w_max_known});
        const ww_hystart_plus_plus_state& h = c.plus_plus;
        all.insert(all.end(), {h.rounds.acked, h.rounds.end, h.last_min_rtt_us, h.baseline_us,
                               h.current_min_rtt_us, h.samples, h.css_rounds, h.done});
    } else if (config.algorithm == WW_ALG_VEGAS) {
        all.insert(all.end(), {state.vegas.rounds.acked, state.vegas.rounds.end, state.vegas.rtts});
    } else if (config.algorithm == WW_ALG_VENO) {
        all.insert(all.end(), {state.veno.queued, state.veno.rtts, state.veno.waits});
    } else if (config.algorithm == WW_ALG_BBR) {
        const ww_bbr_state& b = state.bbr;
        for (int i = 0; i < 3; i++) all.insert(all.end(), {b.max_bw[i], b.max_bw_round[i]});
        all.insert(all.end(), {b.rtprop_at_us, b.full_bw, b.rounds, b.round_end, b.limited_until});
        all.insert(all.end(), {b.cycle_at_us, b.probe_rtt_done_us, b.conserved, b.epoch_us});
        all.insert(all.end(), {b.epoch_acked, b.extra_acked[0], b.extra_acked[1], b.mode, b.cycle,
                               b.full_rounds, b.extra_rounds, b.flags});
    } else if (config.algorithm == WW_ALG_BBR3) {
        const ww_bbr3_state& b = state.bbr3;
        for (int i = 0; i < 3; i++)
            all.insert(all.end(), {b.extra_acked[i], b.extra_acked_round[i]});
        all.insert(all.end(), {b.flags, b.max_bw[0], b.max_bw[1], b.bw, b.bw_latest, b.full_bw});
        all.insert(all.end(), {b.min_rtt_at_us, b.probe_rtt_min_at_us, b.probe_rtt_timed_us,
                               b.cycle_at_us, b.extra_at_us, b.lost_ranges, b.bw_probe_wait_us});
        all.insert(all.end(), {b.delivered, b.next_round_delivered, b.loss_round_delivered,
                               b.limited_from, b.limited_until, b.round_count, b.drain_start_round,
                               b.rounds_since_probe_up, b.initial_cwnd, b.inflight_latest});
        all.insert(all.end(), {b.extra_acked_delivered, b.bw_probe_up_acked, b.mode, b.ack_phase,
                               b.bw_probe_up_rounds, b.full_bw_count});
    } else if (config.algorithm == WW_ALG_WESTWOOD_CUBIC) {
        const ww_westwood_cubic_state& w = state.westwood_cubic;
        all.insert(all.end(), {w.curve.epoch_ms, w.curve.w_est, w.curve.w_max, w.curve.k_ms,
                               w.curve.cwnd_prior, w.curve.fraction, w.curve.epoch_open,
                               w.curve.w_max_known, w.curve.capacity});
        all.insert(all.end(), {w.last_ms, w.max_bw, w.srtt_us, w.round_end, w.lost, w.round_rtt_us,
                               w.last_rtt_us, w.mean_us, w.dev_us});
        all.insert(all.end(), {w.delay_sum_us, w.away_sum_us, w.mistaken, w.samples, w.scores,
                               w.rounds, w.answer, w.start});
    }
    return all;
}

TEST(Start, NothingIsCountedMeasuredOrRemembered) {
    for (int id = 0; id < WW_PROTOCOL_COUNT; id++) {
        const ww_config config = ww_configure(static_cast<ww_protocol>(id));
        ww_state state{};
        ww_init(&config, &state);
        const Numbers all = zeros(config, state);
        EXPECT_EQ(all, Numbers(all.size(), 0)) << "protocol " << id;
        const ww_observation seen = ww_observe(&config, &state, 1000000);
        EXPECT_EQ(seen.bandwidth, 0u);
        EXPECT_EQ(seen.raw, 0u);
        EXPECT_EQ(seen.rtt_min_us, UINT32_MAX) << "larger than any that comes";
        EXPECT_EQ(seen.samples, 0u);
    }
}

TEST(Start, NoRoundTripIsKnown) {
    ww_config config = ww_configure(WW_PROTOCOL_VEGAS);
    ww_state state{};
    ww_init(&config, &state);
    EXPECT_EQ(state.vegas.base_rtt_us, UINT32_MAX);
    EXPECT_EQ(state.vegas.min_rtt_us, UINT32_MAX);
    config = ww_configure(WW_PROTOCOL_VENO);
    ww_init(&config, &state);
    EXPECT_EQ(state.veno.base_rtt_us, UINT32_MAX);
    EXPECT_EQ(state.veno.min_rtt_us, UINT32_MAX);
}

TEST(Start, NothingLimitsBbr3) {
    const ww_config config = ww_configure(WW_PROTOCOL_BBR3);
    ww_state state{};
    ww_init(&config, &state);
    const ww_bbr3_state& b = state.bbr3;
    EXPECT_EQ(b.bw_shortterm, WW_BBR3_ANY_BW);
    EXPECT_EQ(b.undo_bw_shortterm, WW_BBR3_ANY_BW);
    EXPECT_EQ(b.inflight_shortterm, WW_BBR3_ANY_VOLUME);
    EXPECT_EQ(b.inflight_longterm, WW_BBR3_ANY_VOLUME);
    EXPECT_EQ(b.undo_inflight_shortterm, WW_BBR3_ANY_VOLUME);
    EXPECT_EQ(b.undo_inflight_longterm, WW_BBR3_ANY_VOLUME);
    EXPECT_EQ(b.probe_up_acked_per_inc, WW_BBR3_ANY_VOLUME);
    EXPECT_EQ(b.min_rtt_us, UINT32_MAX);
    EXPECT_EQ(b.probe_rtt_min_delay_us, UINT32_MAX);
    EXPECT_EQ(b.undo_mode, WW_BBR3_NONE);
}

TEST(Start, OnlyBbrShowsAMode) {
    for (int id = 0; id < WW_PROTOCOL_COUNT; id++) {
        const ww_config config = ww_configure(static_cast<ww_protocol>(id));
        ww_state state{};
        ww_init(&config, &state);
        EXPECT_EQ(ww_shows(&config), id == WW_PROTOCOL_BBR || id == WW_PROTOCOL_BBR3) << id;
        EXPECT_EQ(ww_show(&config, &state, 1).mode, ww_shows(&config) ? 1u : 0u) << id;
    }
}

TEST(Start, TheEvidenceIsAQuarter) {  // between a lossy link, 0, and a full queue, 1
    const ww_config config = ww_configure(WW_PROTOCOL_WESTWOOD_CUBIC);
    ww_state state{};
    ww_init(&config, &state);
    EXPECT_EQ(state.westwood_cubic.evidence, (128u + 128u / 4) << 8);
}

}  // namespace
