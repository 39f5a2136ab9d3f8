// SPDX-License-Identifier: BSD-3-Clause
//
// Aggregation: packets arrive in bursts, as frames of Wi-Fi or the ACKs of a cable modem do. A burst begins with
// its first packet. It arrives `time` later, with all packets that would have arrived by then.
#pragma once

#include "impairment.hpp"

#define WW_AGGREGATION_SETTINGS(X) \
    X(TIME, time, 5'000 * kMicrosecond, 1, kHour, "How long a burst waits for further packets", "")

namespace ww::sim {

struct Aggregation {
    WW_AGGREGATION_SETTINGS(WW_SETTING_MEMBER)
};

class Aggregator : public Impairment {
  public:
    static constexpr bool kDelays = true;

    Aggregator(const Aggregation& settings, const Random&) : time_(settings.time) {}

    Time arrival(Time time) {
        if (time > burst_at_) burst_at_ = time + time_;
        return burst_at_;
    }

  private:
    Time time_;
    Time burst_at_ = -1;  // when the last burst arrives
};

}  // namespace ww::sim
