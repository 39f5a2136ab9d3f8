// SPDX-License-Identifier: BSD-3-Clause
//
// A pipe is one direction of a link while it runs: queue, transmitter and wire.
//
//   start     = max(arrival, busy_until)        busy_until = start + 8 size / rate
//   reaches the far end at busy_until + delay
//
// Departures are computed when a packet arrives, never scheduled. A packet waits from its arrival to
// its start; those that wait at a moment are the queue, which has room for a wait of `room_` (droptail.hpp).
//
// Few links have RED, recorded rates, jitter, reordering or traces: these are in `Extras`, and the
// packets of such a pipe take the longer way of transmit_with_extras(). To transmit() the pipe seems
// busy for ever, so that the others pay nothing for the question.
#pragma once

#include <algorithm>
#include <memory>

#include "droptail.hpp"
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

    // A packet of ip_bytes would enter at `now`: is there nothing to decide, and nothing to do but to let it pass?
    bool is_free(Time now, std::uint32_t ip_bytes) const {
        return ip_bytes == size_.ip_bytes && busy_until_ - now <= room_ && !loss_.is_next();
    }
    // Then it may. Returns when it arrives.
    Time pass(Time now) {
        loss_.on_passed();
        return send(now);
    }

    // A packet of ip_bytes enters at `now`, which is never before the last one.
    Passage transmit(Time now, std::uint32_t ip_bytes) {
        if (ip_bytes != size_.ip_bytes) change_size(now, ip_bytes);
        if (busy_until_ - now > room_) [[unlikely]] {
            const Passage seen = look(now);
            if (seen.at != now || seen.fate != Fate::arrives) return seen;
        }
        const Time there = send(now);
        return arrival_or_loss(there);
    }

    // Does the same for a pipe with extras, and decides; the packet may be marked.
    Passage transmit_with_extras(Time now, std::uint32_t ip_bytes, Packet& packet,
                                 const SackBlocks* sack);

    // Puts a packet that reaches the far end at packet.at behind those before it in time. True if it
    // is the first now.
    bool hold(Packet packet, const SackBlocks* sack) {
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
    // What a packet of one size takes: to send it, and to find the queue full.
    struct Size {
        std::uint32_t ip_bytes = 0;
        Time duration = 0;
        Time room = 0;
    };

    // The pipe is busy for longer than room_. Says what becomes of a packet that comes now: it arrives at `now` if
    // it may wait.
    [[gnu::noinline]] Passage look(Time now);
    [[gnu::noinline]] void change_size(Time now, std::uint32_t ip_bytes);
    Size size_of(std::uint32_t ip_bytes) const;
    std::size_t waiting(Time now);
    Passage transmit_by_opportunity(Time now, std::uint32_t ip_bytes, Time& start);
    Passage decide(Time now, std::uint32_t ip_bytes, Packet& packet, const SackBlocks* sack);

    // Returns when what waits from now on is at the far end.
    Time send(Time now) {
        Time start = now;
        if (busy_until_ > now) {
            start = busy_until_;
            account_wait(start - now);
        }
        busy_until_ = start + size_.duration;
        return busy_until_ + delay_;
    }
    // A packet leaves the transmitter at busy_until_, and nothing but a loss keeps it from being there then.
    Passage arrival_or_loss(Time there) {
        const bool lost = loss_.loses(busy_until_);
        lost_ += lost;
        return {lost ? Fate::lost : Fate::arrives, there};
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

    static constexpr int kWaitShift = 10;

    const Time& busy_until() const { return extras ? extras->busy_until : busy_until_; }

    bool hold_in_order(Packet packet, const SackBlocks* sack);
    std::uint64_t bytes() const;
    double utilisation(Time end) const;

    // Every packet touches these.
    Time busy_until_ = 0;
    Time room_ = 0;  // a packet may wait so long; 0 while look() has to decide
    Size size_;      // of the last packet
    Time delay_;
    std::uint64_t waited_ = 0;  // in 2^kWaitShift ps: 10^10 packet seconds fit
    Time longest_wait_ = 0;
    LossProcess loss_;

    std::uint32_t overhead_;
    Size other_size_;  // nearly all packets of a direction have one of two sizes
    std::int64_t rate_bps_;
    std::uint64_t queue_drops_ = 0, lost_ = 0;
    std::uint64_t bytes_ = 0, counted_ = 0;  // accepted; of the first counted_ packets
    DropTail queue_;
};

}  // namespace ww::sim
