// SPDX-License-Identifier: BSD-3-Clause
//
// Receivers that divide ACKs or acknowledge early (engine/tcp/misbehaviour.hpp), and what protects a sender.
#include "engine/tcp/misbehaviour.hpp"

#include "engine/link/packet.hpp"
#include "scripted.hpp"

namespace ww::sim::test {
namespace {

// 60 segments in slow start over a path that loses none: 1 ms a segment, 100 ms a round trip.
Network in_slow_start() {
    Network network = scripted_network(Recovery::sack);
    network.links[0].forward.loss = network.links[0].backward.loss = {};
    Flow& flow = network.flows[0];
    flow.initial_ssthresh = WW_SSTHRESH_INFINITE;
    flow.initial_cwnd = 2;
    flow.size_bytes = 60 * flow.mss();
    network.trace.capture_link = 0;
    return network;
}

std::vector<std::uint32_t> ack_numbers(const Result& result) {
    std::vector<std::uint32_t> numbers;
    for (const Captured& row : result.captured)
        if ((row.flags & kAck) != 0 && (row.flags & kSyn) == 0) numbers.push_back(row.number);
    return numbers;
}

double completed_s(const Network& network) { return simulate(network, 1).flows[0].completed_s; }

TEST(AckDivision, SendsEqualPartsOfEachSegment) {
    Network network = in_slow_start();
    network.flows[0].size_bytes = 2 * network.flows[0].mss();
    network.flows[0].ack_division = 4;
    EXPECT_EQ(ack_numbers(simulate(network, 1)),
              (std::vector<std::uint32_t>{251, 501, 751, 1001, 1251, 1501, 1751, 2001}));
}

// RFC 3465, 2.3: "byte counting ... prevents" the attack; Savage et al. 1999 name the cure too.
TEST(AckDivision, BringsNothingAgainstASenderThatCountsBytes) {
    Network network = in_slow_start();
    network.flows[0].cc.byte_counting = true;
    const double honest_s = completed_s(network);
    network.flows[0].ack_division = 10;
    EXPECT_NEAR(completed_s(network), honest_s, 10 * 10 * 40 * 8 / 8.32e6);  // of the ACKs' rate
}

TEST(AckDivision, SpeedsUpASenderThatCountsAcks) {
    Network network = in_slow_start();
    const double honest_s = completed_s(network);
    network.flows[0].ack_division = 10;
    EXPECT_LT(completed_s(network), honest_s - 0.15);  // at least two of five round trips
}

TEST(AckDivision, NeedsNoLossOfAckNumbersBetween) {
    Network network = in_slow_start();
    network.flows[0].ack_division = 3;
    network.links[0].backward.loss = LossList{{3, 4, 6, 8}};  // parts, and ends of segments
    const Result result = simulate(network, 1);
    EXPECT_EQ(result.flows[0].delivered_bytes, 60'000u);
    EXPECT_EQ(result.flows[0].retransmitted, 0u);
}

TEST(OptimisticAcks, ShortenTheRoundTripThatTheSenderSees) {
    Network network = in_slow_start();
    network.flows[0].size_bytes = kUnlimited;
    network.flows[0].receive_window_bytes = 1'000'000;
    network.duration = 5 * kSecond;
    const FlowResult honest = simulate(network, 1).flows[0];
    network.flows[0].optimistic_acks = 50;
    const FlowResult early = simulate(network, 1).flows[0];
    EXPECT_GT(honest.min_rtt_s, 0.1);
    EXPECT_LT(early.min_rtt_s, honest.min_rtt_s - 50 * 1e-3);
}

TEST(OptimisticAcks, ConcealLosses) {
    Network network = in_slow_start();
    network.links[0].forward.loss = LossList{{12, 13, 20}};
    network.flows[0].optimistic_acks = 1;
    const Result result = simulate(network, 1);
    EXPECT_EQ(result.flows[0].retransmitted, 0u);
    EXPECT_EQ(result.flows[0].fast_recoveries, 0u);
    EXPECT_EQ(result.flows[0].delivered_bytes, 57'000u);  // what is lost stays lost
    EXPECT_GT(result.flows[0].completed_s, 0);
}

// RFC 9293, 3.10.7.4: "If the ACK acks something not yet sent ... drop the segment".
TEST(OptimisticAcks, OfDataThatWasNeverSentAreDropped) {
    Network network = in_slow_start();
    network.flows[0].optimistic_acks = 1000;
    const Result result = simulate(network, 1);
    std::uint32_t highest = 0;
    for (const Captured& row : result.captured) {
        if ((row.flags & kAck) == 0) highest = std::max(highest, row.number + row.payload);
    }
    EXPECT_EQ(highest, 60'001u);
    EXPECT_GT(result.flows[0].completed_s, 0);
}

}  // namespace
}  // namespace ww::sim::test
