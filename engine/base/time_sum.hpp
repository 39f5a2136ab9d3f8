// SPDX-License-Identifier: BSD-3-Clause
//
// A sum of times that never wraps. One word is too small: 9000 packets that wait for 26 days reach
// 2^64 times 2^10 ps.
#pragma once

#include <cstdint>

#include "../settings.hpp"

namespace ww::sim {

class TimeSum {
  public:
    void add(Time time) {  // not negative
        low_ += static_cast<std::uint64_t>(time);
        high_ += low_ < static_cast<std::uint64_t>(time);
    }

    double seconds() const {
        return (static_cast<double>(high_) * 0x1p64 + static_cast<double>(low_)) /
               static_cast<double>(kSecond);
    }

    // Returns the mean of `count` times, at least one, rounded down to a picosecond.
    Time mean(std::uint64_t count) const {
        std::uint64_t rest = high_ % count, mean = 0;
        for (int bit = 63; bit >= 0; bit--) {  // long division
            rest = rest << 1 | (low_ >> bit & 1);
            mean <<= 1;
            if (rest < count) continue;
            rest -= count;
            mean |= 1;
        }
        return static_cast<Time>(mean);
    }

  private:
    std::uint64_t low_ = 0, high_ = 0;
};

}  // namespace ww::sim
