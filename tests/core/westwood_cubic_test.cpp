// SPDX-License-Identifier: BSD-3-Clause
//
// Westwood-CUBIC against the table at the top of core/westwood_cubic.h, ACK by ACK. A model of the whole is
// westwood_cubic_model_test.cpp; tests/engine/westwood_cubic_test.cpp runs it on a path.
#include "westwood_cubic.hpp"

#include <gtest/gtest.h>

namespace ww::test::westwood_cubic {
namespace {

std::uint32_t after_a_loss(WestwoodCubic c, std::uint32_t lost = 1) {
    c.ack({.lost = lost});
    c.loss();
    return c.window.cwnd;
}

// ---- a loss

TEST(WestwoodCubic, ALossWithoutAQueueLeavesTheWindows) {
    WestwoodCubic c = settled(150);
    c.loss();
    EXPECT_EQ(c.window.cwnd, 150u);
    EXPECT_EQ(c.window.ssthresh, 150u);
}

TEST(WestwoodCubic, ALossThatReducesNothingDoesNotEndTheGrowth) {
    const auto grown = [](bool loses) {
        WestwoodCubic c = settled(100);
        c.acks(2000, {.fills = true});
        if (loses) {
            c.loss();
            c.acks(100, {.lost = 0, .phase = WW_RECOVERY, .fills = true});
            c.leave_recovery();
        } else {
            c.acks(100, {.fills = true});
        }
        c.acks(2000, {.fills = true});
        return c.window.cwnd;
    };
    EXPECT_GT(grown(false), 102u);
    EXPECT_EQ(grown(true), grown(false));
}

TEST(WestwoodCubic, SlowStartGoesOnThroughALossWithoutAQueue) {
    WestwoodCubic c(20);
    c.acks(30, {});
    c.loss();
    c.ack({.delivered = 5, .phase = WW_RECOVERY, .fills = true});
    EXPECT_EQ(c.window.cwnd, 25u);
    EXPECT_EQ(c.window.ssthresh, WW_SSTHRESH_INFINITE);
    c.leave_recovery();
    EXPECT_EQ(c.window.cwnd, 25u);
}

TEST(WestwoodCubic, ALossWithAQueueLeavesWhatThePathDelivers) {
    EXPECT_EQ(after_a_loss(settled(120, kQueue)), 95u) << "0.95 of the pipe of 100";
    EXPECT_EQ(after_a_loss(settled(135, kQueue)), 95u) << "0.7 135 = 94.5";
    EXPECT_EQ(after_a_loss(settled(200, kQueue)), 140u) << "CUBIC's 0.7 is more";
    EXPECT_EQ(after_a_loss(settled(90, kQueue)), 90u) << "never more than cwnd";
}

TEST(WestwoodCubic, ThePipeIsRoundedUpToASegment) {
    WestwoodCubic c = settled(130, kQueue);
    c.config.wc_gain_permille = 1000;
    c.state.westwood_cubic.rtt_min_us = kRtt - 1000;
    EXPECT_EQ(c.ssthresh(130), 99u);
    c.state.westwood_cubic.rtt_min_us = kRtt - 999;
    EXPECT_EQ(c.ssthresh(130), 100u);
}

TEST(WestwoodCubic, AQueueIsASixteenthOfTheRoundTrip) {
    const auto queues = [](std::uint32_t rtt_min_us, std::uint32_t srtt_us) {
        WestwoodCubic c = settled(120);
        c.state.westwood_cubic.rtt_min_us = rtt_min_us;
        c.state.westwood_cubic.srtt_us = srtt_us;
        c.loss();
        return c.window.cwnd != 120;
    };
    EXPECT_FALSE(queues(100000, 106200));
    EXPECT_TRUE(queues(100000, 106201));
    EXPECT_FALSE(queues(UINT32_MAX - 1, UINT32_MAX));
}

TEST(WestwoodCubic, TheLeastOfTwoRoundsShowsAQueueThatDelaysAll) {
    WestwoodCubic c = settled(120);
    c.config.wc_least_rtt = true;
    const auto keeps = [&c] {
        WestwoodCubic losing = c;
        losing.loss();
        return losing.window.cwnd == 120;
    };
    c.acks(50, {.rtt_us = kRtt + kQueue});
    EXPECT_TRUE(keeps()) << "some of this round did not wait";
    c.ack({.rtt_us = kRtt + kQueue, .ends_round = true});
    EXPECT_TRUE(keeps()) << "nor some of the last";
    c.ack({.rtt_us = 0, .ends_round = true});
    EXPECT_FALSE(keeps()) << "all of a round, and this one has none yet";
    c.ack({});
    EXPECT_TRUE(keeps()) << "one packet is enough";
    c.config.wc_least_rtt = false;
    EXPECT_FALSE(keeps()) << "the mean has a queue in it";
}

TEST(WestwoodCubic, ALossBeforeAnyRoundTripIsAnsweredAsByCubic) {
    EXPECT_EQ(after_a_loss(WestwoodCubic(100), 0), 100u) << "one is known from that ACK";
    WestwoodCubic c(100);
    c.loss();
    EXPECT_EQ(c.window.cwnd, 70u);
    EXPECT_EQ(c.window.ssthresh, 70u);
}

TEST(WestwoodCubic, ManyLossesAreCongestionWhateverTheQueue) {
    EXPECT_EQ(after_a_loss(settled(100), 12), 100u);
    EXPECT_EQ(after_a_loss(settled(100), 13), 70u) << "more than an eighth";
    EXPECT_EQ(after_a_loss(settled(104), 13), 104u) << "an eighth is not more than one";
    EXPECT_EQ(after_a_loss(settled(104, kQueue), 14), 72u) << "and the pipe does not count";
}

TEST(WestwoodCubic, AFewLossesAreNeverMany) {
    EXPECT_EQ(after_a_loss(settled(20), 4), 20u);
    EXPECT_EQ(after_a_loss(settled(20), 5), 14u);
}

TEST(WestwoodCubic, OfASmallWindowALossLeavesHalf) {
    EXPECT_EQ(after_a_loss(settled(12)), 12u);
    EXPECT_EQ(after_a_loss(settled(11)), 5u);
    EXPECT_EQ(after_a_loss(settled(3)), 2u) << "the floor";
    EXPECT_EQ(after_a_loss(settled(1)), 1u) << "never more than cwnd";
}

TEST(WestwoodCubic, AMarkIsCongestionWhateverTheQueue) {
    for (const std::uint32_t queue_us : {0u, kQueue}) {
        WestwoodCubic c = settled(130, queue_us);
        c.mark();
        EXPECT_EQ(c.window.cwnd, 91u);
        EXPECT_EQ(c.window.ssthresh, 91u);
        c.undo();
        EXPECT_EQ(c.window.cwnd, 130u);
    }
}

TEST(WestwoodCubic, FastConvergenceGivesWay) {  // RFC 9438, 4.7
    WestwoodCubic c = settled(200, kQueue);
    c.loss();
    EXPECT_EQ(c.wc().curve.w_max, 200u << 8);
    EXPECT_EQ(c.wc().curve.cwnd_prior, 200u);
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
}

// ---- a timeout

TEST(WestwoodCubic, ATimeoutSetsSsthreshAsALossDoes) {
    for (const auto& [queue_us, ssthresh] : {std::pair{0u, 120u}, {kQueue, 95u}}) {
        WestwoodCubic c = settled(120, queue_us);
        c.timeout();
        EXPECT_EQ(c.window.ssthresh, ssthresh);
        EXPECT_EQ(c.window.cwnd, 1u);
        EXPECT_EQ(c.window.pacing, 0u);
        EXPECT_FALSE(c.wc().curve.epoch_open);
        EXPECT_EQ(c.wc().curve.cwnd_prior, 120u);
        c.timeout(true);
        EXPECT_EQ(c.window.ssthresh, ssthresh) << "RFC 5681, 3.1";
        EXPECT_EQ(c.wc().curve.cwnd_prior, 120u);
    }
    WestwoodCubic one = settled(1);
    one.timeout();
    EXPECT_EQ(one.window.ssthresh, 2u) << "the floor";
}

TEST(WestwoodCubic, AfterATimeoutTheSmallestRoundTripIsSoughtAnew) {
    WestwoodCubic c = settled(120);
    c.timeout();
    EXPECT_EQ(ww_observe(&c.config, &c.state, c.now_us).rtt_min_us, UINT32_MAX);
    c.ack({.rtt_us = 3 * kRtt, .phase = WW_LOSS});
    EXPECT_EQ(ww_observe(&c.config, &c.state, c.now_us).rtt_min_us, 3 * kRtt);
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

// ---- recovery

// A recovery has just begun, with its window reduced to 95 if there was a queue.
WestwoodCubic in_recovery(std::uint32_t queue_us) {
    WestwoodCubic c = settled(120, queue_us);
    c.ack({.rtt_us = kRtt + queue_us, .lost = 1});
    c.loss();
    c.ack({.rtt_us = kRtt + queue_us, .phase = WW_RECOVERY});  // a round begins
    return c;
}

std::uint32_t let_go(std::uint32_t in_network, std::uint32_t delivered, std::uint32_t lost = 0) {
    WestwoodCubic c = in_recovery(kQueue);
    c.ack({.delivered = delivered, .lost = lost, .in_network = in_network, .phase = WW_RECOVERY});
    EXPECT_EQ(c.window.ssthresh, 95u);
    return c.window.cwnd;
}

TEST(WestwoodCubic, RecoveryLetsGoWhatWasDelivered) {  // RFC 9937
    EXPECT_EQ(let_go(50, 2), 53u) << "one more: the ACK advances and tells of no loss";
    EXPECT_EQ(let_go(50, 2, 1), 52u) << "it tells of one";
    EXPECT_EQ(let_go(50, 0), 50u) << "it does not advance";
    EXPECT_EQ(let_go(120, 2), 95u) << "and no more than ssthresh";
    EXPECT_EQ(let_go(0, 0), 1u) << "a segment at least";
}

TEST(WestwoodCubic, RecoveryEndsAtSsthresh) {
    WestwoodCubic c = in_recovery(kQueue);
    c.ack({.in_network = 30, .phase = WW_RECOVERY});
    c.leave_recovery();
    EXPECT_EQ(c.window.cwnd, 95u);
    c.window.cwnd = 60;
    c.leave_recovery();
    EXPECT_EQ(c.window.cwnd, 60u) << "it ends once";
}

TEST(WestwoodCubic, WhereTheWindowWasKeptGrowthGoesOn) {
    WestwoodCubic c = in_recovery(0);
    c.acks(5000, {.in_network = 10, .phase = WW_RECOVERY, .fills = true});
    EXPECT_GT(c.window.cwnd, 125u);
    const std::uint32_t before = c.window.cwnd;
    c.leave_recovery();
    EXPECT_EQ(c.window.cwnd, before);
}

TEST(WestwoodCubic, WhatTheHostMakesOfSsthreshIsNoWindow) {
    for (const auto& [ssthresh, cwnd] :
         {std::pair{0u, 1u}, {1u, 1u}, {WW_SSTHRESH_INFINITE, WW_CWND_MAX}}) {
        WestwoodCubic c = in_recovery(kQueue);
        c.window.ssthresh = ssthresh;
        c.leave_recovery();
        EXPECT_EQ(c.window.cwnd, cwnd);
    }
}

TEST(WestwoodCubic, TheLossesOfALaterRoundAreAnsweredInTurn) {
    WestwoodCubic c = in_recovery(0);
    c.acks(50, {.rtt_us = kRtt + kQueue, .phase = WW_RECOVERY});  // now there is a queue
    c.ack({.rtt_us = kRtt + kQueue, .lost = 1, .phase = WW_RECOVERY});
    EXPECT_EQ(c.window.cwnd, 120u) << "when the round ends";
    c.ack({.rtt_us = kRtt + kQueue, .phase = WW_RECOVERY, .ends_round = true});
    EXPECT_EQ(c.window.ssthresh, 95u);
    EXPECT_EQ(c.window.cwnd, 95u);
}

TEST(WestwoodCubic, ALaterRoundWithoutLossesIsNoReason) {
    WestwoodCubic c = in_recovery(0);
    c.acks(50, {.rtt_us = kRtt + kQueue, .phase = WW_RECOVERY});
    for (int i = 0; i < 3; i++)
        c.ack({.rtt_us = kRtt + kQueue, .phase = WW_RECOVERY, .ends_round = true});
    EXPECT_EQ(c.window.cwnd, 120u);
}

TEST(WestwoodCubic, ManyLossesOfALaterRoundAreAnsweredAtOnce) {
    WestwoodCubic c = in_recovery(0);
    c.ack({.lost = 15, .phase = WW_RECOVERY});
    EXPECT_EQ(c.window.cwnd, 120u) << "an eighth";
    c.ack({.lost = 1, .phase = WW_RECOVERY});
    EXPECT_EQ(c.window.ssthresh, 84u);
}

TEST(WestwoodCubic, ARoundOfLossesIsAnsweredOnce) {
    WestwoodCubic c = in_recovery(0);
    c.ack({.lost = 16, .phase = WW_RECOVERY});
    ASSERT_EQ(c.window.ssthresh, 84u);
    c.ack({.lost = 20, .phase = WW_RECOVERY});
    c.acks(3, {.lost = 20, .phase = WW_RECOVERY});
    c.ack({.phase = WW_RECOVERY, .ends_round = true});
    EXPECT_EQ(c.window.ssthresh, 84u) << "they were sent before the reduction";
    c.ack({.lost = 20, .phase = WW_RECOVERY});
    EXPECT_EQ(c.window.ssthresh, 58u) << "these were not";
    EXPECT_EQ(c.wc().curve.w_max, 120u * 256) << "CUBIC goes back to the window before the first";
}

TEST(WestwoodCubic, AFurtherReductionBeginsWhereTheFirstOneEnded) {
    WestwoodCubic c = in_recovery(kQueue);
    c.ack({.rtt_us = kRtt + kQueue, .in_network = 40, .phase = WW_RECOVERY, .ends_round = true});
    ASSERT_EQ(c.window.cwnd, 42u);
    c.ack({.lost = 11, .in_network = 30, .phase = WW_RECOVERY});
    EXPECT_EQ(c.window.ssthresh, 95u) << "few of 95";
    c.ack({.lost = 1, .in_network = 30, .phase = WW_RECOVERY});
    EXPECT_EQ(c.window.ssthresh, 66u) << "0.7 95";
    EXPECT_EQ(c.window.cwnd, 31u);
    c.timeout();
    EXPECT_EQ(c.window.ssthresh, 66u) << "a pipe of 100 is more than the window";
}

TEST(WestwoodCubic, OnceReducedOnlyManyLossesReduceAgain) {
    WestwoodCubic c = in_recovery(kQueue);
    for (int i = 0; i < 5; i++)
        c.ack({.rtt_us = kRtt + kQueue, .lost = 10, .phase = WW_RECOVERY, .ends_round = true});
    EXPECT_EQ(c.window.ssthresh, 95u);
}

TEST(WestwoodCubic, TheLossesOfTheAckThatBeginsARoundAreOfThatRound) {
    WestwoodCubic c = settled(100);
    c.ack({.lost = 13, .ends_round = true});
    c.loss();
    EXPECT_EQ(c.window.cwnd, 70u);
}

TEST(WestwoodCubic, LossesOfRecoveriesAreNotAnsweredOutsideOfThem) {
    WestwoodCubic c = settled(120);
    c.acks(3, {.lost = 20});
    c.ack({.lost = 20, .ends_round = true});
    EXPECT_EQ(c.window.cwnd, 120u);
}

TEST(WestwoodCubic, AnUndoGivesBackTheWindowsAndEndsTheBound) {
    WestwoodCubic c = in_recovery(kQueue);
    ASSERT_EQ(c.window.ssthresh, 95u);
    c.undo();
    EXPECT_EQ(c.window.cwnd, 120u);
    EXPECT_EQ(c.window.ssthresh, 120u);
    c.ack({.in_network = 10, .phase = WW_RECOVERY});
    EXPECT_EQ(c.window.cwnd, 120u);
    c.window.cwnd = 60;
    c.leave_recovery();
    EXPECT_EQ(c.window.cwnd, 60u);
}

}  // namespace
}  // namespace ww::test::westwood_cubic
