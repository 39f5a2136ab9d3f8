// SPDX-License-Identifier: BSD-3-Clause
//
// Uniform loss: each packet is lost with the same probability, independently of the others.
#pragma once

#include "gap.hpp"

namespace ww::sim {

class UniformLoss {
  public:
    UniformLoss(double rate, const Random& random) : gaps_(rate, random) {}

    std::uint64_t packets_until_due() {
        const std::uint64_t passed = gaps_.draw();
        return passed < Gaps::kEndless ? passed : kNoLoss;
    }
    bool decide(Time) { return true; }

  private:
    Gaps gaps_;
};

}  // namespace ww::sim
