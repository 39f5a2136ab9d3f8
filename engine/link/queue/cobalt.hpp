// SPDX-License-Identifier: BSD-3-Clause
//
// COBALT, the AQM of CAKE (Høiland-Jørgensen, Täht & Morton: Piece of CAKE, LANMAN 2018; Linux's sch_cake.c): CoDel
// for flows that respond, and BLUE for those that do not.
//
//   CoDel  A packet is over target if it waited for more than TARGET and more than four packets of the shaper. The
//          first one sets drop_next = now + gap and count = 1. From drop_next on, a packet over target is marked, or
//          dropped if it is not ECN-capable; then count += 1, gap = INTERVAL / sqrt(count), drop_next += gap. A packet
//          at drop_next that is not over target lowers count by 1, likewise, until drop_next is ahead. So count falls
//          as it grew, where CoDel's (codel.hpp) begins anew. An empty queue lowers it by 1 at each visit.
//   BLUE   When the buffer is full, p_drop grows by 1/256, when the queue is found empty it falls by 1/4096, both at
//          most once in TARGET. A packet is dropped with p_drop, ECN-capable or not.
//
// The last packet of a queue is not dropped. As in sch_cake.c, gap is 0 until count first changes and INTERVAL for a
// count of 0. So the second packet over target is signalled at once when it is a queue's first time; also after more
// than INTERVAL without packets, since drop_next then lies behind.
// sch_cake.c computes 1 / sqrt(count) by Newton's method in fixed point.
#pragma once

#include <algorithm>
#include <cmath>

#include "discipline.hpp"

namespace ww::sim {

class Cobalt {
  public:
    // packet_time: how long the shaper takes for the largest packet; 0 without one.
    Cobalt(Time target, Time interval, Time packet_time, const Random& random)
        : target_(target), interval_(interval), packet_time_(packet_time), random_(random) {}

    Verdict dequeue(Time now, const Head& head) {
        const Time waited = now - head.arrival;
        const bool is_over = waited > target_ && waited > 4 * packet_time_;
        const bool is_due = count_ > 0 && now >= drop_next_;
        bool is_past = now > drop_next_;
        if (is_over && !is_dropping_) drop_next_ = now + gap_;
        is_dropping_ = is_over;
        if (is_over && count_ == 0) count_ = 1;
        Verdict verdict = Verdict::pass;
        if (is_due && is_over) {
            verdict = head.is_ecn_capable ? Verdict::mark : Verdict::drop;
            change_count(1);
            is_past = now > drop_next_;
        } else if (is_due) {
            do {
                change_count(-1);
                is_past = now > drop_next_;
            } while (count_ > 0 && now >= drop_next_);
        }
        if (drop_prob_ > 0 && random_.open_unit() < drop_prob_) verdict = Verdict::drop;
        if (count_ == 0)
            drop_next_ = now + interval_;
        else if (is_past && verdict != Verdict::drop)
            drop_next_ = now;
        return verdict == Verdict::drop && head.packets_behind == 0 ? Verdict::pass : verdict;
    }

    // The buffer is full, and a packet of this queue is dropped.
    void shed(Time now) {
        adjust(now, 1.0 / 256);
        is_dropping_ = true;
        drop_next_ = now;
        count_ = std::max(count_, 1u);
    }

    // The queue is found empty. Returns whether its state is that of a new one.
    bool rests(Time now) {
        if (drop_prob_ > 0) adjust(now, -1.0 / 4096);
        is_dropping_ = false;
        if (count_ > 0 && now >= drop_next_) change_count(-1);
        return drop_prob_ <= 0 && count_ == 0 && now >= drop_next_;
    }

    std::uint32_t count() const { return count_; }
    double drop_prob() const { return drop_prob_; }

  private:
    void change_count(int by) {
        count_ += static_cast<std::uint32_t>(by);
        gap_ = static_cast<Time>(static_cast<double>(interval_) /
                                 std::sqrt(static_cast<double>(std::max(count_, 1u))));
        drop_next_ += gap_;
    }

    void adjust(Time now, double by) {
        if (now - adjusted_ <= target_) return;
        drop_prob_ = std::clamp(drop_prob_ + by, 0.0, 1.0);
        adjusted_ = now;
    }

    Time target_, interval_, packet_time_;
    Random random_;
    Time drop_next_ = 0, gap_ = 0;
    Time adjusted_ = -kHour;  // when drop_prob_ changed
    double drop_prob_ = 0;    // BLUE's
    std::uint32_t count_ = 0;
    bool is_dropping_ = false;
};

}  // namespace ww::sim
