// SPDX-License-Identifier: BSD-3-Clause
//
// A connected sender, for tests that call it directly.
#pragma once

#include <vector>

#include "engine/tcp/sender.hpp"
#include "settings.hpp"
#include "units.hpp"

namespace ww::sim::test {

inline Sender connected(Flow flow, Time round_trip) {
    flow.min_rto = kMs;
    Sender sender(settings_of(flow), flow, 99);
    sender.on_syn_sent(0);
    sender.on_syn_ack(round_trip);
    return sender;
}

inline Flow with_sack() {
    Flow flow;
    flow.cc = ww_configure(WW_PROTOCOL_SACK);
    flow.recovery = Recovery::sack;
    return flow;
}

inline std::vector<std::int64_t> sent_by(Sender& sender, Time now) {
    std::vector<std::int64_t> sent;
    for (std::int64_t s; (s = sender.next_segment(now)) >= 0;) sent.push_back(s);
    return sent;
}

}  // namespace ww::sim::test
