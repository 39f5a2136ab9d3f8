// SPDX-License-Identifier: BSD-3-Clause
//
// Remembers when each segment in flight was sent, in a ring by segment number. A segment sent more
// than once gives no RTT sample, because its ACK does not tell which copy it answers (Karn's rule,
// RFC 6298, 3). Its last sending time is kept with a mark.
#pragma once

#include <algorithm>
#include <memory>

#include "../network.hpp"

namespace ww::sim {

class SendTimes {
  public:
    std::size_t capacity() const { return mask_ + 1; }
    // Returns true if `segment` fits into the ring together with `una`, the first in flight.
    bool has_room_for(std::int64_t segment, std::int64_t una) const {
        return segment - una <= static_cast<std::int64_t>(mask_);
    }

    // Doubles the capacity. The ring holds [una, end).
    void grow(std::int64_t una, std::int64_t end) {
        const std::size_t mask = 2 * mask_ + 1;
        auto larger = std::make_unique<Time[]>(mask + 1);
        for (std::int64_t s = una; s < end; s++)
            larger[static_cast<std::size_t>(s) & mask] = stored(s);
        times_ = std::move(larger);
        mask_ = mask;
    }

    void on_sent(std::int64_t segment, Time now) { place(segment) = now; }
    // Records that [first, end), at least one segment, was sent.
    void on_sent(std::int64_t first, std::int64_t end, Time now) {
        Time* const times = times_.get();
        const std::size_t mask = mask_;
        do times[static_cast<std::size_t>(first) & mask] = now;
        while (++first < end);
    }
    void on_sent_again(std::int64_t segment, Time now) {
        place(segment) = ~now;
        resent_below_ = std::max(resent_below_, segment + 1);
    }

    // True if no segment from `una` on was sent more than once.
    bool may_measure_from(std::int64_t una) const { return una >= resent_below_; }
    // True if no segment of [una, end) was sent more than once.
    bool may_measure(std::int64_t una, std::int64_t end) const {
        if (may_measure_from(una)) return true;
        for (std::int64_t s = una; s < end; s++)
            if (was_sent_again(s)) return false;
        return true;
    }

    bool was_sent_again(std::int64_t segment) const { return stored(segment) < 0; }
    // Returns when a segment that was sent once was sent.
    Time at(std::int64_t segment) const { return stored(segment); }
    // Returns when any segment was last sent.
    Time last(std::int64_t segment) const {
        const Time time = stored(segment);
        return time < 0 ? ~time : time;
    }
    void prefetch(std::int64_t segment) const {
        __builtin_prefetch(&times_[static_cast<std::size_t>(segment) & mask_]);
    }

  private:
    Time stored(std::int64_t segment) const {
        return times_[static_cast<std::size_t>(segment) & mask_];
    }
    Time& place(std::int64_t segment) { return times_[static_cast<std::size_t>(segment) & mask_]; }

    static constexpr std::size_t kFirst = 4;  // segments; with many flows, few have more in flight

    std::unique_ptr<Time[]> times_ =
        std::make_unique<Time[]>(kFirst);  // complemented for retransmissions
    std::size_t mask_ = kFirst - 1;
    std::int64_t resent_below_ = 0;  // no segment from here on was sent more than once
};

}  // namespace ww::sim
