// SPDX-License-Identifier: BSD-3-Clause
//
// A congestion control may pace its sender (ww_window's pacing): a packet of n bytes then holds back the
// next one for n / rate.
#pragma once

#include "network.hpp"

namespace ww::sim {

class Pacer {
  public:
    explicit Pacer(const Flow& flow) : header_bytes_(flow.header_bytes) {}

    bool holds_back(Time now) const { return now < next_at_; }
    Time next_at() const { return next_at_; }

    // rate: bytes/s with WW_BW_FRACTION fractional bits; 0: not paced.
    void on_sent(Time now, std::uint32_t payload, std::uint64_t rate) {
        if (rate == 0) return;
        // The product is in doubles because it reaches 2^16 * 2^8 * 10^12, which is beyond Time.
        const auto bytes = static_cast<double>(payload + header_bytes_);
        const double wait = bytes * static_cast<double>(1u << WW_BW_FRACTION) *
                            static_cast<double>(kSecond) / static_cast<double>(rate);
        next_at_ = now + (wait < 0x1p60 ? static_cast<Time>(wait) : Time{1} << 60);
    }

  private:
    Time next_at_ = 0;
    std::uint32_t header_bytes_;
};

}  // namespace ww::sim
