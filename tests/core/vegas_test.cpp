// SPDX-License-Identifier: BSD-3-Clause
//
// Compares Vegas with Brakmo & Peterson 1995: it keeps between alpha and beta of its own segments
// in the queue.
#include "rounds.hpp"

namespace {

using ww::test::Rounds;

constexpr std::uint32_t kBase = 100000;

// Starts in congestion avoidance with a window of 20 segments and a known base round trip.
Rounds settled() {
    Rounds c(WW_PROTOCOL_VEGAS, 20, 10);
    c.ack(1000, kBase);
    return c;
}

// Returns the round trip at which `queued` of the window's segments wait: diff = cwnd (RTT - Base)
// / Base.
std::uint32_t rtt_with(double queued, std::uint32_t cwnd) {
    return static_cast<std::uint32_t>(kBase * (1 + queued / cwnd)) + 1;
}

std::int64_t change_per_round(double queued) {
    Rounds c = settled();
    const std::uint32_t rtt = rtt_with(queued, 20);
    c.round(rtt);  // ends the round in progress
    c.window.cwnd = 20;
    c.round(rtt_with(queued, 20));
    return std::int64_t{c.window.cwnd} - 20;
}

TEST(Vegas, GrowsWithLessThanAlphaQueued) { EXPECT_EQ(change_per_round(1.0), 1); }
TEST(Vegas, StaysFromAlphaToBeta) {
    EXPECT_EQ(change_per_round(2.0), 0);
    EXPECT_EQ(change_per_round(3.0), 0);
    EXPECT_EQ(change_per_round(4.5), 0) << "whole segments, as Linux";
}
TEST(Vegas, ShrinksWithMoreThanBetaQueued) { EXPECT_EQ(change_per_round(5.5), -1); }

TEST(Vegas, LeavesSlowStartWithMoreThanGammaQueued) {
    Rounds c(WW_PROTOCOL_VEGAS, 8);
    for (int i = 0; i < 2; i++) c.round(kBase);
    const std::uint32_t doubled = c.window.cwnd;
    EXPECT_GT(doubled, 16u);
    EXPECT_EQ(c.window.ssthresh, WW_SSTHRESH_INFINITE);
    for (int i = 0; i < 2; i++) c.round(kBase * 3 / 2);
    EXPECT_LT(c.window.ssthresh, WW_SSTHRESH_INFINITE);
    EXPECT_LE(c.window.cwnd, doubled * 2 * 2 / 3 + 2) << "cwnd BaseRTT / RTT + 1";
}

}  // namespace
