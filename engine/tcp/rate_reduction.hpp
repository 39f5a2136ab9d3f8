// SPDX-License-Identifier: BSD-3-Clause
//
// Recoveries in which each ACK lowers cwnd a little, down to the target of the congestion control:
// rate halving and PRR (core/recovery.h). The scoreboard finds and repairs the losses.
#pragma once

#include <algorithm>

#include "../../core/recovery.h"
#include "../network.hpp"

namespace ww::sim {

class RateReduction {
  public:
    explicit RateReduction(Recovery recovery) : is_prr_(recovery == Recovery::prr) {}

    // target: cwnd at the end of recovery; flight: segments in flight and not SACKed before
    // recovery began.
    void begin(std::uint32_t target, std::int32_t flight) {
        target_ = target;
        odd_ack_ = 0;
        ww_prr_enter(&prr_, static_cast<std::uint32_t>(std::max(flight, 1)));
    }

    void on_sent() { prr_.out++; }

    // Returns cwnd after an ACK that delivered this many segments, with `pipe` in flight. is_safe:
    // the ACK acknowledged new data and reported no further loss.
    std::uint32_t on_ack(std::uint32_t cwnd, std::uint32_t pipe, std::uint32_t delivered,
                         bool is_safe) {
        return is_prr_ ? ww_prr_on_ack(&prr_, cwnd, target_, pipe, delivered, is_safe)
                       : ww_rate_halving_on_ack(&odd_ack_, cwnd, target_, pipe, 1);
    }

    std::uint32_t target() const { return target_; }

  private:
    ww_prr prr_{};
    std::uint32_t odd_ack_ = 0;  // rate halving takes off one segment per two ACKs
    std::uint32_t target_ = 0;
    bool is_prr_;
};

}  // namespace ww::sim
