// SPDX-License-Identifier: BSD-3-Clause
//
// ACK timing beyond RFC 5681, 4.2: when a receiver answers at once, and how long it may delay an ACK.
// A receiver has this object only while one of these rules can still apply.
//
//   quick ACKs       the first `quick_acks` ACKs answer one segment each: ns-3 sends 1
//                    (TcpSocketBase::ProcessSynRcvd()), Linux 16 (tcp_incr_quickack(), TCP_MAX_QUICKACKS)
//   growing window   with `initial_receive_window` each segment raises the window by two, up to
//                    `receive_window`, and is answered at once (Linux: tcp_grow_window()). A sender never
//                    waits for the window, because slow start only doubles cwnd
//   quick ACKs again with `quick_acks_again` the receiver sends quick ACKs again after duplicate data
//                    (tcp_data_queue()) and after a pause longer than its RTO (tcp_event_data_recv())
//   adapting timer   with least = `min_delayed_ack_timeout` the ACK timeout (ATO) starts at `least` and
//                    follows the spacing of segments that arrive in order:
//
//     a segment m after the one before, m <= least / 2     ATO = ATO / 2 + least / 2
//                                       m < ATO            ATO = ATO / 2 + m, at most the RTO
//     the timer sent an ACK                                ATO = 2 ATO, at most the RTO
//     timeout used                                         min(ATO, max(least, RTT), delayed_ack_timeout)
//
//   compressed ACKs  with `compressed_acks` = n, after three ACKs for one gap, a segment beyond it is answered
//                    when n segments wait, or a twentieth of the RTT after the first of them, at most 1 ms
//                    (__tcp_ack_snd_check(), with the slack of its timer). One that adds to a third or later SACK
//                    block ends the wait (tcp_sack_new_ofo_skb(), TCP_SACK_BLOCKS_EXPECTED)
//   SYN-ACK          with `syn_ack_timer` it is sent again after initial_rto, twice that, and so on
//
//   The rules are those of Linux's tcp_event_data_recv(), tcp_delack_timer_handler() and
//   tcp_send_delayed_ack(). RTT and RTO are the receiver's own. It sends no data, so its only sample is
//   the handshake's.
//
// Deviations: data flows in one direction here, so a connection is never "interactive" (Linux's pingpong
// mode, which has no quick ACKs). A window below 32 segments does not lower Linux's 16. A segment that ends
// a wait at a third SACK block is in that ACK; in Linux it is in the next one.
#pragma once

#include "../recovery.hpp"
#include "rtt.hpp"

namespace ww::sim {

class AckTiming {
  public:
    explicit AckTiming(const Flow& flow)
        : growing_(segments_until_all(flow)),
          quick_(flow.quick_acks),
          most_quick_(flow.quick_acks),
          again_(flow.quick_acks_again),
          most_together_(uses_sack(flow.recovery) ? flow.compressed_acks : 0),
          least_(flow.min_delayed_ack_timeout),
          most_(flow.delayed_ack_timeout),
          ato_(least_),
          rto_(flow),
          rtt_(rto_),
          syn_ack_rto_(flow.syn_ack_timer ? flow.initial_rto : kNever) {}

    static bool is_needed(const Flow& flow) {
        return flow.quick_acks > 0 || flow.min_delayed_ack_timeout > 0 ||
               flow.initial_receive_window_bytes > 0 || flow.syn_ack_timer ||
               flow.compressed_acks > 0;
    }
    // True when no rule applies any more.
    bool is_over() const {
        return growing_ == 0 && quick_ == 0 && !again_ && least_ == 0 && most_together_ == 0;
    }

    // Notes that the SYN-ACK was sent. Returns when to send it again.
    Time on_syn_ack(Time now) {
        syn_ack_at_ = now;
        syn_acks_++;
        return syn_ack_rto_ == kNever ? kNever : now + syn_ack_rto_;
    }
    void on_syn_ack_timer() { syn_ack_rto_ = std::min(2 * syn_ack_rto_, rto_.most); }
    // The SYN-ACK was acknowledged. A repeated one gives no sample (RFC 6298, 3).
    void on_established(Time now) {
        if (syn_acks_ == 1) rtt_.on_sample(now - syn_ack_at_, rto_);
    }

    // Takes a segment that arrived in order. Returns true if it is to be acknowledged at once.
    bool on_segment(Time now) {
        if (last_ >= 0) follow(now - last_);
        last_ = now;
        for_gap_ = 0;
        return spend();
    }
    // Takes a duplicate segment, which is acknowledged at once.
    void on_repeated() {
        if (again_) {
            quick_ = most_quick_;
            ato_ = least_;
        }
        spend();
    }
    // Takes a segment beyond a gap, while others wait for an ACK, into the SACK block at this place, most recent
    // first. Returns true if it is to be acknowledged at once, else after together().
    bool on_out_of_order(std::uint32_t waiting, std::size_t block) {
        if (spend() || waiting >= most_together_) return true;
        if (waiting > 0 && block >= kBlocksExpected) return true;
        if (for_gap_ == kAtOnce) return false;
        for_gap_++;
        return true;
    }
    Time together() const {
        return std::min(rtt_.srtt() / kPartsOfRtt, kLongestTogether) + kTimerSlack;
    }
    // Notes that the timer sent a delayed ACK.
    void on_timer() {
        if (for_gap_ < kAtOnce) ato_ = std::min(2 * ato_, rtt_.rto());
    }

    Time timeout() const {
        if (least_ == 0) return most_;
        const Time round_trip = rtt_.srtt() > 0 ? std::max(least_, rtt_.srtt()) : most_;
        return std::min({ato_, round_trip, most_});
    }

  private:
    static constexpr std::uint32_t kAtOnce = 3;        // ACKs for a gap: TCP_FASTRETRANS_THRESH
    static constexpr std::size_t kBlocksExpected = 2;  // TCP_SACK_BLOCKS_EXPECTED
    static constexpr Time kPartsOfRtt = 20;
    static constexpr Time kLongestTogether = kSecond / 1000;  // tcp_comp_sack_delay_ns
    static constexpr Time kTimerSlack = kSecond / 10'000;     // tcp_comp_sack_slack_ns

    static std::uint32_t segments_until_all(const Flow& flow) {
        const std::uint32_t first = flow.initial_receive_window_bytes;
        const std::uint32_t all = flow.receive_window_bytes;
        return first == 0 || first >= all ? 0 : (all - first) / (2 * flow.mss());
    }

    bool spend() {
        if (growing_ > 0) {
            growing_--;
            return true;
        }
        const bool quick = quick_ > 0;
        if (quick) quick_--;
        return quick;
    }

    void follow(Time pause) {
        if (pause <= least_ / 2)
            ato_ = ato_ / 2 + least_ / 2;
        else if (pause < ato_)
            ato_ = std::min(ato_ / 2 + pause, rtt_.rto());
        else if (again_ && pause > rtt_.rto())
            quick_ = most_quick_;
    }

    std::uint32_t growing_;  // segments that still raise the window
    std::uint32_t quick_,
        most_quick_;  // quick ACKs still to be sent, and how many there are at most
    bool again_;
    std::uint32_t most_together_;
    std::uint32_t for_gap_ = 0;  // ACKs sent at once since data came in order, up to kAtOnce
    Time least_, most_, ato_;
    Time last_ = -1;  // when the last segment came in order
    RtoSettings rto_;
    RttEstimator rtt_;
    Time syn_ack_at_ = 0;
    Time syn_ack_rto_;  // kNever: the SYN-ACK has no timer
    std::uint32_t syn_acks_ = 0;
};

}  // namespace ww::sim
