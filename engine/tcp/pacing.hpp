// SPDX-License-Identifier: BSD-3-Clause
//
// A congestion control may pace its sender (`pacing` in ww_window): a segment with n bytes of
// payload delays the next one by n / rate. Headers do not count, because the pacing rate comes from
// delivery rates of payload (Linux: tcp_update_skb_after_send).
#pragma once

#include "../network.hpp"

namespace ww::sim {

class Pacer {
  public:
    bool holds_back(Time now) const { return now < next_at_; }
    Time next_at() const { return next_at_; }

    // rate: bytes/s with WW_BW_FRACTION fractional bits; 0: not paced.
    void on_sent(Time now, std::uint32_t payload, std::uint64_t rate) {
        if (rate == 0) return;
        // The product reaches 2^16 * 2^8 * 10^12 and would overflow Time, so it is computed in
        // doubles.
        const auto bytes = static_cast<double>(payload);
        const double wait = bytes * static_cast<double>(1u << WW_BW_FRACTION) *
                            static_cast<double>(kSecond) /
                            static_cast<double>(static_cast<std::int64_t>(rate));
        next_at_ = now + (wait < 0x1p60 ? static_cast<Time>(wait) : Time{1} << 60);
    }

  private:
    Time next_at_ = 0;
};

}  // namespace ww::sim
