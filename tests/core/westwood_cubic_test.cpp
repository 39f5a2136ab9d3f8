// SPDX-License-Identifier: BSD-3-Clause
//
// The table at the top of core/westwood_cubic.h, row by row: what a loss, a mark and a timeout do.
// westwood_cubic_model_test.cpp models all of it; tests/engine/westwood_cubic_test.cpp runs it on
// paths.
#include "westwood_cubic.hpp"

namespace ww::test::westwood_cubic {
namespace {

std::uint32_t after_a_loss(WestwoodCubic c) {
    c.loss();
    return c.window.cwnd;
}

// ---- one loss, or a few

TEST(WestwoodCubic, ALinkLossLeavesTheWindows) {
    WestwoodCubic c = settled(150);
    c.loss();
    EXPECT_EQ(c.window.cwnd, 150u);
    EXPECT_EQ(c.window.ssthresh, 150u);
}

TEST(WestwoodCubic, ALinkLossDoesNotEndTheGrowth) {
    const auto grown = [](bool loses) {
        WestwoodCubic c = settled(100);
        c.acks(2000, {.fills = true});
        if (loses) c.loss();
        c.acks(100, {.phase = loses ? WW_RECOVERY : WW_OPEN, .fills = true});
        if (loses) c.leave_recovery();
        c.acks(2000, {.fills = true});
        return c.window.cwnd;
    };
    EXPECT_GT(grown(false), 102u);
    EXPECT_EQ(grown(true), grown(false));
}

TEST(WestwoodCubic, SlowStartContinuesThroughALinkLoss) {
    WestwoodCubic c(20);
    c.acks(30, {});
    c.loss();
    c.ack({.delivered = 5, .phase = WW_RECOVERY, .fills = true});
    EXPECT_EQ(c.window.cwnd, 25u);
    EXPECT_EQ(c.window.ssthresh, WW_SSTHRESH_INFINITE);
    c.leave_recovery();
    EXPECT_EQ(c.window.cwnd, 25u);
}

TEST(WestwoodCubic, ALossOfAFullQueueLeavesSevenTenths) {
    for (const std::uint32_t queue_us : {0u, kQueue}) {
        WestwoodCubic c = settled(120, queue_us);
        c.set_evidence(0.2501);
        c.loss();
        EXPECT_EQ(c.window.cwnd, 84u) << "whatever the queue's length";
        EXPECT_EQ(c.window.ssthresh, 84u);
    }
}

TEST(WestwoodCubic, TheEvidenceMustBeAboveItsThreshold) {
    WestwoodCubic c = settled(120);
    c.set_evidence(0.25);
    EXPECT_EQ(after_a_loss(c), 120u) << "as it is at the start";
    c.config.wc_evidence_permille = 249;
    EXPECT_EQ(after_a_loss(c), 84u);
    c.config.wc_evidence_permille = 0;
    c.set_evidence(-0.5);
    EXPECT_EQ(after_a_loss(c), 120u);
    c.config.wc_evidence_permille = 1000;
    c.state.westwood_cubic.evidence = UINT16_MAX;
    EXPECT_EQ(after_a_loss(c), 120u) << "1 turns it off";
}

TEST(WestwoodCubic, ALossWhileAQueueStandsLeavesWhatThePathDelivers) {
    EXPECT_EQ(after_a_loss(settled(120, kQueue)), 95u) << "0.95 of the BDP of 100";
    EXPECT_EQ(after_a_loss(settled(135, kQueue)), 95u) << "0.7 135 = 94.5";
    EXPECT_EQ(after_a_loss(settled(200, kQueue)), 140u) << "CUBIC's 0.7 is more";
    EXPECT_EQ(after_a_loss(settled(90, kQueue)), 90u) << "never more than cwnd";
}

TEST(WestwoodCubic, TheBdpIsRoundedUpToASegment) {
    WestwoodCubic c = settled(130, kQueue);
    c.config.wc_gain_permille = 1000;
    c.state.westwood_cubic.rtt_min_us = kRtt - 1000;
    EXPECT_EQ(c.ssthresh(130), 99u);
    c.state.westwood_cubic.rtt_min_us = kRtt - 999;
    EXPECT_EQ(c.ssthresh(130), 100u);
}

TEST(WestwoodCubic, AQueueIsASixteenthOfTheRoundTrip) {
    EXPECT_EQ(after_a_loss(settled(120, 6200)), 120u);
    EXPECT_EQ(after_a_loss(settled(120, 6201)), 95u);
    WestwoodCubic longest = settled(120);
    longest.state.westwood_cubic.rtt_min_us = UINT32_MAX - 1;
    longest.state.westwood_cubic.round_rtt_us = longest.state.westwood_cubic.last_rtt_us =
        UINT32_MAX;
    EXPECT_EQ(after_a_loss(longest), 120u);
}

TEST(WestwoodCubic, AQueueStandsByTheSmallestRoundTripOfTwoRounds) {
    WestwoodCubic c = settled(120);
    const auto stands = [&c] { return after_a_loss(c) == 95; };
    c.acks(50, {.rtt_us = kRtt + kQueue});
    EXPECT_FALSE(stands()) << "some of this round did not wait";
    c.ack({.rtt_us = kRtt + kQueue, .ends_round = true});
    EXPECT_FALSE(stands()) << "nor some of the last";
    c.ack({.rtt_us = 0, .ends_round = true});
    EXPECT_TRUE(stands()) << "all of a round, and this one has none yet";
    c.ack({.rtt_us = kRtt + kQueue});
    EXPECT_TRUE(stands()) << "all of two";
    c.ack({});
    EXPECT_FALSE(stands()) << "one packet without a wait is enough";
    c.ack({.rtt_us = 0, .ends_round = true});
    EXPECT_FALSE(stands()) << "in the last round, too";
}

TEST(WestwoodCubic, ALossBeforeAnyRoundTripCountsAsAFullQueues) {
    WestwoodCubic c(100);
    EXPECT_EQ(after_a_loss(c), 70u);
    c.ack({});
    EXPECT_EQ(after_a_loss(c), 100u) << "one is known now";
}

// ---- many losses in a round

// Returns the window after a round with this many losses and this evidence.
std::uint32_t after_many(std::uint32_t cwnd, std::uint32_t lost, double evidence = 0,
                         std::uint32_t queue_us = 0) {
    WestwoodCubic c = settled(cwnd, queue_us);
    c.ack({.rtt_us = 0, .lost = lost});
    c.set_evidence(evidence);
    return after_a_loss(c);
}

TEST(WestwoodCubic, ManyAreMoreThanAnEighthOfTheWindow) {
    EXPECT_EQ(after_many(104, 13), 104u) << "an eighth is not more than one";
    EXPECT_EQ(after_many(104, 14), 95u);
}

TEST(WestwoodCubic, AFewLossesAreNeverMany) {
    EXPECT_EQ(after_many(20, 4), 20u);
    EXPECT_EQ(after_many(20, 5), 19u);
}

TEST(WestwoodCubic, ManyLeaveTheBdpBetweenSevenTenthsAndTheGain) {
    EXPECT_EQ(after_many(120, 16), 95u) << "0.95 of the BDP of 100";
    EXPECT_EQ(after_many(120, 16, 0, kQueue), 95u) << "with a queue as well";
    EXPECT_EQ(after_many(200, 26), 140u) << "0.7 cwnd at least";
    EXPECT_EQ(after_many(80, 11), 76u) << "0.95 cwnd at most";
}

TEST(WestwoodCubic, ManyOfAFullQueueLeaveSevenTenths) {
    EXPECT_EQ(after_many(120, 16, 0.124), 95u);
    EXPECT_EQ(after_many(120, 16, 0.126), 84u) << "half the evidence is enough";
    EXPECT_EQ(after_many(120, 16, 0.26), 84u);
    EXPECT_EQ(after_many(120, 15, 0.126), 120u) << "for many";
}

TEST(WestwoodCubic, ManyLossesAtAScoreOfAHalfCountAsAFullQueues) {
    const auto after = [](std::uint32_t above_mean_us) {
        WestwoodCubic c = settled(120);
        c.state.westwood_cubic.dev_us = 1000;
        c.state.westwood_cubic.srtt_us = c.wc().mean_us + above_mean_us;
        c.ack({.rtt_us = 0, .lost = 16});
        c.set_evidence(0);
        return after_a_loss(c);
    };
    EXPECT_EQ(after(999), 95u);
    EXPECT_EQ(after(1000), 84u) << "2 dev above the mean are 1";
}

// ---- small windows, marks

TEST(WestwoodCubic, ALossHalvesASmallWindow) {
    const auto after = [](std::uint32_t cwnd, double evidence, std::uint32_t queue_us = 0) {
        WestwoodCubic c = settled(cwnd, queue_us);
        c.set_evidence(evidence);
        return after_a_loss(c);
    };
    EXPECT_EQ(after(12, 0), 12u);
    EXPECT_EQ(after(11, 0), 5u);
    EXPECT_EQ(after(11, 0.9), 5u) << "whatever the evidence";
    EXPECT_EQ(after(11, 0, kQueue), 5u) << "a queue stands";
    EXPECT_EQ(after_many(11, 6, 0.9), 5u) << "nor do many leave more";
    EXPECT_EQ(after(3, 0), 2u) << "the floor";
    EXPECT_EQ(after(1, 0), 1u) << "never more than cwnd";
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

// ---- CUBIC's stage

TEST(WestwoodCubic, FastConvergenceReducesWMax) {  // RFC 9438, 4.7
    WestwoodCubic c = settled(200, kQueue);
    c.loss();
    EXPECT_EQ(c.wc().curve.w_max, 200u << 8);
    EXPECT_EQ(c.wc().curve.cwnd_prior, 200u);
    EXPECT_FALSE(c.wc().curve.epoch_open);
    c.leave_recovery();
    c.loss();
    EXPECT_EQ(c.wc().curve.w_max, 140u * 256 * 17 / 20);
    c.leave_recovery();
    c.window.cwnd = 119;
    c.loss();
    EXPECT_EQ(c.wc().curve.w_max, 119u * 256) << "as large as W_max: it does not shrink";
}

TEST(WestwoodCubic, TheLargestWindowsAreCubics) {  // W_max has 32 bits with its fraction
    WestwoodCubic c(WW_CWND_MAX, WW_CWND_MAX);
    c.loss();
    EXPECT_EQ(c.window.cwnd, WW_CUBIC_CWND_MAX / 10 * 7 + 3);
    EXPECT_EQ(c.wc().curve.w_max, WW_CUBIC_CWND_MAX << 8);
}

TEST(WestwoodCubic, SsthreshIsWhatALossWouldSet) {
    EXPECT_EQ(settled(120).ssthresh(120), 120u);
    EXPECT_EQ(settled(120, kQueue).ssthresh(200), 140u);
    EXPECT_EQ(settled(120).ssthresh(1), 2u) << "and the floor at least";
    EXPECT_EQ(settled(120).ssthresh(UINT32_MAX), WW_CUBIC_CWND_MAX);
    WestwoodCubic c = settled(120);
    c.set_evidence(1);
    EXPECT_EQ(c.ssthresh(200), 140u);
}

// ---- a timeout

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
        c.timeout(true);
        EXPECT_EQ(c.window.ssthresh, ssthresh) << "RFC 5681, 3.1";
        EXPECT_EQ(c.wc().curve.cwnd_prior, 120u);
    }
    WestwoodCubic control = settled(1);
    control.timeout();
    EXPECT_EQ(control.window.ssthresh, 2u) << "the floor";
}

TEST(WestwoodCubic, ATimeoutForgetsTheRoundTripsOfAQueueThatIsGone) {
    WestwoodCubic c = settled(120, kQueue);
    const ww_westwood_cubic_state before = c.wc();
    c.timeout();
    EXPECT_EQ(ww_observe(&c.config, &c.state, c.now_us).rtt_min_us, UINT32_MAX);
    for (const std::uint64_t forgotten :
         {c.wc().srtt_us, c.wc().round_rtt_us, c.wc().last_rtt_us, c.wc().mistaken,
          c.wc().delay_sum_us, c.wc().away_sum_us, std::uint32_t{c.wc().samples}})
        EXPECT_EQ(forgotten, 0u);
    EXPECT_EQ(c.wc().mean_us, before.mean_us) << "what losses mean on the path it knows still";
    EXPECT_EQ(c.wc().dev_us, before.dev_us);
    EXPECT_EQ(c.wc().evidence, before.evidence);
    EXPECT_EQ(c.wc().max_bw, before.max_bw);
    c.ack({.rtt_us = 3 * kRtt, .phase = WW_LOSS});
    EXPECT_EQ(ww_observe(&c.config, &c.state, c.now_us).rtt_min_us, 3 * kRtt) << "sought anew";
    EXPECT_EQ(c.wc().srtt_us, 3 * kRtt);
}

TEST(WestwoodCubic, AfterATimeoutItDoublesAgain) {
    WestwoodCubic c = settled(120);
    c.timeout();
    c.ack({.delivered = 1, .phase = WW_LOSS, .fills = true});
    c.ack({.delivered = 2, .phase = WW_LOSS, .fills = true});
    EXPECT_EQ(c.window.cwnd, 4u);
    c.ack({.delivered = 200, .fills = true});
    EXPECT_EQ(c.window.cwnd, 120u) << "up to ssthresh";
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

TEST(WestwoodCubic, TheLargestWindowBeforeMistakesComesBack) {
    WestwoodCubic c = settled(120);
    c.set_evidence(0.3);
    for (int i = 0; i < 3; i++) {
        c.loss();
        c.leave_recovery();
    }
    EXPECT_EQ(c.window.ssthresh, 40u);
    c.set_evidence(0);
    c.ack({.ends_round = true});
    EXPECT_EQ(c.window.ssthresh, 120u);
}

TEST(WestwoodCubic, NoReductionOfASmallWindowIsUndone) {
    WestwoodCubic c = settled(11);
    c.set_evidence(0.3);
    c.loss();
    EXPECT_EQ(c.window.ssthresh, 5u);
    c.leave_recovery();
    c.set_evidence(0);
    for (int i = 0; i < 3; i++) c.ack({.ends_round = true});
    EXPECT_EQ(c.window.ssthresh, 5u) << "a crowd would lose its packets again";
    WestwoodCubic larger = settled(12);
    larger.set_evidence(0.3);
    larger.loss();
    larger.leave_recovery();
    larger.set_evidence(0);
    larger.ack({.ends_round = true});
    EXPECT_EQ(larger.window.ssthresh, 12u);
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

TEST(WestwoodCubic, AReductionAtAHighScoreOrByAMarkIsKept) {
    WestwoodCubic c = reduced_by_mistake();
    c.state.westwood_cubic.dev_us = 1000;
    c.state.westwood_cubic.srtt_us = c.wc().mean_us + 999;
    c.set_evidence(0.3);
    WestwoodCubic marked = c, high = c;
    c.loss();
    EXPECT_EQ(c.wc().mistaken, 120u) << "below 1/2";
    high.state.westwood_cubic.srtt_us++;
    high.loss();
    EXPECT_EQ(high.wc().mistaken, 0u);
    marked.mark();
    EXPECT_EQ(marked.wc().mistaken, 0u);
}

}  // namespace
}  // namespace ww::test::westwood_cubic
