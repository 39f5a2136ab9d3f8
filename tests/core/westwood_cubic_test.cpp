// SPDX-License-Identifier: BSD-3-Clause
//
// The table at the top of core/westwood_cubic.h: what a loss, a mark and a timeout do. What the
// control measures, and its slow start. westwood_cubic_model_test.cpp models all of it;
// tests/engine/westwood_cubic_test.cpp runs it on paths.
#include "westwood_cubic.hpp"

namespace ww::test::westwood_cubic {
namespace {

std::uint32_t after_a_loss(WestwoodCubic c) {
    c.loss();
    return c.window.cwnd;
}

TEST(WestwoodCubic, ALossLeavesWhatTheTableSays) {
    struct Row {
        std::uint32_t cwnd, queue_us, lost;  // lost: in the round before
        double evidence;
        std::uint32_t after;
        const char* why;
    };
    const Row rows[] = {
        {150, 0, 0, 0, 150, "a link's loss"},
        {120, 0, 0, 0.25, 120, "evidence at its threshold"},
        {120, 0, 0, 0.2501, 84, "a full queue's: 0.7 cwnd"},
        {120, kQueue, 0, 0.2501, 84, "the same, whatever the queue's length"},
        {120, 6200, 0, 0, 120, "no queue stands below a sixteenth of the round trip"},
        {120, 6201, 0, 0, 95, "one does: 0.95 of the BDP of 100"},
        {135, kQueue, 0, 0, 95, "0.7 135 = 94.5"},
        {200, kQueue, 0, 0, 140, "CUBIC's 0.7 is more"},
        {90, kQueue, 0, 0, 90, "never more than cwnd"},
        {104, 0, 13, 0, 104, "an eighth is not many"},
        {104, 0, 14, 0, 95, "more is"},
        {20, 0, 4, 0, 20, "four are never many"},
        {20, 0, 5, 0, 19, "five are, and leave 0.95 cwnd at most"},
        {120, kQueue, 16, 0, 95, "many, with a queue as well"},
        {200, 0, 26, 0, 140, "many leave 0.7 cwnd at least"},
        {80, 0, 11, 0, 76, "and 0.95 cwnd at most"},
        {120, 0, 16, 0.124, 95, "many, below half the threshold"},
        {120, 0, 16, 0.126, 84, "half the evidence is enough for many"},
        {120, 0, 15, 0.126, 120, "but not for few"},
        {12, 0, 0, 0, 12, "not small yet"},
        {11, 0, 0, 0, 5, "a small window is halved"},
        {11, 0, 0, 0.9, 5, "whatever the evidence"},
        {11, kQueue, 0, 0, 5, "and if a queue stands"},
        {11, 0, 6, 0.9, 5, "nor do many leave more"},
        {3, 0, 0, 0, 2, "the floor"},
        {1, 0, 0, 0, 1, "never more than cwnd"},
    };
    for (const Row& row : rows) {
        WestwoodCubic c = settled(row.cwnd, row.queue_us);
        if (row.lost != 0) c.ack({.rtt_us = 0, .lost = row.lost});
        c.set_evidence(row.evidence);
        if (row.lost == 0) {
            EXPECT_EQ(c.ssthresh(row.cwnd), std::max(row.after, 2u)) << row.why;
        }
        EXPECT_EQ(after_a_loss(c), row.after) << row.why;
    }
}

TEST(WestwoodCubic, InTheFirstSlowStartALinkLossKeepsASmallWindow) {
    WestwoodCubic c(10);
    c.ack({});
    ASSERT_NE(c.wc().start, WW_WC_STARTED);
    EXPECT_EQ(after_a_loss(c), 10u);
    c.set_evidence(0.26);
    EXPECT_EQ(after_a_loss(c), 5u) << "a full queue's does not";
    c.set_evidence(0);
    c.mark();
    EXPECT_EQ(c.window.cwnd, 5u) << "nor does a mark";
}

TEST(WestwoodCubic, AMarkComesFromAFullQueueWhateverTheEvidence) {
    for (const std::uint32_t queue_us : {0u, kQueue}) {
        WestwoodCubic c = settled(130, queue_us);
        c.mark();
        EXPECT_EQ(c.window.cwnd, 91u);
        EXPECT_EQ(c.window.ssthresh, 91u);
        c.undo();
        EXPECT_EQ(c.window.cwnd, 130u);
    }
}

TEST(WestwoodCubic, TheLargestWindowsAreCubics) {  // W_max has 32 bits with its fraction
    WestwoodCubic c(WW_CWND_MAX, WW_CWND_MAX);
    c.loss();
    EXPECT_EQ(c.window.cwnd, WW_CUBIC_CWND_MAX / 10 * 7 + 3);
    EXPECT_EQ(c.wc().curve.w_max, WW_CUBIC_CWND_MAX << 8);
}

TEST(WestwoodCubic, ATimeoutSetsSsthreshAsALossDoes) {
    for (const auto& [queue_us, evidence, ssthresh] :
         {std::tuple{0u, 0., 120u}, {kQueue, 0., 95u}, {0u, 1., 84u}}) {
        WestwoodCubic c = settled(120, queue_us);
        c.set_evidence(evidence - 1e-4);
        c.timeout();
        EXPECT_EQ(c.window.ssthresh, ssthresh);
        EXPECT_EQ(c.window.cwnd, 1u);
        EXPECT_EQ(c.window.pacing, 0u);
        EXPECT_FALSE(c.wc().curve.epoch_open);
        EXPECT_EQ(c.wc().curve.w_max, 0u);
        EXPECT_EQ(c.wc().curve.cwnd_prior, 120u);
        c.timeout(1, true);
        EXPECT_EQ(c.window.ssthresh, ssthresh) << "RFC 5681, 3.1";
        EXPECT_EQ(c.wc().curve.cwnd_prior, 120u);
    }
    WestwoodCubic control = settled(1);
    control.timeout();
    EXPECT_EQ(control.window.ssthresh, 2u) << "the floor";
}

// ---- mistaken reductions

// A queue stood at the reduction to 95; recovery is over, and for two rounds no packet waited.
WestwoodCubic reduced_by_mistake() {
    WestwoodCubic c = in_recovery(kQueue);
    EXPECT_EQ(c.wc().mistaken, 120u);
    c.leave_recovery();
    c.set_evidence(0.2);
    for (int i = 0; i < 3; i++) c.ack({.ends_round = true});
    return c;
}

TEST(WestwoodCubic, AReductionAtALowScoreIsUndoneWhenTheEvidenceFalls) {
    WestwoodCubic c = reduced_by_mistake();
    c.set_evidence(0.126);
    c.ack({.ends_round = true});
    EXPECT_EQ(c.window.ssthresh, 95u);
    c.set_evidence(0.125);
    c.ack({});
    EXPECT_EQ(c.window.ssthresh, 95u) << "at a round's end";
    c.ack({.ends_round = true});
    EXPECT_EQ(c.window.ssthresh, 120u) << "it is half the threshold";
    EXPECT_EQ(c.window.cwnd, 95u);
    EXPECT_EQ(c.wc().mistaken, 0u) << "once";
}

TEST(WestwoodCubic, NoReductionIsUndoneWhileAQueueStandsOrRecoveryLasts) {
    WestwoodCubic c = in_recovery(kQueue);
    c.set_evidence(0);
    for (int i = 0; i < 3; i++) c.ack({.phase = WW_RECOVERY, .ends_round = true});
    EXPECT_EQ(c.window.ssthresh, 95u) << "the recovery lasts";
    c.leave_recovery();
    c.ack({.ends_round = true});
    EXPECT_EQ(c.window.ssthresh, 120u);
    WestwoodCubic full = in_recovery(kQueue);
    full.leave_recovery();
    for (int i = 0; i < 3; i++) full.ack({.rtt_us = kRtt + kQueue, .ends_round = true});
    EXPECT_EQ(full.window.ssthresh, 95u) << "a queue stands";
}

// ---- the estimate

TEST(WestwoodCubic, TheRateIsTheLargestAndFadesByAnEighthPerRound) {
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

TEST(WestwoodCubic, AWindowThatIsNotFullStopsTheCurvesClock) {  // RFC 9438, 5.8
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

// ---- slow start

constexpr std::uint32_t kLonger = kRtt + 12500;  // by RttThresh of RFC 9406, 4.2: an eighth

TEST(WestwoodCubic, SlowStartDoublesAndIsPaced) {
    WestwoodCubic c(10);
    c.ack({.rtt_us = 0});
    EXPECT_EQ(c.window.pacing, 0u) << "no round trip is known";
    c.ack({.delivered = 10, .fills = true});
    EXPECT_EQ(c.window.cwnd, 20u);
    EXPECT_EQ(c.window.pacing, 2 * 20 * kMss * 10 * WW_BW_UNIT) << "2 cwnd / SRTT";
    c.config.wc_pacing_permille = 0;
    c.ack({});
    EXPECT_EQ(c.window.pacing, 0u);
}

TEST(WestwoodCubic, SlowStartHoldsWhileTheSmoothedRoundTripIsLonger) {
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

TEST(WestwoodCubic, SlowStartEndsAtTheBdp) {
    for (const auto& [cwnd, after] : {std::pair{150u, 100u}, {300u, 150u}, {80u, 80u}}) {
        const ww_window window = after_a_longer_round(cwnd);
        EXPECT_EQ(window.cwnd, after) << "max(cwnd / 2, BDP), never more than cwnd";
        EXPECT_EQ(window.ssthresh, after);
    }
    EXPECT_EQ(after_a_longer_round(1).ssthresh, 2u) << "the floor";
}

}  // namespace
}  // namespace ww::test::westwood_cubic
