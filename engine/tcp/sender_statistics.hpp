// SPDX-License-Identifier: BSD-3-Clause
//
// Counts and sums the sender's part of the FlowCounts. Nothing here changes what the sender does.
#pragma once

#include <algorithm>
#include <limits>

#include "../base/seconds.hpp"
#include "../base/time_sum.hpp"
#include "../network.hpp"

namespace ww::sim {

class SenderStatistics {
  public:
    explicit SenderStatistics(std::uint32_t receive_window = UINT32_MAX, bool paced = false)
        : receive_window_(receive_window), paced_(paced) {}

    void on_established(Time now) { established_at_ = cwnd_since_ = last_ack_ = now; }
    void on_complete(Time now) { completed_at_ = now; }

    // Adds a smoothed RTT, after each sample.
    void on_srtt(Time srtt) {
        srtt_sum_.add(srtt);
        srtt_samples_++;
    }

    // Adds the time since the last change, during which cwnd was this. A window that is replaced at
    // once has sent nothing.
    void on_cwnd(Time now, std::uint32_t cwnd) {
        cwnd_time_ += static_cast<double>(cwnd) * static_cast<double>(now - cwnd_since_);
        if (now != cwnd_since_) max_cwnd_ = std::max(max_cwnd_, cwnd);
        if (cwnd > receive_window_ && !paced_) receiver_limited_ += now - cwnd_since_;
        cwnd_since_ = now;
    }
    // An ACK arrived at a paced sender, whose cwnd may be larger than what it sends.
    void on_paced_ack(Time now, std::int64_t in_flight) {
        if (in_flight >= receive_window_) receiver_limited_ += now - last_ack_;
        last_ack_ = now;
    }

    // Writes the result at the end of the run. min_rtt: kNever if there was no sample.
    void write(Time end, std::uint32_t cwnd, Time min_rtt, FlowCounts& result) {
        constexpr double nan = std::numeric_limits<double>::quiet_NaN();
        const bool established = established_at_ >= 0;
        const Time last = completed_at_ >= 0 ? completed_at_ : end;
        if (established) on_cwnd(last, cwnd);
        const auto open = static_cast<double>(last - established_at_);
        result.retransmitted = retransmitted;
        result.timeouts = timeouts;
        result.fast_recoveries = fast_recoveries;
        result.ecn_reductions = ecn_reductions;
        result.mean_cwnd = established && open > 0 ? cwnd_time_ / open : nan;
        if (established) result.max_cwnd = max_cwnd_;
        result.receiver_limited_s = established ? seconds(receiver_limited_) : nan;
        if (established) result.application_limited_s = 0;  // but see traffic/application.hpp
        result.mean_srtt_s = srtt_samples_ == 0 ? nan : seconds(srtt_sum_.mean(srtt_samples_));
        result.min_rtt_s = min_rtt == kNever ? nan : seconds(min_rtt);
        result.established_s = established ? seconds(established_at_) : nan;
        result.completed_s = completed_at_ >= 0 ? seconds(completed_at_) : nan;
    }

  private:
    TimeSum srtt_sum_;
    std::uint64_t srtt_samples_ = 0;
    double cwnd_time_ = 0;  // the integral of cwnd over time, segments times ps
    Time cwnd_since_ = 0;
    std::uint32_t max_cwnd_ = 0;
    std::uint32_t receive_window_;  // segments
    Time receiver_limited_ = 0, last_ack_ = 0;
    bool paced_;
    // Rarely touched.
    Time established_at_ = -1, completed_at_ = -1;

  public:
    std::uint64_t retransmitted = 0;
    std::uint32_t timeouts = 0, fast_recoveries = 0, ecn_reductions = 0;
};

}  // namespace ww::sim
