// SPDX-License-Identifier: BSD-3-Clause
//
// How far a window grows that is not full (draft-ietf-ccwg-ratelimited-increase-10, section 3):
//
//   maxFS    the largest FlightSize since cwnd was last reduced, at first initial_cwnd
//   cap      while FlightSize < cwnd, cwnd grows to limit(maxFS) at most
//   limit()  slow start: 2 maxFS; congestion avoidance: maxFS + 1 segment; CUBIC's: 1.5 maxFS, because
//            its target is at most 1.5 cwnd (RFC 9438, 4.2)
//
// It replaces validate_cwnd, by which such a window does not grow. FlightSize is looked at when an ACK
// arrives: it was never larger since the ACK before. A control that does not obey validate_cwnd, such as
// BBRv1, limits its rate by what was delivered (section 3.3.1). Deviation: the cap stops growth and does not
// reduce a window that exceeds it, as after a reduction that resets maxFS.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "../../core/catalogue.h"
#include "../../core/contract.h"

namespace ww::sim {

// Returns whether the control obeys validate_cwnd (core/settings.h).
constexpr bool validates_cwnd(const ww_config& cc) {
    std::uint32_t obedient = 0;
#define WW_ROW(kind, name, fallback, least, most, controls, ...) \
    if (std::string_view(#name) == "validate_cwnd") obedient = (controls);
    WW_SETTINGS(WW_ROW)
#undef WW_ROW
    return (obedient >> cc.algorithm & 1) != 0;
}

class RateLimitedIncrease {
  public:
    RateLimitedIncrease(const ww_config& cc, std::uint32_t initial_cwnd)
        : is_cubic_(cc.algorithm == WW_ALG_CUBIC || cc.algorithm == WW_ALG_WESTWOOD_CUBIC),
          max_flight_(initial_cwnd),
          cwnd_(initial_cwnd) {}

    // Returns cwnd after an ACK that arrived with `flight` segments in flight, and on which the
    // control took the window from `before` to `cwnd`.
    std::uint32_t on_ack(const ww_window& before, std::uint32_t cwnd, std::uint32_t flight) {
        if (before.cwnd < cwnd_) max_flight_ = 0;  // reduced since the last ACK
        max_flight_ = std::max(max_flight_, flight);
        if (cwnd > before.cwnd && flight < before.cwnd)
            cwnd = std::clamp(limit(before.cwnd < before.ssthresh), before.cwnd, cwnd);
        if (cwnd < before.cwnd) max_flight_ = 0;
        return cwnd_ = cwnd;
    }

  private:
    std::uint32_t limit(bool in_slow_start) const {
        if (in_slow_start) return 2 * max_flight_;
        return max_flight_ + (is_cubic_ ? max_flight_ / 2 : 1);
    }

    bool is_cubic_;
    std::uint32_t max_flight_;  // segments: maxFS, below 2^29
    std::uint32_t cwnd_;        // after the last ACK
};

}  // namespace ww::sim
