// SPDX-License-Identifier: BSD-3-Clause
//
// Tests of what a link or a flow does on a whole run send flows over one link.
#pragma once

#include "engine/network.hpp"
#include "units.hpp"

namespace ww::sim::test {

// The queue holds 100 packets; the caller adds the flows.
inline Network one_link(std::int64_t rate_bps, Time delay, Time duration) {
    Network network;
    network.nodes = 2;
    Link link;
    link.b = 1;
    link.forward.rate_bps = link.backward.rate_bps = rate_bps;
    link.forward.delay = link.backward.delay = delay;
    link.forward.queue_packets = link.backward.queue_packets = 100;
    network.links.push_back(link);
    network.duration = duration;
    return network;
}

inline Flow tcp(ww_protocol protocol, Recovery recovery = Recovery::sack) {
    Flow flow;
    flow.to = 1;
    flow.cc = ww_configure(protocol);
    flow.cc.byte_counting = false;
    flow.recovery = recovery;
    return flow;
}

inline Flow datagrams(std::int64_t rate_bps) {
    Flow flow = tcp(WW_PROTOCOL_RENO);
    flow.datagrams.on = true;
    flow.datagrams.rate_bps = rate_bps;
    return flow;
}

}  // namespace ww::sim::test
