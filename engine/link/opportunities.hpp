// SPDX-License-Identifier: BSD-3-Clause
//
// A recorded rate is a list of delivery opportunities in Mahimahi's format (Netravali et al.,
// USENIX ATC 2015, section 4). Each line is a time in ms at which 1504 bytes can leave. Equal times
// are several opportunities. After the last one the list begins again, shifted by that time. The
// rules are those of Mahimahi's link queue: the rest of an opportunity serves the next packet if it
// was already waiting; an opportunity without a waiting packet is lost; a packet may need several,
// and leaves with the last.
#pragma once

#include <algorithm>

#include "../network.hpp"

namespace ww::sim {

class Opportunities {
  public:
    static constexpr std::int64_t kBytes = 1504;

    Opportunities(const std::vector<std::uint64_t>& times_ms, Time end)
        : times_ms_(times_ms), end_(end) {}

    struct Span {
        Time start, end;  // the first and the last opportunity of a packet
    };

    // Sends a packet that waits from `now` on, after all earlier packets.
    Span send(Time now, std::int64_t bytes) {
        if (left_ == 0 || at_ < now) take_next(now);
        const Time start = at_;
        while (bytes > left_) {
            bytes -= left_;
            use(left_);
            take_next(at_);
        }
        left_ -= bytes;
        use(bytes);
        return {start, at_};
    }

    // The bytes that the opportunities offered until the end, and the bytes that packets used.
    std::int64_t offered() const { return kBytes * count(); }
    std::int64_t used() const { return used_; }

  private:
    static constexpr Time kMs = kSecond / 1000;

    void use(std::int64_t bytes) {
        if (at_ <= end_) used_ += bytes;
    }

    // Counts the opportunities in [0, end].
    std::int64_t count() const {
        const auto period = static_cast<std::int64_t>(times_ms_.back());
        const std::int64_t ms = end_ / kMs, cycles = ms / period;
        const auto rest = std::upper_bound(times_ms_.begin(), times_ms_.end(),
                                           static_cast<std::uint64_t>(ms % period));
        return cycles * static_cast<std::int64_t>(times_ms_.size()) + (rest - times_ms_.begin());
    }

    Time time(std::size_t i) const { return base_ + static_cast<Time>(times_ms_[i]) * kMs; }

    // Takes the next opportunity at or after `now`.
    void take_next(Time now) {
        const Time period = static_cast<Time>(times_ms_.back()) * kMs;
        if (now - base_ > 2 * period) {  // a long silence
            base_ += ((now - base_) / period - 1) * period;
            next_ = 0;
        }
        for (;; next_++) {
            if (next_ == times_ms_.size()) {
                next_ = 0;
                base_ += period;
            }
            if (time(next_) >= now) break;
        }
        at_ = time(next_++);
        left_ = kBytes;
    }

    std::vector<std::uint64_t> times_ms_;  // ascending, the last above 0
    std::size_t next_ = 0;                 // the first one neither used nor lost
    Time base_ = 0;                        // when this pass through the list began
    Time at_ = -1;                         // the last one used
    std::int64_t left_ = 0;                // bytes of it that are left
    Time end_;                             // of the run
    std::int64_t used_ = 0;
};

}  // namespace ww::sim
