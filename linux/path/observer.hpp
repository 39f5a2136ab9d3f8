// SPDX-License-Identifier: GPL-2.0-only
//
// What a connection's sender does, read from TCP_INFO (tcp(7)) again and again.
//
// Counters are exact. Means are over the looks, which are equally far apart; a fast recovery is counted
// when a look finds one that the look before did not, so one shorter than that may be missed.
#pragma once

#include <cstdint>
#include <cstdio>

#include "../../engine/network.hpp"

namespace ww::path {

class Observer {
  public:
    // A look at socket `fd` at `now`; with a file, a row of the trace for connection `index`, unless
    // nothing changed.
    void look(int fd, sim::Time now, std::uint32_t index, std::FILE* trace);

    // Everything so far, under the engine's names; the rest of the result is others' to fill.
    void report(sim::FlowResult& result) const;

    static void write_header(std::FILE* trace);

  private:
    struct Row {
        std::uint32_t cwnd, ssthresh, rtt_us, rto_us, in_flight;
        std::uint8_t state;
        bool operator==(const Row&) const = default;
    };

    Row last_{};
    std::uint64_t looks_ = 0, rtts_ = 0, cwnd_sum_ = 0, srtt_sum_us_ = 0;
    std::uint64_t sent_ = 0, retransmitted_ = 0, timeouts_ = 0, losses_ = 0;
    std::uint64_t recoveries_ = 0, reductions_ = 0;
    std::uint32_t min_rtt_us_ = UINT32_MAX;
    sim::Time established_ = -1;
    std::uint8_t state_ = 0;  // enum tcp_ca_state at the last look
    bool knows_timeouts_ = false;
};

}  // namespace ww::path
