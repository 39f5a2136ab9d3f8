// SPDX-License-Identifier: BSD-3-Clause
//
// A packet in the network. Sequence and acknowledgment numbers are 32 bits wide and wrap, as on the
// wire; each end unwraps them. They number data bytes: unlike on the wire, a FIN takes no number.
#pragma once

#include <cstdint>

#include "../network.hpp"

namespace ww::sim {

inline constexpr std::uint8_t kMaxSackBlocks = 4;  // RFC 2018, section 3
inline constexpr std::uint8_t kMaxSackBlocksStamped =
    3;  // when timestamps share the options (RFC 7323)

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
    kSack = 4,    // carries SACK blocks, which are kept beside it
    kFin = 8,     // data: the last segment of a transfer; ACK: it covers the FIN
    kThere = 16,  // the end of its channel is the end of its route
    kEct = 32,    // the connection is ECN-capable
    kCe = 64,     // data: congestion experienced; ACK: its echo (ECE)
    kCwr = 128,   // congestion window reduced
    kDatagram = 256,
    kBare = 512,  // the handshake's last ACK
    kAgain =
        1024,  // data, SYN: a retransmission; ACK: its timestamp echoes a retransmission (RFC 7323)
    kPush =
        2048,  // data: ends a message or a burst, and the receiver acknowledges it at once (PSH)
    kEct1 = 4096,  // beside kEct: the ECN field was ECT(1), not ECT(0), when it was sent
    kGuest =
        8192,  // of a guest (traffic/guest.hpp), which knows its contents; kAck: from the receiver
    kSuspect = 16384,  // ACK: of a receiver that misbehaves (tcp/misbehaviour.hpp)
    // Packets with these flags take the slow path.
    kSlowPath = kSyn | kFin | kCe | kCwr | kDatagram | kBare | kAgain | kPush,
};

// Returns whether a packet's ECN field is ECT(1) or CE, the L4S identifier (RFC 9331, section 5).
constexpr bool is_l4s(std::uint16_t flags) {
    return (flags & kEct1) != 0 || (flags & (kEct | kCe)) == (kEct | kCe);
}

struct Packet {
    Time at = 0;  // when it arrives at the end of its channel
    std::uint32_t flow = 0;
    std::uint32_t number = 0;   // sequence number of data, acknowledgment number of an ACK
    std::uint16_t payload = 0;  // bytes; of an ACK: marked_so_far of its receiver, or 0
    std::uint16_t flags = 0;
    std::uint32_t hop =
        0;  // how many hops of its route it has taken; 32 bits wide to avoid padding
};
static_assert(sizeof(Packet) == 24);

}  // namespace ww::sim
