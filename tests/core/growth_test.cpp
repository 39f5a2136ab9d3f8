// SPDX-License-Identifier: BSD-3-Clause
//
// How windows grow, what losses, timeouts and undos do to them, and what each protocol stands for.
#include <cstring>

#include "rounds.hpp"

namespace {

using ww::test::kMss;

class Connection : public ww::test::Host {
  public:
    explicit Connection(ww_protocol id, std::uint32_t cwnd = 10,
                        std::uint32_t ssthresh = WW_SSTHRESH_INFINITE)
        : Host(id, cwnd, ssthresh) {
        config.byte_counting = config.validate_cwnd = false;
    }

    void ack(std::uint32_t segments = 1, ww_phase phase = WW_OPEN, bool limited = true,
             std::uint32_t rtt_us = 100000) {
        ww_sample sample{};
        sample.acked_segments = segments;
        sample.in_flight = 1000;
        sample.rtt_us = rtt_us;
        sample.phase = static_cast<std::uint8_t>(phase);
        sample.is_cwnd_limited = limited;
        take(1000, sample);
    }

    // An ACK per millisecond is 1 MB/s; with RTTmin 100 ms the BDP is 100 segments.
    void settle() {
        for (int i = 0; i < 20000; i++) ack(1, WW_RECOVERY);
    }
};

TEST(Growth, FollowsTheRules) {
    constexpr std::uint32_t none = WW_SSTHRESH_INFINITE;
    const auto count = &ww_config::byte_counting, batch = &ww_config::batched_acks;
    const auto check = &ww_config::validate_cwnd, sum = &ww_config::fractional_cwnd;
    const auto ones = [](std::size_t acks) { return std::vector<std::uint32_t>(acks, 1); };
    struct Row {
        std::vector<bool ww_config::*> rules;
        std::uint32_t cwnd, ssthresh;
        std::vector<std::uint32_t> acks;  // the segments of each
        std::uint32_t after;
        const char* why;
        ww_phase phase = WW_OPEN;
        bool limited = true;
    };
    const Row rows[] = {
        {{}, 10, none, {2, 1}, 12, "RFC 5681, 3.1, eq. 2: one segment per ACK"},
        {{}, 10, 12, ones(4), 12, "slow start ends at ssthresh"},
        {{}, 10, 10, ones(9), 10, "3.1: one segment per window of ACKs"},
        {{}, 10, 10, ones(10), 11, "the tenth"},
        {{}, 10, 10, ones(21), 12, "a window later"},
        {{count}, 10, none, {8}, 12, "RFC 3465, 2.2: L = 2"},
        {{count}, 10, none, {8}, 11, "2.3: L = 1 after a timeout", WW_LOSS},
        {{count}, 10, 10, {2, 2, 2, 2, 2}, 11, "2.1: one segment per window of data"},
        {{count}, 10, 10, {1000}, 11, "an ACK of many windows adds one segment"},
        {{sum}, 2, 10, ones(8), 10, "fractions do not change slow start"},
        {{count, sum}, 10, 10, {5, 5}, 10, "a window and its fraction take more"},
        {{count, sum}, 10, 10, {5, 5, 1000}, 11, "many segments add one at most"},
        {{batch}, 10, 40, {8}, 18, "tcp_slow_start: by all that was acknowledged"},
        {{batch}, 10, 40, {8, 22 + 39}, 40, "up to ssthresh"},
        {{batch}, 10, 40, {8, 22 + 39, 1}, 41, "the 39 left over count in congestion avoidance"},
        {{check}, 10, none, {1}, 11, "RFC 7661: the window limits the sender"},
        {{check}, 10, none, {1}, 10, "it does not", WW_OPEN, false},
        {{}, 10, none, {1}, 10, "not in recovery", WW_RECOVERY},
        {{}, 10, none, {1}, 11, "in disorder", WW_DISORDER},
        {{}, 10, none, {1}, 11, "after a timeout", WW_LOSS},
        {{}, WW_CWND_MAX, none, {2}, WW_CWND_MAX, "the largest window"},
    };
    for (const Row& row : rows) {
        Connection reno(WW_PROTOCOL_RENO, row.cwnd, row.ssthresh);
        for (const auto rule : row.rules) reno.config.*rule = true;
        for (const std::uint32_t segments : row.acks) reno.ack(segments, row.phase, row.limited);
        EXPECT_EQ(reno.window.cwnd, row.after) << row.why;
    }
    Connection reno(WW_PROTOCOL_RENO);
    ww_sample duplicate{};
    duplicate.is_dupack = true;
    reno.take(1000, duplicate);
    EXPECT_EQ(reno.window.cwnd, 10u) << "a duplicate";
}

TEST(FractionalCwnd, AnAckAddsAFractionOfOneOverTheWindowAndItsFraction) {  // RFC 5681, equation 3
    Connection reno(WW_PROTOCOL_RENO, 2, 2);
    reno.config.fractional_cwnd = true;
    double cwnd = 2;  // ns-2's opencwnd(): cwnd_ += increase_num_ / cwnd_
    for (int i = 0; i < 2000; i++) {
        reno.ack();
        cwnd += 1 / cwnd;
        ASSERT_EQ(reno.window.cwnd, static_cast<std::uint32_t>(cwnd)) << i;
    }
}

TEST(FractionalCwnd, AWindowTakesHalfAnAckMoreThanWithCounting) {
    Connection summed(WW_PROTOCOL_RENO, 5, 5), counted(WW_PROTOCOL_RENO, 5, 5);
    summed.config.fractional_cwnd = true;
    for (int acks = 5 + 6 + 7 + 8; acks > 0; acks--) summed.ack(), counted.ack();
    EXPECT_EQ(counted.window.cwnd, 9u);
    EXPECT_EQ(summed.window.cwnd, 8u);
    summed.ack(), summed.ack();
    EXPECT_EQ(summed.window.cwnd, 9u);
}

TEST(FractionalCwnd, ALossCutsTheFractionOff) {  // ns-2's slowdown() takes int(window() / 2)
    Connection reno(WW_PROTOCOL_RENO, 7, 7);
    reno.config.fractional_cwnd = true;
    for (int i = 0; i < 7; i++) reno.ack();
    EXPECT_EQ(reno.window.cwnd, 7u) << "and 14/15 or so";
    reno.loss(7);
    EXPECT_EQ(reno.window.cwnd, 3u);
    reno.ack(), reno.ack(), reno.ack();
    EXPECT_EQ(reno.window.cwnd, 3u);
    reno.ack();
    EXPECT_EQ(reno.window.cwnd, 4u);
}

TEST(FractionalCwnd, NoWindowIsTooLargeToGrow) {  // RFC 5681, 3.1: rounded up to a byte
    Connection reno(WW_PROTOCOL_RENO, WW_CWND_MAX - 1, 2);
    reno.config.fractional_cwnd = true;
    reno.state.common.cwnd_count = UINT32_MAX;
    reno.ack();
    EXPECT_EQ(reno.window.cwnd, WW_CWND_MAX);
    reno.state.common.cwnd_count = UINT32_MAX;
    reno.ack();
    EXPECT_EQ(reno.window.cwnd, WW_CWND_MAX);
}

TEST(BatchedAcks, CongestionAvoidanceGrowsAsWithOneAckPerSegment) {  // Linux: tcp_cong_avoid_ai
    Connection batched(WW_PROTOCOL_RENO, 10, 10), single(WW_PROTOCOL_RENO, 10, 10);
    batched.config.batched_acks = true;
    for (int i = 0; i < 40; i++) batched.ack(5);
    for (int i = 0; i < 200; i++) single.ack(1);
    EXPECT_EQ(batched.window.cwnd, single.window.cwnd);
}

TEST(BatchedAcks, ACountTowardsALargerWindowOpensThisOneByOne) {
    Connection reno(WW_PROTOCOL_RENO, 10, 10);
    reno.config.batched_acks = true;
    reno.state.common.cwnd_count = 1000;
    reno.ack(1);
    EXPECT_EQ(reno.window.cwnd, 11u);
}

TEST(Reno, HalvesTheFlightAndKeepsTwo) {  // RFC 5681, 3.1, eq. 4
    Connection reno(WW_PROTOCOL_RENO, 40);
    reno.loss(31);
    EXPECT_EQ(reno.window.ssthresh, 15u);
    EXPECT_EQ(reno.window.cwnd, 15u);
    reno.loss(3);
    EXPECT_EQ(reno.window.ssthresh, 2u);
}

TEST(Reno, AnImpossibleFlightLeavesAUsableWindow) {  // found by tests/fuzz/core_operations.cpp
    Connection reno(WW_PROTOCOL_RENO, 40);
    reno.loss(UINT32_MAX);
    EXPECT_EQ(reno.window.cwnd, WW_CWND_MAX);
}

TEST(Reno, ATimeoutLeavesOneSegmentAndItsRepetitionKeepsSsthresh) {  // RFC 5681, 3.1
    Connection reno(WW_PROTOCOL_RENO, 40);
    reno.timeout(40);
    EXPECT_EQ(reno.window.cwnd, 1u);
    EXPECT_EQ(reno.window.ssthresh, 20u);
    reno.timeout(1, true);
    EXPECT_EQ(reno.window.ssthresh, 20u);
}

class FamilyTest : public testing::TestWithParam<ww_protocol> {};

TEST_P(FamilyTest, ALossSetsTheWindowToTheMeasuredBdp) {  // BWE * RTTmin / MSS
    Connection westwood(GetParam(), 1000);
    westwood.settle();
    westwood.loss(1000);
    EXPECT_NEAR(westwood.window.ssthresh, 100, 1);
    EXPECT_EQ(westwood.window.cwnd, westwood.window.ssthresh);
}

TEST_P(FamilyTest, ATimeoutKeepsTheBdpInSsthresh) {
    Connection westwood(GetParam(), 1000);
    westwood.settle();
    westwood.timeout(1000);
    EXPECT_NEAR(westwood.window.ssthresh, 100, 1);
    EXPECT_EQ(westwood.window.cwnd, 1u);
}

TEST_P(FamilyTest, WithoutASampleTwoSegmentsAreLeft) {
    Connection westwood(GetParam(), 40);
    westwood.loss(40);
    EXPECT_EQ(westwood.window.ssthresh, 2u);
    EXPECT_EQ(westwood.window.cwnd, 2u);
}

TEST_P(FamilyTest, AskingChangesNothing) {
    Connection westwood(GetParam(), 40);
    westwood.settle();
    const ww_state before = westwood.state;
    ww_ssthresh(&westwood.config, &westwood.state, westwood.now_us + 5000000, 40, kMss);
    westwood.seen(5000000);
    EXPECT_EQ(std::memcmp(&before, &westwood.state, sizeof before), 0);
}

TEST_P(FamilyTest, UndoRestoresTheWindows) {
    Connection westwood(GetParam(), 500, 400);
    westwood.settle();
    westwood.loss(500);
    westwood.undo();
    EXPECT_EQ(westwood.window.cwnd, 500u);
    EXPECT_EQ(westwood.window.ssthresh, 400u);
}

INSTANTIATE_TEST_SUITE_P(Core, FamilyTest,
                         testing::Values(WW_PROTOCOL_WESTWOOD, WW_PROTOCOL_WESTWOOD_NS3,
                                         WW_PROTOCOL_WESTWOOD_PLUS, WW_PROTOCOL_WESTWOOD_PLUS_NS3));

TEST(Westwood, NeverRaisesTheWindowOnALoss) {  // Mascolo et al. 2001: if (cwin > ssthresh)
    Connection westwood(WW_PROTOCOL_WESTWOOD, 20);
    westwood.settle();
    westwood.loss(20);
    EXPECT_NEAR(westwood.window.ssthresh, 100, 1);
    EXPECT_EQ(westwood.window.cwnd, 20u);
}

TEST(WestwoodPlus, SetsTheWindowOnALoss) {  // Dell'Aera et al. 2003, 2.1: cwnd = ssthresh
    Connection plus(WW_PROTOCOL_WESTWOOD_PLUS, 20);
    plus.settle();
    plus.loss(20);
    EXPECT_NEAR(plus.window.cwnd, 100, 1);
}

TEST(WestwoodPlus, SamplesAtMostEvery50ms) {  // Dell'Aera et al. 2003, 2.2
    Connection plus(WW_PROTOCOL_WESTWOOD_PLUS);
    for (int i = 0; i < 1000; i++) plus.ack(1, WW_OPEN, true, 5000);
    EXPECT_EQ(plus.state.westwood.samples, 19u);
}

TEST(Westwood, ATimeoutReadsTheEstimateOfTheLastAckOrWithNullSamplesOfTheSilence) {
    for (const auto& [null_at_timeout, ssthresh] : {std::pair{false, 100}, {true, 13}}) {
        Connection westwood(WW_PROTOCOL_WESTWOOD, 1000);
        westwood.config.null_at_timeout = null_at_timeout;
        westwood.settle();
        westwood.now_us += 1000000;  // 20 virtual samples: (19/21)^20 = 0.135
        westwood.timeout(1000);
        EXPECT_NEAR(westwood.window.ssthresh, ssthresh, 1);
    }
}

TEST(State, OfCompactControlsFitsTheKernelsPrivateArea) {
#define WW_CHECK(ID, name) EXPECT_LE(sizeof(ww_##name##_state), 104u) << #name;
    WW_COMPACT_ALGORITHMS(WW_CHECK)
#undef WW_CHECK
}

// RFC 3168, 6.1.2 and RFC 9438, 4.6: a mark may reduce cwnd to one segment; ssthresh is at least two.
TEST(Marks, ReduceTheWindowToOneSegment) {
    for (const ww_protocol id : {WW_PROTOCOL_SACK, WW_PROTOCOL_WESTWOOD, WW_PROTOCOL_WESTWOOD_PLUS,
                                 WW_PROTOCOL_CUBIC, WW_PROTOCOL_VEGAS, WW_PROTOCOL_VENO}) {
        ww::test::Host c(id, 2, 100);
        c.mark(1);
        EXPECT_EQ(c.window.cwnd, 1u) << id;
        EXPECT_EQ(c.window.ssthresh, 2u) << id;
        ww::test::Host as_linux(id, 2, 100);
        as_linux.config.min_marked_cwnd = 2;
        as_linux.mark(1);
        EXPECT_EQ(as_linux.window.cwnd, 2u) << id;
    }
}

}  // namespace
