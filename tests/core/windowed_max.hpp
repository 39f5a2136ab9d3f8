// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace ww::test {

// The windowed maximum of Linux's lib/minmax.c: the best three samples, oldest first.
class WindowedMax {
  public:
    std::uint64_t best() const { return s_[0].value; }

    void take(std::uint64_t value, std::uint64_t round, std::uint64_t window) {
        const Sample fresh{value, round};
        if (value >= s_[0].value || round - s_[2].round > window) {
            s_[0] = s_[1] = s_[2] = fresh;
            return;
        }
        if (value >= s_[1].value)
            s_[1] = s_[2] = fresh;
        else if (value >= s_[2].value)
            s_[2] = fresh;
        const std::uint64_t age = round - s_[0].round;
        if (age > window) {
            shift(fresh);
            if (round - s_[0].round > window) shift(fresh);
        } else if (s_[1].round == s_[0].round && age > window / 4) {
            s_[1] = s_[2] = fresh;
        } else if (s_[2].round == s_[1].round && age > window / 2) {
            s_[2] = fresh;
        }
    }

  private:
    struct Sample {
        std::uint64_t value, round;
    };

    void shift(const Sample& fresh) {
        s_[0] = s_[1];
        s_[1] = s_[2];
        s_[2] = fresh;
    }

    Sample s_[3] = {};
};

}  // namespace ww::test
