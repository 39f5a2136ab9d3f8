// SPDX-License-Identifier: BSD-3-Clause
//
// Dual-queue coupled AQM with PI2 (DualPI2, RFC 9332, Appendix A): a queue for L4S packets and one for the
// others. Both get their drop and mark probabilities from one PI controller. By the functions of Figures 2 to 8:
//
//   params_init     Tupdate = min(target, RTT_max / 3), alpha = 0.1 Tupdate / RTT_max^2, beta = 0.3 / RTT_max,
//                   p_Cmax = min(1 / k^2, 1)
//   enqueue         "if ( ecn(pkt) modulo 2 == 1 )", ECT(1) or CE: the L queue, else the Classic one
//   update          every Tupdate, curq = max(cq.time(), lq.time()):
//                   p' = p' + alpha (curq - target) + beta (curq - prevq), within 0..1; p_CL = k p', p_C = p'^2
//   dequeue, L      if p_CL < 1, marked if recur(lq, max(p'_L, p_CL)), where p'_L = laqm(wait) if
//                   "lq.len()>Th_len", else 0. In overload, dropped if recur(lq, p_C), else marked if recur(lq, p_CL)
//   dequeue, C      if recur(cq, p_C), dropped if it is not ECN-capable or p_C >= p_Cmax, else marked
//   laqm            0 up to minTh, 1 from maxTh = minTh + range, a ramp between; with no range a step
//   recur           count += likelihood; above 1, count loses 1 and the packet is chosen
//
// The figures leave the scheduler open. A.2 recommends weighted round robin with a small weight of the Classic
// queue, "e.g., 1/16". It works as A.1 says of Linux: the credit "is only changed if there are packets in both
// queues", and it is "reset in favour of the L queue when the link is idle".
//
// Deviations:
//   - p_CL is at most 1, "always 100%" in overload. The count of recur() would otherwise grow with each L packet
//     that is marked, and so would the drops.
//   - The buffer's limit is the scenario's.
//
// The packets at the heads change only when one leaves, so the updates that are due are made then.
#pragma once

#include <algorithm>
#include <array>

#include "discipline.hpp"

#define WW_DUALPI2_SETTINGS(X)                                                                    \
    X(TIME, target, 15'000 * kMicrosecond, 1'000 * kMicrosecond, kHour,                           \
      "Delay that the Classic queue shall have", "RFC 9332, Appendix A.1.")                       \
    X(TIME, max_rtt, 100'000 * kMicrosecond, 1'000 * kMicrosecond, kHour,                         \
      "Largest RTT of the flows for which the controller is stable",                              \
      "RFC 9332, Appendix A.1: RTT_max.")                                                         \
    X(COUNT, coupling, 2, 1, 100,                                                                 \
      "Coupling factor k; Classic packets are not marked from a probability of 1/k^2",            \
      "RFC 9332, Appendix A.1.")                                                                  \
    X(TIME, l4s_min, 800 * kMicrosecond, 0, kHour, "Delay above which L4S packets may be marked", \
      "RFC 9332, Appendix A.1: minTh.")                                                           \
    X(TIME, l4s_range, 400 * kMicrosecond, 0, kHour,                                              \
      "Further delay until all L4S packets are marked; 0s: a step",                               \
      "RFC 9332, Appendix A.1: range.")                                                           \
    X(COUNT, l4s_spared, 1, 0, 1000,                                                              \
      "With at most this many L4S packets behind it, none is marked for its delay",               \
      "RFC 9332, Appendix A.1: Th_len.")                                                          \
    X(SHARE, classic_share, 0.0625, 0.001, 0.999,                                                 \
      "The Classic queue's share of the rate while both queues have packets",                     \
      "RFC 9332, Appendix A.2: a small weight, e.g. 1/16.")
#define WW_DUALPI2_RISING(X)
#define WW_DUALPI2_POSITIVE(X)
#define WW_DUALPI2_COLUMNS(X) X(base_prob, "", "output of the PI controller, p'")
#define WW_DUALPI2_KERNEL(X)

namespace ww::sim {

struct DualPi2 {
    WW_DUALPI2_SETTINGS(WW_SETTING_MEMBER)
};

class DualPi2Queue : public Discipline {
  public:
    static constexpr bool kHolds = true;
    static constexpr std::uint32_t kClassic = 0, kL4s = 1;  // lines

    DualPi2Queue(const DualPi2& settings, const Place&)
        : settings_(settings),
          target_s_(seconds(settings.target)),
          tupdate_(std::min(settings.target, settings.max_rtt / 3)),
          alpha_(0.1 * seconds(tupdate_) / (seconds(settings.max_rtt) * seconds(settings.max_rtt))),
          beta_(0.3 / seconds(settings.max_rtt)),
          max_mark_(1.0 / settings.coupling / settings.coupling),
          timer_(tupdate_) {}

    Verdict enqueue(Time now, const Backlog&, bool) {
        timer_.start(now);
        return Verdict::pass;
    }

    std::uint32_t lines() const { return 2; }
    std::uint32_t line_of(const Joining& packet) { return packet.is_l4s ? kL4s : kClassic; }

    template <class Held>
    std::uint32_t next_line(Time, const Held& held) {
        is_contended_ = !held.is_empty(kClassic) && !held.is_empty(kL4s);
        for (const std::uint32_t line : {kClassic, kL4s})
            first_[line] = held.is_empty(line) ? kNever : held.head(line).arrival;
        if (is_contended_) return credit_ <= 0 ? kL4s : kClassic;
        return held.is_empty(kL4s) ? kClassic : kL4s;
    }

    Verdict dequeue(Time now, const Head& head) {
        catch_up(now);
        if (!is_contended_ && head.arrival == now) credit_ = 0;  // the link was idle
        const bool is_l4s = head.line == kL4s;
        const Verdict verdict = is_l4s ? decide_l4s(now, head) : decide_classic(head);
        if (verdict != Verdict::drop && is_contended_)
            credit_ +=
                head.ip_bytes * (is_l4s ? settings_.classic_share : settings_.classic_share - 1);
        return verdict;
    }

    double base_prob() const { return base_prob_; }

  private:
    Verdict decide_classic(const Head& head) {
        const double likelihood = base_prob_ * base_prob_;
        if (!recur(kClassic, likelihood)) return Verdict::pass;
        return head.is_ecn_capable && likelihood < max_mark_ ? Verdict::mark : Verdict::drop;
    }

    Verdict decide_l4s(Time now, const Head& head) {
        const double coupled = std::min(settings_.coupling * base_prob_, 1.0);  // p_CL
        if (coupled >= 1) {
            if (recur(kL4s, base_prob_ * base_prob_)) return Verdict::drop;
            return recur(kL4s, coupled) ? Verdict::mark : Verdict::pass;
        }
        const double native =
            head.packets_behind > settings_.l4s_spared ? ramp(now - head.arrival) : 0;
        return recur(kL4s, std::max(native, coupled)) ? Verdict::mark : Verdict::pass;
    }

    // laqm
    double ramp(Time delay) const {
        const Time above = delay - settings_.l4s_min;
        if (above >= settings_.l4s_range) return 1;
        return above > 0 ? static_cast<double>(above) / static_cast<double>(settings_.l4s_range)
                         : 0;
    }

    bool recur(std::uint32_t line, double likelihood) {
        count_[line] += likelihood;
        if (count_[line] <= 1) return false;
        count_[line] -= 1;
        return true;
    }

    // The packets in first_ have been at the heads since the last one left. Before they came, the queues were empty.
    void catch_up(Time now) {
        const Time first = std::min(first_[kClassic], first_[kL4s]);
        timer_.catch_up(first, [&](Time) {
            if (base_prob_ <= 0 && old_delay_s_ <= 0) return false;
            update(0);
            return true;
        });
        timer_.catch_up(now, [&](Time time) {
            update(seconds(time - first));
            return true;
        });
    }

    void update(double delay_s) {
        base_prob_ += alpha_ * (delay_s - target_s_) + beta_ * (delay_s - old_delay_s_);
        base_prob_ = std::clamp(base_prob_, 0.0, 1.0);
        old_delay_s_ = delay_s;
    }

    DualPi2 settings_;
    double target_s_;
    Time tupdate_;
    double alpha_, beta_, max_mark_;
    double base_prob_ = 0, old_delay_s_ = 0;  // p', prevq
    std::array<double, 2> count_{};           // of recur(), by line
    std::array<Time, 2> first_{};             // arrivals of the packets at the heads, by line
    double credit_ = 0;                       // above 0 the Classic queue is next
    bool is_contended_ = false;               // both queues have packets
    UpdateTimer timer_;
};

}  // namespace ww::sim
