// SPDX-License-Identifier: BSD-3-Clause
//
// Compares Rapid Start with the sections of draft-kazuho-ccwg-rapid-start.
#include <gtest/gtest.h>

#include "rounds.hpp"

namespace {

using ww::test::kMss;
using ww::test::Start;

class RapidStart : public Start, public testing::Test {
  public:
    explicit RapidStart(ww_protocol id = WW_PROTOCOL_SACK) : Start(WW_RAPID_START, id) {}

  protected:
    void deliver(std::uint64_t after_us, std::uint32_t rtt_us, std::uint32_t prior = 0,
                 ww_phase phase = WW_OPEN) {
        arrive(after_us, rtt_us, window.cwnd, prior, phase);
    }
    void round(std::uint32_t rtt_us) {
        const std::uint32_t count = window.cwnd;
        for (std::uint32_t i = 0; i < count; i++) deliver(rtt_us / count, rtt_us);
    }
    // A loss, and the round trip after it in which `count` segments are delivered.
    void recover(std::uint32_t count) {
        deliver(10, 100000, 0, WW_RECOVERY);
        loss();
        const std::uint32_t before = delivered;
        for (std::uint32_t i = 0; i < count; i++) deliver(10, 100000, before - 1, WW_RECOVERY);
        for (int i = 0; i < 50; i++) deliver(10, 100000, before, WW_RECOVERY);
        leave_recovery();
    }
};

class RapidStartOfCubic : public RapidStart {
  public:
    RapidStartOfCubic() : RapidStart(WW_PROTOCOL_CUBIC) {}
};

// "by 2 bytes for every byte that is newly acknowledged, which results in a 3x growth of cwnd per round-trip"
TEST_F(RapidStart, TriplesTheWindowWhileNoQueueBuilds) {
    for (const std::uint32_t expected : {30u, 90u, 270u}) {
        round(100000);
        EXPECT_EQ(window.cwnd, expected);
    }
}

// queue_buildup_thresh is min(min_rtt + 4 ms, min_rtt * 1.10); beyond it "a 2x growth of cwnd per round-trip".
TEST_F(RapidStart, DoublesItWhileOneBuilds) {
    round(100000);
    round(104000);
    EXPECT_EQ(window.cwnd, 90u) << "min_rtt + 4 ms";
    round(104001);
    EXPECT_NEAR(window.cwnd, 180, 6) << "the first 4 ms belong to the min_rtt before";
    round(100000);
    EXPECT_NEAR(window.cwnd, 540, 18) << "the queue is gone";
    EXPECT_EQ(ww_rapid_threshold(20000), 22000u) << "min_rtt * 1.10";
}

TEST_F(RapidStart, PacesTheFlightOfARoundOverASmoothedRoundTrip) {  // "Later Rounds"
    const auto segments = [&] { return ww::test::bytes_per_second(window.pacing) / 10 / kMss; };
    round(100000);
    EXPECT_NEAR(segments(), 30, 0.01);
    deliver(100000, 100000);
    EXPECT_NEAR(segments(), 90, 0.01);
    deliver(100000, 110000);
    EXPECT_NEAR(segments(), 2 * 32 / 1.1, 0.01) << "classic slow start";
    loss();
    deliver(10, 100000, 0, WW_RECOVERY);
    EXPECT_EQ(window.pacing, 0u) << "the first slow start is over";
}

// "the post-recovery congestion window becomes the full BDP multiplied by beta, independent of the loss ratio"
TEST_F(RapidStart, LeavesHalfOfWhatTheRoundTripOfRecoveryDelivers) {
    window.cwnd = 300;
    recover(120);
    EXPECT_EQ(window.cwnd, 60u) << "what was sent after the loss does not count";
    EXPECT_EQ(window.ssthresh, 60u);
    loss();
    EXPECT_EQ(window.cwnd, 30u);
    leave_recovery();
    EXPECT_EQ(window.cwnd, 30u) << "only the first recovery is Rapid Start's";
}

TEST_F(RapidStart, DoesNotReduceBelowAThirdOfBeta) {  // "pre_recovery_cwnd * beta / 3"
    window.cwnd = 300;
    recover(20);
    EXPECT_EQ(window.cwnd, 50u);
}

TEST_F(RapidStart, KeepsTheControlsAnswerWithoutAWholeRoundTrip) {
    window.cwnd = 300;
    loss();
    leave_recovery();
    EXPECT_EQ(window.cwnd, 150u) << "a tail loss probe has repaired the loss";
}

TEST_F(RapidStart, ForgetsTheRecoveryThatATimeoutOrAnUndoEnds) {
    for (const bool undone : {false, true}) {
        *static_cast<Start*>(this) = Start(WW_RAPID_START);
        window.cwnd = 300;
        recover(0);
        window.cwnd = 300;
        state.start.over = false;
        loss();
        if (undone) undo();
        deliver(10, 100000, 0, undone ? WW_OPEN : WW_LOSS);
        EXPECT_EQ(state.start.rapid.recovery, WW_RAPID_NONE);
        EXPECT_EQ(state.start.over, !undone);
    }
}

// "W_max SHOULD be set to twice the estimated full BDP", with fast convergence
TEST_F(RapidStartOfCubic, LeavesSevenTenthsAndTwiceTheBdpAsWMax) {
    for (const bool fast : {true, false}) {
        *static_cast<Start*>(this) = Start(WW_RAPID_START, WW_PROTOCOL_CUBIC);
        window.cwnd = 300;
        config.fast_convergence = fast;
        recover(120);
        EXPECT_EQ(window.cwnd, 84u);
        EXPECT_EQ(state.cubic.curve.w_max >> WW_CUBIC_FRACTION, fast ? 240u : 120u);
    }
}

}  // namespace
