// SPDX-License-Identifier: GPL-2.0-only
//
// Parses what the emulator needs to know of a packet, and sets the ECN mark. The rest stays untouched.
//
// Flow F has the source address 10.64.F.F and the sink address 10.65.F.F, with F in 16 bits, so that an address
// identifies the flow and the direction. If the path carries other programs' packets, the side on which they enter
// gives the direction. ECN (RFC 3168, section 5) is the low two bits of the second byte. A mark
// updates the header's checksum by RFC 1624, equation 3.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace ww::path {

inline constexpr std::uint32_t kSources = (10u << 24) | (64u << 16);
inline constexpr std::uint32_t kSinks = (10u << 24) | (65u << 16);

struct Seen {
    std::uint32_t flow;
    bool to_sink;
    bool has_payload;
    bool ecn_capable;
    bool is_syn = false;
};

namespace detail {
inline std::uint32_t big_endian(std::span<const std::uint8_t> bytes, std::size_t at,
                                std::size_t count) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < count; i++) value = value << 8 | bytes[at + i];
    return value;
}

// Returns the length of the header; 0 if this is not a whole IPv4 packet.
inline std::size_t ipv4_header(std::span<const std::uint8_t> packet) {
    constexpr std::size_t kIp = 20;
    if (packet.size() < kIp || packet[0] >> 4 != 4) return 0;
    const std::size_t header = 4u * (packet[0] & 15u);
    const bool is_whole = header >= kIp && big_endian(packet, 2, 2) == packet.size();
    return is_whole && header <= packet.size() ? header : 0;
}

inline bool is_ecn_capable(std::span<const std::uint8_t> packet) { return (packet[1] & 3u) != 0; }
}  // namespace detail

// Returns nullopt if this is not a whole IPv4 packet; accepts those of any program.
inline std::optional<Seen> parse_any(std::span<const std::uint8_t> packet, bool to_sink) {
    if (detail::ipv4_header(packet) == 0) return {};
    return Seen{0, to_sink, true, detail::is_ecn_capable(packet)};
}

// Returns nullopt if this is not a whole IPv4 packet between the two addresses of a flow.
inline std::optional<Seen> parse(std::span<const std::uint8_t> packet) {
    constexpr std::size_t kTcp = 20, kUdp = 8;
    const std::size_t header = detail::ipv4_header(packet);
    if (header == 0) return {};
    const std::uint32_t from = detail::big_endian(packet, 12, 4);
    const std::uint32_t to = detail::big_endian(packet, 16, 4);
    const bool to_sink = (to & 0xffff0000u) == kSinks;
    if ((to_sink ? from + (kSinks - kSources) : from) !=
            (to_sink ? to : to + (kSinks - kSources)) ||
        (from & 0xffff0000u) != (to_sink ? kSources : kSinks))
        return {};
    std::size_t payload_at = header;
    bool is_syn = false;
    if (packet[9] == 6) {  // TCP: the data offset says where its payload begins
        if (packet.size() < header + kTcp) return {};
        payload_at += 4u * (packet[header + 12] >> 4);
        is_syn = (packet[header + 13] & 2u) != 0;
    } else if (packet[9] == 17) {
        payload_at += kUdp;
    }
    return Seen{to & 0xffffu, to_sink, packet.size() > payload_at, detail::is_ecn_capable(packet),
                is_syn};
}

// Sets Congestion Experienced in a packet that parse() has accepted.
inline void mark(std::span<std::uint8_t> packet) {
    const std::uint32_t old_word = detail::big_endian(packet, 0, 2);
    packet[1] |= 3u;
    const std::uint32_t new_word = detail::big_endian(packet, 0, 2);
    std::uint32_t sum = (~detail::big_endian(packet, 10, 2) & 0xffffu) + (~old_word & 0xffffu);
    sum += new_word;
    sum = (sum & 0xffffu) + (sum >> 16);
    sum = (sum & 0xffffu) + (sum >> 16);
    packet[10] = static_cast<std::uint8_t>(~sum >> 8);
    packet[11] = static_cast<std::uint8_t>(~sum);
}

// Returns what packets of one direction of a connection have in common: protocol, addresses, ports.
inline std::string conversation(std::span<const std::uint8_t> packet) {
    constexpr std::size_t kPorts = 4;
    const auto at = reinterpret_cast<const char*>(packet.data());
    const std::size_t header = detail::ipv4_header(packet);
    const std::size_t ports = std::min(kPorts, packet.size() - header);
    return std::string(at + 9, 1) + std::string(at + 12, 8) + std::string(at + header, ports);
}

// Returns whether two packets differ at most in the ECN field and the header's checksum.
inline bool is_same(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
    const auto equal = [&](std::size_t from, std::size_t to) {
        return std::equal(a.begin() + static_cast<std::ptrdiff_t>(from),
                          a.begin() + static_cast<std::ptrdiff_t>(to),
                          b.begin() + static_cast<std::ptrdiff_t>(from));
    };
    return a.size() == b.size() && equal(2, 10) && equal(12, a.size());
}

}  // namespace ww::path
