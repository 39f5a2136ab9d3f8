// SPDX-License-Identifier: BSD-3-Clause
//
// These parts of a pipe stand apart because few pipes have them: RED, recorded rates, jitter and
// reordering, a trace of the queue, a capture.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "opportunities.hpp"
#include "packet.hpp"
#include "red.hpp"
#include "seconds.hpp"

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

    struct Waited {  // a row of a QueueTrace
        Time arrival, start;
        std::uint32_t bytes;
    };
    bool trace_queue = false;
    std::vector<Waited> waited;

    void move_waited(QueueTrace& to) {
        for (const Waited& row : waited) to.arrival_s.push_back(seconds(row.arrival));
        for (const Waited& row : waited) to.start_s.push_back(seconds(row.start));
        for (const Waited& row : waited) to.bytes.push_back(row.bytes);
        waited.clear();
    }

    bool captures = false;
    bool leaving = false;            // capture at the near end, else at the far one
    std::vector<Captured> captured;  // by time

    void capture(const Packet& packet, const SackBlocks* sack, Time at) {
        Captured& row = captured.emplace_back();
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
        // Only a pipe that reorders has later ones before it.
        for (std::size_t i = captured.size() - 1; i > 0 && captured[i - 1].at > at; i--)
            std::swap(captured[i - 1], captured[i]);
    }
};

}  // namespace ww::sim
