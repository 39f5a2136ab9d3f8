// SPDX-License-Identifier: BSD-3-Clause
//
// A pipe is one direction of a link while it runs: queue, transmitter and wire.
//
//   start     = max(arrival, busy_until)        busy_until = start + 8 size / rate
//   reaches the far end at busy_until + delay
//
// Departures are computed when a packet arrives, never scheduled. A packet waits from its arrival to
// its start; those that wait at a moment are the queue. An idle transmitter keeps nothing.
//
// Few links have RED, recorded rates, jitter, reordering or traces: these are in `Extras`, and the
// packets of such a pipe take the longer way of transmit_with_extras(). To transmit() the pipe seems
// busy for ever, so that the others pay nothing for the question.
#pragma once

#include <algorithm>
#include <memory>

#include "extras.hpp"
#include "loss.hpp"
#include "network.hpp"
#include "packet.hpp"
#include "random.hpp"
#include "ring.hpp"

namespace ww::sim {

// A packet that entered a pipe has met one of these.
enum class Fate : std::uint8_t {
    arrives,
    dropped,        // by the full queue
    dropped_early,  // by RED
    lost,           // on the wire
    undecided,      // the pipe has extras, and transmit_with_extras() decides
};

// A fate has its time: a packet arrives at the far end (kNever: after any run), the far end misses what
// was lost, or the queue dropped the packet as it came.
struct Passage {
    Fate fate;
    Time at;
    bool operator==(const Passage&) const = default;
};

// The list of drops names a fate so.
constexpr DropKind drop_kind(Fate fate) {
    switch (fate) {
    case Fate::dropped:
        return DropKind::queue;
    case Fate::dropped_early:
        return DropKind::early;
    case Fate::lost:
        return DropKind::wire;
    case Fate::arrives:
    case Fate::undecided:
        break;
    }
    __builtin_unreachable();  // it was not dropped
}

class Pipe {
  public:
    static constexpr Time kFar = INT64_MAX / 4;  // a transmission and a delay more still fit

    // number: 2 i for link i's forward direction, 2 i + 1 for its backward one.
    Pipe(const Network& network, std::uint32_t number, std::uint64_t seed, Stop* stop = nullptr);

    // A packet of ip_bytes enters at `now`, which is never before the last one.
    Passage transmit(Time now, std::uint32_t ip_bytes) {
        const std::uint32_t bytes = ip_bytes + overhead_;
        Time start = now;
        if (busy_until_ > now) {
            start = busy_until_;
            if (start > kFar) [[unlikely]]
                return {extras != nullptr ? Fate::undecided : Fate::arrives, kNever};
            if (limit_ == Limit::packets) {
                if (full_of_packets(now)) [[unlikely]]
                    return dropped(now);
                waiting_.push({start, bytes});
            } else if (limit_ == Limit::bytes) {
                if (full_of_bytes(now, bytes)) [[unlikely]]
                    return dropped(now);
                waiting_.push({start, bytes});
                waiting_bytes_ += bytes;
            }
            account_wait(start - now);
        }
        busy_until_ = start + duration(bytes);
        if (loss_.is_due() && loss_.lose(busy_until_, bytes)) [[unlikely]] {
            lost_++;
            return {Fate::lost, busy_until_ + delay_};
        }
        return {Fate::arrives, busy_until_ + delay_};
    }

    // Does the same for a pipe with extras, and decides; the packet may be marked.
    Passage transmit_with_extras(Time now, std::uint32_t ip_bytes, Packet& packet,
                                 const SackBlocks* sack);

    // Puts a packet that reaches the far end at packet.at behind those before it in time. True if it
    // is the first now.
    bool hold(const Packet& packet, const SackBlocks* sack) {
        if (far == Far::reordering) [[unlikely]]
            return hold_in_order(packet, sack);
        const bool first = in_transit.empty();
        in_transit.push(packet);
        if (sack != nullptr) sack_blocks.push(*sack);
        return first;
    }

    // Arrivals at the far end are acted on at once (topology.hpp), or held in the order in which they
    // were sent, or sorted by their times.
    enum class Far : std::uint8_t { inlined, in_order, reordering };

    Far far = Far::in_order;
    std::uint32_t slot = 0;  // its place in the event loop, unless it is inlined
    std::unique_ptr<Extras> extras;
    Ring<Packet> in_transit;
    Ring<SackBlocks> sack_blocks;  // those of the packets that carry some, in their order

    // Returns how long a packet that came now would wait before it is sent.
    Time backlog(Time now) const { return std::max<Time>(0, busy_until() - now); }

    // Sums up what the pipe did by `end`, and hands over its traces.
    DirectionResult result(Time end);

  private:
    struct Waiting {
        Time start;
        std::uint32_t bytes;
    };

    enum class Limit : std::uint8_t { none, packets, bytes };

    // No more waits than was pushed and not yet removed, so a closer look is due only at the limit.
    bool full_of_packets(Time now) {
        if (static_cast<std::int64_t>(waiting_.size()) < limit_packets_) [[likely]]
            return false;
        remove_started(now);
        return static_cast<std::int64_t>(waiting_.size()) >= limit_packets_;
    }

    bool full_of_bytes(Time now, std::uint32_t bytes) {
        if (full_of_packets(now)) return true;
        if (waiting_bytes_ + bytes <= limit_bytes_) return false;
        remove_started(now);
        return waiting_bytes_ + bytes > limit_bytes_;
    }

    [[gnu::noinline]] void remove_started(Time now) {
        while (!waiting_.empty() && waiting_.front().start <= now) {
            waiting_bytes_ -= limit_ == Limit::bytes ? waiting_.front().bytes : 0;
            waiting_.pop();
        }
    }

    Passage dropped(Time now) {
        queue_drops_++;
        return {Fate::dropped, now};
    }

    void account_wait(Time wait) {
        waited_ += static_cast<std::uint64_t>(wait) >> kWaitShift;
        if (wait > longest_wait_) [[unlikely]]
            longest_wait_ = wait;
    }

    // The transmission time is remembered: nearly all packets of a direction have one of two sizes.
    Time duration(std::uint32_t bytes) {
        if (bytes == size_[0]) [[likely]]
            return duration_[0];
        return other_duration(bytes);
    }

    [[gnu::noinline]] Time other_duration(std::uint32_t bytes) {
        // All packets that crossed since the last change had the size before it.
        bytes_ += (loss_.crossed() - counted_) * size_[0];
        counted_ = loss_.crossed();
        if (bytes != size_[1]) {
            // 131070 * 8 * 10^12 < 2^63
            size_[1] = bytes;
            duration_[1] = (static_cast<Time>(bytes) * 8 * kSecond + rate_bps_ / 2) / rate_bps_;
        }
        std::swap(size_[0], size_[1]);
        std::swap(duration_[0], duration_[1]);
        return duration_[0];
    }

    static constexpr int kWaitShift = 10;

    const Time& busy_until() const { return extras ? extras->busy_until : busy_until_; }

    bool hold_in_order(const Packet& packet, const SackBlocks* sack);
    std::uint64_t bytes() const;
    double utilisation(Time end) const;

    Time busy_until_ = 0;
    Time delay_;
    std::uint32_t overhead_;
    Limit limit_ = Limit::none;
    std::uint32_t size_[2] = {0, 0};
    Time duration_[2] = {0, 0};
    std::int64_t rate_bps_;
    std::int64_t limit_packets_, limit_bytes_;
    std::int64_t waiting_bytes_ = 0;
    std::uint64_t queue_drops_ = 0, lost_ = 0;
    std::uint64_t waited_ = 0;               // in 2^kWaitShift ps: 10^10 packet seconds fit
    std::uint64_t bytes_ = 0, counted_ = 0;  // accepted; of the first counted_ packets
    Time longest_wait_ = 0;
    Ring<Waiting> waiting_;
    LossProcess loss_;
};

}  // namespace ww::sim
