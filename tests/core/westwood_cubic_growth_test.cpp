// SPDX-License-Identifier: BSD-3-Clause
//
// Westwood-CUBIC's growth by a share of its window while it is sure that the link loses packets.
#include "westwood_cubic.hpp"

namespace ww::test::westwood_cubic {
namespace {

constexpr std::uint32_t kRoom = kRtt / 512 + 16;  // us

// A connection that is sure of the link. It grows by an eighth of what is delivered.
WestwoodCubic sure(std::uint32_t cwnd = 100) {
    WestwoodCubic c = settled(cwnd);
    c.config.wc_growth_permille = 125;
    c.state.westwood_cubic.scores = 4;
    return c;
}

// Returns whether an ACK for 80 segments adds ten of them, and checks that the state says the same.
bool grows(WestwoodCubic& c, ww_phase phase = WW_OPEN) {
    const std::uint32_t before = c.window.cwnd;
    c.ack({.rtt_us = 0, .delivered = 80, .phase = phase, .fills = true});
    const bool has_grown = c.window.cwnd == before + 10;
    EXPECT_EQ(c.wc().start == WW_WC_GROWS, has_grown);
    return has_grown;
}

TEST(WestwoodCubicGrowth, AShareOfWhatIsDelivered) {
    WestwoodCubic c = sure();
    EXPECT_TRUE(grows(c));
    for (const auto& [delivered, after] :
         {std::pair{7u, 110u}, {1u, 111u}, {7u, 111u}, {9u, 113u}}) {
        c.ack({.rtt_us = 0, .delivered = delivered, .fills = true});
        EXPECT_EQ(c.window.cwnd, after) << "fractions are kept";
    }
    c.window.cwnd = (1u << 24) - 5;
    c.window.ssthresh = 100;
    c.ack({.rtt_us = 0, .delivered = 80, .fills = true});
    EXPECT_EQ(c.window.cwnd, (1u << 24) - 1) << "the most that the curve can hold";
}

TEST(WestwoodCubicGrowth, ASettingSaysHowMuch) {
    WestwoodCubic c = sure();
    c.config.wc_growth_permille = 1000;
    c.ack({.rtt_us = 0, .delivered = 10, .fills = true});
    EXPECT_EQ(c.window.cwnd, 110u);
}

TEST(WestwoodCubicGrowth, NeedsASureLinkAnEmptyQueueAndRoom) {
    using State = ww_westwood_cubic_state;
    struct Row {
        const char* why;
        void (*change)(WestwoodCubic&, State&);
        bool expected;
    };
    const Row rows[] = {
        {"a setting turns it off",
         [](WestwoodCubic& c, State&) { c.config.wc_growth_permille = 0; }, false},
        {"four scores are known", [](WestwoodCubic&, State& s) { s.scores = 4; }, true},
        {"three are too few", [](WestwoodCubic&, State& s) { s.scores = 3; }, false},
        {"little evidence of a queue", [](WestwoodCubic& c, State&) { c.set_evidence(0.125); },
         true},
        {"more than half the threshold", [](WestwoodCubic& c, State&) { c.set_evidence(0.1251); },
         false},
        {"the queue was empty in the last round",
         [](WestwoodCubic&, State& s) { s.last_rtt_us = kRtt + kRoom; }, true},
        {"it was not", [](WestwoodCubic&, State& s) { s.last_rtt_us = kRtt + kRoom + 1; }, false},
        {"most packets wait, and the queue is empty in between",
         [](WestwoodCubic&, State& s) { s.srtt_us = s.round_rtt_us = 2 * kRtt; }, true},
        {"a queue stands",
         [](WestwoodCubic&, State& s) { s.last_rtt_us = s.round_rtt_us = kRtt + kQueue; }, false},
        {"no RTT is known", [](WestwoodCubic&, State& s) { s.last_rtt_us = 0; }, false},
        {"few segments follow the curve", [](WestwoodCubic& c, State&) { c.window.cwnd = 7; },
         false},
        {"eight are not few", [](WestwoodCubic& c, State&) { c.window.cwnd = 8; }, true},
        {"the capacity is reached", [](WestwoodCubic&, State& s) { s.curve.capacity = 100; },
         false},
        {"it is not", [](WestwoodCubic&, State& s) { s.curve.capacity = 101; }, true},
        {"it is unknown", [](WestwoodCubic&, State& s) { s.curve.capacity = 0; }, true},
    };
    for (const Row& row : rows) {
        WestwoodCubic c = sure();
        c.window.ssthresh = 2;
        row.change(c, c.state.westwood_cubic);
        EXPECT_EQ(grows(c), row.expected) << row.why;
    }
}

TEST(WestwoodCubicGrowth, TheCapacityIsTheBdpWhenAQueueStoodLast) {
    WestwoodCubic c = settled(100);
    EXPECT_EQ(c.wc().curve.capacity, 0u) << "no queue stood";
    const auto after = [&c](std::uint32_t rate) {
        c.ack({.rtt_us = kRtt + kQueue, .rate = rate, .ends_round = true});
        c.ack({.rtt_us = kRtt + kQueue, .rate = rate});
        c.ack({.rtt_us = kRtt + kQueue, .rate = rate, .ends_round = true});
        return c.wc().curve.capacity;
    };
    after(100);
    EXPECT_EQ(after(100), 100u);
    EXPECT_EQ(after(300), 300u);
    for (int round = 0; round < 40; round++) after(50);
    EXPECT_EQ(c.wc().curve.capacity, 50u) << "B has faded";
    EXPECT_EQ(after(100000), 65535u) << "larger ones count as this";
}

TEST(WestwoodCubicGrowth, TheCapacityIsTheBdpAtTheLastManyLosses) {
    WestwoodCubic few = settled(100);
    few.loss();
    few.ack({.lost = 4, .phase = WW_RECOVERY});
    EXPECT_EQ(few.wc().curve.capacity, 0u);
    few.ack({.lost = 20, .phase = WW_RECOVERY});
    EXPECT_EQ(few.wc().curve.capacity, kBdp);
}

TEST(WestwoodCubicGrowth, SlowStartAndAWindowThatIsNotFullComeFirst) {
    WestwoodCubic slow = sure();
    slow.window.ssthresh = 200;
    slow.ack({.rtt_us = 0, .delivered = 80, .fills = true});
    EXPECT_EQ(slow.window.cwnd, 180u);
    WestwoodCubic idle = sure();
    EXPECT_TRUE(grows(idle));
    const std::uint32_t cwnd = idle.window.cwnd;
    idle.ack({.rtt_us = 0, .delivered = 80});
    EXPECT_EQ(idle.window.cwnd, cwnd);
    EXPECT_EQ(idle.wc().start, WW_WC_STARTED);
}

TEST(WestwoodCubicGrowth, InRecoveryOnlyAKeptWindowGrows) {
    WestwoodCubic kept = sure();
    kept.loss();
    ASSERT_EQ(kept.wc().answer, WW_WC_KEEPS);
    EXPECT_TRUE(grows(kept, WW_RECOVERY));
    WestwoodCubic many = sure();
    ASSERT_TRUE(grows(many));
    many.loss();
    many.ack({.lost = 20, .in_network = 20, .phase = WW_RECOVERY, .fills = true});
    EXPECT_EQ(many.wc().answer, WW_WC_CUTS);
    EXPECT_EQ(many.wc().start, WW_WC_STARTED) << "the ACK that reports many losses";
    for (int i = 0; i < 3; i++) {
        many.ack({.in_network = 20, .phase = WW_RECOVERY, .ends_round = i == 1, .fills = true});
        EXPECT_EQ(many.wc().start, WW_WC_STARTED) << i;
    }
}

TEST(WestwoodCubicGrowth, AnAckThatDeliversNothingEndsIt) {
    WestwoodCubic c = sure();
    ASSERT_TRUE(grows(c));
    c.ack({.rtt_us = 0, .delivered = 0, .fills = true});
    EXPECT_EQ(c.wc().start, WW_WC_STARTED);
}

TEST(WestwoodCubicGrowth, TheFirstSlowStartHasEndedWhileItGrows) {
    WestwoodCubic c = sure(10);
    c.config.wc_small = 12;
    ASSERT_TRUE(grows(c));
    ASSERT_EQ(c.window.cwnd, 20u);
    c.ack({.rtt_us = 2 * kRtt, .delivered = 0});
    EXPECT_NE(c.wc().start, WW_WC_HOLDS);
    c.window.cwnd = 10;
    c.state.westwood_cubic.srtt_us = kRtt;
    ASSERT_TRUE(grows(c));
    c.window.cwnd = 10;
    c.loss();
    EXPECT_EQ(c.window.cwnd, 5u) << "Reno's answer, for which slow start must have ended";
}

TEST(WestwoodCubicGrowth, TheCurveRunsOnMeanwhile) {
    WestwoodCubic c = sure(100);
    c.state.westwood_cubic.curve.w_max = 200 << 8;
    c.state.westwood_cubic.curve.epoch_open = false;
    c.state.westwood_cubic.scores = 0;
    c.ack({.rtt_us = 0, .fills = true});
    const std::uint32_t began_ms = c.wc().curve.epoch_ms;
    c.state.westwood_cubic.scores = 4;
    ASSERT_TRUE(grows(c));
    c.state.westwood_cubic.scores = 0;
    const std::uint32_t cwnd = c.window.cwnd;
    c.ack({.rtt_us = 0, .delivered = 80, .fills = true});
    EXPECT_EQ(c.window.cwnd, cwnd) << "the curve is still below it";
    EXPECT_EQ(c.wc().curve.epoch_ms, began_ms);
}

}  // namespace
}  // namespace ww::test::westwood_cubic
