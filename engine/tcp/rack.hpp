// SPDX-License-Identifier: BSD-3-Clause
//
// RACK (RFC 8985, section 6) detects losses by time: a segment is lost if a segment sent later was
// delivered and the reordering window has passed since.
//
//   6.2 step 1  RACK.min_RTT is the smallest of all samples, also of the handshake and of timestamps. Those of
//               data alone may all include the wait for a second segment
//   6.2 step 2  RACK.segment is the last-sent of all delivered segments, RACK.rtt its round trip. If the ACK
//               of a retransmission arrives sooner than min_RTT, it answers the first copy
//   6.2 step 3  there is reordering when a segment that was sent once arrives below RACK.fack. That is
//               RACK.fack before the ACK (Linux: prior_fack), because an ACK tells no order of what it delivers
//   6.2 step 4  reo_wnd = 0 before any reordering, in recovery or with DupThresh segments SACKed; else
//               min(reo_wnd_mult min_RTT / 4, SRTT). reo_wnd_mult grows in each round with a D-SACK and
//               returns to 1 after 16 recoveries without one
//   6.2 step 5  a segment sent before RACK.segment is lost once RACK.rtt + reo_wnd have passed since it was
//               sent; until then a timer waits for it
//   6.3         a timeout marks the first segment, and those that step 5 would mark
//
// Segments sent once are in the order of their numbers, and retransmissions are in a queue. So each segment is
// examined once, not on every ACK (section 9.2 leaves this to implementations). The timer waits for the next
// segment that may be lost; the RFC's timer waits for the last one.
#pragma once

#include <algorithm>

#include "../base/ring.hpp"
#include "scoreboard.hpp"
#include "send_times.hpp"

namespace ww::sim {

class Rack {
  public:
    // An ACK arrived; the segments that it delivers follow, in any order.
    void on_ack() { fack_before_ = fack_; }
    // A segment arrived; `sent` is when it was last sent.
    void on_delivered(Time now, std::int64_t segment, Time sent, bool again, Time min_rtt) {
        if (segment < fack_before_ && !again) reordering_seen_ = true;
        fack_ = std::max(fack_, segment + 1);
        const Time rtt = now - sent;
        if ((again && rtt < min_rtt) || !is_before(sent_, segment_, sent, segment)) return;
        sent_ = sent;
        segment_ = segment;
        rtt_ = rtt;
    }
    void on_reordering() { reordering_seen_ = true; }
    void on_sent_again(Time now, std::int64_t segment) { again_.push({segment, now}); }
    // A D-SACK arrived. SND.UNA is now `una`, and `high` is one past the highest segment sent.
    void on_dsack(std::int64_t una, std::int64_t high) {
        if (una < dsack_round_) return;
        dsack_round_ = high;
        window_quarters_++;
        recoveries_left_ = kPersist;
    }
    void on_recovery_exit() {
        if (recoveries_left_ > 0 && --recoveries_left_ == 0) window_quarters_ = 1;
    }

    // The losses were spurious: any segment may be marked lost again.
    void restart(std::int64_t una) { checked_below_ = una; }

    // Returns when the last-sent of the retransmissions found lost was sent; -1: none was lost.
    Time lost_again() const { return lost_again_; }

    // Returns the reordering window. `at_once`: in recovery, or with DupThresh segments SACKed.
    Time window(bool at_once, Time min_rtt, Time srtt) const {
        if (!reordering_seen_ && at_once) return 0;
        return std::min(window_quarters_ * min_rtt / 4, srtt);
    }

    // Marks lost segments of [una, next) in the scoreboard. Returns how long to wait for the next
    // possible loss, or 0.
    Time find_losses(Time now, std::int64_t una, std::int64_t next, Time window, Scoreboard& board,
                     const SendTimes& times) {
        const Time once = check_sent_once(now, una, next, window, board, times);
        const Time again = check_sent_again(now, una, window, board, times);
        return once == 0 || (again != 0 && again < once) ? again : once;
    }

    // Marks losses after a timeout.
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
                                times.last(segment) == sent;  // not sent again since
            if (!is_out) continue;
            if (!is_due(sent, segment)) return 0;
            const Time wait = sent + rtt_ + window - now;
            if (wait > 0) return wait;
            board.mark_lost_by_time(segment);
            lost_again_ = sent;
        }
        return 0;
    }

    Time sent_ = -1;             // when RACK.segment was last sent; -1: nothing was delivered yet
    std::int64_t segment_ = -1;  // RACK.segment
    Time rtt_ = 0;               // its round trip
    std::int64_t fack_ = 0;      // one past the highest segment delivered
    std::int64_t fack_before_ = 0;  // the same before the present ACK
    std::int64_t checked_below_ =
        0;  // below it, segments sent once are all SACKed, lost or sent again
    std::int64_t dsack_round_ = 0;  // the SND.UNA from which a D-SACK counts again
    std::uint32_t window_quarters_ = 1, recoveries_left_ = 0;
    bool reordering_seen_ = false;
    Time lost_again_ = -1;
    Ring<Again> again_;  // retransmissions, in the order of sending
};

}  // namespace ww::sim
