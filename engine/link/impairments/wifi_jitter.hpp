// SPDX-License-Identifier: BSD-3-Clause
//
// Jitter of Wi-Fi, by the model that the tests of C4 use (draft-huitema-ccwg-c4-test):
//
//   delay  N1 x 1 ms + N2 x 7.5 ms, less U(0, 1 ms) if N1 >= 1
//   N1     Poisson with mean 1
//   N2     Poisson with mean 12 for a share x of the packets, x = (mean - 1 ms) / 90 ms; 0 for the others
//
// The last term lowers the mean by (1 - 1 / e) / 2 = 0.32 ms; `mean` is the model's parameter. Packets stay in order:
// one that would overtake another arrives with it.
#pragma once

#include <algorithm>

#include "impairment.hpp"

#define WW_WIFI_JITTER_SETTINGS(X)                                                   \
    X(TIME, mean, 7'000 * kMicrosecond, 1'000 * kMicrosecond, 91'000 * kMicrosecond, \
      "Parameter of the model: the mean delay of a packet, before 0.32 ms are taken off", "")

namespace ww::sim {

struct WifiJitter {
    WW_WIFI_JITTER_SETTINGS(WW_SETTING_MEMBER)
};

class WifiDelays : public Impairment {
  public:
    static constexpr bool kDelays = true;

    WifiDelays(const WifiJitter& settings, const Random& random)
        : share_(static_cast<double>(settings.mean - kMs) / static_cast<double>(90 * kMs)),
          random_(random) {}

    Time arrival(Time time) { return last_ = std::max(last_, time + delay()); }

    // Draws the delay of a packet.
    Time delay() {
        const int short_waits = poisson(kExpMinus1);
        Time delay = short_waits * kMs;
        if (short_waits > 0) delay -= static_cast<Time>(random_.open_unit() * kMs);
        if (random_.open_unit() < share_) delay += poisson(kExpMinus12) * (15 * kMs / 2);
        return delay;
    }

  private:
    static constexpr Time kMs = kSecond / 1000;
    static constexpr double kExpMinus1 = 0.36787944117144233, kExpMinus12 = 6.14421235332821e-06;

    // Draws a Poisson number; its mean m is given as exp(-m) (Knuth, vol. 2, 3.4.1).
    int poisson(double exp_minus_mean) {
        int count = 0;
        for (double product = random_.open_unit(); product > exp_minus_mean; count++)
            product *= random_.open_unit();
        return count;
    }

    double share_;
    Random random_;
    Time last_ = 0;
};

}  // namespace ww::sim
