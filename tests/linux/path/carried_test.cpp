// SPDX-License-Identifier: GPL-2.0-only
//
// linux/path/model.hpp carries other programs' packets: any whole IPv4 packet, by the side on which it enters.
#include "packets.hpp"

namespace ww::path::test {
namespace {

constexpr std::uint32_t kInside = 0, kOutside = 1;
constexpr std::uint32_t kHere = 0x64400002, kThere = 0xc0000201;

// 1 Mb/s and 10 ms, with a queue of three packets; 1000 bytes take 8 ms.
class Carrying : public Emulation {
  protected:
    Carrying()
        : Emulation(sim::test::one_link(1'000'000, 10 * kMs, kSecond,
                                        {sim::test::datagrams(1'000'000)})) {
        for (Direction* direction : {&network_.links[0].forward, &network_.links[0].backward})
            direction->queue_packets = 3;
    }

    std::vector<std::pair<std::uint32_t, Time>> arrived_;
    const Model::Deliver deliver_ = [this](auto node, auto, auto at) {
        arrived_.emplace_back(node, at);
    };
};

TEST_F(Carrying, EachSideReachesTheOther) {
    enter(0, kInside, udp(kHere, kThere, 972));
    enter(0, kOutside, tcp(kThere, kHere, 948));
    model().run(kSecond, deliver_);
    ASSERT_EQ(arrived_.size(), 2u);
    EXPECT_EQ(arrived_[0], std::pair(kOutside, Time{18 * kMs}));
    EXPECT_EQ(arrived_[1], std::pair(kInside, Time{18 * kMs}));
    EXPECT_EQ(model().carried(true).bytes, 1000u);
    EXPECT_DOUBLE_EQ(model().carried(false).delay_s, 0.018);
}

TEST_F(Carrying, WhatIsNoWholeIpv4PacketIsNotCarried) {
    const Bytes whole = udp(kHere, kThere, 100);
    Bytes cut = whole, ipv6 = whole, fragment = whole, short_header = whole;
    cut.pop_back();
    ipv6[0] = 0x60;
    short_header[0] = 0x44;
    for (const Bytes& bytes : {cut, ipv6, short_header, Bytes(3), Bytes()})
        enter(0, kInside, bytes);
    EXPECT_EQ(model().strangers(), 5u);
    put(fragment, 6, 0x2001, 2);  // more fragments, offset 8: its transport header is elsewhere
    enter(0, kInside, fragment);
    EXPECT_EQ(model().strangers(), 5u);
}

TEST_F(Carrying, TheBacklogIsWhatAPacketWouldWait) {
    EXPECT_EQ(model().backlog(0, true), 0);
    for (int i = 0; i < 3; i++) enter(0, kInside, udp(kHere, kThere, 972));
    EXPECT_EQ(model().backlog(0, true), 24 * kMs);
    EXPECT_EQ(model().backlog(20 * kMs, true), 4 * kMs);
    EXPECT_EQ(model().backlog(kSecond, true), 0);
    EXPECT_EQ(model().backlog(0, false), 0);
}

TEST_F(Carrying, DropsAndLossesAreCountedByDirection) {
    network_.links[0].backward.loss = Uniform{1};
    for (int i = 0; i < 6; i++) enter(0, kInside, udp(kHere, kThere, 972));
    enter(0, kOutside, udp(kThere, kHere, 972));
    model().run(kSecond, deliver_);
    EXPECT_EQ(model().carried(true).dropped, 2u);  // one is sent, three wait
    EXPECT_EQ(model().carried(true).packets, 4u);
    EXPECT_EQ(model().carried(false).lost, 1u);
    EXPECT_DOUBLE_EQ(model().carried(true).longest_s, 0.042);
}

TEST_F(Carrying, EcnCapablePacketsAreMarkedInTheirPlace) {
    Direction& direction = network_.links[0].forward;
    direction.queue_packets = 100;
    direction.queue_kind = QueueKind::red;
    direction.red.ecn = true;
    direction.red.min_packets = 1;
    direction.red.max_packets = 8;
    direction.red.weight = 1;
    direction.red.max_p = 1;
    int marked = 0;
    const Model::Deliver look = [&](auto, std::span<const std::uint8_t> packet, auto) {
        marked += (packet[1] & 3) == 3;
        EXPECT_EQ(checksum(Bytes(packet.begin(), packet.end())), 0u);
    };
    for (int i = 0; i < 10; i++) enter(i, kInside, tcp(kHere, kThere, 948, 2));
    model().run(kSecond, look);
    EXPECT_GT(marked, 0);
}

}  // namespace
}  // namespace ww::path::test
