// SPDX-License-Identifier: BSD-3-Clause
//
// A source of datagrams sends packets of one size, exactly evenly spaced (CBR) or with exponential gaps (a
// Poisson process), always or in on and off periods (on_off_times.hpp).
#pragma once

#include "../base/timers.hpp"
#include "on_off_times.hpp"

namespace ww::sim {

class DatagramSource {
  public:
    // `place` is the connection's index. The source does not look beyond the end of the run.
    DatagramSource(const Flow& flow, std::uint64_t seed, std::uint32_t place, Time end,
                   Stop* stop = nullptr)
        : payload(flow.mss()),
          ip_bytes(flow.packet_bytes),
          times_({flow.datagrams.on_mean, flow.datagrams.off_mean, flow.datagrams.spread},
                 OnOffTimes::spacing(flow.packet_bytes, flow.datagrams.rate_bps),
                 flow.datagrams.spacing, std::min(flow.stop - 1, end), seed, place, stop) {}

    // Returns when the next packet is sent. At `now` the source started or sent its last packet.
    Time next(Time now) { return times_.next(now); }

    // A source of datagrams reports only how much it sent.
    void finish(Time, FlowCounts& result) const { result.sent = sent; }

    const std::uint32_t payload, ip_bytes;
    std::uint64_t sent = 0;
    Timer timer;  // start, then the next packet; the host sets and queues it

  private:
    OnOffTimes times_;
};

}  // namespace ww::sim
