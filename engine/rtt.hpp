// SPDX-License-Identifier: BSD-3-Clause
//
// The round-trip time of a connection, and the retransmission timeout (RTO) that follows from it.
//
//   RFC 6298, 2.1   RTO starts at initial_rto
//             2.2   the first sample R gives SRTT = R, RTTVAR = R / 2
//             2.3   each further one RTTVAR += (|SRTT - R| - RTTVAR) / 4, SRTT += (R - SRTT) / 8
//                   RTO = SRTT + max(G, 4 RTTVAR), G the clock's granularity
//             2.4   RTO is at least min_rto
//             2.5   RTO is at most max_rto
//             5.5   RTO doubles when the timer expires
//             5.7   RTO is at least 3 s for the data of a connection whose SYN was lost
//
// Which segments may be measured at all (3, Karn's rule) is known where they are sent: sendtimes.hpp.
#pragma once

#include <algorithm>

#include "network.hpp"

namespace ww::sim {

class RttEstimator {
  public:
    explicit RttEstimator(const Flow& flow)
        : rto_(flow.initial_rto),
          granularity_(flow.clock_granularity),
          min_rto_(flow.min_rto),
          max_rto_(flow.max_rto),
          initial_rto_(flow.initial_rto) {}

    // An ACK measured the newest segment that it acknowledges, and the oldest one. The timer takes the
    // oldest: that time includes the receiver's delay, which RFC 6298 wants in the RTO.
    void on_ack(Time newest, Time oldest) {
        last_ = newest;
        if (newest < min_) min_ = newest;
        on_sample(oldest);
    }

    // Takes a round trip for the timer alone.
    void on_sample(Time rtt) {
        if (srtt_ == 0) {
            srtt_ = rtt;
            rttvar_ = rtt / 2;
        } else {
            const Time error = rtt > srtt_ ? rtt - srtt_ : srtt_ - rtt;
            rttvar_ += (error - rttvar_) / 4;
            srtt_ += (rtt - srtt_) / 8;
        }
        follow();
    }

    void back_off() { rto_ = std::min(2 * rto_, max_rto_); }

    // Takes the backoff back without a new measurement.
    void end_backoff() {
        if (srtt_ != 0) follow();
    }

    // The connection is established, and its SYN was lost before.
    void restart_after_lost_syn() {
        rto_ = std::clamp(std::max(3 * kSecond, initial_rto_), min_rto_, max_rto_);
    }

    Time srtt() const { return srtt_; }  // 0 before the first sample
    Time rto() const { return rto_; }
    Time last() const { return last_; }  // 0 before the first ACK that measured
    Time min() const { return min_; }    // kNever before it
    Time min_or_zero() const { return min_ == kNever ? 0 : min_; }

  private:
    void follow() {
        const Time rto = srtt_ + std::max(granularity_, 4 * rttvar_);
        rto_ = rto < min_rto_ ? min_rto_ : rto > max_rto_ ? max_rto_ : rto;
    }

    Time srtt_ = 0, rttvar_ = 0, rto_;
    Time last_ = 0, min_ = kNever;
    Time granularity_, min_rto_, max_rto_, initial_rto_;
};

}  // namespace ww::sim
