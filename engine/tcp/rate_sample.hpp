// SPDX-License-Identifier: BSD-3-Clause
//
// Delivery rate samples in segments, with the equations of core/delivery.h. Only congestion controls that need them
// (ww_needs_rate) have them.
#pragma once

#include <vector>

#include "../../core/delivery.h"
#include "../network.hpp"

namespace ww::sim {

class RateSampler {
  public:
    // Makes room in the ring for all segments in flight.
    void reserve(std::size_t segments, std::int64_t una, std::int64_t high) {
        std::vector<ww_delivery_record> larger(segments);
        for (std::int64_t s = una; s < high; s++)
            larger[static_cast<std::size_t>(s) & (segments - 1)] = record_of(s);
        records_.swap(larger);
        mask_ = segments - 1;
    }

    // pipe: segments in flight, this one included; found_lost: segments found lost since the start;
    // `idle`: nothing was in flight.
    void on_sent(Time now, std::int64_t segment, std::uint32_t pipe, std::uint32_t found_lost,
                 bool idle, bool again) {
        flow_.lost = found_lost;
        ww_delivery_on_sent(&flow_, &record_of(segment), ticks(now), pipe, idle, again);
    }

    void on_delivered(Time now, std::int64_t segment) {
        ww_delivery_record& record = record_of(segment);
        if (std::exchange(record.is_delivered, true)) return;
        ww_delivery_on_delivered(&flow_, &record, static_cast<std::uint32_t>(segment), ticks(now),
                                 1);
    }
    // Takes `count` segments up to `last`, delivered in order and sent once. Then the last one is
    // enough.
    void on_delivered_in_order(Time now, std::int64_t last, std::int64_t count) {
        ww_delivery_on_delivered(&flow_, &record_of(last), static_cast<std::uint32_t>(last),
                                 ticks(now), static_cast<std::uint32_t>(count));
    }

    bool is_limited() const { return ww_delivery_is_limited(&flow_); }
    std::uint32_t delivered() const { return flow_.delivered; }

    // Fills in what was known when the segment was sent; found_lost: as above, this one included.
    void fill(std::int64_t segment, std::uint32_t found_lost, ww_lost& lost) {
        flow_.lost = found_lost;
        ww_delivery_fill_lost(&flow_, &record_of(segment), &lost);
    }

    // Notes that the application had nothing to send with `pipe` segments in flight.
    void on_application_limited(std::uint32_t pipe) { ww_delivery_on_limited(&flow_, pipe); }

    // Fills in the sample of the ACK at `now` and starts the next one. found_lost: segments found
    // lost since the start.
    void fill(Time now, Time min_rtt, std::uint32_t found_lost, ww_sample& sample) {
        flow_.lost = found_lost;
        ww_delivery_fill(&flow_, ticks(now), ticks(min_rtt), kMicrosecond, &sample);
    }

  private:
    static std::uint64_t ticks(Time time) { return static_cast<std::uint64_t>(time); }

    ww_delivery_record& record_of(std::int64_t segment) {
        return records_[static_cast<std::size_t>(segment) & mask_];
    }

    std::vector<ww_delivery_record> records_;
    std::size_t mask_ = 0;
    ww_delivery flow_{};
};

}  // namespace ww::sim
