// SPDX-License-Identifier: BSD-3-Clause
//
// Two alternating states, each with an exponential (or fixed) duration: the Gilbert-Elliott model in
// continuous time. A packet is lost with the probability of the state at the end of its transmission.
// The states have one random stream per link, so a fade or a blackout hits both directions. Unless a
// state loses no packets or all, each packet gets its random number in advance, drawn up to the first
// number that may mean a loss.
#pragma once

#include <algorithm>

#include "../../base/random.hpp"
#include "../../base/stop.hpp"
#include "../../network.hpp"

namespace ww::sim {

class StateLoss {
  public:
    // `random` belongs to this direction, `shared` to the link.
    StateLoss(const Loss& loss, const Random& random, const Random& shared, Stop* stop)
        : random_(random), shared_(shared), stop_(stop), is_fixed_(loss.state_fixed) {
        std::copy_n(loss.state_mean, 2, mean_);
        std::copy_n(loss.state_rate, 2, rate_);
        change_at_ = sojourn();
        const auto [least, most] = std::minmax(rate_[0], rate_[1]);
        if (least > 0 && most < 1) worst_rate_ = most;
    }

    std::uint64_t packets_until_due() {
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

}  // namespace ww::sim
