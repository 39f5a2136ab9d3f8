// SPDX-License-Identifier: BSD-3-Clause
//
// Decides which packets a wire loses. Where losses are independent it draws one random number per loss, not
// one per packet:
//
//   uniform   the gap to the next loss is geometric: P(gap > n) = (1 - rate)^n
//   bits      the gap to the next bit error is geometric too. A packet with an error is lost, so
//             P(loss) = 1 - (1 - rate)^(8 bytes), with the link's overhead among the bytes
//   states    two alternating states, each with an exponential (or fixed) duration: the Gilbert-Elliott model
//             in continuous time. A packet is lost with the probability of the state at the end of
//             its transmission. The states have one random stream per link, so a fade or a blackout hits
//             both directions. Unless a state loses no packets or all, each packet gets its random number
//             in advance, drawn up to the first number that may mean a loss
//   script    the packets named
#pragma once

#include <algorithm>

#include "../base/random.hpp"
#include "../base/stop.hpp"
#include "../network.hpp"

namespace ww::sim {

// Returns ln(1 - rate), which is never 0. For a small rate 1 - rate would lose most digits, so this
// takes two terms of the series, whose error is below rounding.
inline double log_of_passing(double rate) {
    return rate < 0x1p-27 ? -rate * (1.0 + 0.5 * rate) : natural_log(1.0 - rate);
}

class LossProcess {
  public:
    // `random` belongs to this direction, `shared` to the link.
    LossProcess(const Loss& loss, const Random& random, const Random& shared, Stop* stop = nullptr)
        : loss_(loss), random_(random), shared_(shared), stop_(stop) {
        if (loss_.rate > 0 && loss_.rate < 1) log_pass_ = log_of_passing(loss_.rate);
        if (loss_.kind == LossKind::bits) bits_left_ = gap();
        if (loss_.kind == LossKind::states) {
            change_at_ = sojourn();
            const auto [least, most] = std::minmax(loss_.state_rate[0], loss_.state_rate[1]);
            if (least > 0 && most < 1) worst_rate_ = most;
        }
        draw();
    }

    // Sets the size of the packets from now on.
    void set_size(std::uint32_t bytes) {
        if (loss_.kind != LossKind::bits || 8 * std::uint64_t{bytes} == bits_) return;
        bits_left_ -= (passes_ - until_due_) * bits_;
        bits_ = 8 * std::uint64_t{bytes};
        drawn_ -= until_due_;
        draw();
    }

    // Returns true if the next packet needs a decision. If not, on_passed() counts it, or several
    // at once.
    bool is_next() const { return until_due_ == 0; }
    void on_passed(std::uint64_t packets = 1) { until_due_ -= packets; }
    bool loses_none() const { return until_due_ > UINT64_MAX / 2; }

    // Takes a packet that leaves the transmitter at `now`. Returns true if it is lost.
    bool loses(Time now) {
        if (is_next()) [[unlikely]]
            return decide(now);
        on_passed();
        return false;
    }

    std::uint64_t crossed() const { return drawn_ - until_due_; }

  private:
    [[gnu::noinline]] bool decide(Time now) {
        drawn_++;
        if (loss_.kind == LossKind::bits) bits_left_ = gap();
        const double number = number_;
        draw();
        if (loss_.kind != LossKind::states) return true;
        while (change_at_ <= now && !(stop_ != nullptr && stop_->asked_in_step())) {
            state_ ^= 1;
            change_at_ += sojourn();
        }
        const double rate = loss_.state_rate[state_];
        if (worst_rate_ > 0) return number < rate;
        return rate > 0 && (rate >= 1 || random_.open_unit() < rate);
    }

    // Draws the number of trials before the next failure.
    std::uint64_t gap() {
        if (loss_.rate <= 0) return UINT64_MAX / 2;
        const double gap = loss_.rate < 1 ? natural_log(random_.open_unit()) / log_pass_ : 0.0;
        return gap < 0x1p62 ? static_cast<std::uint64_t>(gap) : UINT64_MAX / 2;
    }

    Time sojourn() {
        const Time mean = loss_.state_mean[state_];
        return loss_.state_fixed ? mean : exponential(shared_, mean);
    }

    void draw() {
        until_due_ = UINT64_MAX;
        if (loss_.kind == LossKind::script) {
            if (script_next_ < loss_.packets.size()) {
                until_due_ = loss_.packets[script_next_] - script_last_ - 1;
                script_last_ = loss_.packets[script_next_++];
            }
        } else if (loss_.kind == LossKind::uniform && loss_.rate > 0) {
            const std::uint64_t passed = gap();
            if (passed < UINT64_MAX / 2) until_due_ = passed;
        } else if (loss_.kind == LossKind::states) {
            until_due_ =
                worst_rate_ > 0 ? random_.draw_until(worst_rate_, kMostAhead, number_) - 1 : 0;
        } else if (loss_.kind == LossKind::bits) {
            until_due_ = passes_ = bits_left_ / bits_;
        }
        drawn_ += until_due_;
    }

    static constexpr std::uint32_t kMostAhead = 256;  // a short run would waste more

    Loss loss_;
    Random random_, shared_;
    Stop* stop_;
    double log_pass_ = 0;
    std::uint64_t until_due_ = UINT64_MAX;  // packets that pass before the next decision
    std::uint64_t drawn_ =
        0;  // packets up to the next decision; it may wrap, because only differences count
    std::uint64_t script_last_ = 0;
    std::size_t script_next_ = 0;
    std::uint64_t bits_ = 1;       // per packet
    std::uint64_t bits_left_ = 0;  // before the next error, when until_due_ was set to passes_
    std::uint64_t passes_ = 0;
    Time change_at_ = 0;
    unsigned state_ = 0;
    double worst_rate_ = 0;  // of the two states, if numbers are drawn in advance
    double number_ = 1;      // of the packet that needs a decision
};

}  // namespace ww::sim
