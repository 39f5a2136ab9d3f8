// SPDX-License-Identifier: BSD-3-Clause
//
// Compares WestwoodNR+'s plateau with Frikha 2005, and tests the two Westwood+ of Linux.
#include "rounds.hpp"

namespace {

using ww::test::kMss;
using ww::test::Rounds;

// The window grows once per ACK, so it can be followed by hand; the loss reduces ssthresh to 2.
Rounds at_loss(std::uint32_t cwnd, double cte) {
    Rounds c(WW_PROTOCOL_WESTWOODNR_PLUS, cwnd);
    c.config.cte_permille = static_cast<std::uint16_t>(cte * 1000);
    c.loss();
    return c;
}

TEST(Plateau, IsTheReductionDividedByCteAboveSsthresh) {  // equations 1 and 6
    EXPECT_EQ(at_loss(42, 2).window.cwnd, 2u + 40 / 2);
    EXPECT_EQ(at_loss(42, 3.6).window.cwnd, 2u + 11) << "40 / 3.6 = 11.1";
    EXPECT_EQ(at_loss(42, 1).window.cwnd, 42u);
    EXPECT_EQ(at_loss(42, 2).window.ssthresh, 2u);
}

TEST(Plateau, HoldsUntilTheCounterReachesItAndThenFollowsIt) {  // equations 2 to 5
    Rounds c = at_loss(22, 2);
    ASSERT_EQ(c.window.cwnd, 12u);
    std::uint32_t counter = 2, acks_at_this_count = 0, acks = 0;
    for (; counter < 12; acks++) {
        c.ack(1000, 100000);
        // Equation 3: by 1 / counter per ACK, so by a segment after `counter` ACKs.
        if (++acks_at_this_count == counter) {
            counter++;
            acks_at_this_count = 0;
        }
        ASSERT_EQ(c.window.cwnd, 12u) << "equation 4, at ACK " << acks;
    }
    EXPECT_EQ(acks, 2u + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11);
    for (std::uint32_t i = 0; i < 11; i++) {
        c.ack(1000, 100000);
        ASSERT_EQ(c.window.cwnd, 12u);
    }
    c.ack(1000, 100000);
    EXPECT_EQ(c.window.cwnd, 13u) << "equation 5: cwnd is the counter";
}

TEST(Plateau, ThereIsNoneWithoutAReduction) {
    Rounds c(WW_PROTOCOL_WESTWOODNR_PLUS, 2);
    c.loss();
    EXPECT_EQ(c.window.cwnd, 2u);
    EXPECT_EQ(c.state.westwood.plateau, 0u);
}

TEST(Plateau, WestwoodNRReducesWithoutAPlateau) {
    Rounds c(WW_PROTOCOL_WESTWOODNR, 42);
    c.loss();
    EXPECT_EQ(c.window.cwnd, 2u);
}

// ---- Linux

// A segment per millisecond is 1 MB/s; with a round trip of 100 ms the BDP is 100 segments.
Rounds on_linux(ww_protocol protocol) {
    Rounds c(protocol, 200, 100);
    c.config.validate_cwnd = true;
    c.limited = false;
    for (int i = 0; i < 30000; i++) c.ack(1000, 100000);
    return c;
}

TEST(WestwoodPlusOfLinux, RunsRecoveryOnHalfTheFlightAndEndsItOnTheBdp) {
    Rounds c = on_linux(WW_PROTOCOL_WESTWOOD_PLUS_LINUX);
    c.loss();
    EXPECT_EQ(c.window.ssthresh, 100u) << "half of 200 in flight";
    c.window.cwnd = 60;
    c.window.ssthresh = 60;
    c.leave_recovery();
    EXPECT_NEAR(c.window.cwnd, 100, 1) << "BWE * RTTmin, upwards, too";
    EXPECT_EQ(c.window.ssthresh, c.window.cwnd);
}

TEST(WestwoodPlusOfLinux, ForgetsRttMinAfterATimeout) {
    Rounds c = on_linux(WW_PROTOCOL_WESTWOOD_PLUS_LINUX);
    c.timeout();
    EXPECT_NEAR(c.window.ssthresh, 100, 1);
    EXPECT_EQ(c.window.cwnd, 1u);
    c.ack(1000, 152000, 1, WW_LOSS);
    EXPECT_EQ(c.state.westwood.rtt_min_us, 152000u);
    c.ack(1000, 172000, 1, WW_LOSS);
    EXPECT_EQ(c.state.westwood.rtt_min_us, 152000u) << "once";
}

TEST(WestwoodPlusOfLinux, FiltersTwiceFromTheFirstSample) {
    Rounds c(WW_PROTOCOL_WESTWOOD_PLUS_LINUX, 200, 100);
    c.limited = false;
    for (int i = 0; i < 110; i++) c.ack(1000, 100000);
    const double first = static_cast<double>(c.state.westwood.bandwidth);
    ASSERT_GT(first, 0) << "the first sample is the first estimate";
    ASSERT_EQ(c.state.westwood.samples, 1u);
    // The rate doubles: the first filter takes an eighth of it, the second an eighth of that.
    for (int i = 0; i < 300 && c.state.westwood.samples < 2; i++) c.ack(500, 100000);
    const double raw = static_cast<double>(c.state.westwood.raw);
    EXPECT_NEAR(static_cast<double>(c.state.westwood.bandwidth), first + (raw - first) / 64,
                first * 0.001);
}

TEST(WestwoodPlusOfLinux24, FallsAtOnceAndIsSetAgainAtTheEnd) {  // Dell'Aera et al. 2003, 2.2
    Rounds c = on_linux(WW_PROTOCOL_WESTWOOD_PLUS_LINUX24);
    c.loss();
    EXPECT_NEAR(c.window.ssthresh, 100, 1);
    c.window.cwnd = 70;
    c.leave_recovery();
    EXPECT_NEAR(c.window.cwnd, 100, 1);
}

}  // namespace
