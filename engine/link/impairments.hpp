// SPDX-License-Identifier: BSD-3-Clause
//
// What few channels have: RED, recorded rates, jitter, reordering, a trace of the queue, a capture.
#pragma once

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "../base/seconds.hpp"
#include "opportunities.hpp"
#include "packet.hpp"
#include "queue/red.hpp"

namespace ww::sim {

struct Impairments {
    Impairments(std::uint64_t seed, std::uint32_t channel)
        : jitter_draws(seed, Stream::jitter, channel),
          reorder_draws(seed, Stream::reordering, channel) {}

    std::optional<RedQueue> red;
    std::optional<Opportunities> opportunities;
    Time jitter = 0;
    double reorder_rate = 0;
    Time reorder_delay = 0;
    Random jitter_draws, reorder_draws;
    Time last_arrival = 0;  // at the far end, of packets that reordering did not hold back
    std::uint64_t early_drops = 0, marked = 0;

    struct Waited {  // a row of a QueueTrace
        Time arrival, start;
        std::uint32_t bytes;
    };
    bool trace_queue = false;
    std::vector<Waited> waited;

    bool only_traces_queue() const {
        return trace_queue && !red && !opportunities && jitter == 0 && reorder_rate <= 0 &&
               !captures;
    }

    // Packets that still wait at the end of the run have no start.
    void move_waited(QueueTrace& to, Time end) {
        std::size_t row = to.bytes.size();
        const std::size_t rows = row + waited.size();
#define WW_ROW(type, name, what) to.name.resize(rows);
        WW_QUEUE_COLUMNS(WW_ROW)
#undef WW_ROW
        for (const Waited& from : waited) {
            to.arrival_s[row] = seconds(from.arrival);
            to.start_s[row] =
                from.start <= end ? seconds(from.start) : std::numeric_limits<double>::quiet_NaN();
            to.bytes[row++] = from.bytes;
        }
        waited.clear();
    }

    bool captures = false;
    bool leaving = false;            // capture at the near end, else at the far end
    std::vector<Captured> captured;  // in order of time

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
        // Later packets come before this one only where the channel reorders.
        for (Captured* place = &row; place != captured.data() && place[-1].at > at; place--)
            std::swap(place[-1], *place);
    }
};

}  // namespace ww::sim
