// SPDX-License-Identifier: BSD-3-Clause
//
// A congestion control may pace its sender (`pacing` in ww_window): a segment with n bytes of
// payload delays the next one by n / rate. Headers do not count, because the pacing rate comes from
// delivery rates of payload (Linux: tcp_update_skb_after_send).
//
// With `tso` a sender sends in bursts (Linux: TSO). A burst is a millisecond of the rate, but at least two
// segments (tcp_tso_autosize()). A pacer's next burst waits for the time of all of them. Of the time that a burst
// comes too late, up to half of that wait is made up for (tcp_update_skb_after_send()). Paced or not, a partial
// burst waits for the next ACK if that is due soon (Sender::defers()). The receiver acknowledges a burst of two or
// more segments at once, because it ends with PSH (Sender::Burst::pushes()).
#pragma once

#include <algorithm>

#include "../network.hpp"

namespace ww::sim {

class Pacer {
  public:
    bool holds_back(Time now) const { return now < next_at_ && (left_ == 0 || now != burst_at_); }
    Time next_at() const { return next_at_; }

    // Returns the segments of a burst. A path shorter than some milliseconds has longer ones
    // (tcp_tso_rtt_log).
    static std::uint32_t burst(std::uint64_t rate, std::uint32_t mss, Time min_rtt) {
        constexpr std::uint64_t kMost = 65536 - 320;  // bytes, with headers: sk_gso_max_size
        const auto halvings = min_rtt / (512 * kMicrosecond);
        std::uint64_t bytes = rate >> WW_BW_FRACTION >> 10;
        if (halvings < 32) bytes += kMost >> halvings;
        return std::max(2u, static_cast<std::uint32_t>(std::min(bytes, kMost)) / mss);
    }

    // rate: bytes/s with WW_BW_FRACTION fractional bits; 0: not paced.
    void on_sent(Time now, std::uint32_t payload, std::uint64_t rate) {
        if (rate != 0) next_at_ = now + wait(payload, rate);
    }
    // The same with `tso`, for `segments` of a burst that may have up to `most`.
    void on_burst(Time now, std::uint32_t payload, std::uint64_t rate, std::uint32_t segments,
                  std::uint32_t most) {
        if (rate == 0) return;
        if (now >= next_at_) {
            late_ = now - next_at_;
            burst_at_ = next_at_ = now;
            left_ = most;
        }
        const Time takes = wait(payload, rate), saved = std::min(takes / 2, late_);
        late_ -= saved;
        left_ -= std::min(left_, segments);
        next_at_ += takes - saved;
    }

  private:
    static Time wait(std::uint32_t payload, std::uint64_t rate) {
        // The product reaches 2^16 * 2^8 * 10^12 and would overflow Time, so it is computed in
        // doubles.
        const auto bytes = static_cast<double>(payload);
        const double takes = bytes * static_cast<double>(1u << WW_BW_FRACTION) *
                             static_cast<double>(kSecond) /
                             static_cast<double>(static_cast<std::int64_t>(rate));
        return takes < 0x1p60 ? static_cast<Time>(takes) : Time{1} << 60;
    }

    Time next_at_ = 0;
    Time burst_at_ = 0;
    Time late_ = 0;           // of the burst, still to be made up for
    std::uint32_t left_ = 0;  // segments that the burst may still have
};

}  // namespace ww::sim
