// SPDX-License-Identifier: BSD-3-Clause
//
// The limits of core/contract.h, where proofs/ found sums that wrapped and a floor that did not
// hold.
#include <gtest/gtest.h>

#include "../../core/westwood.h"

namespace {

ww_sample extreme_ack(std::uint64_t now_us, std::uint32_t rtt_us) {
    ww_sample sample{};
    sample.now_us = now_us;
    sample.mss = 1000;
    sample.acked_segments = 1;
    sample.rtt_us = rtt_us;
    sample.is_cwnd_limited = true;
    return sample;
}

TEST(Extremes, ATerabitASecondIsARateLikeAnyOther) {  // the fastest link of a scenario
    const std::uint64_t bytes_per_us = 125000;
    EXPECT_EQ(ww_rate(bytes_per_us * 1000, 1000), bytes_per_us * 1000000 * WW_BW_UNIT);
    EXPECT_EQ(ww_bytes_in(bytes_per_us * 1000000 * WW_BW_UNIT, 536870912), bytes_per_us << 29);
}

TEST(Extremes, TheFilterOfAFastPathSettlesAtItsRate) {
    const ww_config config = ww_configure(WW_PROTOCOL_WESTWOOD);
    ww_westwood_state state{};
    const std::uint64_t bytes = 125000 * 1000, rate = bytes * 1000 * WW_BW_UNIT;
    std::uint64_t now_us = 0;
    for (int i = 0; i < 20000; i++) {
        now_us += 1000;
        ww_filter_step(&config, &state, now_us, bytes, 1000, WW_BW_MAX);
    }
    EXPECT_NEAR(static_cast<double>(state.bandwidth), static_cast<double>(rate), 1e-6 * rate);
}

TEST(Extremes, ARoundTripOfMoreThanAnHourDoesNotEndSlowStart) {
    const ww_config config = ww_configure(WW_PROTOCOL_CUBIC);
    ww_state state{};
    ww_init(&config, &state);
    ww_window window{10, WW_SSTHRESH_INFINITE, 0};
    std::uint64_t now_us = 0;
    for (int i = 0; i < 40; i++) {  // rounds of nine ACKs; last + threshold is above 2^32
        ww_sample sample = extreme_ack(now_us += 1000000, UINT32_MAX - 1000);
        sample.in_flight = 8;
        ww_on_ack(&config, &state, &window, &sample);
    }
    EXPECT_EQ(state.cubic.plus_plus.baseline_us, 0u);
}

TEST(Extremes, VegasKeepsSsthreshAboveItsFloor) {  // min_cwnd: floor of ssthresh
    ww_config config = ww_configure(WW_PROTOCOL_VEGAS);
    config.min_cwnd = 20;
    ww_state state{};
    ww_init(&config, &state);
    ww_window window{20, 20, 0};
    ww_sample sample = extreme_ack(0, 100000);
    ww_on_ack(&config, &state, &window, &sample);
    for (int i = 0; i < 20; i++) {
        sample.in_flight = 3;    // rounds of four ACKs
        sample.rtt_us = 200000;  // half of the window waits in a queue
        ww_on_ack(&config, &state, &window, &sample);
        EXPECT_GE(window.ssthresh, 20u);
    }
}

TEST(Extremes, TwoToThe32DuplicatesAreNotForgotten) {
    const ww_config config = ww_configure(WW_PROTOCOL_WESTWOOD);
    ww_westwood_state state{};
    state.accounted_for = UINT32_MAX;
    ww_count_ack(&config, &state, true, 1);
    EXPECT_EQ(state.accounted_for, UINT32_MAX);
}

TEST(Extremes, AClockSetBackIsNotALongSilence) {
    const ww_config config = ww_configure(WW_PROTOCOL_WESTWOOD_PLUS);
    ww_state state{};
    ww_init(&config, &state);
    ww_window window{10, WW_SSTHRESH_INFINITE, 0};
    for (std::uint64_t now_us = 1000000; now_us <= 3000000; now_us += 10000) {
        const ww_sample sample = extreme_ack(now_us, 50000);
        ww_on_ack(&config, &state, &window, &sample);
    }
    const std::uint64_t before = state.westwood.bandwidth;
    const ww_sample sample = extreme_ack(2000000, 50000);
    ww_on_ack(&config, &state, &window, &sample);
    EXPECT_EQ(state.westwood.bandwidth, before);
}

}  // namespace
