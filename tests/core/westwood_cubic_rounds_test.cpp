// SPDX-License-Identifier: BSD-3-Clause
//
// What Westwood-CUBIC measures, and its slow start. Losses: westwood_cubic_test.cpp.
#include "westwood_cubic.hpp"

namespace ww::test::westwood_cubic {
namespace {

// ---- the estimate

TEST(WestwoodCubic, TheRateIsTheLargestOfThisAndOfTheLastRound) {
    WestwoodCubic c(100, 100);
    c.ack({.rate = 50, .ends_round = true});
    EXPECT_EQ(c.bytes_per_s(), 5e5);
    c.ack({.rate = 200});
    c.ack({.rate = 60});
    EXPECT_EQ(c.bytes_per_s(), 2e6) << "of this round";
    c.ack({.rate = 70, .ends_round = true});
    EXPECT_EQ(c.bytes_per_s(), 2e6) << "of the last round";
    c.ack({.rate = 80});
    EXPECT_EQ(ww_observe(&c.config, &c.state, 0).raw, 800000u * WW_BW_UNIT);
    c.ack({.rate = 90, .ends_round = true});
    EXPECT_EQ(c.bytes_per_s(), 9e5) << "the round before is forgotten";
}

TEST(WestwoodCubic, TheShortestIntervalMakesARate) {
    WestwoodCubic c(10);
    c.ack({.rate = 1, .interval_us = 1});
    EXPECT_NEAR(c.bytes_per_s(), 1e9, 32) << "a segment of 1000 bytes in a microsecond";
}

TEST(WestwoodCubic, AnIdleApplicationsRateCountsIfItIsLarger) {
    WestwoodCubic c(100, 100);
    c.ack({.rate = 100, .ends_round = true});
    c.ack({.rate = 0, .ends_round = false});
    c.ack({.rate = 90, .ends_round = true, .idle = true});
    EXPECT_EQ(ww_observe(&c.config, &c.state, 0).raw, 0u);
    c.ack({.rate = 100, .idle = true});
    EXPECT_EQ(ww_observe(&c.config, &c.state, 0).raw, 0u);
    c.ack({.rate = 110, .idle = true});
    EXPECT_EQ(ww_observe(&c.config, &c.state, 0).raw, 1100000u * WW_BW_UNIT);
}

TEST(WestwoodCubic, AnAckWithoutARateSampleEndsNoRound) {
    WestwoodCubic c(100, 100);
    c.ack({.rate = 100, .ends_round = true});
    for (int i = 0; i < 3; i++) c.ack({.rate = 0, .ends_round = true});
    EXPECT_EQ(c.bytes_per_s(), 1e6);
}

TEST(WestwoodCubic, TheRoundTripIsSmoothedByAnEighth) {
    WestwoodCubic c(100, 100);
    c.ack({.rtt_us = 80000});
    EXPECT_EQ(c.wc().srtt_us, 80000u);
    c.ack({.rtt_us = 160000});
    EXPECT_EQ(c.wc().srtt_us, 90000u);
    c.ack({.rtt_us = 0});
    EXPECT_EQ(c.wc().srtt_us, 90000u) << "0 is none";
    EXPECT_EQ(c.wc().rtt_min_us, 80000u);
}

TEST(WestwoodCubic, AWindowThatIsNotFullStopsTheCurvesClock) {  // RFC 9438, 5.8
    const auto grown = [](std::uint32_t silent_us) {
        WestwoodCubic c = settled(1000, kQueue);
        c.loss();
        c.leave_recovery();
        c.acks(3000, {.fills = true});
        c.ack({.after_us = silent_us});
        c.acks(3000, {.fills = true});
        return c.window.cwnd;
    };
    EXPECT_EQ(grown(1000), grown(60000000));
}

// ---- slow start

constexpr std::uint32_t kLonger = kRtt + 12500;  // by RttThresh of RFC 9406, 4.2: an eighth

TEST(WestwoodCubic, SlowStartDoublesAndIsPaced) {
    WestwoodCubic c(10);
    c.ack({.delivered = 10, .fills = true});
    EXPECT_EQ(c.window.cwnd, 20u);
    EXPECT_EQ(c.window.pacing, 2 * 20 * kMss * 10 * WW_BW_UNIT) << "2 cwnd / SRTT";
    c.config.wc_pacing_permille = 0;
    c.ack({});
    EXPECT_EQ(c.window.pacing, 0u);
}

TEST(WestwoodCubic, PacingNeedsARoundTrip) {
    WestwoodCubic c(10);
    c.ack({.rtt_us = 0});
    EXPECT_EQ(c.window.pacing, 0u);
}

TEST(WestwoodCubic, NothingElseIsPaced) {
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
     AfterATimeoutPacingAwaitsARoundTrip) {  // the queue that the old one tells of is gone
    WestwoodCubic c(100);
    c.acks(20, {});
    c.timeout();
    c.ack({.rtt_us = 0, .phase = WW_LOSS, .fills = true});
    EXPECT_EQ(c.window.pacing, 0u);
    c.ack({.phase = WW_LOSS});
    EXPECT_GT(c.window.pacing, 0u);
}

TEST(WestwoodCubic, LongRoundTripsAreNoReasonBeyondSlowStart) {
    WestwoodCubic c(200, 150);  // a host began so, and has never filled its window
    c.acks(8, {});
    for (int i = 0; i < 4; i++) c.ack({.rtt_us = kLonger, .ends_round = true});
    EXPECT_EQ(c.window.cwnd, 200u);
}

TEST(WestwoodCubic, SlowStartHoldsWhileEightRoundTripsAreLonger) {
    WestwoodCubic c(20);
    c.acks(8, {});
    c.acks(7, {.rtt_us = kLonger});
    c.ack({.rtt_us = kLonger, .delivered = 5, .fills = true});
    EXPECT_EQ(c.window.cwnd, 20u) << "the eighth";
    c.acks(7, {.rtt_us = kLonger});
    c.ack({.rtt_us = kLonger - 1, .delivered = 5, .fills = true});
    EXPECT_EQ(c.window.cwnd, 25u) << "one of eight is not";
    EXPECT_EQ(c.window.ssthresh, WW_SSTHRESH_INFINITE);
}

// Goes through a round of longer round trips with so many segments in the window.
ww_window after_a_longer_round(std::uint32_t cwnd, std::uint32_t first_us = kLonger) {
    WestwoodCubic c(cwnd);
    c.acks(8, {});
    c.ack({.ends_round = true});
    c.ack({.rtt_us = first_us, .ends_round = true});  // this one begins the round to watch
    c.acks(5, {.rtt_us = kLonger});
    c.ack({.rtt_us = kLonger, .ends_round = true});
    return c.window;
}

TEST(WestwoodCubic, SlowStartEndsAtThePipe) {
    for (const auto& [cwnd, after] : {std::pair{150u, 100u}, {300u, 150u}, {80u, 80u}}) {
        const ww_window window = after_a_longer_round(cwnd);
        EXPECT_EQ(window.cwnd, after) << "max(cwnd / 2, pipe), never more than cwnd";
        EXPECT_EQ(window.ssthresh, after);
    }
    EXPECT_EQ(after_a_longer_round(1).ssthresh, 2u) << "the floor";
}

TEST(WestwoodCubic, SlowStartGoesOnIfAnyRoundTripIsShort) {
    EXPECT_EQ(after_a_longer_round(150, kLonger - 1).ssthresh, WW_SSTHRESH_INFINITE);
}

TEST(WestwoodCubic, OnlyTheFirstSlowStartEndsAtThePipe) {
    WestwoodCubic c(200);
    c.acks(8, {});
    c.timeout();
    c.ack({.phase = WW_LOSS});  // the path's
    for (int i = 0; i < 30; i++) c.ack({.rtt_us = kLonger, .ends_round = true, .fills = true});
    EXPECT_EQ(c.window.cwnd, 31u) << "nor is it held";
}

TEST(WestwoodCubic, AReductionEndsTheFirstSlowStart) {
    WestwoodCubic c(100);
    c.acks(8, {});
    c.mark();
    c.window.ssthresh = 200;  // as an undo might
    c.acks(20, {.rtt_us = kLonger, .fills = true});
    EXPECT_EQ(c.window.cwnd, 90u);
}

}  // namespace
}  // namespace ww::test::westwood_cubic
