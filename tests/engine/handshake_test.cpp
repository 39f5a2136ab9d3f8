// SPDX-License-Identifier: BSD-3-Clause
//
// The start of a connection, seen from outside: SYN, SYN-ACK and its acknowledgment, lost and
// repeated by either side (RFC 9293, 3.10.7; RFC 6298; RFC 5681, 3.1; RFC 6928, 2).
#include "engine/link/packet.hpp"
#include "scripted.hpp"

namespace ww::sim::test {
namespace {

constexpr double kOneWay = 0.05 + 40 * 8 / 8.32e6;  // of a packet without data
constexpr double kSynRtt = 2 * kOneWay;

// Loses the packets with these numbers, counted from 1 in each direction.
Network with_losses(std::vector<std::uint64_t> forward, std::vector<std::uint64_t> backward) {
    Network network = scripted_network(Recovery::newreno);
    network.links[0].forward.loss = LossList{std::move(forward)};
    network.links[0].backward.loss = LossList{std::move(backward)};
    network.trace.capture_link = 0;
    network.flows[0].syn_ack_timer = true;
    return network;
}

std::vector<std::uint64_t> from_to(std::uint64_t first, std::uint64_t last) {
    std::vector<std::uint64_t> packets;
    for (; first <= last; first++) packets.push_back(first);
    return packets;
}

// Returns when packets with exactly these flags left the source or arrived at it.
std::vector<double> times_of(const Result& result, unsigned flags) {
    std::vector<double> times_s;
    for (const Captured& row : result.captured)
        if ((row.flags & ~unsigned{kThere | kAgain}) == flags)
            times_s.push_back(static_cast<double>(row.at) / static_cast<double>(kSecond));
    return times_s;
}

// RFC 6298, 5.7: the RTO is 3 s for data. RFC 5681, 3.1: the initial window is one segment, ...
TEST(Handshake, ALostSynLeadsToThreeSecondsAndOneSegment) {
    for (const bool syn : {true, false}) {  // or the SYN-ACK
        // Of SYN, SYN, ACK and data, the data is lost as well.
        const Network network = syn ? with_losses({1, 4}, {}) : with_losses({4}, {1});
        const FlowResult flow = simulate(network, 1).flows[0];
        EXPECT_NEAR(flow.established_s, 1 + kSynRtt, 1e-9);
        EXPECT_EQ(flow.events[0].kind, EventKind::send);
        EXPECT_EQ(flow.events[0].cwnd, 1u);
        EXPECT_EQ(flow.events[1].kind, EventKind::timeout);  // only segment 0 was sent
        EXPECT_NEAR(flow.events[1].time_s - flow.events[0].time_s, 3.0, 1e-9);
    }
}

// tcp_ack_update_rtt() takes the SYN-ACK's timestamp where Karn's rule allows no other sample.
TEST(Handshake, ATimestampMeasuresARepeatedSyn) {
    std::vector<std::uint64_t> lost = from_to(4, 13);  // SYN, SYN, ACK, ten segments
    lost.insert(lost.begin(), 1);
    Network network = with_losses(lost, {});
    Flow& flow = network.flows[0];
    flow.recovery = Recovery::prr;
    flow.timestamps = true;
    flow.header_bytes = kStampedHeader;
    flow.packet_bytes = 1000 + kStampedHeader;
    flow.min_rto = 200 * kMs;
    const auto timeout_after_s = [&] {
        const FlowResult result = simulate(network, 1).flows.at(0);
        return times_s(result, EventKind::timeout).at(0) - result.events[0].time_s;
    };
    EXPECT_NEAR(timeout_after_s(), 3.0, 1e-9) << "RFC 6298, (5.7)";
    flow.timed_syn = true;
    EXPECT_NEAR(timeout_after_s(), 3 * kSynRtt, 1e-3) << "R and four times R / 2";
}

// ... but RFC 6928, 2: "unless there have been more than one SYN or SYN/ACK retransmissions".
TEST(Handshake, OneLostSynMayLeaveTheInitialWindow) {
    for (const std::uint64_t syns : {1u, 2u, 3u}) {
        Network network = with_losses(from_to(1, syns - 1), {});
        network.flows[0].forgiven_syns = 1;
        const FlowResult flow = simulate(network, 1).flows[0];
        EXPECT_EQ(flow.events[0].cwnd, syns <= 2 ? 10u : 1u) << syns;
    }
}

TEST(Handshake, SynsBackOff) {  // RFC 6298, 5.5
    EXPECT_NEAR(simulate(with_losses({1, 2, 3}, {}), 1).flows[0].established_s, 1 + 2 + 4 + kSynRtt,
                1e-9);
}

// RFC 6298, 5.4: if the second SYN is lost as well, the SYN-ACK's own timer repeats it.
TEST(Handshake, ALostSynAckIsRepeatedByItsOwnTimer) {
    const Result result = simulate(with_losses({2}, {1}), 1);
    expect_near(times_of(result, kSyn), {0, 1});
    EXPECT_NEAR(result.flows[0].established_s, 1 + kSynRtt, 1e-9);
}

TEST(Handshake, SynAcksBackOff) {  // RFC 6298, 5.5: after 1, 2 and 4 s
    const Result result = simulate(with_losses({2, 3, 4}, {1, 2, 3}), 1);
    EXPECT_NEAR(result.flows[0].established_s, 1 + 2 + 4 + kSynRtt, 1e-9);
}

// Without queueing both timers are due at the same time; one SYN-ACK leaves, not two.
TEST(Handshake, ARepeatedSynRestartsTheTimerOfTheSynAck) {
    const Result result = simulate(with_losses({}, {1}), 1);
    expect_near(times_of(result, kSyn), {0, 1});
    expect_near(times_of(result, kSyn | kAck), {1 + kSynRtt});
}

TEST(Handshake, TheLossOfItsLastAckIsHarmless) {
    const Result whole = simulate(scripted_network(Recovery::newreno), 1);
    const Result lost = simulate(with_losses({2}, {}), 1);
    EXPECT_EQ(lost.flows[0].completed_s, whole.flows[0].completed_s);
    EXPECT_EQ(lost.flows[0].retransmitted, 0u);
    EXPECT_EQ(times_of(lost, kSyn | kAck).size(), 1u) << "data acknowledges the SYN-ACK too";
}

// RFC 9293, 3.10.7.4: a repeated SYN-ACK is answered by an ACK and changes nothing else. Here the
// ACK and the first window of data are lost.
TEST(Handshake, ARepeatedSynAckIsAcknowledged) {
    Network network = with_losses(from_to(2, 12), {});  // SYN, ACK, ten segments
    network.flows[0].min_rto = 3 * kSecond;
    const Result result = simulate(network, 1);
    expect_near(times_of(result, kSyn | kAck), {kSynRtt, 1 + kSynRtt});
    expect_near(times_of(result, kBare), {kSynRtt, 1 + kSynRtt});
    std::vector<std::uint32_t> numbers;
    for (const Captured& row : result.captured)
        if ((row.flags & ~kThere) == kBare) numbers.push_back(row.number);
    EXPECT_EQ(numbers.at(1) - numbers.at(0), 10 * 1000u) << "SEQ = SND.NXT";
    EXPECT_EQ(result.flows[0].timeouts, 1u);
    EXPECT_NEAR(result.flows[0].established_s, kSynRtt, 1e-9);
    EXPECT_EQ(result.flows[0].delivered_bytes, 40'000u);
}

TEST(Handshake, OutOfOrderDataAcknowledgesTheSynAck) {
    const Result result = simulate(with_losses({2, 3}, {}), 1);  // the ACK and segment 0
    EXPECT_EQ(times_of(result, kSyn | kAck).size(), 1u);
    EXPECT_EQ(result.flows[0].fast_recoveries, 1u);
}

}  // namespace
}  // namespace ww::sim::test
