// SPDX-License-Identifier: BSD-3-Clause
//
// The limits of core/contract.h, where proofs/ found sums that wrapped and a floor that gave way.
#include "rounds.hpp"

namespace {

using ww::test::Host;

ww_sample extreme_ack(std::uint32_t rtt_us, std::uint32_t in_flight = 0) {
    ww_sample sample{};
    sample.acked_segments = 1;
    sample.rtt_us = rtt_us;
    sample.in_flight = in_flight;
    sample.is_cwnd_limited = true;
    return sample;
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
    Host c(WW_PROTOCOL_CUBIC);
    // Rounds of nine ACKs; last + threshold is above 2^32.
    for (int i = 0; i < 40; i++) c.take(1000000, extreme_ack(UINT32_MAX - 1000, 8));
    EXPECT_EQ(c.state.cubic.plus_plus.baseline_us, 0u);
}

TEST(Extremes, VegasKeepsSsthreshAboveItsFloor) {  // min_cwnd: floor of ssthresh
    Host c(WW_PROTOCOL_VEGAS, 20, 20);
    c.config.min_cwnd = 20;
    c.take(0, extreme_ack(100000));
    for (int i = 0; i < 20; i++) {  // rounds of four ACKs; half of the window waits in a queue
        c.take(0, extreme_ack(200000, 3));
        EXPECT_GE(c.window.ssthresh, 20u);
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
    Host c(WW_PROTOCOL_WESTWOOD_PLUS);
    for (int i = 0; i < 200; i++) c.take(10000, extreme_ack(50000));
    const std::uint64_t before = c.state.westwood.bandwidth;
    c.now_us -= 1000000;
    c.take(0, extreme_ack(50000));
    EXPECT_EQ(c.state.westwood.bandwidth, before);
}

}  // namespace
