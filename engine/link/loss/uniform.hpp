// SPDX-License-Identifier: BSD-3-Clause
//
// Uniform loss: each packet is lost with the same probability, independently of the others.
#pragma once

#include "gap.hpp"

#define WW_UNIFORM_SETTINGS(X) X(SHARE, rate, 0.005, 0, 1, "Probability that a packet is lost", "")

namespace ww::sim {

struct Uniform {
    WW_UNIFORM_SETTINGS(WW_SETTING_MEMBER)
};

class UniformLoss : public LossModel {
  public:
    UniformLoss(const Uniform& settings, const LossPlace& place)
        : gaps_(settings.rate, place.random) {}

    std::uint64_t packets_until_due() {
        const std::uint64_t passed = gaps_.draw();
        return passed < Gaps::kEndless ? passed : kNoLoss;
    }

  private:
    Gaps gaps_;
};

}  // namespace ww::sim
