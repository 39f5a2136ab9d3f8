// SPDX-License-Identifier: BSD-3-Clause
//
// A drop-tail queue of limited length. While all waiting packets have one size, no list is needed: each
// transmission takes the same duration, and the last ends at busy_until. The packets whose transmission
// begins after `now` are waiting:
//
//   waiting = ceil((busy_until - now) / duration) - 1
//   full    = waiting >= limit, which means busy_until - now > limit * duration
//
// A limit in bytes then becomes one in packets. After a change of size the queue is a list until all packets from
// before the change have left.
#pragma once

#include <algorithm>

#include "../../base/ring.hpp"
#include "../../network.hpp"

namespace ww::sim {

class DropTail {
  public:
    DropTail(std::int64_t limit_packets, std::int64_t limit_bytes)
        : limit_packets_(limit_packets), limit_bytes_(limit_bytes) {}

    bool is_limited() const { return limit_packets_ != kUnlimited || limit_bytes_ != kUnlimited; }

    // Returns true if the queue is full with `waiting` packets of one size.
    bool is_full(std::size_t waiting, std::uint32_t bytes) const {
        return static_cast<std::int64_t>(waiting) >= limit(bytes);
    }
    // Returns the longest wait, up to `most`, for which an arriving packet does not find the queue
    // full.
    Time room(std::uint32_t bytes, Time duration, Time most) const {
        return limit(bytes) < most / duration ? limit(bytes) * duration : most;
    }

    bool is_mixed() const { return is_mixed_; }
    // Ends the list once all packets from before the last change of size have left.
    void end_mix(Time now) {
        if (now >= mixed_until_) is_mixed_ = false;
    }

    // Starts a list: a packet of another size arrives at `now`, and the packets before it leave by
    // busy_until.
    void mix(Time now, Time busy_until, std::uint32_t bytes, Time duration) {
        if (!is_mixed_) list(now, busy_until, bytes, duration);
        is_mixed_ = true;
        mixed_until_ = std::max(mixed_until_, busy_until);
    }
    // Keeps a list for good.
    void keep_list() {
        is_mixed_ = true;
        mixed_until_ = kNever;
    }

    // How many packets wait, by the list; whether one more may wait; adds one that waits until
    // `start`.
    std::size_t listed(Time now) {
        while (!waiting_.empty() && waiting_.front().start <= now) {
            waiting_bytes_ -= waiting_.front().bytes;
            waiting_.pop();
        }
        return waiting_.size();
    }
    bool admits(Time now, std::uint32_t bytes) {
        return has_room(bytes) || (listed(now), has_room(bytes));
    }
    void add(Time start, std::uint32_t bytes) {
        waiting_.push({start, bytes});
        waiting_bytes_ += bytes;
    }

  private:
    struct Waiting {
        Time start;
        std::uint32_t bytes;
    };

    std::int64_t limit(std::uint32_t bytes) const {
        return std::min(limit_packets_, limit_bytes_ / bytes);
    }

    // Packets that have left still count until somebody asks, which is soon enough.
    bool has_room(std::uint32_t bytes) const {
        return static_cast<std::int64_t>(waiting_.size()) < limit_packets_ &&
               waiting_bytes_ + bytes <= limit_bytes_;
    }

    void list(Time now, Time busy_until, std::uint32_t bytes, Time duration) {
        while (!waiting_.empty()) waiting_.pop();
        waiting_bytes_ = 0;
        const Time count = (busy_until - now - 1) / duration;
        for (Time i = count; i > 0; i--) add(busy_until - i * duration, bytes);
    }

    std::int64_t limit_packets_, limit_bytes_;
    bool is_mixed_ = false;
    Time mixed_until_ = 0;
    Ring<Waiting> waiting_;
    std::int64_t waiting_bytes_ = 0;
};

}  // namespace ww::sim
