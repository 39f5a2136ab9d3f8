// SPDX-License-Identifier: BSD-3-Clause
//
// The gap between independent failures is geometric: P(gap > n) = (1 - rate)^n.
#pragma once

#include "model.hpp"

namespace ww::sim {

// Returns ln(1 - rate), which is never 0. For a small rate 1 - rate would lose most digits, so this
// takes two terms of the series, whose error is below rounding.
inline double log_of_passing(double rate) {
    return rate < 0x1p-27 ? -rate * (1.0 + 0.5 * rate) : natural_log(1.0 - rate);
}

class Gaps {
  public:
    static constexpr std::uint64_t kEndless = UINT64_MAX / 2;

    Gaps(double rate, const Random& random) : rate_(rate), random_(random) {
        if (rate_ > 0 && rate_ < 1) log_pass_ = log_of_passing(rate_);
    }

    // Draws the number of trials before the next failure.
    std::uint64_t draw() {
        if (rate_ <= 0) return kEndless;
        const double gap = rate_ < 1 ? natural_log(random_.open_unit()) / log_pass_ : 0.0;
        return gap < 0x1p62 ? static_cast<std::uint64_t>(gap) : kEndless;
    }

  private:
    double rate_, log_pass_ = 0;
    Random random_;
};

}  // namespace ww::sim
