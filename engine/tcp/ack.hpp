// SPDX-License-Identifier: BSD-3-Clause
//
// An ACK: what its header says, and what it brought.
#pragma once

#include "../link/packet.hpp"

namespace ww::sim {

struct AckHeader {
    std::uint32_t number = 0;          // acknowledgment number
    const SackBlocks* sack = nullptr;  // nullptr: none
    bool again = false;                // its timestamp echoes a retransmission
    bool echoes_mark = false;          // ECE (RFC 3168)
    std::uint16_t marked_so_far = 0;   // the receiver's count, which wraps; 0: the ACK has none
};

enum class Progress : std::uint8_t { none, old, dupack, advanced };

// Sender::on_ack() fills this in from top to bottom.
struct Ack {
    explicit Ack(Time time, const AckHeader& head, Progress kind = Progress::none)
        : now(time), header(&head), progress(kind) {}

    Time now;
    const AckHeader* header;
    Progress progress;

    // What it brought.
    std::int64_t acked = 0;         // segments that it acknowledges cumulatively
    Time rtt = 0;                   // of the newest of them; 0: may not be measured
    bool sacked = false;            // SACK reports segments that no earlier ACK had reported
    bool dsack = false;             // its first block reports a duplicate (RFC 2883)
    bool original_arrived = false;  // data sent before the timeout, and not again, has arrived
    bool proves_spurious = false;   // the last reduction of the window answered no loss
    bool may_tell_loss = false;     // RACK-TLP, F-RTO or undo has to examine it

    // How the sender responded.
    bool ended_recovery = false;  // from losses or from a timeout
    bool began_recovery = false;  // for further losses, perhaps after it ended one
    bool undone = false;          // it undid a spurious reduction
    bool reduced = false;         // it reduced its window for a mark

    // The sender before it; on the fast path only the phase.
    std::uint8_t phase_before = WW_OPEN;
    std::uint32_t cwnd_before;
    std::uint32_t lost_before;   // segments found lost since the start; it wraps
    std::int32_t sacked_before;  // segments
    std::int32_t flight_before;  // segments in flight and not SACKed
    std::int64_t una_before;
};

}  // namespace ww::sim
