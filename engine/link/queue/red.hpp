// SPDX-License-Identifier: BSD-3-Clause
//
// Random Early Detection (Floyd & Jacobson, IEEE/ACM Transactions on Networking 1(4), 1993, Figure 2).
//
//   avg = (1 - w) avg + w q           on each arrival, q packets waiting
//   avg = (1 - w)^(m + 1) avg + w q   after an idle time in which m packets could have been sent
//
//   min <= avg < max      pb = max_p (avg - min) / (max - min)
//   max <= avg < 2 max    gentle (Floyd 2000): pb = max_p + (1 - max_p) (avg - max) / max; else drop
//   avg >= 2 max          drop
//   pa = pb / (1 - count pb)          count: packets since the last one dropped or marked
//
// At a constant avg the gaps between drops are uniform in 1..1/pb - 1, by Figure 2's count (1 at the first
// packet after a drop); the text of section 7 has 1..1/pb. The queue is idle while the transmitter is,
// and m counts mean packets at the link's rate, both as in ns-2.
//
// ECN (RFC 3168, section 7): while avg < max, ECN-capable packets are marked instead of dropped. Above
// max, and when the queue is full, all are dropped.
//
// As in ns-2 and ns-3, a queue that is short now may be spared although the average is above min (spared).
//
// Deviation: lengths are in packets, not bytes, as in the paper's simulations.
#pragma once

#include "discipline.hpp"

#define WW_RED_SETTINGS(X)                                                                        \
    X(PACKETS, min, 5, 0, 1e9, "Average queue from which packets are dropped", "")                \
    X(PACKETS, max, 15, 0, 1e9, "Average queue at which the probability is max_p; more than min", \
      "")                                                                                         \
    X(SHARE, max_p, 0.1, 0, 1, "Drop probability at max; more than 0",                            \
      "Floyd's advice of 1997; the paper's examples have 0.02.")                                  \
    X(SHARE, weight, 0.002, 0, 1, "Weight of the newest sample in the average; more than 0",      \
      "Floyd and Jacobson 1993, section 7.")                                                      \
    X(BYTES, mean_packet, 500, 21, 65535,                                                         \
      "An idle queue's average decays as if packets of this size had left", "ns-2's default.")    \
    X(PACKETS, spared, 0, 0, 1e9, "Queue length up to which no packet is dropped early",          \
      "Floyd and Jacobson 1993, Figure 2: only the average decides. ns-2 and ns-3 require 2 "     \
      "packets in the queue, ns-3 plus one in the device.")                                       \
    X(SWITCH, gentle, false, 0, 1,                                                                \
      "The probability rises from max_p to 1 between max and twice max",                          \
      "Floyd and Jacobson 1993 drop everything above max.")                                       \
    X(SWITCH, ecn, false, 0, 1,                                                                   \
      "Marks packets of ECN-capable flows instead of dropping them (RFC 3168)",                   \
      "A scenario asks for ECN by name.")
#define WW_RED_RISING(X) X(PACKETS, min, max)
#define WW_RED_POSITIVE(X) X(SHARE, max_p) X(SHARE, weight)
#define WW_RED_COLUMNS(X) X(average_packets, "packets", "average queue, avg")
#define WW_RED_KERNEL(X)

namespace ww::sim {

struct Red {
    WW_RED_SETTINGS(WW_SETTING_MEMBER)
};

class RedQueue : public Discipline {
  public:
    RedQueue(const Red& red, const Place& place)
        : red_(red), packet_time_(place.duration(red.mean_packet_bytes)), random_(place.random) {}

    Verdict enqueue(Time now, const Backlog& queue, bool is_ecn_capable) {
        average(queue.packets,
                now > queue.busy_until ? (now - queue.busy_until) / packet_time_ : 0);
        const auto length = static_cast<double>(queue.packets);
        if (average_ < red_.min_packets ||
            (red_.spared_packets > 0 && length <= red_.spared_packets)) {
            since_last_ = -1;
            return Verdict::pass;
        }
        since_last_++;
        const double pb = probability();
        const double denominator = 1.0 - static_cast<double>(since_last_) * pb;
        // Compares with the paper's pa, without its division.
        if (pb < 1.0 && random_.open_unit() * denominator >= pb) return Verdict::pass;
        since_last_ = 0;
        return red_.ecn && is_ecn_capable && average_ < red_.max_packets ? Verdict::mark
                                                                         : Verdict::drop;
    }

    double average_packets() const { return average_; }

    // Returns pb at the current average.
    double probability() const {
        if (average_ < red_.min_packets) return 0.0;
        if (average_ < red_.max_packets)
            return red_.max_p * (average_ - red_.min_packets) /
                   (red_.max_packets - red_.min_packets);
        if (!red_.gentle || average_ >= 2 * red_.max_packets) return 1.0;
        return red_.max_p + (1.0 - red_.max_p) * (average_ - red_.max_packets) / red_.max_packets;
    }

  private:
    void average(std::size_t waiting, Time idle_packets) {
        double factor = 1.0 - red_.weight, kept = factor;  // factor^(idle_packets + 1)
        for (Time m = idle_packets; m > 0; m /= 2, factor *= factor)
            if (m % 2 == 1) kept *= factor;
        average_ = kept * average_ + red_.weight * static_cast<double>(waiting);
    }

    Red red_;
    Time packet_time_;
    Random random_;
    double average_ = 0;
    std::int64_t since_last_ = -1;
};

}  // namespace ww::sim
