// SPDX-License-Identifier: BSD-3-Clause
//
// Jitter: each packet takes a random extra delay, uniform up to a bound. Packets stay in order.
#pragma once

#include <algorithm>

#include "../../base/random.hpp"

namespace ww::sim {

class Jitter {
  public:
    Jitter(Time most, const Random& random) : most_(static_cast<double>(most)), random_(random) {}

    // Returns when a packet arrives that would arrive at `time` without jitter.
    Time arrival(Time time) {
        const auto drawn = static_cast<Time>(random_.open_unit() * most_);
        return last_ = std::max(last_, time + drawn);
    }

  private:
    double most_;
    Random random_;
    Time last_ = 0;
};

}  // namespace ww::sim
