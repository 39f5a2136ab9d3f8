// SPDX-License-Identifier: BSD-3-Clause
//
// Two alternating states, each with an exponential (or fixed) duration: the Gilbert-Elliott model in
// continuous time. A packet is lost with the probability of the state at the end of its transmission.
// The states have one random stream per link, so a fade or a blackout hits both directions. Unless a
// state loses no packets or all, each packet gets its random number in advance, drawn up to the first
// number that may mean a loss.
#pragma once

#include <algorithm>

#include "model.hpp"

#define WW_CHOICES_durations(X) X(kExponential, "exponential") X(kFixed, "fixed")

#define WW_MARKOV_SETTINGS(X)                                                                \
    X(TIME, good, 8 * kSecond, kMicrosecond, kLongest,                                       \
      "Mean duration of the good state, which comes first", "")                              \
    X(TIME, bad, 4 * kSecond, kMicrosecond, kLongest, "Mean duration of the bad state", "")  \
    X(SHARE, good_rate, 0, 0, 1, "Probability that a packet is lost in the good state",      \
      "Nothing is lost in the good state.")                                                  \
    X(SHARE, bad_rate, 0.05, 0, 1, "Probability that a packet is lost in the bad state", "") \
    X(CHOICE, durations, kExponential, 0, 1, "Distribution of the durations",                \
      "Exponential durations make the states a Markov chain.")

#define WW_BLACKOUT_SETTINGS(X)                                                           \
    X(TIME, good, 4 * kSecond, kMicrosecond, kLongest, "Mean time between blackouts", "") \
    X(TIME, bad, kSecond / 5, 0, kHour, "Mean length of a blackout; 0: none", "")         \
    X(CHOICE, durations, kFixed, 0, 1, "Distribution of the durations", "Blackouts recur.")

namespace ww::sim {

enum Durations : std::uint8_t { kExponential, kFixed };

struct Markov {
    WW_MARKOV_SETTINGS(WW_SETTING_MEMBER)
};

struct Blackout {
    WW_BLACKOUT_SETTINGS(WW_SETTING_MEMBER)
};

class StateLoss : public LossModel {
  public:
    static constexpr bool kCounts = false;

    StateLoss(const Markov& settings, const LossPlace& place)
        : random_(place.random),
          shared_(place.shared),
          stop_(place.stop),
          mean_{settings.good, settings.bad},
          rate_{settings.good_rate, settings.bad_rate},
          is_fixed_(settings.durations == kFixed) {
        change_at_ = sojourn();
        const auto [least, most] = std::minmax(rate_[0], rate_[1]);
        if (least > 0 && most < 1) worst_rate_ = most;
    }

    std::uint64_t packets_until_due() {
        if (mean_[1] == 0) return kNoLoss;
        return worst_rate_ > 0 ? random_.draw_until(worst_rate_, kMostAhead, number_) - 1 : 0;
    }
    bool decide(Time now) {
        while (change_at_ <= now && !(stop_ != nullptr && stop_->asked_in_step())) {
            state_ ^= 1;
            change_at_ += sojourn();
        }
        const double rate = rate_[state_];
        if (worst_rate_ > 0) return number_ < rate;
        return rate > 0 && (rate >= 1 || random_.open_unit() < rate);
    }

  private:
    static constexpr std::uint32_t kMostAhead = 256;  // a short run would waste more

    Time sojourn() {
        const Time mean = mean_[state_];
        return is_fixed_ ? mean : exponential(shared_, mean);
    }

    Random random_, shared_;
    Stop* stop_;
    Time mean_[2];
    double rate_[2];
    bool is_fixed_;
    Time change_at_ = 0;
    unsigned state_ = 0;
    double worst_rate_ = 0;  // of the two states, if numbers are drawn in advance
    double number_ = 1;      // of the packet that needs a decision
};

class BlackoutLoss : public StateLoss {
  public:
    BlackoutLoss(const Blackout& settings, const LossPlace& place)
        : StateLoss({settings.good, settings.bad, 0, 1, settings.durations}, place) {}
};

}  // namespace ww::sim
