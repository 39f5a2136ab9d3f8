// SPDX-License-Identifier: BSD-3-Clause
//
// A packet is what travels. A segment's sequence and acknowledgment numbers are 32 bits wide and wrap, as
// on the wire; each end unwraps them against what it knows. They number data: the one that a FIN takes on
// the wire is not in them.
#pragma once

#include <cstdint>

#include "network.hpp"

namespace ww::sim {

inline constexpr std::uint8_t kMaxSackBlocks = 4;         // RFC 2018, section 3
inline constexpr std::uint8_t kMaxSackBlocksStamped = 3;  // with timestamps (RFC 7323) beside them

struct SackBlocks {
    struct Block {
        std::uint32_t start, end;  // sequence numbers, end excluded
    };
    std::uint32_t count = 0;
    Block block[kMaxSackBlocks];

    // The option has two NOPs, kind, length and eight bytes a block (RFC 2018).
    std::uint32_t option_bytes() const { return count == 0 ? 0 : 4 + 8 * count; }
};

enum PacketFlags : std::uint16_t {
    kAck = 1,  // travels from the receiver to the sender
    kSyn = 2,
    kSack = 4,    // SACK blocks travel beside it
    kFin = 8,     // data: FIN, the last of a transfer; ACK: it covers the FIN
    kThere = 16,  // the end of the channel it is in is the end of its way
    kEct = 32,    // the connection is ECN-capable
    kCe = 64,     // data: congestion experienced; ACK: its echo (ECE)
    kCwr = 128,   // congestion window reduced
    kDatagram = 256,
    kBare = 512,  // the handshake's last ACK
    kAgain =
        1024,  // data, SYN: sent again; ACK: its timestamp is of what was sent again (RFC 7323)
    // A receiver does not take it as plain data.
    kUnusual = kSyn | kFin | kCe | kCwr | kDatagram | kBare | kAgain,
};

struct Packet {
    Time at = 0;  // arrival at the end of the channel it is in
    std::uint32_t flow = 0;
    std::uint32_t number = 0;   // sequence number of data, acknowledgment number of an ACK
    std::uint16_t payload = 0;  // bytes
    std::uint16_t flags = 0;
    std::uint32_t hop = 0;  // hops of its way behind it; so wide that no byte is padding
};
static_assert(sizeof(Packet) == 24);

}  // namespace ww::sim
