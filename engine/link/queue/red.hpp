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

#include "../../base/random.hpp"
#include "../../network.hpp"

namespace ww::sim {

enum class Verdict : std::uint8_t { pass, mark, drop };

class RedQueue {
  public:
    // packet_time: how long a mean packet takes to send.
    RedQueue(const Red& red, Time packet_time, const Random& random)
        : red_(red), packet_time_(packet_time), random_(random) {}

    // Takes a packet that arrives while `waiting` packets wait. The transmitter is busy until
    // busy_until.
    Verdict arrive(Time now, std::size_t waiting, Time busy_until, bool ecn_capable) {
        average(waiting, now > busy_until ? (now - busy_until) / packet_time_ : 0);
        const auto length = static_cast<double>(waiting);
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
        return red_.ecn && ecn_capable && average_ < red_.max_packets ? Verdict::mark
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
