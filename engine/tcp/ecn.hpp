// SPDX-License-Identifier: BSD-3-Clause
//
// The sender's part of ECN (RFC 3168).
//
//   6.1.2   an echoed mark reduces the window as a loss does, at most once per window of data
//   6.1.2   the first new segment after a reduction carries CWR, which ends the receiver's echoes
//   6.1.5   a retransmission is not ECN-capable
#pragma once

#include "../link/packet.hpp"

namespace ww::sim {

class EcnSender {
  public:
    // An echo counts once SND.UNA has passed what was sent before the last reduction. Earlier ACKs
    // come from a receiver that has not seen the CWR.
    bool answers(std::int64_t una) const { return una > answered_below_; }

    // The window was reduced for a mark or a loss; `high` is one past the highest segment sent.
    void on_reduced(std::int64_t high) {
        answered_below_ = high;
        cwr_ = true;
    }

    // Returns the PacketFlags of the segment just sent.
    std::uint16_t flags(bool is_retransmission) {
        if (is_retransmission) return 0;
        const bool reduced = cwr_;
        cwr_ = false;
        return reduced ? kEct | kCwr : kEct;
    }

  private:
    std::int64_t answered_below_ = 0;
    bool cwr_ = false;  // the next new segment carries CWR
};

}  // namespace ww::sim
