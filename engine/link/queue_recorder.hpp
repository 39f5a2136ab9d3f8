// SPDX-License-Identifier: BSD-3-Clause
//
// Records the packets that waited in a queue.
#pragma once

#include <limits>
#include <vector>

#include "../base/seconds.hpp"
#include "../network.hpp"

namespace ww::sim {

class QueueRecorder {
  public:
    void add(Time arrival, Time start, std::uint32_t bytes) {
        waited_.push_back({arrival, start, bytes});
    }
    std::size_t size() const { return waited_.size(); }

    // Packets that still wait at the end of the run have no start.
    void move_to(QueueTrace& to, Time end) {
        std::size_t row = to.bytes.size();
        const std::size_t rows = row + waited_.size();
#define WW_ROW(type, name, what) to.name.resize(rows);
        WW_QUEUE_COLUMNS(WW_ROW)
#undef WW_ROW
        for (const Waited& from : waited_) {
            to.arrival_s[row] = seconds(from.arrival);
            to.start_s[row] =
                from.start <= end ? seconds(from.start) : std::numeric_limits<double>::quiet_NaN();
            to.bytes[row++] = from.bytes;
        }
        waited_.clear();
    }

  private:
    struct Waited {
        Time arrival, start;
        std::uint32_t bytes;
    };
    std::vector<Waited> waited_;
};

}  // namespace ww::sim
