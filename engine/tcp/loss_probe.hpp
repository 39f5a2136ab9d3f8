// SPDX-License-Identifier: BSD-3-Clause
//
// The loss probe of RACK-TLP (RFC 8985, 7). After two round trips without an ACK the sender sends
// new data, or the last segment again, beyond cwnd; the ACK then reveals what is missing.
#pragma once

#include <cstdint>

namespace ww::sim {

class LossProbe {
  public:
    bool is_out() const { return end_ >= 0; }
    void on_sent(std::int64_t high, bool again) {
        end_ = high;
        is_again_ = again;
    }
    void end() { end_ = -1; }

    // 7.4.2: takes an ACK. `dsack`: it reports that the last segment arrived twice; `duplicate`: it
    // acknowledges nothing new. Returns true if the probe repaired a loss, so that the window must
    // be reduced.
    bool on_ack(std::int64_t una, bool dsack, bool duplicate) {
        if (una < end_) return false;
        const bool repaired = is_again_ && !dsack && una > end_;
        if (!is_again_ || dsack || una > end_ || duplicate) end();
        return repaired;
    }

  private:
    std::int64_t end_ =
        -1;  // one past the highest segment sent when the probe left; -1: no probe is out
    bool is_again_ = false;
};

}  // namespace ww::sim
