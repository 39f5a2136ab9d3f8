// SPDX-License-Identifier: BSD-3-Clause
//
// The round-trip time of a connection, and the retransmission timeout (RTO) computed from it.
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
// send_times.hpp knows which segments may be measured (3, Karn's rule).
#pragma once

#include <algorithm>
#include <compare>
#include <cstdlib>

#include "../network.hpp"

namespace ww::sim {

struct RtoSettings {
    explicit RtoSettings(const Flow& flow)
        : granularity(flow.clock_granularity),
          least(flow.min_rto),
          most(flow.max_rto),
          initial(flow.initial_rto) {}
    auto operator<=>(const RtoSettings&) const = default;

    Time granularity, least, most, initial;
};

class RttEstimator {
  public:
    explicit RttEstimator(const RtoSettings& settings) : rto_(settings.initial) {}

    // Takes the round trips of the newest and the oldest segment that an ACK acknowledges. The
    // timer uses the oldest, which includes the receiver's delay, as RFC 6298 wants.
    void on_ack(Time newest, Time oldest, const RtoSettings& settings) {
        last_ = newest;
        if (newest < min_) min_ = newest;
        take(oldest, settings);
    }

    // Takes a sample for the timer only: from the handshake or a timestamp.
    void on_sample(Time rtt, const RtoSettings& settings) {
        least_ = std::min(least_, rtt);
        take(rtt, settings);
    }

    void back_off(const RtoSettings& settings) { rto_ = std::min(2 * rto_, settings.most); }

    // Removes the backoff without a new measurement.
    void end_backoff(const RtoSettings& settings) {
        if (srtt_ != 0) follow(settings);
    }

    // The connection is established after a lost SYN.
    void restart_after_lost_syn(const RtoSettings& settings) {
        rto_ = std::clamp(std::max(3 * kSecond, settings.initial), settings.least, settings.most);
    }

    Time srtt() const { return srtt_; }  // 0 before the first sample
    Time rto() const { return rto_; }
    Time last() const { return last_; }  // 0 before the first ACK with a sample
    Time min() const { return min_; }    // from ACKs of data; kNever before the first
    Time min_or_zero() const { return min_ == kNever ? 0 : min_; }
    Time least() const { return std::min(min_, least_); }  // of all samples
    Time least_or_zero() const { return least() == kNever ? 0 : least(); }

  private:
    void take(Time rtt, const RtoSettings& settings) {
        if (srtt_ == 0) [[unlikely]]
            return start(rtt, settings);
        const Time error = rtt - srtt_;
        rttvar_ += (std::abs(error) - rttvar_) / 4;
        srtt_ += error / 8;
        follow(settings);
    }
    [[gnu::noinline]] void start(Time rtt, const RtoSettings& settings) {
        srtt_ = rtt;
        rttvar_ = rtt / 2;
        follow(settings);
    }
    void follow(const RtoSettings& settings) {
        const Time rto = srtt_ + std::max(settings.granularity, 4 * rttvar_);
        rto_ = rto < settings.least ? settings.least : rto > settings.most ? settings.most : rto;
    }

    Time srtt_ = 0, rttvar_ = 0, rto_;
    Time last_ = 0, min_ = kNever;
    Time least_ = kNever;  // from samples for the timer only
};

}  // namespace ww::sim
