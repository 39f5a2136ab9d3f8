// SPDX-License-Identifier: BSD-3-Clause
//
// These hold CUBIC against RFC 9438 and HyStart++ against RFC 9406; each names its section.
#include <gtest/gtest.h>

#include <cmath>

#include "rounds.hpp"

namespace {

using ww::test::Rounds;

// Computes W_cubic by RFC 9438, 4.2, in seconds and segments.
double w_cubic(double t, double w_max, double cwnd_epoch) {
    const double k = std::cbrt((w_max - cwnd_epoch) / 0.4);
    return 0.4 * std::pow(t - k, 3) + w_max;
}

TEST(Cubic, LossTakesThreeTenths) {  // 4.6
    Rounds c(WW_PROTOCOL_CUBIC, 100);
    c.loss();
    EXPECT_EQ(c.window.ssthresh, 70u);
    EXPECT_EQ(c.window.cwnd, 70u);
    Rounds small(WW_PROTOCOL_CUBIC, 2);
    small.loss();
    EXPECT_EQ(small.window.ssthresh, 2u) << "the floor";
}

TEST(Cubic, TheWindowFollowsTheCubic) {  // 4.2, 4.4, 4.5
    constexpr std::uint32_t kRtt = 100000;
    Rounds c(WW_PROTOCOL_CUBIC, 1000);
    c.loss();
    const double before = c.window.cwnd;
    ASSERT_EQ(before, 700);
    const std::uint64_t start = c.now_us;
    for (int i = 0; i < 200; i++) {
        c.round(kRtt);
        const double t = static_cast<double>(c.now_us - start) / 1e6;
        // cwnd is on its way to what the cubic is a round trip later.
        EXPECT_GE(c.window.cwnd, w_cubic(t - 0.1, 1000, before) - 1.5) << "at " << t << " s";
        EXPECT_LE(c.window.cwnd, w_cubic(t + 0.1, 1000, before) + 1.5) << "at " << t << " s";
    }
    EXPECT_GT(c.window.cwnd, 1400u) << "convex growth beyond W_max";
}

TEST(Cubic,
     ThePlateauIsAtK) {  // 4.2: K = cbrt((W_max - cwnd_epoch) / C) = cbrt(300 / 0.4) = 9.086 s
    Rounds c(WW_PROTOCOL_CUBIC, 1000);
    c.loss();
    c.ack(1000, 50000);
    EXPECT_NEAR(c.state.cubic.k_ms, 9086, 2);
    EXPECT_EQ(c.state.cubic.origin >> WW_CUBIC_FRACTION, 1000u);
}

TEST(Cubic, FastConvergenceGivesWay) {  // 4.7
    Rounds c(WW_PROTOCOL_CUBIC, 1000);
    c.loss();
    c.loss();
    EXPECT_EQ(c.state.cubic.w_max, 700u * 256 * 17 / 20);
    c.config.fast_convergence = false;
    c.loss();
    EXPECT_EQ(c.state.cubic.w_max, 490u * 256);
}

TEST(Cubic, NoSlowerThanReno) {  // 4.3: W_est grows by 9/17 a round trip, by 1 beyond cwnd_prior
    constexpr std::uint32_t kRtt = 10000;  // where the cubic is flat
    Rounds c(WW_PROTOCOL_CUBIC, 20);
    c.loss();
    ASSERT_EQ(c.window.cwnd, 14u);
    for (int i = 0; i < 12; i++) c.round(kRtt);
    EXPECT_NEAR(c.window.cwnd, 20, 1.0) << "14 + 12 * 9 / 17 = 20.4";
    const std::uint32_t there = c.window.cwnd;
    for (int i = 0; i < 10; i++) c.round(kRtt);
    EXPECT_NEAR(c.window.cwnd, there + 10, 2.0);
}

TEST(Cubic, GrowsAtMostByHalfARoundTrip) {  // 4.2: target <= 1.5 cwnd
    Rounds c(WW_PROTOCOL_CUBIC, 10);
    c.loss();
    c.ack(1000, 100000);
    c.now_us += 60 * 1000000ull;  // the cubic is far above
    const std::uint32_t before = c.window.cwnd;
    c.round(100000);
    EXPECT_GT(c.window.cwnd, before);
    EXPECT_LE(c.window.cwnd, before + before / 2 + 1);
}

TEST(Cubic, ATimeoutForgetsWmax) {  // 4.8
    Rounds c(WW_PROTOCOL_CUBIC, 100);
    c.loss();
    c.timeout();
    EXPECT_EQ(c.window.cwnd, 1u);
    EXPECT_EQ(c.window.ssthresh, 49u);
    while (c.window.cwnd < c.window.ssthresh) c.ack(1000, 100000);
    c.ack(1000, 100000);
    EXPECT_EQ(c.state.cubic.k_ms, 0u);
    EXPECT_EQ(c.state.cubic.origin, 49u * 256) << "W_max is the stage's first cwnd";
}

TEST(Cubic, TimeOfAnIdleApplicationDoesNotCount) {  // 5.8
    Rounds busy(WW_PROTOCOL_CUBIC, 1000), idle(WW_PROTOCOL_CUBIC, 1000);
    for (Rounds* c : {&busy, &idle}) {
        c->loss();
        c->ack(1000, 100000);
    }
    idle.limited = false;
    for (int i = 0; i < 100; i++) idle.ack(100000, 100000);
    EXPECT_EQ(idle.window.cwnd, 700u) << "nor does the window grow meanwhile";
    idle.limited = true;
    for (int i = 0; i < 20; i++) {
        busy.round(100000);
        idle.round(100000);
    }
    EXPECT_NEAR(idle.window.cwnd, busy.window.cwnd, 2);
}

TEST(Cubic, SlowStartIsRenos) {  // 4.10
    Rounds c(WW_PROTOCOL_CUBIC, 10);
    c.round(100000);
    EXPECT_EQ(c.window.cwnd, 20u);
}

class HyStart : public testing::Test {
  protected:
    HyStart() { c.config.hystart = true; }
    Rounds c{WW_PROTOCOL_CUBIC, 16};
};

TEST_F(HyStart, SteadyRoundTripsDoNotEndSlowStart) {
    for (int i = 0; i < 5; i++) c.round(40000);
    EXPECT_EQ(c.window.cwnd, 16u << 5);
    EXPECT_FALSE(ww_hystart_in_css(&c.state.cubic.hystart));
}

TEST_F(HyStart, RisingRoundTripsSlowItToAQuarterAndEndIt) {  // 4.2
    c.round(40000);
    c.round(40000);
    const std::uint32_t before = c.window.cwnd;
    c.round(44900);  // RttThresh = clamp(40 / 8, 4, 16) = 5 ms
    EXPECT_EQ(c.window.cwnd, 2 * before) << "below the threshold";
    // The next minimum is held against the 44.9 ms: 5.6 ms more are needed.
    const std::uint32_t at = c.window.cwnd;
    for (int i = 0; i < 8; i++) c.ack(10, 50600);
    EXPECT_TRUE(ww_hystart_in_css(&c.state.cubic.hystart)) << "eight samples show it";
    EXPECT_LE(c.window.cwnd, at + 8);
    const std::uint32_t css = c.window.cwnd;
    for (int i = 0; i < 40; i++) c.ack(10, 50600);
    EXPECT_EQ(c.window.cwnd, css + 10) << "a quarter of slow start's growth";
    for (int rounds = 0; rounds < 5; rounds++) c.round(50600);
    EXPECT_TRUE(c.state.cubic.hystart.done);
    EXPECT_LE(c.window.ssthresh, c.window.cwnd) << "CSS_ROUNDS rounds, then congestion avoidance";
}

TEST_F(HyStart, AFallingRoundTripShowsThatItWasNoCongestion) {  // 4.2
    c.round(40000);
    c.round(40000);
    for (int i = 0; i < 8; i++) c.ack(10, 60000);
    // 8 samples of this round are short of the threshold: the round began with 40 ms.
    c.round(60000);
    ASSERT_TRUE(ww_hystart_in_css(&c.state.cubic.hystart));
    c.round(40000);
    c.round(40000);
    EXPECT_FALSE(ww_hystart_in_css(&c.state.cubic.hystart));
    EXPECT_FALSE(c.state.cubic.hystart.done);
    EXPECT_EQ(c.window.ssthresh, WW_SSTHRESH_INFINITE);
}

TEST_F(HyStart, SsthreshHasItsFloorWhenAWindowOfOneSegmentEndsIt) {  // RFC 5681, equation 4
    c.state.cubic.hystart.baseline_us = 40000;
    c.state.cubic.hystart.css_rounds = WW_HYSTART_ROUNDS - 1;
    c.window.cwnd = 1;
    c.round(40000);
    EXPECT_TRUE(c.state.cubic.hystart.done);
    EXPECT_EQ(c.window.ssthresh, 2u);
}

TEST_F(HyStart, ALossEndsItForGood) {
    c.loss();
    EXPECT_TRUE(c.state.cubic.hystart.done);
}

}  // namespace
