// SPDX-License-Identifier: BSD-3-Clause
//
// A channel is one direction of a link while it runs: queue, transmitter and wire.
//
//   start     = max(arrival, busy_until)        busy_until = start + 8 size / rate
//   reaches the far end at busy_until + delay
//
// Departures are computed when a packet arrives, never scheduled. A packet waits from its arrival to
// its start; those that wait at a moment are the queue, which has room for a wait of `room_` (droptail.hpp).
//
// A channel may *follow* another: all packets of channel 1 go on to channel 2, and no others, and channel 2 loses none. While all
// have one size, which takes channel 2 no longer (d2 <= d1), none waits there:
//
//   arrival at 2  a(n) = busy_until1(n) + delay1, so that a(n+1) >= a(n) + d1 >= a(n) + d2 = busy_until2(n)
//   its far end   busy_until1(n) + delay1 + d2 + delay2
//
// Then channel 1 takes its packets through channel 2 as well, by an addition, and so with any number that follow. What these
// would have counted they are told when one of the packets is to be looked at (leave_step(), join()).
//
// Few links have RED, recorded rates, jitter, reordering or traces: these are in `Impairments`, and the
// packets of such a channel take the longer way of transmit_impaired(). To pass() the channel seems to have
// no room, so that the others pay nothing for the question.
#pragma once

#include <algorithm>
#include <memory>

#include "droptail.hpp"
#include "impairments.hpp"
#include "loss.hpp"
#include "network.hpp"
#include "packet.hpp"
#include "random.hpp"
#include "ring.hpp"
#include "timesum.hpp"

namespace ww::sim {

// A packet that entered a channel has met one of these.
enum class Fate : std::uint8_t {
    arrives,
    dropped,        // by the full queue
    dropped_early,  // by RED
    lost,           // on the wire
    undecided,      // the channel has impairments, and transmit_impaired() decides
};

// A fate has its time: a packet arrives at the far end (kNever: after any run), the far end misses what
// was lost, or the queue dropped the packet as it came. What arrives or is missed after the run's end
// is on its way then: it counts as neither.
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

class Channel {
  public:
    static constexpr Time kFar = INT64_MAX / 4;  // a transmission and a delay more still fit

    // number: 2 i for link i's forward direction, 2 i + 1 for its backward one.
    Channel(const Network& network, std::uint32_t number, std::uint64_t seed, Stop* stop = nullptr);

    // Lets a packet of ip_bytes that enters at `now` pass, through those that follow too, if there is nothing to
    // decide and it is through by `end`. `now` is that time then.
    bool pass(Time& now, std::uint32_t ip_bytes, Time end) {
        const Time start = std::max(now, busy_until_), wait = start - now;
        if (ip_bytes != size_.ip_bytes || wait > open_for_) [[unlikely]]
            return false;
        const Time sent = start + size_.duration;
        if (sent + transit_ > end) [[unlikely]]
            return false;
        account_wait(wait);
        busy_until_ = sent;
        now = sent + transit_;
        loss_.on_passed();
        if (loss_.is_next()) [[unlikely]]
            open_for_ = kShut;
        return true;
    }
    // What does not pass is to be looked at, here and in those that follow, between these two.
    void leave_step() {
        if (follower != nullptr) tell_followers();
    }
    void join() {
        transit_ = delay_;
        open_for_ = loss_.is_next() || busy_until_ > kFar ? kShut : room_;
        if (follower != nullptr) join_followers();
    }

    // A packet of ip_bytes enters at `now`, which is never before the last one.
    Passage transmit(Time now, std::uint32_t ip_bytes) {
        return impairments != nullptr ? Passage{Fate::undecided, kNever}
                                      : counted(enter(now, ip_bytes));
    }

    // Does the same for a channel with impairments, and decides; the packet may be marked.
    inline Passage transmit_impaired(Time now, std::uint32_t ip_bytes, Packet& packet,
                                     const SackBlocks* sack);

    // Puts a packet that reaches the far end at packet.at behind those before it in time. True if it
    // is the first now.
    bool hold(Packet packet, const SackBlocks* sack) {
        const bool first = in_transit.empty();
        if (far == Far::reordering && !first && in_transit.back().at > packet.at) [[unlikely]]
            return hold_in_order(packet, sack);
        in_transit.push(packet);
        if (sack != nullptr) sack_blocks.push(*sack);
        return first;
    }

    // Arrivals at the far end are acted on at once (topology.hpp), or held in the order in which they
    // were sent, or sorted by their times.
    enum class Far : std::uint8_t { inlined, in_order, reordering };

    Far far = Far::in_order;
    std::uint32_t slot = 0;  // its place in the event loop, unless it is inlined
    Channel* follower = nullptr;
    std::unique_ptr<Impairments> impairments;
    Ring<Packet> in_transit;
    Ring<SackBlocks> sack_blocks;  // those of the packets that carry some, in their order

    // Returns how long a packet that came now would wait before it is sent.
    Time backlog(Time now) const { return std::max<Time>(0, busy_until_ - now); }

    // Forgets what is on its way: the run is over.
    void empty() {
        in_transit = Ring<Packet>();
        sack_blocks = Ring<SackBlocks>();
    }

    // Can it follow the other, whose packets all come to it, and no others? It is no slower then with any size.
    bool can_follow(const Channel& other) const {
        return impairments == nullptr && other.impairments == nullptr && loss_.loses_none() &&
               rate_bps_ >= other.rate_bps_ && overhead_ <= other.overhead_;
    }

    // Sums up what the channel did by the end of the run, and hands over its traces.
    DirectionResult result();

  private:
    // What a packet of one size takes: to send it, and to find the queue full.
    struct Size {
        std::uint32_t ip_bytes = 0;
        Time duration = 0;
        Time room = 0;
    };

    static constexpr Time kNoRoom = INT64_MIN;

    Passage enter(Time now, std::uint32_t ip_bytes) {
        if (ip_bytes != size_.ip_bytes) change_size(now, ip_bytes);
        if (busy_until_ - now > room()) [[unlikely]] {
            const Passage seen = look(now);
            if (seen.at != now || seen.fate != Fate::arrives) return seen;
        }
        const Time there = send(now);
        return arrival_or_loss(there);
    }
    // A packet enters a queue that is longer than any run: it only takes room there.
    [[gnu::noinline]] Passage enter_for_ever(Time now, std::uint32_t ip_bytes);
    // A packet may wait so long; 0 while look() has to decide.
    Time room() const { return queue_.is_mixed() ? 0 : size_.room; }
    // Of a channel with impairments it has none, but that a trace alone need not see what does not wait.
    void show_room() {
        room_ = impairments == nullptr ? room() : impairments->only_traces_queue() ? 0 : kNoRoom;
    }

    // The channel is busy for longer than room(). Says what becomes of a packet that comes now: it arrives at `now` if
    // it may wait.
    [[gnu::noinline]] Passage look(Time now);
    [[gnu::noinline]] void change_size(Time now, std::uint32_t ip_bytes);
    Size size_of(std::uint32_t ip_bytes) const;
    inline std::size_t waiting(Time now);
    inline Passage enter_by_opportunity(Time now, std::uint32_t ip_bytes, Time& start);

    // Returns when what waits from now on is at the far end.
    Time send(Time now) {
        Time start = now;
        if (busy_until_ > now) {
            start = busy_until_;
            account_wait(std::min(start, end_) - now);
        }
        busy_until_ = start + size_.duration;
        return busy_until_ + delay_;
    }
    // A packet leaves the transmitter at busy_until_, and nothing but a loss keeps it from being there then.
    Passage arrival_or_loss(Time there) {
        return {loss_.loses(busy_until_) ? Fate::lost : Fate::arrives, there};
    }
    // Counts what becomes of a packet within the run.
    Passage counted(Passage passage) {
        if (passage.at > end_)
            in_flight_++;
        else if (passage.fate == Fate::lost)
            lost_++;
        return passage;
    }

    Passage dropped(Time now) {
        queue_drops_++;
        return {Fate::dropped, now};
    }

    // A packet waits so long within the run.
    void account_wait(Time wait) {
        waited_.add(wait);
        if (wait > longest_wait_) [[unlikely]]
            longest_wait_ = wait;
    }

    static constexpr Time kShut = -1;

    void tell_followers();
    void join_followers();
    bool hold_in_order(Packet packet, const SackBlocks* sack);
    std::uint64_t packets() const { return loss_.crossed() + for_ever_; }
    std::uint64_t bytes() const;
    double utilisation() const;

    // Every packet touches these.
    Time busy_until_ = 0;
    Time open_for_ = kShut;  // pass() takes a packet that waits no longer
    Size size_;              // of the last packet
    Time transit_ = 0;       // from the transmitter to the far end of the last one that follows
    TimeSum waited_;
    Time longest_wait_ = 0;
    LossProcess loss_;

    Time room_ = 0;  // room(), or none
    Time delay_;
    std::uint64_t in_step_ = 0;  // of the packets that crossed, those that followers know of
    std::uint32_t overhead_;
    Size other_size_;  // nearly all packets of a direction have one of two sizes
    std::int64_t rate_bps_;
    Time end_;  // of the run
    std::uint64_t queue_drops_ = 0, lost_ = 0, in_flight_ = 0;
    // Of the first counted_ packets that crossed: their bytes, and how long they take to be sent.
    std::uint64_t bytes_ = 0, counted_ = 0;
    Time sending_ = 0;
    std::uint64_t for_ever_ = 0, bytes_for_ever_ = 0;  // that entered for ever
    DropTail queue_;
};

}  // namespace ww::sim

#include "channel_impairments.hpp"
