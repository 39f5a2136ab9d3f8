// SPDX-License-Identifier: BSD-3-Clause
//
// The Classic queue of DualPI2 (RFC 9332, Appendix A): a PI controller with the square of its output as drop
// or mark probability. By the functions of the pseudocode:
//
//   initialization  Tupdate = min(target, RTT_max / 3), alpha = 0.1 Tupdate / RTT_max^2, beta = 0.3 / RTT_max,
//                   p_Cmax = min(1 / k^2, 1)
//   update          every Tupdate, with the wait of the first packet as curq:
//                   p' = p' + alpha (curq - target) + beta (curq - prevq), within 0..1; p_C = p'^2
//   dequeue         if recur(p_C), the packet is marked if it is ECN-capable and p_C < p_Cmax, else dropped
//   recur           count += p_C; above 1, count loses 1 and the packet is chosen
//
// Deviation: the L queue, its ramp and the coupling are left out. It takes packets of ECT(1), which no control
// here sends, so in these networks it would always be empty.
#pragma once

#include <algorithm>

#include "discipline.hpp"

#define WW_DUALPI2_SETTINGS(X)                                                 \
    X(TIME, target, 15'000 * kMicrosecond, 1'000 * kMicrosecond, kHour,        \
      "Delay that the Classic queue shall have", "RFC 9332, Appendix A.1.")    \
    X(TIME, max_rtt, 100'000 * kMicrosecond, 1'000 * kMicrosecond, kHour,      \
      "Largest RTT of the flows for which the controller is stable",           \
      "RFC 9332, Appendix A.1: RTT_max.")                                      \
    X(COUNT, coupling, 2, 1, 100,                                              \
      "Coupling factor k; packets are not marked from a probability of 1/k^2", \
      "RFC 9332, Appendix A.1.")
#define WW_DUALPI2_RISING(X)
#define WW_DUALPI2_POSITIVE(X)
#define WW_DUALPI2_COLUMNS(X) X(base_prob, "", "output of the PI controller, p'")

namespace ww::sim {

struct DualPi2 {
    WW_DUALPI2_SETTINGS(WW_SETTING_MEMBER)
};

class DualPi2Queue : public Discipline {
  public:
    static constexpr bool kHolds = true;

    DualPi2Queue(const DualPi2& settings, const Place&)
        : target_s_(seconds(settings.target)),
          max_rtt_s_(seconds(settings.max_rtt)),
          tupdate_(std::min(settings.target, settings.max_rtt / 3)),
          alpha_(0.1 * seconds(tupdate_) / (max_rtt_s_ * max_rtt_s_)),
          beta_(0.3 / max_rtt_s_),
          max_mark_(1.0 / settings.coupling / settings.coupling),
          timer_(tupdate_) {}

    Verdict enqueue(Time now, const Backlog& queue, bool) {
        catch_up(now, queue.first_arrival);
        return Verdict::pass;
    }

    Verdict dequeue(Time now, const Head& head) {
        catch_up(now, head.arrival);
        const double likelihood = base_prob_ * base_prob_;
        count_ += likelihood;
        if (count_ <= 1) return Verdict::pass;
        count_ -= 1;
        return head.is_ecn_capable && likelihood < max_mark_ ? Verdict::mark : Verdict::drop;
    }

    double base_prob() const { return base_prob_; }

  private:
    // first_arrival: of the packet that has been at the head since the last call; kNever: none.
    void catch_up(Time now, Time first_arrival) {
        const bool is_empty = first_arrival == kNever;
        timer_.catch_up(now, [&](Time at) {
            if (is_empty && base_prob_ <= 0 && old_delay_s_ <= 0) return false;
            update(is_empty ? 0 : seconds(at - first_arrival));
            return true;
        });
    }

    void update(double delay_s) {
        base_prob_ += alpha_ * (delay_s - target_s_) + beta_ * (delay_s - old_delay_s_);
        base_prob_ = std::clamp(base_prob_, 0.0, 1.0);
        old_delay_s_ = delay_s;
    }

    double target_s_, max_rtt_s_;
    Time tupdate_;
    double alpha_, beta_, max_mark_;
    double base_prob_ = 0, old_delay_s_ = 0;  // p', prevq
    double count_ = 0;
    UpdateTimer timer_;
};

}  // namespace ww::sim
