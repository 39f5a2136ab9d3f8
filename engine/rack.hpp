// SPDX-License-Identifier: BSD-3-Clause
//
// RACK (RFC 8985, section 6) tells losses by time: a segment is lost when one that was sent later has been
// delivered and the reordering window has passed since.
//
//   6.2 step 1  RACK.min_RTT is the connection's
//   6.2 step 2  RACK.segment is what was sent last of all that was delivered, RACK.rtt its round trip. One
//               that was sent again and came back sooner than min_RTT was answered by its first copy
//   6.2 step 3  reordering is seen when a segment that was sent once arrives below RACK.fack
//   6.2 step 4  reo_wnd = 0 without reordering seen, in recovery or with DupThresh segments SACKed; else
//               min(reo_wnd_mult min_RTT / 4, SRTT). reo_wnd_mult grows in each round with a D-SACK and is 1
//               again after 16 recoveries without one
//   6.2 step 5  a segment sent before RACK.segment is lost once RACK.rtt + reo_wnd have passed since it was
//               sent; until then a timer waits for it
//   6.3         a timeout marks the first segment, and those that step 5 would mark
//
// What was sent once lies in the order of its numbers, and what was sent again in a queue, so that each
// segment is looked at once and not on every ACK (the RFC's section 9.2 leaves that to implementations).
// The timer waits for the first segment that may be lost next; the RFC's waits for the last.
#pragma once

#include <algorithm>

#include "ring.hpp"
#include "scoreboard.hpp"
#include "sendtimes.hpp"

namespace ww::sim {

class Rack {
  public:
    // A segment arrived that was sent last at `sent`.
    void on_delivered(Time now, std::int64_t segment, Time sent, bool again, Time min_rtt) {
        if (segment < fack_ && !again) reordering_seen_ = true;
        fack_ = std::max(fack_, segment + 1);
        const Time rtt = now - sent;
        if ((again && rtt < min_rtt) || !is_before(sent_, segment_, sent, segment)) return;
        sent_ = sent;
        segment_ = segment;
        rtt_ = rtt;
    }
    void on_reordering() { reordering_seen_ = true; }
    void on_sent_again(Time now, std::int64_t segment) { again_.push({segment, now}); }
    // An ACK with a D-SACK left SND.UNA here; what was sent ends at `high`.
    void on_dsack(std::int64_t una, std::int64_t high) {
        if (una < dsack_round_) return;
        dsack_round_ = high;
        window_quarters_++;
        recoveries_left_ = kPersist;
    }
    void on_recovery_exit() {
        if (recoveries_left_ > 0 && --recoveries_left_ == 0) window_quarters_ = 1;
    }

    // Losses proved to be none: everything may be lost again.
    void restart(std::int64_t una) { checked_below_ = una; }

    // The reordering window; `at_once`: in recovery, or DupThresh segments are SACKed.
    Time window(bool at_once, Time min_rtt, Time srtt) const {
        if (!reordering_seen_ && at_once) return 0;
        return std::min(window_quarters_ * min_rtt / 4, srtt);
    }

    // Marks in the scoreboard what is lost among [una, next). Returns how long to wait for the next one
    // that may be, or 0.
    Time find_losses(Time now, std::int64_t una, std::int64_t next, Time window, Scoreboard& board,
                     const SendTimes& times) {
        const Time once = check_sent_once(now, una, next, window, board, times);
        const Time again = check_sent_again(now, una, window, board, times);
        return once == 0 || (again != 0 && again < once) ? again : once;
    }

    // After a timeout.
    void mark_on_timeout(Time now, std::int64_t una, std::int64_t next, Time window,
                         Scoreboard& board, const SendTimes& times) {
        for (std::int64_t s = una; s < next; s++)
            if (!board.is_sacked(s) && !board.awaits_repair(s) &&
                (s == una || times.last(s) + rtt_ + window <= now))
                board.mark_lost_by_time(s);
    }

  private:
    struct Again {
        std::int64_t segment;
        Time sent;
    };
    static constexpr std::uint32_t kPersist = 16;

    static bool is_before(Time sent, std::int64_t segment, Time than, std::int64_t other) {
        return sent < than || (sent == than && segment < other);
    }
    bool is_due(Time sent, std::int64_t segment) const {
        return is_before(sent, segment, sent_, segment_);
    }

    Time check_sent_once(Time now, std::int64_t una, std::int64_t next, Time window,
                         Scoreboard& board, const SendTimes& times) {
        checked_below_ = std::max(checked_below_, una);
        for (; checked_below_ < next; checked_below_++) {
            if (!board.is_out_once(checked_below_)) continue;
            const Time sent = times.last(checked_below_);
            if (!is_due(sent, checked_below_)) return 0;
            const Time wait = sent + rtt_ + window - now;
            if (wait > 0) return wait;
            board.mark_lost_by_time(checked_below_);
        }
        return 0;
    }

    Time check_sent_again(Time now, std::int64_t una, Time window, Scoreboard& board,
                          const SendTimes& times) {
        for (; !again_.empty(); again_.pop()) {
            const auto [segment, sent] = again_.front();
            const bool is_out = segment >= una && board.is_out_again(segment) &&
                                times.last(segment) == sent;  // not sent a third time since
            if (!is_out) continue;
            if (!is_due(sent, segment)) return 0;
            const Time wait = sent + rtt_ + window - now;
            if (wait > 0) return wait;
            board.mark_lost_by_time(segment);
        }
        return 0;
    }

    Time sent_ = -1;             // when RACK.segment was sent last; -1: nothing was delivered yet
    std::int64_t segment_ = -1;  // RACK.segment
    Time rtt_ = 0;               // its round trip
    std::int64_t fack_ = 0;      // one past the highest segment delivered
    std::int64_t checked_below_ = 0;  // what was sent once is SACKed, lost or sent again below it
    std::int64_t dsack_round_ = 0;    // D-SACKs count again from this SND.UNA on
    std::uint32_t window_quarters_ = 1, recoveries_left_ = 0;
    bool reordering_seen_ = false;
    Ring<Again> again_;  // what was sent again, in that order
};

}  // namespace ww::sim
