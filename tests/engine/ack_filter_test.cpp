// SPDX-License-Identifier: BSD-3-Clause
//
// Compares the ACK filter with RFC 3449, section 5.2.1: only ACKs go whose information a newer one has.

#include "../fuzz/difference.hpp"
#include "engine/link/held_packets.hpp"
#include "one_link.hpp"

namespace ww::sim::test {
namespace {

HeldPacket ack_of(std::uint32_t number, std::uint32_t flow = 0, std::uint16_t flags = kAck) {
    HeldPacket held;
    held.packet.flow = flow;
    held.packet.number = number;
    held.packet.flags = flags;
    held.ip_bytes = 40;
    return held;
}

HeldPacket ack_with_block(std::uint32_t number, std::uint32_t start, std::uint32_t end) {
    HeldPacket held = ack_of(number, 0, kAck | kSack);
    held.has_sack = true;
    held.sack.count = 1;
    held.sack.block[0] = {start, end};
    return held;
}

HeldPackets queue_of(std::initializer_list<HeldPacket> packets) {
    HeldPackets queue(1000, kUnlimited, 0);
    for (const HeldPacket& packet : packets) queue.push(packet);
    return queue;
}

// Returns the numbers of the ACKs that stay once the newest packet has removed what it can.
std::vector<std::uint32_t> left(HeldPackets queue, std::uint32_t keep = 1) {
    std::int64_t bytes = queue.ip_bytes();
    while (const auto gone = queue.take_redundant(keep)) bytes -= gone->ip_bytes;
    EXPECT_EQ(queue.ip_bytes(), bytes);
    std::vector<std::uint32_t> numbers;
    while (!queue.empty()) numbers.push_back(queue.pop().packet.number);
    return numbers;
}

using Numbers = std::vector<std::uint32_t>;

TEST(AckFilter, ANewAckRemovesOlderOnesOfItsConnection) {
    EXPECT_EQ(left(queue_of({ack_of(100), ack_of(200), ack_of(300)})), Numbers({300}));
    EXPECT_EQ(left(queue_of({ack_of(100), ack_of(7, 1), ack_of(300)})), Numbers({7, 300}));
}

TEST(AckFilter, KeepsAsManyAsItIsAskedTo) {
    const auto acks = {ack_of(1), ack_of(2), ack_of(3), ack_of(4)};
    EXPECT_EQ(left(queue_of(acks), 2), Numbers({3, 4}));
    EXPECT_EQ(left(queue_of(acks), 4), Numbers({1, 2, 3, 4}));
}

TEST(AckFilter, SequenceNumbersWrap) {
    EXPECT_EQ(left(queue_of({ack_of(0xFFFF'FF00), ack_of(0x100)})), Numbers({0x100}));
    EXPECT_EQ(left(queue_of({ack_of(0x100), ack_of(0xFFFF'FF00)})), Numbers({0x100, 0xFFFF'FF00}));
}

TEST(AckFilter, DuplicateAcksStay) {
    EXPECT_EQ(left(queue_of({ack_of(100), ack_of(100), ack_of(100)})), Numbers({100, 100, 100}));
}

TEST(AckFilter, EchoesOfMarksAndDataStay) {
    EXPECT_EQ(left(queue_of({ack_of(100, 0, kAck | kCe), ack_of(200)})), Numbers({100, 200}));
    EXPECT_EQ(left(queue_of({ack_of(100), ack_of(200, 0, kAck | kCe)})), Numbers({100, 200}));
    for (const int other : {0, kAck | kSyn, kAck | kFin, +kDatagram}) {
        const auto flags = static_cast<std::uint16_t>(other);
        EXPECT_EQ(left(queue_of({ack_of(100, 0, flags), ack_of(200, 0, flags)})),
                  Numbers({100, 200}))
            << flags;
    }
}

TEST(AckFilter, ASackBlockStaysUnlessTheNewAckTellsIt) {
    const HeldPacket older = ack_with_block(100, 300, 400);
    EXPECT_EQ(left(queue_of({older, ack_of(200)})), Numbers({100, 200}));
    EXPECT_EQ(left(queue_of({older, ack_of(400)})), Numbers({400})) << "it is acknowledged";
    EXPECT_EQ(left(queue_of({older, ack_with_block(200, 300, 500)})), Numbers({200}));
    EXPECT_EQ(left(queue_of({older, ack_with_block(200, 350, 500)})), Numbers({100, 200}));
    EXPECT_EQ(left(queue_of({older, ack_with_block(200, 250, 399)})), Numbers({100, 200}));
}

TEST(AckFilter, OfDuplicateAcksOnlyThoseGoThatSayLessThanTheNewest) {
    const HeldPacket less = ack_with_block(100, 300, 400), more = ack_with_block(100, 300, 500);
    EXPECT_EQ(left(queue_of({less, more})), Numbers({100}));
    EXPECT_EQ(left(queue_of({more, less})), Numbers({100, 100}));
    EXPECT_EQ(left(queue_of({more, more})), Numbers({100, 100}));
    EXPECT_EQ(left(queue_of({less, ack_with_block(100, 600, 900)})), Numbers({100, 100}));
}

// Data at 10 Mb/s, an ACK a segment. The way back is as fast, unless `ack_bps` says otherwise.
Network path(const std::optional<AckFilter>& filter, std::int64_t ack_bps = 10'000'000) {
    Flow flow = bulk();
    flow.delayed_ack = 1;
    flow.cc = ww_configure(WW_PROTOCOL_CUBIC);
    flow.recovery = Recovery::sack;
    Network network = one_link(10'000'000, 20 * kMs, 20 * kSecond, {flow});
    network.trace.queues = true;
    network.links[0].backward.rate_bps = ack_bps;
    network.links[0].backward.ack_filter = filter;
    return network;
}

double goodput_bps(const Network& network) {
    const Result result = result_of(network);
    return 8.0 * static_cast<double>(result.flows[0].delivered_bytes) / 20;
}

TEST(AckFilter, OfAnEmptyQueueChangesNothing) {
    const Result other = simulate(path(AckFilter{}), 1);
    EXPECT_EQ(other.backward[0].early_drops, 0u);
    EXPECT_EQ(fuzz::difference(simulate(path({}), 1), other), "");
}

// 10 Mb/s of data are 833 ACKs a second: 40 kb/s hold 125 of them. They wait 0.8 s in a queue of 100.
TEST(AckFilter, ASlowWayBackNoLongerDelaysTheAcks) {
    const Result plain = simulate(path({}, 40'000), 1),
                 filtered = simulate(path(AckFilter{}, 40'000), 1);
    EXPECT_GT(plain.backward[0].longest_wait_s, 0.5);
    EXPECT_LT(filtered.backward[0].longest_wait_s, 0.05);
    EXPECT_GT(filtered.flows[0].delivered_bytes, plain.flows[0].delivered_bytes * 3 / 2)
        << filtered.flows[0].delivered_bytes << " " << plain.flows[0].delivered_bytes;
}

// A full link brings a segment, and so an ACK, every 1.2 ms: about 5 or 6 of them within 6 ms. Each batch leaves one.
TEST(AckFilter, OfABatchOnlyTheNewestAckGoesOn) {
    const Network network = path(AckFilter{6 * kMs, 1});
    const Result result = simulate(network, 1);
    const DirectionResult& back = result.backward[0];
    const double share = static_cast<double>(back.early_drops) /
                         static_cast<double>(back.early_drops + back.packets);
    EXPECT_NEAR(share, 0.8, 0.06);
    EXPECT_EQ(back.early_drops, back.queue_drops);
    EXPECT_GT(goodput_bps(network), 8e6);
    for (const Drop& drop : result.drops)
        if (drop.kind == DropKind::early) {
            EXPECT_EQ(drop.packet, PacketKind::ack) << drop.time_s;
        }
    EXPECT_GE(back.longest_wait_s, 0.0059);
}

}  // namespace
}  // namespace ww::sim::test
