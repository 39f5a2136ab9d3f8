// SPDX-License-Identifier: BSD-3-Clause
//
// Bursts of losses by the Gilbert-Elliott model, counted in packets (Gilbert, "Capacity of a Burst-Noise
// Channel", 1960; Elliott, "Estimates of Error Rates for Codes on Burst-Noise Channels", 1963). Each direction is
// in a good or a bad state, good at first. A packet is lost with its state's probability, and after it the state
// changes with probability p (good to bad) or r (bad to good), as in netem's `loss gemodel p r 1-h 1-k`:
//
//   share of bad packets  p / (p + r)
//   losses                (r good_rate + p bad_rate) / (p + r)
//   mean stay             1 / p packets in the good state, 1 / r in the bad one
//
// Stays and gaps between losses are geometric, each with its own stream.
#pragma once

#include <algorithm>

#include "gap.hpp"

#define WW_GILBERT_SETTINGS(X)                                                                     \
    X(SHARE, p, 0.01, 0, 1, "Probability that the bad state follows a packet of the good one", "") \
    X(SHARE, r, 0.25, 0, 1, "Probability that the good state follows a packet of the bad one", "") \
    X(SHARE, good_rate, 0, 0, 1, "Probability that a packet is lost in the good state (1 - k)",    \
      "Gilbert 1960: the good state loses nothing.")                                               \
    X(SHARE, bad_rate, 1, 0, 1, "Probability that a packet is lost in the bad state (1 - h)",      \
      "The bad state loses everything, as netem's default has it.")

namespace ww::sim {

struct Gilbert {
    WW_GILBERT_SETTINGS(WW_SETTING_MEMBER)
};

class GilbertLoss : public LossModel {
  public:
    GilbertLoss(const Gilbert& settings, LossPlace place)
        : stays_{{settings.p, stream(place)}, {settings.r, stream(place)}},
          losses_{{settings.good_rate, stream(place)}, {settings.bad_rate, stream(place)}} {
        begin();
    }

    // The packet due is the next loss, or the last one of the stay.
    std::uint64_t packets_until_due() {
        const std::uint64_t passing = std::min(until_change_, until_loss_);
        until_change_ -= passing;
        until_loss_ -= passing;
        return passing < Gaps::kEndless ? passing : kNoLoss;
    }
    bool decide(Time) {
        const bool is_lost = until_loss_ == 0;
        if (until_change_ == 0) {
            state_ ^= 1;
            begin();
        } else {
            until_change_--;
            until_loss_ = losses_[state_].draw();
        }
        return is_lost;
    }

  private:
    // Returns a stream of its own for each of the four probabilities.
    static Random stream(LossPlace& place) {
        return Random(place.random.bits(), Stream::loss_forward, 0);
    }

    void begin() {
        until_change_ = stays_[state_].draw();
        until_loss_ = losses_[state_].draw();
    }

    Gaps stays_[2], losses_[2];  // by state
    unsigned state_ = 0;
    std::uint64_t until_change_ = 0;  // packets before the last one of this stay
    std::uint64_t until_loss_ = 0;    // packets before the next loss, if the stay lasts
};

}  // namespace ww::sim
