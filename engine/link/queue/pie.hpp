// SPDX-License-Identifier: BSD-3-Clause
//
// Proportional Integral controller Enhanced (PIE, RFC 8033, Appendix A): drops arriving packets at random,
// with a probability that follows the delay of the queue. The clauses:
//
//   4.1  a packet passes while burst_allowance is left, while qdelay_old is below QDELAY_REF / 2 and
//        drop_prob below 0.2, or if the queue has at most 2 MEAN_PKTSIZE bytes; else it is dropped with
//        drop_prob
//   4.2  every T_UPDATE: p = alpha (qdelay - QDELAY_REF) + beta (qdelay - qdelay_old), divided by a factor
//        that grows as drop_prob falls; drop_prob += p; 2 % of it decay when both delays are 0
//   4.3  qdelay is the wait of the last packet that left, by its timestamp
//   4.4  burst_allowance is MAX_BURST when drop_prob is 0 and both delays are below QDELAY_REF / 2. It falls
//        by T_UPDATE with each update
//   5.4  optional, `spaced`: accu_prob adds up drop_prob at each packet; none is dropped below 0.85, one is from 8.5,
//        and a drop sets it to 0
//   5.1  ECN: a packet is marked instead of dropped while drop_prob is below mark_ecnth
//   5.5  from a drop_prob of 0.1 it grows by at most 0.02 per update. Linux, `steep`, adds 0.02 to p above a delay
//        of 250 ms
//
// Deviation: qdelay is 0 once the queue is empty, as in Linux and ns-3. In the pseudocode it stays at the wait of
// the last packet until another leaves. The optional 5.2 and 5.3 are left out.
#pragma once

#include <algorithm>

#include "discipline.hpp"

// The settings that PIE and FQ-PIE share. `as_linux`: the default of the two switches that are always on in Linux.
#define WW_PIE_SETTINGS(X) WW_PIE_RULES(X, false, "RFC 8033 does not ask for it; Linux does it.")
#define WW_PIE_RULES(X, as_linux, why)                                                             \
    X(TIME, target, 15'000 * kMicrosecond, 1, kHour, "Delay that the queue shall have",            \
      "RFC 8033, section 4.2: QDELAY_REF.")                                                        \
    X(TIME, update, 15'000 * kMicrosecond, 1'000 * kMicrosecond, kHour,                            \
      "Time between two updates of the drop probability", "RFC 8033, section 4.2: T_UPDATE.")      \
    X(TIME, max_burst, 150'000 * kMicrosecond, 0, kHour,                                           \
      "How long a burst passes after a time without drops", "RFC 8033, section 4.4: MAX_BURST.")   \
    X(BYTES, max_packet, 1500, 1, 65535, "No packet is dropped from a queue of at most two such",  \
      "The IP packet of an Ethernet path (RFC 894); Linux takes the device's MTU.")                \
    X(SWITCH, capped, true, 0, 1, "A drop probability above 10% grows by at most 2% an update",    \
      "RFC 8033, section 5.5; Linux and ns-3 do it.")                                              \
    X(SWITCH, spaced, as_linux, 0, 1,                                                              \
      "Spaces its drops: none before the drop probabilities of the packets since the last add up " \
      "to 0.85, and one at 8.5 (RFC 8033, section 5.4)",                                           \
      why)                                                                                         \
    X(SWITCH, steep, as_linux, 0, 1,                                                               \
      "Above a delay of 250 ms the drop probability grows by another 2% an update", why)           \
    X(SWITCH, ecn, false, 0, 1,                                                                    \
      "Marks packets of ECN-capable flows instead of dropping them (RFC 3168)",                    \
      "A scenario asks for ECN by name.")                                                          \
    X(SHARE, max_mark, 0.1, 0, 1, "Drop probability from which packets are not marked",            \
      "RFC 8033, section 5.1: mark_ecnth.")
#define WW_PIE_RISING(X)
#define WW_PIE_POSITIVE(X)
#define WW_PIE_COLUMNS(X) X(drop_prob, "", "probability with which arriving packets are dropped")
#define WW_PIE_KERNEL(X)             \
    X(TIME, target, TCA_PIE_TARGET)  \
    X(TIME, update, TCA_PIE_TUPDATE) \
    X(SWITCH, ecn, TCA_PIE_ECN)      \
    X(SWITCH, spaced, kAlways)       \
    X(SWITCH, steep, kAlways)

namespace ww::sim {

struct Pie {
    WW_PIE_SETTINGS(WW_SETTING_MEMBER)
};

class PieQueue : public Discipline {
  public:
    static constexpr bool kHolds = true;

    PieQueue(const Pie& settings, const Place& place)
        : settings_(settings),
          random_(place.random),
          target_s_(seconds(settings.target)),
          allowance_(settings.max_burst),
          timer_(settings.update) {}

    Verdict enqueue(Time now, const Backlog& queue, bool is_ecn_capable) {
        catch_up(now);
        if (drop_prob_ <= 0 && is_calm()) allowance_ = settings_.max_burst;
        if (allowance_ > 0 || is_spared(queue) || !chooses()) return Verdict::pass;
        return settings_.ecn && is_ecn_capable && drop_prob_ < settings_.max_mark ? Verdict::mark
                                                                                  : Verdict::drop;
    }

    Verdict dequeue(Time now, const Head& head) {
        catch_up(now);
        delay_s_ = head.bytes_behind == 0 ? 0 : seconds(now - head.arrival);
        return Verdict::pass;
    }

    double drop_prob() const { return drop_prob_; }

  private:
    static constexpr double kAlpha = 0.125, kBeta = 1.25;  // Hz; section 4.2

    // Adjusts the controller to small probabilities (4.2).
    static double scale(double drop_prob) {
        return drop_prob < 1e-6   ? 1.0 / 2048
               : drop_prob < 1e-5 ? 1.0 / 512
               : drop_prob < 1e-4 ? 1.0 / 128
               : drop_prob < 1e-3 ? 1.0 / 32
               : drop_prob < 1e-2 ? 1.0 / 8
               : drop_prob < 0.1  ? 1.0 / 2
                                  : 1.0;
    }

    bool is_calm() const { return delay_s_ < target_s_ / 2 && old_delay_s_ < target_s_ / 2; }

    bool is_spared(const Backlog& queue) const {
        return (old_delay_s_ < target_s_ / 2 && drop_prob_ < 0.2) ||
               queue.bytes <= 2 * std::int64_t{settings_.max_packet_bytes};
    }

    bool chooses() {
        accumulated_ = drop_prob_ > 0 ? accumulated_ + drop_prob_ : 0;
        if (settings_.spaced && accumulated_ < 0.85) return false;
        const bool is_overdue = settings_.spaced && accumulated_ >= 8.5;
        if (!is_overdue && random_.open_unit() >= drop_prob_) return false;
        accumulated_ = 0;
        return true;
    }

    void catch_up(Time now) {
        timer_.catch_up(now, [this](Time) { return update(); });
    }
    bool is_idle() const {
        return drop_prob_ <= 0 && delay_s_ <= 0 && old_delay_s_ <= 0 && allowance_ == 0;
    }

    // Returns whether it changes something.
    bool update() {
        if (is_idle()) return false;
        double p = scale(drop_prob_) *
                   (kAlpha * (delay_s_ - target_s_) + kBeta * (delay_s_ - old_delay_s_));
        if (settings_.capped && drop_prob_ >= 0.1) p = std::min(p, 0.02);
        if (settings_.steep && delay_s_ > 0.25) p += 0.02;
        drop_prob_ += p;
        if (delay_s_ <= 0 && old_delay_s_ <= 0) drop_prob_ *= 0.98;
        drop_prob_ = std::clamp(drop_prob_, 0.0, 1.0);
        old_delay_s_ = delay_s_;
        allowance_ = std::max<Time>(0, allowance_ - settings_.update);
        return true;
    }

    Pie settings_;
    Random random_;
    double target_s_;
    double drop_prob_ = 0, delay_s_ = 0, old_delay_s_ = 0;
    double accumulated_ = 0;  // accu_prob
    Time allowance_;          // burst_allowance
    UpdateTimer timer_;
};

}  // namespace ww::sim
