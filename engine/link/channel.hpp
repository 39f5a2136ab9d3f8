// SPDX-License-Identifier: BSD-3-Clause
//
// A channel is one direction of a link at run time: queue, transmitter and wire.
//
//   start     = max(arrival, busy_until)        busy_until = start + 8 size / rate
//   reaches the far end at busy_until + delay
//
// Departures are computed when a packet arrives, never scheduled. A packet waits from its arrival to
// its start. The waiting packets are the queue, whose limit is kept as the longest wait, `room_`
// (drop_tail.hpp).
//
// A channel may *follow* another if all packets of channel 1, and no others, go on to channel 2, and
// channel 2 loses none. While all packets have one size, and channel 2 is not slower (d2 <= d1), none waits
// in channel 2:
//
//   arrival at 2  a(n) = busy_until1(n) + delay1, so a(n+1) >= a(n) + d1 >= a(n) + d2 = busy_until2(n)
//   its far end   busy_until1(n) + delay1 + d2 + delay2
//
// Then channel 1 takes its packets through channel 2 by one addition, and through any number of
// followers. The followers catch up on their counters before a packet needs a decision (leave_step(),
// join()).
//
// Few links have a queue discipline, recorded rates, jitter, reordering or traces. `Impairments` holds these, and packets
// take the slower transmit_impaired(). Such a channel shows no room to pass_if_open(), so the other channels
// need no extra check.
#pragma once

#include <algorithm>
#include <memory>

#include "../base/random.hpp"
#include "../base/ring.hpp"
#include "../base/time_sum.hpp"
#include "../network.hpp"
#include "impairments.hpp"
#include "loss/process.hpp"
#include "packet.hpp"
#include "queue/drop_tail.hpp"

namespace ww::sim {

// What became of a packet that entered a channel.
enum class Fate : std::uint8_t {
    arrives,
    dropped,        // by the full queue
    dropped_early,  // by the queue discipline
    lost,           // on the wire
    undecided,      // the channel has impairments: transmit_impaired() decides
};

// A fate and its time: when a packet arrives at the far end (kNever: after any run), when the far
// end misses a lost packet, or when the queue drops it. A packet that arrives or is missed after
// the end of the run is in flight, and counts as neither.
struct Passage {
    Fate fate;
    Time at;
    bool operator==(const Passage&) const = default;
};

// Returns the kind under which the list of drops has this fate.
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
    __builtin_unreachable();  // these fates are not drops
}

class Channel {
  public:
    static constexpr Time kFar =
        INT64_MAX / 4;  // adding a transmission and a delay does not overflow

    // number: 2 i is the forward direction of link i, 2 i + 1 the backward one.
    Channel(const Network& network, std::uint32_t number, std::uint64_t seed, Stop* stop = nullptr);

    // Lets a packet of ip_bytes that enters at `now` pass, through followers too, if there is
    // nothing to decide and it is through by `end`. Then sets `now` to its arrival.
    bool pass_if_open(Time& now, std::uint32_t ip_bytes, Time end) {
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
    // A packet that cannot pass is handled between leave_step() and join(), here and in the
    // followers.
    void leave_step() {
        if (follower != nullptr) tell_followers();
    }
    void join() {
        transit_ = delay_;
        open_for_ = loss_.is_next() || busy_until_ > kFar ? kShut : room_;
        if (follower != nullptr) join_followers();
    }

    // Takes a packet of ip_bytes that enters at `now`. Calls come in order of time.
    Passage transmit(Time now, std::uint32_t ip_bytes) {
        return impairments != nullptr ? Passage{Fate::undecided, kNever}
                                      : counted(admit_and_send(now, ip_bytes));
    }

    // Does the same for a channel with impairments, which may also mark the packet.
    inline Passage transmit_impaired(Time now, std::uint32_t ip_bytes, Packet& packet,
                                     const SackBlocks* sack);

    // If a discipline decides when packets leave, the host calls enqueue() for each arrival, and
    // drop_early() or send_held() for the packet at the head when the transmitter is free.
    Passage enqueue(Time now, HeldPacket& packet, Joining joining);  // arrives at kNever: it waits
    inline Passage drop_early(Time now);
    Passage drop_held(Time now) { return dropped(now); }  // because the queue is full
    Passage send_held(Time now, HeldPacket& packet, Verdict verdict);
    void leave_waiting(const HeldPacket& packet);  // at the end of the run
    // When the transmitter is free and the discipline lets a packet leave.
    Time opens() const { return std::max(busy_until_, impairments->opens()); }

    // Adds a packet that reaches the far end at packet.at, in order of time. Returns true if it is
    // now the first.
    bool hold(Packet packet, const SackBlocks* sack) {
        const bool first = in_transit.empty();
        if (far == Far::reordering && !first && in_transit.back().at > packet.at) [[unlikely]]
            return hold_in_order(packet, sack);
        in_transit.push(packet);
        if (sack != nullptr) sack_blocks.push(*sack);
        return first;
    }

    // Arrivals at the far end are handled at once (topology.hpp), kept in the order of sending, or
    // sorted by time.
    enum class Far : std::uint8_t { inlined, in_order, reordering };

    Far far = Far::in_order;
    std::uint32_t slot = 0;  // its slot in the event loop, unless it is inlined
    Channel* follower = nullptr;
    std::unique_ptr<Impairments> impairments;
    Ring<Packet> in_transit;
    Ring<SackBlocks> sack_blocks;  // of the packets that carry some, in their order

    // Returns how long a packet that arrived now would wait.
    Time backlog(Time now) const { return std::max<Time>(0, busy_until_ - now); }

    // Drops all packets in transit, because the run is over.
    void empty() {
        in_transit = Ring<Packet>();
        sack_blocks = Ring<SackBlocks>();
    }

    // Returns true if this channel may follow `other`, given that it gets all packets of `other`
    // and no others. It must not be slower for any packet size.
    bool can_follow(const Channel& other) const {
        return impairments == nullptr && other.impairments == nullptr && loss_.loses_none() &&
               rate_bps_ >= other.rate_bps_ && overhead_ <= other.overhead_;
    }

    // Sums up the run and hands over the traces.
    DirectionResult result();

  private:
    // How long a packet of one size takes to send, and the longest wait in a queue that is not
    // full.
    struct Size {
        std::uint32_t ip_bytes = 0;
        Time duration = 0;
        Time room = 0;
    };

    static constexpr Time kNoRoom = INT64_MIN;

    Passage admit_and_send(Time now, std::uint32_t ip_bytes) {
        if (ip_bytes != size_.ip_bytes) change_size(now, ip_bytes);
        if (busy_until_ - now > room()) [[unlikely]] {
            const Passage seen = decide_when_busy(now);
            if (seen.at != now || seen.fate != Fate::arrives) return seen;
        }
        const Time there = send(now);
        return arrival_or_loss(there);
    }
    // Puts a packet into a queue that is longer than any run; there it only takes up room.
    [[gnu::noinline]] Passage admit_for_ever(Time now, std::uint32_t ip_bytes);
    // Returns the longest wait that needs no decision; 0 while decide_when_busy() has to decide.
    Time room() const { return queue_.is_mixed() ? 0 : size_.room; }
    // With impairments pass_if_open() sees no room. A channel that only traces its queue lets packets pass
    // that do not wait.
    void show_room() {
        room_ = impairments == nullptr ? room() : impairments->only_traces_queue() ? 0 : kNoRoom;
    }

    // Decides about a packet when the channel is busy for longer than room(). It returns arrival at
    // `now` if the packet may wait.
    [[gnu::noinline]] Passage decide_when_busy(Time now);
    [[gnu::noinline]] void change_size(Time now, std::uint32_t ip_bytes);
    Size size_of(std::uint32_t ip_bytes) const;
    inline std::size_t waiting(Time now);
    inline Verdict decide_on_arrival(Time now, const Backlog& backlog, bool is_ecn_capable);
    inline Passage send_impaired(Time now, std::uint32_t ip_bytes, Packet& packet,
                                 const SackBlocks* sack, Verdict verdict);
    inline Passage enter_by_opportunity(Time now, std::uint32_t ip_bytes, Time& start);

    // Sends a packet and returns when it is at the far end.
    Time send(Time now) {
        Time start = now;
        if (busy_until_ > now) {
            start = busy_until_;
            account_wait(std::min(start, end_) - now);
        }
        busy_until_ = start + size_.duration;
        return busy_until_ + delay_;
    }
    // A packet that leaves the transmitter at busy_until_ arrives unless the wire loses it.
    Passage arrival_or_loss(Time there) {
        return {loss_.loses(busy_until_) ? Fate::lost : Fate::arrives, there};
    }
    // Counts the fate of a packet within the run.
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

    // Adds up the part of a wait that lies within the run.
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

    // Touched by every packet.
    Time busy_until_ = 0;
    Time open_for_ = kShut;  // longest wait with which pass_if_open() takes a packet
    Size size_;              // for packets of the last one's size
    Time transit_ = 0;       // from this transmitter to the far end of the last follower
    TimeSum waited_;
    Time longest_wait_ = 0;
    LossProcess loss_;

    Time room_ = 0;  // room(), or kNoRoom
    Time delay_;
    std::uint64_t in_step_ = 0;  // packets that crossed and that the followers know of
    std::uint32_t overhead_;
    Size other_size_;  // nearly all packets of a direction have one of two sizes
    std::int64_t rate_bps_;
    Time end_;  // of the run
    std::uint64_t queue_drops_ = 0, lost_ = 0, in_flight_ = 0;
    // Bytes and transmission time of the first counted_ packets that crossed.
    std::uint64_t bytes_ = 0, counted_ = 0;
    Time sending_ = 0;
    std::uint64_t for_ever_ = 0,
                  bytes_for_ever_ = 0;  // packets that wait beyond the end of any run
    DropTail queue_;
};

}  // namespace ww::sim

#include "channel_impairments.hpp"
