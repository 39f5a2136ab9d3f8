// SPDX-License-Identifier: BSD-3-Clause
//
// Natural numbers of any size, for ratios that must be rounded exactly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ww::plan {

__extension__ using Wide = unsigned __int128;

class Natural {
  public:
    explicit Natural(std::uint64_t value) : limbs_{value} {}

    void times(std::uint64_t factor) {
        Wide carry = 0;
        for (std::uint64_t& limb : limbs_) {
            carry += Wide{limb} * factor;
            limb = static_cast<std::uint64_t>(carry);
            carry >>= 64;
        }
        limbs_.push_back(static_cast<std::uint64_t>(carry));
        while (limbs_.size() > 1 && limbs_.back() == 0) limbs_.pop_back();
    }

    bool operator<=(const Natural& other) const {
        if (limbs_.size() != other.limbs_.size()) return limbs_.size() < other.limbs_.size();
        return !std::lexicographical_compare(other.limbs_.rbegin(), other.limbs_.rend(),
                                             limbs_.rbegin(), limbs_.rend());
    }

  private:
    std::vector<std::uint64_t> limbs_;  // the lowest first, without leading zeros
};

// Returns over / under, a tie rounded to even; at most 2^62.
inline std::int64_t rounded_ratio(Natural over, const Natural& under) {
    over.times(2);
    const auto halves = [&under](std::int64_t count) {
        Natural product = under;
        product.times(static_cast<std::uint64_t>(count));
        return product;
    };
    std::int64_t whole = 0;
    for (std::int64_t bit = std::int64_t{1} << 61; bit > 0; bit /= 2)
        if (halves(2 * (whole + bit)) <= over) whole += bit;
    const Natural tie = halves(2 * whole + 1);
    const bool is_above = !(over <= tie), is_tie = tie <= over && over <= tie;
    return is_above || (is_tie && whole % 2 == 1) ? whole + 1 : whole;
}

}  // namespace ww::plan
