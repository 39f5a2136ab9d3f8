// SPDX-License-Identifier: BSD-3-Clause
//
// Veno by Fu & Liew 2003: it answers a loss by how many of its own segments wait in queues.
#include "rounds.hpp"

namespace {

using ww::test::Rounds;

constexpr std::uint32_t kEmptyPath = 100000;
constexpr std::uint32_t kWindow = 40;

// A connection in congestion avoidance with this many segments of its window in queues.
Rounds with_queued(double segments) {
    Rounds c(WW_PROTOCOL_VENO, kWindow, 10);
    for (int i = 0; i < 3; i++) c.ack(1000, kEmptyPath);
    c.window.cwnd = kWindow;
    c.ack(1000, static_cast<std::uint32_t>(kEmptyPath / (1 - segments / kWindow)) + 1);
    c.window.cwnd = kWindow;
    return c;
}

std::uint32_t after_a_loss(double queued) {
    Rounds c = with_queued(queued);
    c.loss();
    EXPECT_EQ(c.window.cwnd, c.window.ssthresh);
    return c.window.cwnd;
}

TEST(Veno, ALossWithAShortQueueCountsAsRandom) {
    EXPECT_EQ(after_a_loss(0), kWindow * 4 / 5);
    EXPECT_EQ(after_a_loss(2.4), kWindow * 4 / 5) << "below beta, 3 segments";
}

TEST(Veno, ALossWithALongQueueCountsAsCongestion) {
    EXPECT_EQ(after_a_loss(3.1), kWindow / 2);
    EXPECT_EQ(after_a_loss(20), kWindow / 2);
}

TEST(Veno, AnswersATimeoutLikeALoss) {
    for (const auto& [queued, ssthresh] : {std::pair{0.0, kWindow * 4 / 5}, {20.0, kWindow / 2}}) {
        Rounds c = with_queued(queued);
        c.timeout();
        EXPECT_EQ(c.window.ssthresh, ssthresh);
        EXPECT_EQ(c.window.cwnd, 1u);
    }
}

TEST(Veno, BetaIsTheQueueFromWhichALossCountsAsCongestion) {
    for (const auto& [beta, after] : {std::pair{3, kWindow / 2}, {8, kWindow * 4 / 5}}) {
        Rounds c = with_queued(6);
        c.config.veno_beta = static_cast<std::uint8_t>(beta);
        c.loss();
        EXPECT_EQ(c.window.cwnd, after) << "beta " << beta;
    }
}

// Returns the growth over `rounds` windows of ACKs with this RTT.
std::uint32_t growth(std::uint32_t rtt_us, int rounds) {
    Rounds c = with_queued(0);
    for (int i = 0; i < rounds; i++) c.round(rtt_us);
    return c.window.cwnd - kWindow;
}

TEST(Veno, GrowsLikeRenoWithAShortQueue) { EXPECT_NEAR(growth(kEmptyPath, 10), 10, 1); }
TEST(Veno, GrowsEveryOtherWindowWithALongQueue) {
    EXPECT_NEAR(growth(kEmptyPath * 3 / 2, 10), 5, 1);
}

}  // namespace
