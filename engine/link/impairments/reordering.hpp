// SPDX-License-Identifier: BSD-3-Clause
//
// Reordering: a share of the packets is held back, so that later ones pass them.
#pragma once

#include "../../base/random.hpp"

namespace ww::sim {

class Reordering {
  public:
    Reordering(double rate, Time delay, const Random& random)
        : rate_(rate), delay_(delay), random_(random) {}

    // Returns how long the next packet is held back.
    Time delay() { return random_.open_unit() < rate_ ? delay_ : 0; }

  private:
    double rate_;
    Time delay_;
    Random random_;
};

}  // namespace ww::sim
