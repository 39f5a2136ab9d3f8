// SPDX-License-Identifier: BSD-3-Clause
//
// These parts of a pipe stand apart because few pipes have them: RED, recorded rates, jitter and
// reordering, a trace of the queue, a capture.
#pragma once

#include <optional>

#include "opportunities.hpp"
#include "packet.hpp"
#include "red.hpp"

namespace ww::sim {

struct Extras {
    Extras(std::uint64_t seed, std::uint32_t pipe)
        : jitter_draws(seed, Stream::jitter, pipe), reorder_draws(seed, Stream::reordering, pipe) {}

    Time busy_until = 0;  // is used in place of the pipe's own
    std::optional<RedQueue> red;
    std::optional<Opportunities> opportunities;
    Time jitter = 0;
    double reorder_rate = 0;
    Time reorder_delay = 0;
    Random jitter_draws, reorder_draws;
    Time last_arrival = 0;  // at the far end, of the packets that were not held back
    std::uint64_t early_drops = 0, marked = 0;

    bool trace_queue = false;
    QueueTrace trace;

    std::vector<Captured>* captured = nullptr;
    bool leaving = false;  // capture at the near end, else at the far one

    void capture(const Packet& packet, const SackBlocks* sack, Time at) {
        Captured row{};
        row.at = at;
        row.flow = packet.flow;
        row.number = packet.number;
        row.payload = packet.payload;
        row.flags = packet.flags;
        row.leaving = leaving;
        if (sack != nullptr) {
            row.sack_count = static_cast<std::uint8_t>(sack->count);
            for (std::uint32_t i = 0; i < sack->count; i++) {
                row.sack[2 * i] = sack->block[i].start;
                row.sack[2 * i + 1] = sack->block[i].end;
            }
        }
        captured->push_back(row);
    }
};

}  // namespace ww::sim
