// SPDX-License-Identifier: GPL-2.0-only
//
// linux/path/packet.hpp parses a packet's flow and direction, and changes only the ECN mark.
#include "linux/path/packet.hpp"

#include "packets.hpp"

namespace ww::path::test {
namespace {

constexpr std::uint32_t kFlow = 0x1234;
constexpr std::uint32_t kSource = kSources | kFlow, kSink = kSinks | kFlow;

TEST(PathPacket, AddressesTellTheFlowAndTheDirection) {
    const auto data = parse(tcp(kSource, kSink, 1000));
    ASSERT_TRUE(data);
    EXPECT_EQ(data->flow, kFlow);
    EXPECT_TRUE(data->to_sink);
    const auto ack = parse(tcp(kSink, kSource, 0));
    ASSERT_TRUE(ack);
    EXPECT_EQ(ack->flow, kFlow);
    EXPECT_FALSE(ack->to_sink);
}

TEST(PathPacket, PayloadIsWhatFollowsTheHeaderWithItsOptions) {
    EXPECT_FALSE(parse(tcp(kSource, kSink, 0))->has_payload);  // options are not payload
    EXPECT_TRUE(parse(tcp(kSource, kSink, 1))->has_payload);
    EXPECT_FALSE(parse(udp(kSource, kSink, 0))->has_payload);
    EXPECT_TRUE(parse(udp(kSource, kSink, 1))->has_payload);
}

TEST(PathPacket, OthersPacketsAreNotParsed) {
    EXPECT_FALSE(parse(tcp(kSource, kSink + 1, 10)));  // between two flows
    EXPECT_FALSE(parse(tcp(kSource, kSource, 10)));
    EXPECT_FALSE(parse(tcp(kSink, kSink, 10)));
    EXPECT_FALSE(parse(tcp(0x7f000001, kSink, 10)));
    EXPECT_FALSE(parse(tcp(kSource, 0xe0000001, 10)));
}

TEST(PathPacket, TruncatedPacketsAreNotParsed) {
    const Bytes whole = tcp(kSource, kSink, 3);
    for (std::size_t size = 0; size < whole.size(); size++)
        EXPECT_FALSE(parse(std::span(whole).first(size))) << size;
    Bytes other = whole;
    other[0] = 0x65;  // IPv6
    EXPECT_FALSE(parse(other));
    other[0] = 0x44;  // a header length below 20 bytes
    EXPECT_FALSE(parse(other));
    Bytes short_tcp = packet(kSource, kSink, 6, 16, 0);  // cut inside the TCP header
    EXPECT_FALSE(parse(short_tcp));
}

// The mark sets both bits (RFC 3168, section 5), and the checksum is still right (RFC 1624).
TEST(PathPacket, MarkingKeepsTheChecksumRight) {
    for (const int tos : {1, 2, 3, 0xb9, 0xfe}) {
        const auto before = static_cast<std::uint8_t>(tos);
        Bytes bytes = tcp(kSource, kSink, 10, before);
        ASSERT_EQ(checksum(bytes), 0u);
        EXPECT_TRUE(parse(bytes)->ecn_capable);
        mark(bytes);
        EXPECT_EQ(bytes[1], before | 3);
        EXPECT_EQ(checksum(bytes), 0u);
    }
    EXPECT_FALSE(parse(tcp(kSource, kSink, 10, 0xb8))->ecn_capable);
}

}  // namespace
}  // namespace ww::path::test
