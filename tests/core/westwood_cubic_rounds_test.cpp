// SPDX-License-Identifier: BSD-3-Clause
//
// What Westwood-CUBIC measures, and its slow start. westwood_cubic_test.cpp tests losses,
// westwood_cubic_evidence_test.cpp the evidence.
#include "westwood_cubic.hpp"

namespace ww::test::westwood_cubic {
namespace {

// ---- the estimate

TEST(WestwoodCubicRounds, TheRateIsTheLargestAndFadesByAnEighthPerRound) {
    WestwoodCubic c(100, 100);
    c.ack({.rate = 50, .ends_round = true});
    EXPECT_EQ(c.bytes_per_s(), 5e5);
    c.ack({.rate = 200});
    c.ack({.rate = 60});
    EXPECT_EQ(c.bytes_per_s(), 2e6);
    c.ack({.rate = 70, .ends_round = true});
    EXPECT_NEAR(c.bytes_per_s(), 2e6 * 7 / 8, 32);
    c.ack({.rate = 70});
    EXPECT_NEAR(c.bytes_per_s(), 2e6 * 7 / 8, 32) << "once a round";
    c.ack({.rate = 70, .ends_round = true});
    EXPECT_NEAR(c.bytes_per_s(), 2e6 * 49 / 64, 64);
    const ww_observation seen = ww_observe(&c.config, &c.state, 0);
    EXPECT_EQ(seen.raw, seen.bandwidth);
    for (int i = 0; i < 50; i++) c.ack({.rate = 80, .ends_round = true});
    EXPECT_EQ(c.bytes_per_s(), 8e5) << "down to what is delivered";
}

TEST(WestwoodCubicRounds, NothingFadesInTheRoundThatAReductionBegins) {
    WestwoodCubic c(100, 100);
    c.ack({.ends_round = true});
    c.mark();
    c.ack({.rate = 10, .ends_round = true});
    EXPECT_EQ(c.bytes_per_s(), 1e6);
}

TEST(WestwoodCubicRounds, TheShortestIntervalMakesARate) {
    WestwoodCubic c(10);
    c.ack({.rate = 1, .interval_us = 1});
    EXPECT_NEAR(c.bytes_per_s(), 1e9, 32) << "a segment of 1000 bytes in a microsecond";
}

TEST(WestwoodCubicRounds, TheRateOfAnIdleApplicationCountsToo) {
    WestwoodCubic c(100, 100);
    c.ack({.rate = 90, .idle = true});
    EXPECT_EQ(c.bytes_per_s(), 9e5);
}

TEST(WestwoodCubicRounds, AnAckWithoutARateSampleEndsNoRound) {
    WestwoodCubic c(100, 100);
    c.ack({.rate = 100, .ends_round = true});
    for (int i = 0; i < 3; i++) c.ack({.rate = 0, .ends_round = true});
    EXPECT_EQ(c.bytes_per_s(), 1e6);
}

TEST(WestwoodCubicRounds, TheRoundTripIsSmoothedByAnEighth) {
    WestwoodCubic c(100, 100);
    c.ack({.rtt_us = 80000});
    EXPECT_EQ(c.wc().srtt_us, 80000u);
    c.ack({.rtt_us = 160000});
    EXPECT_EQ(c.wc().srtt_us, 90000u);
    c.ack({.rtt_us = 0});
    EXPECT_EQ(c.wc().srtt_us, 90000u) << "0 is none";
    EXPECT_EQ(c.wc().rtt_min_us, 80000u);
}

TEST(WestwoodCubicRounds, AWindowThatIsNotFullStopsTheCurvesClock) {  // RFC 9438, 5.8
    const auto grown = [](std::uint32_t silent_us) {
        WestwoodCubic c = settled(1000);
        c.mark();
        c.leave_recovery();
        c.acks(3000, {.fills = true});
        c.ack({.after_us = silent_us});
        c.acks(3000, {.fills = true});
        return c.window.cwnd;
    };
    EXPECT_EQ(grown(1000), grown(60000000));
}

TEST(WestwoodCubicRounds, ASilenceThatTheHostReportsStopsTheCurvesClock) {  // RFC 9438, 4.2
    const auto grown = [](std::uint64_t silent_us) {
        WestwoodCubic c = settled(1000);
        c.mark();
        c.leave_recovery();
        c.acks(3000, {.fills = true});
        c.now_us += silent_us;
        ww_on_restart(&c.config, &c.state, c.now_us);
        c.acks(3000, {.fills = true});
        return c.window.cwnd;
    };
    EXPECT_EQ(grown(0), grown(60000000));
}

// ---- slow start

constexpr std::uint32_t kLonger = kRtt + 12500;  // by RttThresh of RFC 9406, 4.2: an eighth

TEST(WestwoodCubicRounds, SlowStartDoublesAndIsPaced) {
    WestwoodCubic c(10);
    c.ack({.delivered = 10, .fills = true});
    EXPECT_EQ(c.window.cwnd, 20u);
    EXPECT_EQ(c.window.pacing, 2 * 20 * kMss * 10 * WW_BW_UNIT) << "2 cwnd / SRTT";
    c.config.wc_pacing_permille = 0;
    c.ack({});
    EXPECT_EQ(c.window.pacing, 0u);
}

TEST(WestwoodCubicRounds, PacingNeedsARoundTrip) {
    WestwoodCubic c(10);
    c.ack({.rtt_us = 0});
    EXPECT_EQ(c.window.pacing, 0u);
}

TEST(WestwoodCubicRounds, NothingElseIsPaced) {
    WestwoodCubic c = settled(100);
    EXPECT_EQ(c.window.pacing, 0u);
    WestwoodCubic lost(100);
    lost.acks(20, {});
    ASSERT_GT(lost.window.pacing, 0u);
    lost.mark();
    lost.ack({.in_network = 10, .phase = WW_RECOVERY});
    ASSERT_LT(lost.window.cwnd, lost.window.ssthresh);
    EXPECT_EQ(lost.window.pacing, 0u) << "nor is recovery";
}

TEST(WestwoodCubic,
     AfterATimeoutPacingAwaitsARoundTrip) {  // the queue behind the old SRTT is gone
    WestwoodCubic c(100);
    c.acks(20, {});
    c.timeout();
    c.ack({.rtt_us = 0, .phase = WW_LOSS, .fills = true});
    EXPECT_EQ(c.window.pacing, 0u);
    c.ack({.phase = WW_LOSS});
    EXPECT_GT(c.window.pacing, 0u);
}

TEST(WestwoodCubicRounds, LongRoundTripsOnlyMatterInSlowStart) {
    WestwoodCubic c(200, 150);  // a host that began with this window and never filled it
    c.acks(8, {});
    for (int i = 0; i < 4; i++) c.ack({.rtt_us = kLonger, .ends_round = true});
    EXPECT_EQ(c.window.cwnd, 200u);
}

TEST(WestwoodCubicRounds, SlowStartHoldsWhileTheSmoothedRoundTripIsLonger) {
    WestwoodCubic c(20);
    c.ack({});
    c.acks(40, {.rtt_us = kLonger - 8});
    c.ack({.rtt_us = kLonger - 8, .delivered = 5, .fills = true});
    EXPECT_EQ(c.window.cwnd, 25u) << "it comes near";
    c.ack({.rtt_us = kLonger + 20000});
    EXPECT_EQ(c.wc().start, WW_WC_HOLDS);
    c.acks(2, {.rtt_us = kRtt, .delivered = 0});
    ASSERT_LT(c.wc().srtt_us, kLonger);
    EXPECT_EQ(c.wc().start, WW_WC_DOUBLES) << "the queue has gone";
    c.acks(5, {.rtt_us = kLonger + 20000, .delivered = 5, .fills = true});
    EXPECT_EQ(c.window.cwnd, 25u);
    EXPECT_GT(c.window.pacing, 0u);
    EXPECT_EQ(c.window.ssthresh, WW_SSTHRESH_INFINITE);
}

TEST(WestwoodCubicRounds, ASmoothedRoundTripAtTheThresholdHolds) {
    for (const std::uint32_t below_us : {0u, 1u}) {
        WestwoodCubic c(20);
        c.ack({});
        c.state.westwood_cubic.srtt_us = kLonger - below_us;
        c.ack({.rtt_us = kLonger - below_us - kLonger % 8, .delivered = 5, .fills = true});
        EXPECT_EQ(c.wc().srtt_us >= kLonger, c.window.cwnd == 20u) << below_us;
    }
}

// Goes through a round of longer round trips with this many segments in the window.
ww_window after_a_longer_round(std::uint32_t cwnd, std::uint32_t first_us = kLonger) {
    WestwoodCubic c(cwnd);
    c.acks(8, {});
    c.ack({.ends_round = true});
    c.ack({.rtt_us = first_us, .ends_round = true});  // begins the round under test
    c.acks(5, {.rtt_us = kLonger});
    c.ack({.rtt_us = kLonger, .ends_round = true});
    return c.window;
}

TEST(WestwoodCubicRounds, SlowStartEndsAtTheBdp) {
    for (const auto& [cwnd, after] : {std::pair{150u, 100u}, {300u, 150u}, {80u, 80u}}) {
        const ww_window window = after_a_longer_round(cwnd);
        EXPECT_EQ(window.cwnd, after) << "max(cwnd / 2, BDP), never more than cwnd";
        EXPECT_EQ(window.ssthresh, after);
    }
    EXPECT_EQ(after_a_longer_round(1).ssthresh, 2u) << "the floor";
}

TEST(WestwoodCubicRounds, SlowStartGoesOnIfAnyRoundTripIsShort) {
    EXPECT_EQ(after_a_longer_round(150, kLonger - 1).ssthresh, WW_SSTHRESH_INFINITE);
}

TEST(WestwoodCubicRounds, OnlyTheFirstSlowStartEndsAtTheBdp) {
    WestwoodCubic c(200);
    c.acks(8, {});
    c.timeout();
    c.ack({.phase = WW_LOSS});  // the path's
    for (int i = 0; i < 30; i++) c.ack({.rtt_us = kLonger, .ends_round = true, .fills = true});
    EXPECT_EQ(c.window.cwnd, 31u) << "nor is it held";
}

TEST(WestwoodCubicRounds, AReductionEndsTheFirstSlowStart) {
    WestwoodCubic c(100);
    c.acks(8, {});
    c.mark();
    c.window.ssthresh = 200;  // as an undo might do
    c.acks(20, {.rtt_us = 2 * kLonger, .fills = true});
    EXPECT_EQ(c.window.cwnd, 90u);
}

}  // namespace
}  // namespace ww::test::westwood_cubic
