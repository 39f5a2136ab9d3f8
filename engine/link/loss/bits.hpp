// SPDX-License-Identifier: BSD-3-Clause
//
// Bit errors: each bit is wrong with the same probability. A packet with an error is lost, so
// P(loss) = 1 - (1 - rate)^(8 bytes), with the link's overhead among the bytes.
#pragma once

#include "gap.hpp"

#define WW_BITS_SETTINGS(X) X(SHARE, rate, 1e-6, 0, 1, "Probability that a bit is wrong", "")

namespace ww::sim {

struct Bits {
    WW_BITS_SETTINGS(WW_SETTING_MEMBER)
};

class BitErrors : public LossModel {
  public:
    static constexpr bool kCounts = false;

    BitErrors(const Bits& settings, const LossPlace& place)
        : gaps_(settings.rate, place.random), bits_left_(gaps_.draw()) {}

    // The packets have this size from now on; `until_due` of them would have passed with the old
    // one. Returns true if that changes when the next error comes.
    bool resize(std::uint32_t bytes, std::uint64_t until_due) {
        if (8 * std::uint64_t{bytes} == bits_) return false;
        bits_left_ -= (passes_ - until_due) * bits_;
        bits_ = 8 * std::uint64_t{bytes};
        return true;
    }
    std::uint64_t packets_until_due() { return passes_ = bits_left_ / bits_; }
    bool decide(Time) {
        bits_left_ = gaps_.draw();
        return true;
    }

  private:
    Gaps gaps_;
    std::uint64_t bits_ = 1;   // per packet
    std::uint64_t bits_left_;  // before the next error, when passes_ was set
    std::uint64_t passes_ = 0;
};

}  // namespace ww::sim
