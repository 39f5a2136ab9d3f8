// SPDX-License-Identifier: BSD-3-Clause
//
// The sender's part of ECN (RFC 3168).
//
//   6.1.2   an echoed mark reduces the window as a loss does, at most once per window of data
//   6.1.2   the first new segment after a reduction carries CWR, which ends the receiver's echoes
//   6.1.5   a retransmission is not ECN-capable
#pragma once

#include <utility>

#include "../link/packet.hpp"

namespace ww::sim {

class EcnSender {
  public:
    // sends_ect1: packets carry ECT(1) instead of ECT(0) (RFC 9331)
    explicit EcnSender(bool sends_ect1 = false)
        : ect_(static_cast<std::uint16_t>(sends_ect1 ? kEct | kEct1 : kEct)) {}

    // An echo counts once SND.UNA has passed what was sent before the last reduction. Earlier ACKs
    // come from a receiver that has not seen the CWR.
    bool answers(std::int64_t una) const { return una > answered_below_; }

    // The window was reduced for a mark or a loss; `high` is one past the highest segment sent.
    void on_reduced(std::int64_t high) {
        answered_below_ = high;
        cwr_ = true;
    }

    // Notes an ACK's count of marked segments; 0: it has none.
    void note_count(std::uint16_t so_far) {
        const auto more = static_cast<std::uint16_t>(so_far - counted_);
        if (so_far == 0 || more >= 0x8000) return;  // an older ACK's
        counted_ = so_far;
        marked_ += more;
    }

    // Returns how many marked segments ACKs have reported since the last call.
    std::uint32_t take_marked() { return std::exchange(marked_, 0); }

    // Returns the PacketFlags of the segment just sent.
    std::uint16_t flags(bool is_retransmission) {
        if (is_retransmission) return 0;
        const bool reduced = cwr_;
        cwr_ = false;
        return static_cast<std::uint16_t>(reduced ? ect_ | kCwr : ect_);
    }

  private:
    std::int64_t answered_below_ = 0;
    std::uint32_t marked_ = 0;   // segments that ACKs have reported as marked
    std::uint16_t counted_ = 0;  // all such segments since the start; wraps
    bool cwr_ = false;           // the next new segment carries CWR
    std::uint16_t ect_;          // PacketFlags of a segment
};

}  // namespace ww::sim
