// SPDX-License-Identifier: BSD-3-Clause
//
// Captures the packets of a direction where node a of the link sees them: where they leave, or where
// they arrive.
#pragma once

#include <utility>
#include <vector>

#include "packet.hpp"

namespace ww::sim {

struct Capture {
    explicit Capture(bool is_near) : leaving(is_near) {}

    bool leaving;                // packets leave node a in this direction; else they arrive there
    std::vector<Captured> rows;  // in order of time

    void add(const Packet& packet, const SackBlocks* sack, Time time) {
        Captured& row = rows.emplace_back();
        row.at = time;
        row.flow = packet.flow;
        row.number = packet.number;
        row.payload = packet.flags & kAck ? std::uint16_t{0} : packet.payload;
        row.flags = packet.flags;
        row.leaving = leaving;
        if (sack != nullptr) {
            row.sack_count = static_cast<std::uint8_t>(sack->count);
            for (std::uint32_t i = 0; i < sack->count; i++) {
                row.sack[2 * i] = sack->block[i].start;
                row.sack[2 * i + 1] = sack->block[i].end;
            }
        }
        // Later packets come before this one only where the channel reorders.
        for (Captured* place = &row; place != rows.data() && place[-1].at > time; place--)
            std::swap(place[-1], *place);
    }
};

}  // namespace ww::sim
