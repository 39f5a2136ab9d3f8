// SPDX-License-Identifier: BSD-3-Clause
//
// Compares CUBIC with RFC 9438, section by section, and the rules of Linux 6 and ns-3 3.44 with
// what their tcp_cubic.c and tcp-cubic.cc compute.
#include "rounds.hpp"

namespace {

using ww::test::Rounds;

// Computes W_cubic by RFC 9438, 4.2, in seconds and segments.
double w_cubic(double t, double w_max, double cwnd_epoch) {
    const double k = std::cbrt((w_max - cwnd_epoch) / 0.4);
    return 0.4 * std::pow(t - k, 3) + w_max;
}

// After a loss at 1000 segments, cwnd approaches the value that the cubic has one round trip later.
void expect_follows_the_cubic(Rounds& c, int rounds, double tolerance) {
    c.loss();
    const double before = c.window.cwnd;
    ASSERT_EQ(before, 700);
    const std::uint64_t start = c.now_us;
    for (int i = 0; i < rounds; i++) {
        c.round(100000);
        const double t = static_cast<double>(c.now_us - start) / 1e6;
        EXPECT_GE(c.window.cwnd, w_cubic(t - 0.1, 1000, before) - tolerance) << "at " << t << " s";
        EXPECT_LE(c.window.cwnd, w_cubic(t + 0.1, 1000, before) + tolerance) << "at " << t << " s";
    }
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
    Rounds c(WW_PROTOCOL_CUBIC, 1000);
    expect_follows_the_cubic(c, 200, 1.5);
    EXPECT_GT(c.window.cwnd, 1400u) << "convex growth beyond W_max";
}

TEST(Cubic, FastConvergenceReducesWMax) {  // 4.7
    Rounds c(WW_PROTOCOL_CUBIC, 1000);
    c.loss();
    c.loss();
    EXPECT_EQ(c.state.cubic.curve.w_max, 700u * 256 * 17 / 20);
    c.config.fast_convergence = false;
    c.loss();
    EXPECT_EQ(c.state.cubic.curve.w_max, 490u * 256);
}

TEST(Cubic, NoSlowerThanReno) {  // 4.3: W_est grows by 9/17 per round trip, by 1 beyond cwnd_prior
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

TEST(Cubic, ATimeoutForgetsWmax) {  // 4.8
    Rounds c(WW_PROTOCOL_CUBIC, 100);
    c.loss();
    c.timeout();
    EXPECT_EQ(c.window.cwnd, 1u);
    EXPECT_EQ(c.window.ssthresh, 49u);
    while (c.window.cwnd < c.window.ssthresh) c.ack(1000, 100000);
    c.ack(1000, 100000);
    EXPECT_EQ(c.state.cubic.curve.k_ms, 0u);
    EXPECT_EQ(c.state.cubic.curve.w_max, 49u * 256) << "W_max is the stage's first cwnd";
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

TEST(Cubic, ASilenceDoesNotCountIfTheHostReportsIt) {  // 4.2 and 5.8
    const auto grown = [](std::uint64_t silent_us, bool reported) {
        Rounds c(WW_PROTOCOL_CUBIC, 1000);
        c.loss();
        c.ack(1000, 100000);
        c.now_us += silent_us;
        if (reported) ww_on_restart(&c.config, &c.state, c.now_us);
        for (int i = 0; i < 20; i++) c.round(100000);
        return c.window.cwnd;
    };
    EXPECT_EQ(grown(60000000, true), grown(0, false));
    EXPECT_GT(grown(60000000, false), 2 * grown(0, false));
}

// The kernel's rules: bictcp_update(), cubictcp_recalc_ssthresh(), cubictcp_state() of tcp_cubic.c.
class Kernel : public testing::Test {
  protected:
    explicit Kernel(std::uint32_t cwnd = 1000) : c(WW_PROTOCOL_CUBIC, cwnd) {
        c.config.cubic_rules = WW_RULES_LINUX;
        c.config.slow_start = WW_SLOW_START_STANDARD;
    }
    Rounds c;
};

TEST_F(Kernel, FollowsTheSameCubicInWholeSegments) { expect_follows_the_cubic(c, 120, 2.5); }

TEST_F(Kernel, GrowsByFivePercentPerRoundTripBeforeTheFirstLoss) {
    c.window.ssthresh = 100;
    c.round(100000);
    EXPECT_NEAR(c.window.cwnd, 1050, 2);
    c.loss();
    c.round(100000);
    EXPECT_LT(c.window.cwnd, 760u) << "after it the cubic decides: 5 % would be 771";
}

class SmallKernel : public Kernel {
  protected:
    SmallKernel() : Kernel(20) {}
};

TEST_F(SmallKernel, IsRenoFriendlyWithoutBecomingReno) {
    constexpr std::uint32_t kRtt = 10000;  // where the cubic is flat
    c.loss();
    ASSERT_EQ(c.window.cwnd, 14u);
    // 8/15 of a segment per round trip, within the one that n = cwnd / (W_est - cwnd) needs.
    for (int i = 0; i < 12; i++) c.round(kRtt);
    EXPECT_NEAR(c.window.cwnd, 14 + 12 * 8. / 15, 1.5);
    for (int i = 0; i < 30; i++) c.round(kRtt);
    EXPECT_NEAR(c.window.cwnd, 14 + 42 * 8. / 15, 1.5) << "RFC 9438 has alpha = 1 beyond 20";
}

class Ns3 : public SmallKernel {
  protected:
    Ns3() { c.config.cubic_rules = WW_RULES_NS3; }
};

TEST_F(Ns3, CountsEverythingCoveredByTheAckThatCompletesRecovery) {
    c.loss();
    c.ack(1000, 100000, 15, WW_RECOVERY);
    c.leave_recovery();
    EXPECT_TRUE(c.state.cubic.curve.epoch_open);
    EXPECT_EQ(c.window.cwnd, 15u) << "its target is 15: one for 14 segments";
    EXPECT_EQ(c.state.common.cwnd_count, 1u);
}

}  // namespace
