// SPDX-License-Identifier: BSD-3-Clause
//
// This decides which packets a wire loses. Where losses are independent it draws one random number a
// loss, not one a packet:
//
//   uniform   the gap to the next loss is geometric: P(gap > n) = (1 - rate)^n
//   bits      the gap to the next bit error is geometric too; a packet that an error hits is lost, so
//             that P(loss) = 1 - (1 - rate)^(8 bytes), the link's overhead among the bytes
//   states    two states in turn, each lasting an exponential (or fixed) time: Gilbert and Elliott's
//             channel in continuous time; a packet is lost with the probability of the state at the
//             end of its transmission. The states' times come from a stream of the link's own, the
//             same for both directions: a fade or a blackout hits both.
//   script    the packets named
#pragma once

#include "network.hpp"
#include "random.hpp"
#include "stop.hpp"

namespace ww::sim {

// Returns ln(1 - rate), which is never 0: of a small rate little or nothing is left in 1 - rate, and two
// terms of the series leave out less than rounding does.
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
        if (loss_.kind == LossKind::states) change_at_ = sojourn();
        draw();
    }

    // The pipe asks once a packet; true if lose() must decide on it.
    bool is_due() { return --until_due_ == 0; }

    // Decides on the packet that is due and leaves the transmitter at `now`: true if it is lost.
    [[gnu::noinline]] bool lose(Time now, std::uint32_t bytes) {
        draw();
        if (loss_.kind == LossKind::states) {
            while (change_at_ <= now && !(stop_ != nullptr && stop_->asked_in_step())) {
                state_ ^= 1;
                change_at_ += sojourn();
            }
            const double rate = loss_.state_rate[state_];
            return rate > 0 && (rate >= 1 || random_.open_unit() < rate);
        }
        if (loss_.kind == LossKind::bits) {
            const std::uint64_t bits = 8 * std::uint64_t{bytes};
            const bool hit = bits_left_ < bits;
            bits_left_ = hit ? gap() : bits_left_ - bits;
            return hit;
        }
        return true;
    }

    std::uint64_t crossed() const { return drawn_ - until_due_; }

  private:
    // Draws how many trials pass before the next that fails.
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
                until_due_ = loss_.packets[script_next_] - script_last_;
                script_last_ = loss_.packets[script_next_++];
            }
        } else if (loss_.kind == LossKind::uniform && loss_.rate > 0) {
            const std::uint64_t passed = gap();
            if (passed < UINT64_MAX / 2) until_due_ = 1 + passed;
        } else if (loss_.kind == LossKind::states || loss_.kind == LossKind::bits) {
            until_due_ = 1;
        }
        drawn_ += until_due_;
    }

    Loss loss_;
    Random random_, shared_;
    Stop* stop_;
    double log_pass_ = 0;
    std::uint64_t until_due_ = UINT64_MAX;
    std::uint64_t drawn_ = 0;  // all gaps so far; it may wrap, differences stay right
    std::uint64_t script_last_ = 0;
    std::size_t script_next_ = 0;
    std::uint64_t bits_left_ = 0;
    Time change_at_ = 0;
    unsigned state_ = 0;
};

}  // namespace ww::sim
