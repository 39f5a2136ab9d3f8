// SPDX-License-Identifier: BSD-3-Clause
//
// What a queue discipline decides. A kind is one file of this folder, which declares its settings and the columns
// of its trace, and a row of kinds.hpp. It decides at two ends:
//
//   enqueue()  a packet arrives: it passes, is marked or is dropped. A full queue drops it in any case
//   dequeue()  the transmitter is free: the packet at the head is sent, sent with a mark, or dropped
//
// Drop-tail decides nothing. The departures of a discipline without dequeue() follow
// from the arrivals, so the channel computes them by drop_tail.hpp's arithmetic. A discipline with
// dequeue() has kHolds = true. Its packets wait in a list (../held_packets.hpp), and each departure is an
// event.
//
// The packets may stand in several lines(). line_of() returns the line of an arriving packet, and join() is called
// when it has entered that line. next_line() returns the line whose head leaves next. A full queue with kSheds takes
// the packet and then drops from the head of the longest line: half of its bytes, at most drop_batch() packets. shed()
// is called for each of these. A discipline with a shaper lets no packet leave before opens().
//
// A discipline that updates its state from time to time has an UpdateTimer.
#pragma once

#include <cstddef>
#include <functional>

#include "../../base/random.hpp"
#include "../../base/seconds.hpp"

namespace ww::sim {

enum class Verdict : std::uint8_t { pass, mark, drop };

// What a queue is built for.
struct Place {
    std::function<Time(std::uint32_t bytes)> duration;  // of sending a packet, on average
    Random random;                                      // the queue's own stream
};

// The queue that an arriving packet meets.
struct Backlog {
    std::size_t packets;  // that wait
    Time busy_until;      // when the transmitter has sent all of them
    // For a discipline with dequeue(): the packet's line, and the IP bytes of the packets that wait there.
    std::int64_t bytes = 0;
    std::uint32_t line = 0;
};

// A packet that takes its place in the queue.
struct Joining {
    std::uint64_t flow;
    bool is_l4s = false;                 // its ECN field is ECT(1) or CE (RFC 9331)
    std::uint32_t source = 0, sink = 0;  // nodes
};

// The packet at the head of a line of the queue.
struct Head {
    Time arrival;
    std::int64_t bytes_behind;  // IP bytes of the packets that wait behind it in its line
    bool is_ecn_capable;
    std::uint32_t ip_bytes = 0;
    std::uint32_t line = 0;
    std::uint32_t packets_behind = 0;  // in its line
};

// A periodic timer, which the first packet starts. Nobody sees a discipline between two packets, so the updates
// that are due are made when the next packet arrives or leaves.
class UpdateTimer {
  public:
    explicit UpdateTimer(Time period) : period_(period) {}

    // The first packet arrives.
    void start(Time now) {
        if (next_ == kNever) next_ = now + period_;
    }
    // Calls update(at) for each update due by `now`. It returns false if it changes nothing, and the following
    // ones do not either.
    template <class Update>
    void catch_up(Time now, Update update) {
        start(now);
        for (; next_ <= now; next_ += period_)
            if (!update(next_)) next_ += (now - next_) / period_ * period_;
    }

  private:
    Time period_;
    Time next_ = kNever;
};

// What a discipline does at an end where it decides nothing.
struct Discipline {
    static constexpr bool kHolds = false;
    static constexpr bool kSheds = false;
    Verdict enqueue(Time /*now*/, const Backlog&, bool /*is_ecn_capable*/) { return Verdict::pass; }
    Verdict dequeue(Time /*now*/, const Head&) { return Verdict::pass; }

    std::uint32_t lines() const { return 1; }
    std::uint32_t line_of(const Joining&) { return 0; }
    void join(std::uint32_t /*line*/) {}
    template <class Held>
    std::uint32_t next_line(Time /*now*/, const Held&) {
        return 0;
    }
    std::uint32_t drop_batch() const { return 0; }
    void shed(Time /*now*/, std::uint32_t /*line*/) {}
    Time opens() const { return 0; }
};

}  // namespace ww::sim
